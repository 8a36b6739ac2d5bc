"""Which call of one run is which of the other, and the first of them that went otherwise. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from relay.operations.compare.chance import Chance, KnownCalls
from relay.operations.compare.differences import (
    CallLists,
    Calls,
    Comparison,
    Difference,
    DifferenceKind,
)
from relay.operations.compare.recorded_calls import HASH_BYTES, EndedCall, RecordedRun

TOP = 0
MOST_LATER = 100


class _Pairs:
    """The pairs of calls of two runs, as they are gone through."""

    def __init__(self) -> None:
        self.matched = self.in_part = 0
        self.unequal: list[tuple[EndedCall, EndedCall]] = []
        self.parted: list[tuple[EndedCall, EndedCall]] = []
        self.by_default: list[tuple[EndedCall, EndedCall]] = []
        self.differences: dict[DifferenceKind, list[Difference]] = {
            kind: [] for kind in DifferenceKind
        }
        self.by_chance: list[Difference] = []
        self.alone: CallLists = ([], [])

    def note(
        self,
        a: EndedCall,
        b: EndedCall,
        kinds: Sequence[DifferenceKind],
        counting: Sequence[DifferenceKind],
    ) -> None:
        """What two calls with equal arguments differ in; counting: of that, what chance does not decide.

        The strongest counts, and beside it what they have made of their arguments.
        """
        changes = DifferenceKind.CHANGES
        if changes in counting:
            self.differences[changes].append(_difference(a, b, changes))
        if counting and counting[0] is not changes:
            self.differences[counting[0]].append(_difference(a, b, counting[0]))
        elif kinds and kinds[0] is not changes:
            self.by_chance.append(_difference(a, b, kinds[0]))


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

    def chance(self, *, with_changes: bool = True) -> Chance:
        """What the two runs differ in, which are of one side; `with_changes` if both have recorded them."""
        known = KnownCalls(self.one)
        functions: dict[DifferenceKind, set[int]] = {kind: set() for kind in DifferenceKind}
        alone: CallLists = ([], [])
        for a, b, is_equal in self._pairs(alone):
            if self._are_equal_trees(a, b):
                known.add(a, with_all_below=True)
            elif is_equal:
                known.add(a, with_all_below=False)
                for kind in self._kinds(a, b):
                    functions[kind].add(a.function)
        functions[DifferenceKind.CALLS] |= functions[DifferenceKind.BRANCH]
        if not with_changes:
            functions[DifferenceKind.CHANGES].clear()
        counted = [key for keys in self._keys(alone) for key in keys]
        return Chance((known,), functions, frozenset(counted))

    def compare(self, *chances: Chance, with_changes: bool = True) -> Comparison:
        """The difference that ended first in the first run, of those that chance does not decide.

        chances: in the first run, and in the second. with_changes: also what calls made of their arguments.

        Calls that only gave other arguments to the same functions count where nothing else differs;
        of two trees, in which code may have been put in order, branches where no outcome does. What
        calls made of their arguments stands apart: it may be no more than what they remember.
        """
        pairs = self._sorted_out(chances)
        outcomes, branches, weaker, closings, changes, unended = pairs.differences.values()
        if self.one.has_tree_of(self.other):
            found = [*outcomes, *branches] or weaker or closings or unended
        else:
            found = outcomes or branches or weaker or closings or unended
        found.sort(key=_when_ended)
        first, later = found[0] if found else None, tuple(found[1 : MOST_LATER + 1])
        before = first.one.ended if first else math.inf
        apart = [*(a.ended for a, _ in pairs.unequal), *(one.one.ended for one in branches)]
        is_unexplained = any(ended < before for ended in apart) or (
            first is not None and first.one.number in self.one.children
        )
        change = min(changes, key=_when_ended, default=None) if with_changes else None
        if change is not None and (
            change.one.ended >= before or change.one.begun >= self._parting(first)
        ):
            change = None
        parted = [*branches, *weaker]
        branch = self._branch_below(first, parted)
        parting = self._parted_before(first, change, parted) if branch is None else None
        made_alone, alone_by_chance = self._without_chance(pairs.alone, chances)
        return Comparison(
            first,
            pairs.matched,
            len(found),
            pairs.in_part,
            later,
            is_unexplained,
            change if parting is None else None,
            branch,
            parting,
            tuple(sorted(pairs.by_chance, key=_when_ended)),
            made_alone,
            alone_by_chance,
            tuple(sorted(pairs.by_default, key=_when_begun)),
            tuple(sorted(pairs.unequal, key=_when_begun)),
            tuple(sorted(pairs.parted, key=_when_begun)),
        )

    def _branch_below(
        self, first: Difference | None, branches: Sequence[Difference]
    ) -> Difference | None:
        if first is None or first.is_branch:
            return None
        for found in sorted(branches, key=_when_ended):
            above = self.one.caller(found.one)
            while above is not None and above.number > first.one.number:
                above = self.one.caller(above)
            if above is not None and above.number == first.one.number:
                return found
        return None

    def _parted_before(
        self, first: Difference | None, change: Difference | None, branches: Sequence[Difference]
    ) -> Difference | None:
        """Of these the one that was the first to call otherwise, before an outcome or a change that may come of it; not
        the one that has made that change: what it has left says more.
        """
        if first is None or first.is_branch or first.is_end:
            return None
        found = None
        earliest: float = (first if change is None else change).one.begun + 1
        for one in sorted(branches, key=lambda each: each.one.number):
            if one.one.number >= earliest:
                break  # what a call has made begins behind it
            parting = self._parting(one)
            if parting < earliest:
                found, earliest = one, parting
        if found is not None and change is not None and found.one.number == change.one.number:
            return None
        return found

    def _sorted_out(self, chances: Sequence[Chance]) -> _Pairs:
        """All pairs of calls, by what they differ in and by whether chance decides that."""
        found = _Pairs()
        for a, b, is_equal in self._pairs(found.alone):
            if self._are_equal_trees(a, b):
                tree = self.one.trees[a.number]
                found.matched += tree.calls
                found.in_part += tree.in_part
                continue
            sides = list(zip(chances, (a, b), strict=False))
            if not is_equal:
                found.unequal.append((a, b))
                if all(chance.knows(call) for chance, call in sides):
                    found.parted.append((a, b))
                continue
            if (a.is_open or b.is_open) and self._is_cut:
                continue  # nobody knows how they end
            found.matched += 1
            found.in_part += a.is_in_part or b.is_in_part
            if a.arguments != b.arguments:
                found.by_default.append((a, b))
            kinds = list(self._kinds(a, b))
            counting = [
                kind for kind in kinds if not any(chance.decides(c, kind) for chance, c in sides)
            ]
            found.note(a, b, kinds, counting)
        return found

    def _without_chance(self, alone: CallLists, chances: Sequence[Chance]) -> tuple[Calls, Calls]:
        """Those of functions that two runs of one side have called equally often; and the others.

        Of runs that were not recorded to their ends, nobody knows which calls one has not made.
        """
        counting: CallLists = ([], [])
        by_chance: CallLists = ([], [])
        if self._is_cut:
            return counting, by_chance
        for side, keys in enumerate(self._keys(alone)):
            for call, key in sorted(zip(alone[side], keys, strict=True), key=_when_begun):
                is_by_chance = any(key in chance.counted for chance in chances)
                (by_chance if is_by_chance else counting)[side].append(call)
        return counting, by_chance

    @property
    def _is_cut(self) -> bool:
        """Whether a run goes on behind what is compared."""
        return self.one.is_cut or self.other.is_cut

    def _keys(self, alone: CallLists) -> list[list[tuple[str, str]]]:
        runs = (self.one, self.other)
        return [
            [run.functions[call.function].key for call in calls]
            for run, calls in zip(runs, alone, strict=True)
        ]

    def _kinds(self, a: EndedCall, b: EndedCall) -> Iterator[DifferenceKind]:
        """In what two calls differ."""
        if a.is_open or b.is_open:
            if a.outcome != b.outcome and not self._is_cut:
                yield DifferenceKind.END
            return
        is_closing = a.outcome != b.outcome and _may_differ_by_closing(a, b)
        if a.outcome != b.outcome and not is_closing:
            yield DifferenceKind.OUTCOME
        if self._branches(a, b, with_arguments=False, so_far=is_closing):
            yield DifferenceKind.BRANCH
        elif self._branches(a, b, with_arguments=True, so_far=is_closing):
            yield DifferenceKind.CALLS
        if is_closing:
            yield DifferenceKind.CLOSING
        elif a.changes != b.changes:
            yield DifferenceKind.CHANGES

    def _branches(self, a: EndedCall, b: EndedCall, *, with_arguments: bool, so_far: bool) -> bool:
        """so_far: as far as both have come."""
        ours = branch_of(self.one, a, self.knows[0], with_arguments=with_arguments)
        theirs = branch_of(self.other, b, self.knows[1], with_arguments=with_arguments)
        both = min(len(ours), len(theirs)) if so_far else None
        return ours[:both] != theirs[:both]

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

    def _are_equal_trees(self, a: EndedCall, b: EndedCall) -> bool:
        """Whether nothing differs in two calls, and in all that they have made."""
        ours, theirs = self.one.trees.get(a.number), self.other.trees.get(b.number)
        return ours is not None and theirs is not None and ours.equal == theirs.equal

    def _pairs(self, alone: CallLists) -> Iterator[tuple[EndedCall, EndedCall, bool]]:
        """Each pair of calls, and whether function and arguments are equal; none below calls that are equal with
        all that they have made.

        alone: gets the calls of either run that are in no pair, and whose callers had other arguments.
        """
        tops = _tops(self.one, self.knows[0]), _tops(self.other, self.knows[1])
        waiting = [(*tops, alone)]
        while waiting:
            ours, theirs, left = waiting.pop()
            for a, b, is_equal in _matched(self.one, ours, self.other, theirs, left):
                yield a, b, is_equal
                if self._are_equal_trees(a, b):
                    continue
                ours_below = _made_by(self.one, a, self.knows[0])
                theirs_below = _made_by(self.other, b, self.knows[1])
                if ours_below or theirs_below:
                    explained: CallLists = ([], [])
                    waiting.append((ours_below, theirs_below, explained if is_equal else alone))


def _difference(a: EndedCall, b: EndedCall, kind: DifferenceKind) -> Difference:
    return Difference(
        a, b, kind in (DifferenceKind.BRANCH, DifferenceKind.CALLS), kind is DifferenceKind.CHANGES
    )


def _may_differ_by_closing(a: EndedCall, b: EndedCall) -> bool:
    """Whether one is a generator that was closed, and as far as it came it gave what the other has given.

    How far it came is the decision of whom it served: that is the cause of what it has not done.
    """
    both = min(a.yields, b.yields)
    is_short = (a.is_closed and a.yields == both) or (b.is_closed and b.yields == both)
    return is_short and a.gave[:both] == b.gave[:both]


def _when_ended(difference: Difference) -> float:
    """In the first run; of a call that is not over there, in the other one."""
    one, other = difference.one, difference.other
    ended = other.ended if one.is_open else one.ended
    return math.inf if ended < 0 else ended


def _when_begun(pair: tuple[EndedCall, object]) -> int:
    return pair[0].number


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
    """The calls that a call has made, also those that are not over; in the place of one of a function that the
    other tree has not, as of a part that was made a function of its own, those that it has made."""
    found: list[EndedCall] = []
    waiting = list(reversed(run.children.get(number, ())))
    while waiting:
        call = run.call(waiting.pop())
        if knows(call.function):
            found.append(call)
        else:
            waiting += reversed(run.children.get(call.number, ()))
    return found


def _tops(run: RecordedRun, knows: Callable[[int], bool]) -> list[EndedCall]:
    """Calls that nobody made of whom anything is known; those that are not over come last."""
    known = run.calls.keys() | run.open.keys()
    parents = [number for number in run.children if number == TOP or number not in known]
    calls = [call for number in sorted(parents) for call in below(run, number, knows)]
    return sorted(calls, key=attrgetter("is_open"))


def _made_by(run: RecordedRun, call: EndedCall, knows: Callable[[int], bool]) -> list[EndedCall]:
    """The calls that a call has made; those that are not over come last."""
    return sorted(below(run, call.number, knows), key=attrgetter("is_open"))


def _matched(
    one: RecordedRun,
    ours: Sequence[EndedCall],
    other: RecordedRun,
    theirs: Sequence[EndedCall],
    alone: CallLists,
) -> Iterator[tuple[EndedCall, EndedCall, bool]]:
    """Equal calls in their order, then those that only defaults tell apart; of the rest, calls of the
    same function which only one argument tells apart, in their order, and then the others.

    In threads, calls begin in another order, and what they share has come to another point: it is
    the other arguments that say which is which.
    """
    left, left_of_other = list(ours), list(theirs)
    for pair in _equal(one, left, other, left_of_other, attrgetter("arguments")):
        yield *pair, True
    if any(a.given for a in left):
        for what in (attrgetter("known"), attrgetter("given")):
            for pair in _equal(one, left, other, left_of_other, what):
                yield *pair, True
    rest, rest_of_other = defaultdict(list), defaultdict(list)
    for a in left:
        rest[one.functions[a.function].key].append(a)
    for b in left_of_other:
        rest_of_other[other.functions[b.function].key].append(b)
    for key, calls in rest.items():
        candidates = rest_of_other.get(key, [])
        if len(calls) > 1 and len(candidates) > 1:
            yield from _nearly_equal(calls, candidates)
        pairs = min(len(calls), len(candidates))
        for a, b in zip(calls, candidates, strict=False):
            yield a, b, False
        del candidates[:pairs]
        alone[0].extend(calls[pairs:])
    alone[1].extend(b for candidates in rest_of_other.values() for b in candidates)


def _nearly_equal(
    ours: list[EndedCall], theirs: list[EndedCall]
) -> Iterator[tuple[EndedCall, EndedCall, bool]]:
    """Calls of one function which one argument tells apart, in their order: the one without which
    most are equal. They leave the lists."""
    count = min(len(call.each) for call in (*ours, *theirs)) // HASH_BYTES
    best: list[tuple[EndedCall, EndedCall]] = []
    for at in range(count):
        found, waiting = [], defaultdict(list)
        for b in reversed(theirs):
            waiting[_without(b, at)].append(b)
        for a in ours:
            candidates = waiting.get(_without(a, at))
            if candidates:
                found.append((a, candidates.pop()))
        if len(found) > len(best):
            best = found
    for a, b in best:
        yield a, b, False
    used, used_of_other = {a.number for a, _ in best}, {b.number for _, b in best}
    ours[:] = [a for a in ours if a.number not in used]
    theirs[:] = [b for b in theirs if b.number not in used_of_other]


def _without(call: EndedCall, at: int) -> bytes:
    """The arguments but for one."""
    return call.each[: at * HASH_BYTES] + call.each[(at + 1) * HASH_BYTES :]


def _equal(
    one: RecordedRun,
    ours: list[EndedCall],
    other: RecordedRun,
    theirs: list[EndedCall],
    what: Callable[[EndedCall], int],
) -> Iterator[tuple[EndedCall, EndedCall]]:
    """Calls of the same function in which this is equal, and not 0, in their order; they leave the lists."""
    equal = defaultdict(list)
    for b in filter(what, reversed(theirs)):
        equal[other.functions[b.function].key, what(b)].append(b)
    left, used = [], set()
    for a in ours:
        found = equal.get((one.functions[a.function].key, what(a)))
        if found:
            b = found.pop()
            used.add(b.number)
            yield a, b
        else:
            left.append(a)
    ours[:] = left
    theirs[:] = [b for b in theirs if b.number not in used]
