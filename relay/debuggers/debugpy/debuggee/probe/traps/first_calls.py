"""Code of Python 3.11 that is made as a function is first called: most code never is.

Until then the function has a likeness of its code that calls `meet_first_call` ahead of all else. That
has the code made, and gives it to the very frame that has begun: the interpreter reads anew what a
frame runs when a function in Python returns to it.

Knows how a frame lies in memory. Refuses to know what the code is to do.
"""

from __future__ import annotations

import functools
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import can_read_stack
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import handler_table
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at
    from relay.debuggers.debugpy.debuggee.probe.traps.assembly import note_prefix
    from relay.debuggers.debugpy.debuggee.probe.traps.checking import met_first
    from relay.debuggers.debugpy.debuggee.probe.traps.instructions import (
        UNIT_BYTES,
        Instruction,
        encoded_handler,
        no_places,
        settle,
    )

_PASSED_OVER_FIRST = (RecursionError, MemoryError)
_IN_FRAME_OBJECT = 24
"""In a frame object: the address of the interpreter's frame."""
_FUNCTION_AT, _CODE_OF_FRAME_AT, _PREVIOUS_AT, _IS_ENTRY_AT = 0, 32, 48, 68
"""In an interpreter's frame: its function; its code, and three words on what lies before the next
instruction; its caller's; whether code in C has called it, and does not read it anew."""


def can_meet_first_calls() -> bool:
    """Whether the layout of frames and codes is known here."""
    return can_read_stack() and sys.version_info[:2] == (3, 11)


def meeting_first(code: Any, stack: int) -> Any:
    """A likeness of this code that has its first call met. stack: room for values that it is to have."""
    first = len(code.co_consts)
    prefix, called, handler = _prefix(first, len(code.co_names))
    handlers = [encoded_handler(0, called, handler, 0, False)]
    for one in handler_table(code) if code.co_exceptiontable else ():
        start, length = one.start + len(prefix), one.end - one.start
        target = one.target + len(prefix)
        handlers.append(encoded_handler(start, length, target, one.depth, one.lasti))
    made = code.replace(
        co_code=prefix + code.co_code,
        co_consts=(*code.co_consts, meet_first_call, _PASSED_OVER_FIRST, None),
        co_names=(*code.co_names, "__traceback__"),
        co_stacksize=stack,
        co_linetable=no_places(len(prefix) // UNIT_BYTES) + code.co_linetable,
        co_exceptiontable=b"".join(handlers),
    )
    note_prefix(made, len(prefix))
    return made


@functools.lru_cache(maxsize=1000)
def _prefix(constant: int, name: int) -> tuple[bytes, int, int]:
    """The call; how many bytes of it may raise; where what it raises is handled.

    As with traps: for want of stack or memory it is passed over.
    """
    new = Instruction
    called = [new("PUSH_NULL"), new("LOAD_CONST", constant), new("PRECALL"), new("CALL")]
    begin, over, behind = new("JUMP_FORWARD"), new("POP_TOP"), new("NOP")
    is_passed_over, handler = new("POP_JUMP_FORWARD_IF_TRUE"), new("PUSH_EXC_INFO")
    begin.target, is_passed_over.target = behind, over
    placed = [
        *(*called, new("POP_TOP"), begin),
        *(handler, new("LOAD_CONST", constant + 1), new("CHECK_EXC_MATCH"), is_passed_over),
        *(new("LOAD_CONST", constant + 2), new("COPY", 2), new("STORE_ATTR", name)),
        *(new("SWAP", 2), new("POP_EXCEPT"), new("RERAISE")),
        *(over, new("POP_EXCEPT"), behind),
    ]
    settle(placed)
    return b"".join(one.assembled() for one in placed), called[-1].here + called[-1].size, handler.here


def meet_first_call() -> None:
    """Called by the likeness of a code, in its frame, before any instruction of the code's own."""
    inner = _word_in(id(frame_at()) + _IN_FRAME_OBJECT)
    caller = _word_in(inner + _PREVIOUS_AT)
    code, function = _object_in(caller + _CODE_OF_FRAME_AT), _object_in(caller + _FUNCTION_AT)
    made = met_first(code, function, not _is_entry(inner))
    if made is not None:
        _go_on_in(caller, made)


def _word_in(address: int) -> int:
    import ctypes

    return ctypes.c_void_p.from_address(address).value or 0


def _object_in(address: int) -> Any:
    import ctypes

    return ctypes.py_object.from_address(address).value


def _is_entry(inner: int) -> bool:
    import ctypes

    return ctypes.c_bool.from_address(inner + _IS_ENTRY_AT).value


def _go_on_in(frame: int, code: Any) -> None:
    """Have a frame go on behind the first instruction of another code, with one value to drop."""
    import ctypes

    words = (ctypes.c_void_p * 4).from_address(frame + _CODE_OF_FRAME_AT)
    before = _object_in(frame + _CODE_OF_FRAME_AT)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))
    # At once: another thread may look at the frame.
    words[:] = [id(code), words[1], words[2], id(code) + types.CodeType.__basicsize__]
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(before))
