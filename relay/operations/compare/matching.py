"""Which call of one run is which of the other, and the first of them that went otherwise. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from relay.operations.compare.stream_reader import EndedCall, RecordedRun

TOP = 0
MOST_LATER = 100


class Difference(NamedTuple):
    """Two calls with equal arguments, and what is not equal."""

    one: EndedCall
    other: EndedCall
    is_branch: bool = False
    """The outcome is equal, but they called other functions, or the same with other arguments."""
    is_change: bool = False
    """Outcome and branch are equal, but at the end their arguments store something else."""


class ByChance(NamedTuple):
    """What two runs of one side differ in: functions, by what has differed in any call of theirs.

    Where chance has decided once, it may decide another call, too.
    """

    known: frozenset[int] | None
    """Calls of the first run that the second has made with equal arguments; of others nothing is
    known. None: there was no second run."""
    outcomes: frozenset[int]
    branches: frozenset[int]
    """Functions that have called other functions."""
    calls: frozenset[int]
    """Those that have called other functions, or the same with other arguments."""
    changes: frozenset[int]


NOT_ASKED = ByChance(None, *[frozenset[int]()] * 4)


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
    """Whether the first difference may come of what an earlier call has changed: arguments differed
    before it ended, or it has made calls itself."""
    change: Difference | None = None
    """The first call that changed its arguments otherwise, if it ended before the runs parted.
    None also where that was not recorded."""
    by_chance: tuple[Difference, ...] = ()
    """Pairs that differ in functions in which two runs of the first side do, too: left out of all
    the others."""


class Matcher:
    """Two runs, matched from the top: calls of matched calls are compared with each other only.

    knows: by the number of a function of one run, whether the tree of the other has it, too. A
    function that is new is no other branch.
    """

    def __init__(
        self,
        one: RecordedRun,
        other: RecordedRun,
        knows: tuple[Callable[[int], bool], Callable[[int], bool]],
    ) -> None:
        self.one, self.other, self.knows = one, other, knows

    def differing_by_chance(self) -> ByChance:
        """What differs in the two runs, which are of one side."""
        known, outcomes, branches, calls, changes = (set[int]() for _ in range(5))
        for a, b, is_equal in self._pairs():
            if not is_equal:
                continue
            known.add(a.number)
            if a.outcome != b.outcome:
                outcomes.add(a.function)
            if self._branches(a, b, with_arguments=False):
                branches.add(a.function)
            if self._branches(a, b, with_arguments=True):
                calls.add(a.function)
            if a.changes != b.changes:
                changes.add(a.function)
        return ByChance(*map(frozenset[int], (known, outcomes, branches, calls, changes)))

    def compare(self, chance: ByChance = NOT_ASKED) -> Comparison:
        """The difference that ended first in the first run.

        chance: what does not count.

        Calls that only gave other arguments to the same functions count where nothing else differs;
        of two trees, in which code may have been put in order, branches where no outcome does. What
        calls made of their arguments stands apart: it may be no more than what they remember.
        """
        outcomes: list[Difference] = []
        branches: list[Difference] = []
        weaker: list[Difference] = []
        by_chance: list[Difference] = []
        change: Difference | None = None
        matched = in_part = 0
        unequal = []
        for a, b, is_equal in self._pairs():
            if not is_equal:
                unequal.append(a.ended)
                continue
            matched += 1
            in_part += a.is_in_part or b.is_in_part
            counts = chance.known is None or a.number in chance.known
            difference = self._difference(a, b, chance) if counts else None
            if difference is None:
                left_out = self._difference(a, b, NOT_ASKED)
                by_chance += [left_out] if left_out is not None else []
            elif not difference.is_branch:
                outcomes.append(difference)
            elif self._branches(a, b, with_arguments=False):
                branches.append(difference)
            else:
                weaker.append(difference)
            if (
                a.changes != b.changes
                and (change is None or a.ended < change.one.ended)
                and counts
                and a.function not in chance.changes
            ):
                change = Difference(a, b, is_change=True)
        if self.one.root == self.other.root:
            found = [*outcomes, *branches] or weaker
        else:
            found = outcomes or branches or weaker
        found.sort(key=lambda one: one.one.ended)
        first, later = found[0] if found else None, tuple(found[1 : MOST_LATER + 1])
        before = first.one.ended if first else math.inf
        is_unexplained = any(ended < before for ended in unequal) or (
            first is not None and first.one.number in self.one.children
        )
        if change is not None and (
            change.one.ended >= before or change.one.begun >= self._parting(first)
        ):
            change = None
        by_chance.sort(key=lambda one: one.one.ended)
        return Comparison(
            first, matched, len(found), in_part, later, is_unexplained, change, tuple(by_chance)
        )

    def _difference(self, a: EndedCall, b: EndedCall, chance: ByChance) -> Difference | None:
        """How two calls with equal arguments differ, but by chance; None if they do not."""
        if a.outcome != b.outcome and a.function not in chance.outcomes:
            return Difference(a, b)
        if self._branches(a, b, with_arguments=False):
            return None if a.function in chance.branches else Difference(a, b, True)
        if self._branches(a, b, with_arguments=True):
            return None if a.function in chance.calls else Difference(a, b, True)
        return None

    def _branches(self, a: EndedCall, b: EndedCall, *, with_arguments: bool) -> bool:
        ours = branch_of(self.one, a, self.knows[0], with_arguments=with_arguments)
        theirs = branch_of(self.other, b, self.knows[1], with_arguments=with_arguments)
        return ours != theirs

    def _parting(self, difference: Difference | None) -> float:
        """The number of the first call, in the first run, that the one of a branch has made otherwise."""
        if difference is None or not difference.is_branch:
            return math.inf
        sides = ((self.one, difference.one), (self.other, difference.other))
        ours, theirs = (
            branch_of(run, call, knows, with_arguments=True)
            for (run, call), knows in zip(sides, self.knows, strict=True)
        )
        made = below(self.one, difference.one.number, self.knows[0])
        pairs = zip(made, ours, theirs, strict=False)
        return next((call.number for call, a, b in pairs if a != b), math.inf)

    def _pairs(self) -> Iterator[tuple[EndedCall, EndedCall, bool]]:
        """Each pair of calls, and whether function and arguments are equal."""
        waiting = [(_tops(self.one, self.knows[0]), _tops(self.other, self.knows[1]))]
        while waiting:
            ours, theirs = waiting.pop()
            for a, b, is_equal in _matched(self.one, ours, self.other, theirs):
                yield a, b, is_equal
                ours_below = below(self.one, a.number, self.knows[0])
                theirs_below = below(self.other, b.number, self.knows[1])
                if ours_below and theirs_below:
                    waiting.append((ours_below, theirs_below))


def branch_of(
    run: RecordedRun, call: EndedCall, knows: Callable[[int], bool], *, with_arguments: bool
) -> list[tuple[Any, ...]]:
    """The functions that a call has called, in their order."""
    called = below(run, call.number, knows)
    keys = [run.functions[one.function].key for one in called]
    if not with_arguments:
        return list(keys)
    return [(*key, one.arguments) for key, one in zip(keys, called, strict=True)]


def below(run: RecordedRun, number: int, knows: Callable[[int], bool]) -> list[EndedCall]:
    """The calls that a call has made; in the place of one of a function that the other tree has
    not, as of a part that was made a function of its own, those that it has made."""
    found: list[EndedCall] = []
    waiting = list(reversed(run.children.get(number, ())))
    while waiting:
        call = run.calls.get(waiting.pop())
        if call is None:
            continue
        if knows(call.function):
            found.append(call)
        else:
            waiting += reversed(run.children.get(call.number, ()))
    return found


def _tops(run: RecordedRun, knows: Callable[[int], bool]) -> list[EndedCall]:
    """Calls that nobody made whose end is known."""
    parents = [number for number in run.children if number == TOP or number not in run.calls]
    return [call for number in sorted(parents) for call in below(run, number, knows)]


def _matched(
    one: RecordedRun, ours: Sequence[EndedCall], other: RecordedRun, theirs: Sequence[EndedCall]
) -> Iterator[tuple[EndedCall, EndedCall, bool]]:
    """Equal calls in their order; of the rest, calls of the same function in their order."""
    equal, rest = defaultdict(list), defaultdict(list)
    for b in reversed(theirs):
        equal[other.functions[b.function].key, b.arguments].append(b)
    left, used = [], set()
    for a in ours:
        found = equal.get((one.functions[a.function].key, a.arguments))
        if found:
            b = found.pop()
            used.add(b.number)
            yield a, b, True
        else:
            left.append(a)
    for b in reversed(theirs):
        if b.number not in used:
            rest[other.functions[b.function].key].append(b)
    for a in left:
        candidates = rest.get(one.functions[a.function].key)
        if candidates:
            yield a, candidates.pop(), False
