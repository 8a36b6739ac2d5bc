"""What was put into codes that are made: where in each its traps, checks and landings are."""

from __future__ import annotations

import dis
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.process.outside import know_calls_put_in

_inserted = CodeTable()
_checked_behind = CodeTable()
_passed_over = CodeTable()
_unwound = CodeTable()
_landings = CodeTable()
_ways_in = CodeTable()


def note_inserted_at(made: Any, places: dict[int, int]) -> None:
    """The same by offsets: each with that of what it stands before."""
    _inserted[made] = places


def note_way_in(made: Any, calls: int, behind: int) -> None:
    """A code with an entrance, which calls something at one offset, and goes on behind that at another."""
    _ways_in[made] = calls, behind


def note_checks(made: Any, lines: dict[int, int], passed_over: Collection[int]) -> None:
    """A code with checks. lines: by their offsets, the line that may have written; passed_over: offsets at
    which something is raised that is no matter to the program."""
    _checked_behind[made] = lines
    _passed_over[made] = passed_over


def note_ends(made: Any, unwound: range, landing: int) -> None:
    """Of one with checks: see `unwinding_in` and `landing_in`."""
    _unwound[made] = unwound
    _landings[made] = landing


def landing_in(code: Any) -> int | None:
    """Where a frame goes on in this code, which has checks, behind a call ahead of all its lines."""
    found: int | None = _landings.get(code)
    return found


def entered_at(code: Any) -> tuple[int, int]:
    """Of a code with an entrance, where it calls something, and what is behind that."""
    found: tuple[int, int] = _ways_in.get(code)
    return found


def inserted_in(code: Any) -> dict[int, int]:
    """Where in this code traps are: their offsets, each with that of the instruction behind the trap."""
    found: dict[int, int] = _inserted.get(code, {})
    return found


know_calls_put_in(lambda code, offset: offset in inserted_in(code))


def unwinding_in(code: Any) -> range:
    """The offsets of what is called in this code where an exception leaves the frame, and behind it."""
    found: range = _unwound.get(code, range(0))
    return found


def has_checks(code: Any) -> bool:
    """Whether it is one that calls a check where it may have written."""
    return code in _checked_behind


def write_behind(code: Any, offset: int) -> int | None:
    """Of a check at this offset, the line that may have written, of those that have run last."""
    found: int | None = _checked_behind.get(code, {}).get(offset)
    return found


def is_passed_over(code: Any, offset: int) -> bool:
    """Whether what is raised at this offset only tells a check that there is nothing to compare: the
    program raised nothing."""
    return offset in _passed_over.get(code, ())


def is_before_send(code: Any, offset: int) -> bool:
    """Whether a check at this offset stands where the frame hands on to another one: the next event
    may be that one's."""
    behind = _inserted.get(code, {}).get(offset)
    return behind is not None and code.co_code[behind] == dis.opmap["SEND"]
