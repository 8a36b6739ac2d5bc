"""Frames of Python 3.11 that run already get a code with checks, and go on in it where they stand.

The interpreter reads anew what a frame runs as a function in Python returns to it. So a frame that waits
for one is given the code at once, and one that is at the beginning of a line calls a function first.
The checks in such a code need next to no room on the stack, since the frame has what it began with.

Refuses to know which frames are to have checks.
"""

from __future__ import annotations

import gc
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at
    from relay.debuggers.debugpy.debuggee.probe.traps.assembly import (
        GoingOn,
        inserted_in,
        unwinding_in,
        with_checks_from,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.first_calls import (
        IN_FRAME_OBJECT,
        address_in,
        can_meet_first_calls,
        give_code,
        is_entry,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.instructions import taken_apart

_PREVIOUS_FRAME_AT, _NEXT_INSTRUCTION_AT, _HEIGHT_AT, _FIRST_VALUE_AT = 48, 56, 64, 72
"""In an interpreter's frame: its caller's; what lies before its next instruction; how many values it has,
variables included; and the first of those."""
_BYTES_OF_WORD = 8


def goes_on_checked(frame: Any, original: Any, lines: Any, checks: Any, is_at_line: bool) -> Any:
    """Have a frame of this thread go on in a code with these checks, which is given back.

    original: the frame's code as the program has it. is_at_line: whether its trace function is called
    for a line; else it waits for a call. None where it cannot, and goes on as it was.
    """
    inner = address_in(id(frame) + IN_FRAME_OBJECT)
    if not can_meet_first_calls() or not (is_at_line or _waits_for_function(inner)):
        return None
    code = frame.f_code
    at = address_in(inner + _NEXT_INSTRUCTION_AT) - id(code) - types.CodeType.__basicsize__
    found = _instruction_at(code, original, at)
    if found is None:
        return None
    start, before, behind = found
    if is_at_line == bool(before):
        return None
    made = with_checks_from(original, lines, checks, start)
    if made is None or made.stack > code.co_stacksize:
        return None
    if is_at_line:
        if not _calls_first(inner, code, made):
            return None
        give_code(inner, made.code, made.landing)
    else:
        give_code(inner, made.code, made.present.here + made.present.size - behind)
    return made.code


def frames_in_tracebacks() -> set[int]:
    """The ids of frames that a traceback tells of, by an offset in the code that they have: they are to
    keep it, or the traceback would be printed with other lines."""
    return {id(one.tb_frame) for one in gc.get_objects() if type(one) is types.TracebackType}


def _waits_for_function(inner: int) -> bool:
    """Whether this frame of the thread waits for a function in Python, and is read anew behind it."""
    above = address_in(id(frame_at()) + IN_FRAME_OBJECT)
    while above:
        caller = address_in(above + _PREVIOUS_FRAME_AT)
        if caller == inner:
            return not is_entry(above)
        above = caller
    return False


def _instruction_at(code: Any, original: Any, at: int) -> tuple[int, int, int] | None:
    """Of an offset in a likeness of a code, the beginning of that instruction in the code itself, and how
    many bytes of it lie before the offset and from there on; None if it is none of the code's own."""
    own = taken_apart(original)[0]
    if code is original:
        likeness = own
    else:
        put_in, unwinding = inserted_in(code), unwinding_in(code)
        likeness = [
            one
            for one in taken_apart(code)[0]
            if one.start not in put_in and one.start not in unwinding
        ]
    if [one.name for one in own] != [one.name for one in likeness]:
        return None
    for one, there in zip(own, likeness):  # noqa: B905  of one length
        if there.start <= at < there.start + there.size:
            return one.start, at - there.start, there.start + there.size - at
    return None


def _calls_first(inner: int, code: Any, made: GoingOn) -> bool:
    """Put a function on the stack of a frame, for the call that it goes on with."""
    import ctypes

    height = ctypes.c_int.from_address(inner + _HEIGHT_AT)
    room = len(code.co_varnames) + code.co_stacksize
    room += sum(name not in code.co_varnames for name in code.co_cellvars) + len(code.co_freevars)
    if height.value + 2 > room:
        return False
    values = (ctypes.c_void_p * 2).from_address(
        inner + _FIRST_VALUE_AT + height.value * _BYTES_OF_WORD
    )
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_read_anew))
    values[:] = [None, id(_read_anew)]
    height.value += 2
    return True


def _read_anew() -> None:
    """Called by a frame that has got another code: as it returns there, that is what runs."""
