"""A call put in where a code begins, by which it gets another code before it has run. Python 3.11.

To put calls in wherever a code may write takes ten times as long as to put in this one. So all codes get
it alone, and those that begin the rest then. What it calls is a function in Python, which
the interpreter runs without leaving the frame that calls: behind it the frame goes on by what is
written in memory (`frames/frame_moves.py`).

What cannot be called, for want of stack or memory, is passed over, and what a handler of a signal
raises is raised where the code begins. Refuses to know what the call does.
"""

from __future__ import annotations

import dis
import functools
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import handler_table
    from relay.debuggers.debugpy.debuggee.probe.traps.assembly import stack_with_checks
    from relay.debuggers.debugpy.debuggee.probe.traps.inserted import note_inserted_at
    from relay.debuggers.debugpy.debuggee.probe.traps.instructions import (
        UNIT_BYTES,
        CodeHandler,
        Instruction,
        NoTrapError,
        handler_bytes,
        place_table,
        settle,
        units_of_places,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.line_checks import PASSED_OVER, trap_call

_SAME_LINE = 1  # whichever
_begins = CodeTable()


def with_beginning(code: Any, call: Any) -> Any:
    """A code that does the same, and calls `call` first. Frames of it have room for checks.

    Raises NoTrapError.
    """
    at = UNIT_BYTES * (1 + code.co_code[::2].index(dis.opmap["RESUME"]))
    put = _call_at_beginning(len(code.co_consts), len(code.co_names))
    behind = at + len(put.text)
    handlers = [_handler_at(at, at + put.calls, at + put.catches, 0, False)]
    for one in handler_table(code):  # all of them are behind
        first, last, target = (where + len(put.text) for where in one[:3])
        handlers.append(_handler_at(first, last, target, one.depth, one.lasti))
    made = code.replace(
        co_code=code.co_code[:at] + put.text + code.co_code[at:],
        co_consts=(*code.co_consts, call, PASSED_OVER, None),
        co_names=(*code.co_names, "__traceback__"),
        co_stacksize=stack_with_checks(code),
        co_linetable=_places_with(put.places, code.co_linetable, at // UNIT_BYTES),
        co_exceptiontable=handler_bytes(handlers, []),
    )
    note_inserted_at(made, dict.fromkeys(range(at, behind, UNIT_BYTES), behind))
    _begins[made] = range(-1, behind)
    return made


def is_yet_to_begin(frame: Any) -> bool:
    """Whether a frame has not come to such a call yet, or stands in it."""
    return frame.f_lasti in _begins.get(frame.f_code, ())


class _CallAtBeginning(NamedTuple):
    """What is put in."""

    text: bytes
    places: bytes
    """For the table of places; all of the line before, or of none."""
    calls: int
    """How many bytes of the text may raise."""
    catches: int
    """Where that is caught."""


@functools.lru_cache(1000)
def _call_at_beginning(constant: int, name: int) -> _CallAtBeginning:
    """By the numbers of the first constant, and of the name."""
    new, rest = Instruction, Instruction("NOP")
    over, call = new("POP_TOP"), trap_call(constant)
    go_on, is_passed_over = new("JUMP_FORWARD"), new("POP_JUMP_FORWARD_IF_TRUE")
    go_on.target, is_passed_over.target = rest, over
    raised = [
        *(new("PUSH_EXC_INFO"), new("LOAD_CONST", constant + 1)),
        *(new("CHECK_EXC_MATCH"), is_passed_over),
        *(new("LOAD_CONST", constant + 2), new("COPY", 2), new("STORE_ATTR", name)),
        *(new("SWAP", 2), new("POP_EXCEPT")),
        new("RAISE_VARARGS", 1, (_SAME_LINE, None, None, None)),
        *(over, new("POP_EXCEPT")),
    ]
    made = [*call, go_on, *raised]
    settle([*made, rest])
    text = b"".join(one.assembled() for one in made)
    return _CallAtBeginning(text, place_table(made, _SAME_LINE), go_on.here, raised[0].here)


class _PlaceOfHandler:
    """Where an instruction is."""

    __slots__ = ("here",)

    def __init__(self, here: int) -> None:
        self.here = here


def _handler_at(first: int, behind: int, target: int, depth: int, keeps_place: bool) -> CodeHandler:
    return CodeHandler(
        _PlaceOfHandler(first), _PlaceOfHandler(behind), _PlaceOfHandler(target), depth, keeps_place
    )


def _places_with(places: bytes, table: bytes, units: int) -> bytes:
    """The table of places, with more of them behind so many units."""
    end = 0
    while units > 0:
        begin, end = end, end + 1
        while end < len(table) and not table[end] & 0x80:
            end += 1
        units -= units_of_places(table[begin])
    if units:
        raise NoTrapError
    return table[:end] + places + table[end:]
