"""Frames that go on in another code: by what is written into their memory. Python 3.11 to 3.13.

On 3.11 an evaluation loop keeps the addresses of its code's constants and names to itself. It gets them anew from the
frame when a function in Python that it has called without leaving the loop ends. So a frame that has
called such a one is given its code at once, and one that stands in a trace function is made to call one first.
From 3.12 on the loop reads them from the frame, and its place, too, after an event of a line.

Such a frame has the stack of the code that it began with. More of it is taken from its thread's memory as the frame
stands there last, by a call of C alone: what is in Python would lie in the way itself.

Knows the layout of threads and frames. Refuses to know what the codes are.
"""

from __future__ import annotations

import functools
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_reading import names_of_variables
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import (
        CODE_AT,
        INNER_AT,
        TOP_AT,
        VALUES_AT,
        WORD_SIZE,
        is_frame_of,
        referred_object,
        word_at,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at

_BEFORE_AT, _PLACE_AT, _ENTRY_AT = 6 * WORD_SIZE, 7 * WORD_SIZE, 68
"""In an interpreter's frame: the frame that has called it, the instruction that has begun last, and whether it
was called by code in C. The first and the last on 3.11."""
_FUNCTION_AT = 0 if sys.version_info < (3, 12) else 2 * WORD_SIZE
_RECURSION_LIMIT_AT = 36
"""In the state of a thread: the limit of its recursion."""
_TRACING_AT = 44
"""There: in how many trace functions, of the debugger or others, it is, and of which kind of event."""
_CHUNK_AT = 296 if sys.version_info < (3, 12) else 232
"""There: its newest chunk of memory for frames; then what of that is taken, and its end."""
_CHUNK_UNIT = 4096
"""Of which the size of a chunk is a multiple."""
_LINE_EVENT = 2


def function_of(frame: Any) -> Any:
    """The function that a frame runs; of a module's code, too, there is one."""
    import ctypes

    return referred_object(ctypes, word_at(ctypes, id(frame) + INNER_AT) + _FUNCTION_AT)


def go_on_in(frame: Any, code: Any, offset: int) -> bool:
    """Have a frame that calls this thread's go on in another code, at this offset. False where it cannot.

    The codes have the same variables, and the frame is to have stack enough.
    """
    import ctypes

    callee = _called_by(frame)
    called = word_at(ctypes, id(callee) + INNER_AT)
    if not _stands_where_it_says(ctypes, frame, called) or _is_called_by_c(ctypes, called):
        return False
    _write_code(ctypes, frame, code, offset - 2)
    return True


def go_on_at_line(frame: Any, code: Any, offset: int, called: Any) -> bool:
    """The same for a frame that stands in a trace function, of a line: at that offset `called` is called, a
    function in Python without arguments. False where it cannot."""
    import ctypes

    state, callee = _thread_state(ctypes), _called_by(frame)
    tracing = [ctypes.c_int.from_address(state + _TRACING_AT + more).value for more in (0, 4)]
    inner = word_at(ctypes, id(frame) + INNER_AT)
    trace_function = word_at(ctypes, id(callee) + INNER_AT)
    height = ctypes.c_int.from_address(inner + TOP_AT)
    most = len(names_of_variables(frame.f_code)) + frame.f_code.co_stacksize
    if (
        tracing != [1, _LINE_EVENT]
        or not _stands_where_it_says(ctypes, frame, trace_function)
        or not _is_called_by_c(ctypes, trace_function)
        or not 0 <= height.value <= most - 2
    ):
        return False
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(called))
    top = inner + VALUES_AT + height.value * WORD_SIZE
    ctypes.c_void_p.from_address(top).value = None
    ctypes.c_void_p.from_address(top + WORD_SIZE).value = id(called)
    height.value += 2
    _write_code(ctypes, frame, code, offset)
    return True


def go_on_from_event(frame: Any, code: Any, offset: int) -> bool:
    """The same for a frame whose line is being reported by `sys.monitoring`: it goes on with the instruction
    at that offset. Python 3.12 and 3.13. False where it cannot."""
    import ctypes

    inner = word_at(ctypes, id(frame) + INNER_AT)
    here = _text_of_code(frame.f_code) + frame.f_lasti
    if not is_frame_of(ctypes, inner, frame.f_code) or word_at(ctypes, inner + _PLACE_AT) != here:
        return False
    _write_code(ctypes, frame, code, offset)
    return True


def _called_by(frame: Any) -> Any:
    """The frame that it has called, of this thread."""
    callee: Any = frame_at()
    while callee.f_back is not frame:
        callee = callee.f_back
    return callee


def _stands_where_it_says(ctypes: Any, frame: Any, called: int) -> bool:
    """Whether a frame, and the interpreter's frame that it has called, are laid out as is known here."""
    inner, code = word_at(ctypes, id(frame) + INNER_AT), frame.f_code
    place = word_at(ctypes, inner + _PLACE_AT)
    is_known = is_frame_of(ctypes, inner, code) and place == _text_of_code(code) + frame.f_lasti
    return is_known and word_at(ctypes, called + _BEFORE_AT) == inner


def _is_called_by_c(ctypes: Any, inner: int) -> bool:
    return bool(ctypes.c_bool.from_address(inner + _ENTRY_AT).value)


def _write_code(ctypes: Any, frame: Any, code: Any, place: int) -> None:
    """place: the offset of the instruction that has begun last."""
    inner, before = word_at(ctypes, id(frame) + INNER_AT), frame.f_code
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))
    ctypes.c_void_p.from_address(inner + CODE_AT).value = id(code)
    ctypes.c_void_p.from_address(inner + _PLACE_AT).value = _text_of_code(code) + place
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(before))


def _text_of_code(code: Any) -> int:
    """The address of its instructions."""
    return id(code) + types.CodeType.__basicsize__


class _FrameRoom:
    """What its negation takes, as long as the frame runs that stands there last. Codes that have it are hashed."""

    __slots__ = ("end",)

    def __init__(self, end: Any) -> None:
        self.end = end  # memory that has the address, which is copied

    def __reduce__(self) -> Any:
        """Who pickles a code with it gets something harmless."""
        return int, ()


def room_for(frame: Any, height: int) -> Any:
    """What, when the frame negates it, gives it a stack of so many values, until it ends. None where
    there is no room for that, or the frame is a generator's.

    Only this thread's frame may, when it has called nothing.
    """
    import ctypes

    state, inner = _thread_state(ctypes), word_at(ctypes, id(frame) + INNER_AT)
    count = len(names_of_variables(frame.f_code)) + height
    wanted = inner + VALUES_AT + count * WORD_SIZE
    end = _end_of_chunk_of(ctypes, state, inner)
    if end is None or wanted >= end:
        return None
    taken = ctypes.c_void_p(wanted)
    copy = _library()["memcpy"]
    copy.argtypes, copy.restype = (
        (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t),
        ctypes.c_void_p,
    )
    top = state + _CHUNK_AT + WORD_SIZE
    take = functools.partial(copy, top, ctypes.addressof(taken), WORD_SIZE)
    return type("Room", (_FrameRoom,), {"__slots__": (), "__neg__": staticmethod(take)})(taken)


def _end_of_chunk_of(ctypes: Any, state: int, inner: int) -> int | None:
    """Of the chunk of this thread's memory that has the frame.

    Calls nothing in Python: what that runs in may be a chunk of its own, which ends with it.
    """
    read = ctypes.c_void_p.from_address
    chunk, top = read(state + _CHUNK_AT).value, read(state + _CHUNK_AT + WORD_SIZE).value
    end = read(state + _CHUNK_AT + 2 * WORD_SIZE).value
    if not chunk or not top or not end or not chunk < top <= end or (end - chunk) % _CHUNK_UNIT:
        return None  # another layout than is known
    if end != chunk + read(chunk + WORD_SIZE).value:
        return None
    while chunk:
        end = int(chunk + read(chunk + WORD_SIZE).value)
        if chunk < inner < end:
            return end
        chunk = read(chunk).value
    return None


def _thread_state(ctypes: Any) -> int:
    get_state = _library()["PyThreadState_Get"]
    get_state.restype = ctypes.c_void_p
    return int(get_state())


@functools.lru_cache(None)
def _library() -> Any:
    """Functions of this process in C, apart from those that the program may declare its way."""
    import ctypes

    return ctypes.PyDLL(None)


def is_in_trace_function() -> bool:
    """Whether this thread calls a trace function, a profiler or an audit hook: what that calls is not
    traced."""
    import ctypes

    state = _thread_state(ctypes)
    limit = ctypes.c_int.from_address(state + _RECURSION_LIMIT_AT).value
    is_known = limit == sys.getrecursionlimit()
    return is_known and ctypes.c_int.from_address(state + _TRACING_AT).value > 0
