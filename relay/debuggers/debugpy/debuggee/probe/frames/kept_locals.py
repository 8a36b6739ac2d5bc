"""What a stop has looked at lives no longer for it.

On Python 3.11 and 3.12 a frame keeps the dict of its `f_locals`, and with it all that the program lets go of
later: a generator would not be closed, nor an object be finalized, before the frame is over or is looked
at again. So these dicts are emptied as their thread runs on. Since 3.13 there are none; before 3.11 each event
of a trace function makes one.
"""

from __future__ import annotations

import collections
import dis
import inspect
import itertools
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import HAS_FAST_VARIABLES
    from relay.debuggers.debugpy.debuggee.probe.frames.code_reading import names_of_variables
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import (
        INNER_AT,
        WORD_SIZE,
        can_read_cells,
        is_frame_of,
        word_at,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.returns import RETURN_VALUES
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions

_WRITES_BACK = sys.version_info < (3, 12)
"""The interpreter writes the dict into the frame, behind a trace function, if it was asked for."""
_DICT_AT = (3 if _WRITES_BACK else 5) * WORD_SIZE
"""In an interpreter's frame: the address of the dict, if there is one."""
_IS_ASKED_FOR_AT = 46
"""In a frame object of 3.11: whether the dict was asked for, and not yet written back."""
_TRIES = 3
_CAN_BE_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_REFERENCES = 3  # to a dict that nobody has but the frame: its own, ours, and that of who counts


def patch_kept_locals() -> bool:
    """From now on no stop keeps a value. True where there was need."""
    if not can_read_cells() or sys.version_info >= (3, 13):
        return False
    hook_suspensions("locals", after=_let_go)
    return True


def let_go_of_locals(frame: Any) -> None:
    """Of a frame that has been looked at while its thread may run, unless somebody else has the dict."""
    code = frame.f_code
    has_dict = sys.version_info < (3, 13) and code.co_flags & HAS_FAST_VARIABLES
    if not has_dict or (_WRITES_BACK and _may_be_traced(frame)):
        return
    values = frame.f_locals
    if sys.getrefcount(values) > _REFERENCES:
        return  # the program has it, of `locals()`
    # With no moment between one and the next at which another thread could run.
    collections.deque(map(values.pop, names_of_variables(code), itertools.repeat(None)), 0)
    if sys.getrefcount(values) > _REFERENCES:  # the program has just asked for it
        getattr(frame, "f_locals", None)


def _may_be_traced(frame: Any) -> bool:
    """Whether a trace function may be asked about it now, behind which its dict is written into it."""
    code = frame.f_code
    begins = frame.f_lasti < 0 or code.co_code[frame.f_lasti] == dis.opmap.get("RESUME")
    return begins or frame.f_trace is not None or bool(code.co_flags & _CAN_BE_RESUMED)


def _let_go(thread: Any, frame: Any, event: Any) -> None:
    import ctypes

    is_step = getattr(thread.additional_info, "pydev_step_cmd", -1) != -1
    while frame is not None:
        code = frame.f_code
        if (
            type(frame) is types.FrameType
            and code.co_flags & HAS_FAST_VARIABLES
            and not is_debugger_file(code.co_filename)
        ):
            _empty_dict_of(ctypes, frame, is_step)
        frame = frame.f_back


def _empty_dict_of(ctypes: Any, frame: Any, keeps_returns: bool) -> None:
    inner = word_at(ctypes, id(frame) + INNER_AT)
    names = names_of_variables(frame.f_code)
    if not (names and is_frame_of(ctypes, inner, frame.f_code)):
        return
    if not word_at(ctypes, inner + _DICT_AT):
        return  # nobody has looked
    for _ in range(_TRIES):
        values = frame.f_locals  # as the variables are now
        if not keeps_returns:  # else `locals()` would give it to the program
            values.pop(RETURN_VALUES, None)
        if sys.getrefcount(values) > _REFERENCES:
            return  # the program has it, of `locals()`, or another thread looks at it
        if _WRITES_BACK:
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(1))
        for name in names:
            values.pop(name, None)
        if not (_WRITES_BACK and ctypes.c_bool.from_address(id(frame) + _IS_ASKED_FOR_AT).value):
            return
    # Others ask for it all the time, and what is not there would be written back: so all is put back.
    getattr(frame, "f_locals", None)
