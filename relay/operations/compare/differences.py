"""What two runs differ in: a pair of calls, and all that was counted. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from relay.operations.compare.recorded_calls import EndedCall

Calls = tuple[Sequence[EndedCall], Sequence[EndedCall]]
CallLists = tuple[list[EndedCall], list[EndedCall]]
"""Of either run."""


class Difference(NamedTuple):
    """Two calls with equal arguments, and what is not equal."""

    one: EndedCall
    other: EndedCall
    is_branch: bool = False
    """The outcome is equal, but they called other functions, or the same with other arguments."""
    is_change: bool = False
    """Outcome and branch are equal, but at the end their arguments store something else."""

    @property
    def is_end(self) -> bool:
        """As its program ends, one is not over."""
        return self.one.is_open or self.other.is_open


class DifferenceKind(Enum):
    """In what two calls with equal arguments differ, the strongest first."""

    OUTCOME = "outcome"
    BRANCH = "they have called other functions"
    CALLS = "they have called the same functions with other arguments"
    CLOSING = "a generator was closed, by whom it served, before it came to what it has given in the other run"
    CHANGES = "at the end their arguments store something else"
    END = (
        "as its program ends, one is over and the other is not, or has given something else so far"
    )


class Comparison(NamedTuple):
    """The first difference of two runs, None if there is none, and what else was counted."""

    first: Difference | None
    matched: int
    """Pairs of calls with equal arguments."""
    differing: int
    in_part: int = 0
    """Of the matched, pairs of which more is stored than was compared."""
    later: tuple[Difference, ...] = ()
    """Those that ended next in the first run."""
    is_unexplained: bool = False
    """Whether the first difference may come of what an earlier call has changed: arguments or
    branches differed before it ended, or it has made calls itself."""
    change: Difference | None = None
    """The first call that changed its arguments otherwise, if it ended before the runs parted.
    None also where that was not recorded."""
    branch: Difference | None = None
    """The first call below the first difference that has called other functions, or the same with other arguments,
    where that is one of outcomes."""
    parting: Difference | None = None
    """The call that was the first of all to call otherwise, where it did so before the first difference had ended, and
    before the first change: then it stands in the place of that."""
    by_chance: tuple[Difference, ...] = ()
    """Pairs that chance may have made differ: left out of all the others."""
    alone: Calls = ((), ())
    """Calls that one run has made and the other has not, of either, in their order; none whose callers
    had equal arguments, as then these differ."""
    alone_by_chance: Calls = ((), ())
    """Of those, the ones that chance may have made: left out there."""
    by_default: tuple[tuple[EndedCall, EndedCall], ...] = ()
    """Of the matched, pairs that only defaults tell apart which the trees write otherwise, in their order."""
    unequal: tuple[tuple[EndedCall, EndedCall], ...] = ()
    """Pairs of one function at one place with other arguments, in the order of the first run."""
    parted: tuple[tuple[EndedCall, EndedCall], ...] = ()
    """Of these, the ones whose arguments are not by chance what they are."""

    @property
    def differs(self) -> bool:
        """Whether anything does, but for what chance decides."""
        return self.first is not None or self.change is not None or any(self.alone)
