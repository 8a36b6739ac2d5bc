"""Where a frame that is under way comes into a code with checks, which is made for it alone.

A frame goes on behind a call that it has made, or in front of an instruction whose line has been reported. It comes
in at instructions of the very place, so that no line is reported anew, with the handlers of that place;
there it gets its stack (`frames/frame_moves.py`). Refuses to know whose frame it is, and how it is moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.traps.instructions import (
        CodeHandler,
        Instruction,
        NoTrapError,
        first_inserted,
        taken_apart,
    )

_MAY_CALL_PYTHON = ("CALL", "BINARY_SUBSCR")
"""Instructions that may call a function in Python without leaving the evaluation loop."""


class Entrance(NamedTuple):
    """What a frame comes in by."""

    at: int
    """The offset, in the code as the program has it, of the instruction that it stands in or before."""
    has_called: bool
    """Whether it stands in that; else it is to call something first, which is on its stack."""
    room: Any
    """What gives it its stack when it is negated."""


class Way(NamedTuple):
    """The instructions of one, as they are put in."""

    one: Instruction
    """That the frame stands in or before."""
    made: list[Instruction]
    behind: Instruction
    """What is behind them in the code."""


def instruction_of_frame(
    code: Any, original: Any, inserted: Any, offset: int
) -> tuple[int, bool] | None:
    """Which instruction of the code as the program has it a frame stands at, and whether it has called there; by
    the last offset in a code that was made of it, in which some were put in. None if it is in none of them."""
    those, _ = taken_apart(original)
    here = [one for one in taken_apart(code)[0] if one.start not in inserted]
    for one, same in zip(those, here):  # noqa: B905  what is behind them has no like
        if one.name != same.name:
            return None
        if same.start == offset:
            return one.start, False
        if same.here - 2 == offset and one.name in _MAY_CALL_PYTHON:
            return one.start, True
    return None


def way_in(
    entrance: Entrance, room: int, instructions: list[Instruction], pasts: dict[Any, Any]
) -> Way:
    """room: which constant gives the stack. pasts: of instructions with a trap, where to come to them past it."""
    new = Instruction
    at = next(at for at, one in enumerate(instructions) if one.start == entrance.at)
    one = instructions[at]
    go_on = new("JUMP_FORWARD", place=one.place)
    if entrance.has_called:
        call = [new(one.name, one.arg, one.place)]
        go_on.target = first_inserted(instructions[at + 1])
    else:
        call = [new("CALL", 0, one.place), new("POP_TOP", place=one.place)]
        go_on.target = pasts.get(one, one)
    take = [new("LOAD_CONST", room, one.place), new("UNARY_NEGATIVE", place=one.place)]
    over = new("JUMP_FORWARD")
    begin = next(at for at, one in enumerate(instructions) if one.name == "RESUME") + 1
    over.target = first_inserted(instructions[begin])
    made = [over, *call, *take, new("POP_TOP", place=one.place), go_on]
    return Way(one, made, over.target)


def offset_behind_call(way: Way) -> int:
    """Where a frame that has called comes in."""
    return way.made[1].here + way.made[1].size


def handlers_on(way: Way, table: list[CodeHandler]) -> list[CodeHandler]:
    """Those of the place, once everything has its own."""
    here = way.one.here
    found = [one for one in table if one.first.here <= here]
    found = [one for one in found if one.behind is None or here < one.behind.here]
    if len(found) > 1:
        raise NoTrapError
    return [one.over(way.made[1], way.behind) for one in found]
