"""Which call of one run is which of the other, and the first of them that went otherwise. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from relay.operations.compare.stream_reader import Call, RecordedRun

TOP = 0


class Difference(NamedTuple):
    """Two calls with equal arguments, and what is not equal."""

    one: Call
    other: Call
    is_branch: bool = False
    """The outcome is equal, but they called other functions, or the same with other arguments."""


class Comparison(NamedTuple):
    """What came of it."""

    first: Difference | None
    matched: int
    """Pairs of calls with equal arguments."""
    differing: int


class Matcher:
    """Two runs, matched from the top: calls of matched calls are compared with each other only.

    knows: by the number of a function, whether a function of one run is there in the tree of the other; one that is new there is
    no other branch.
    """

    def __init__(
        self,
        one: RecordedRun,
        other: RecordedRun,
        knows: tuple[Callable[[int], bool], Callable[[int], bool]],
    ) -> None:
        self.one, self.other, self.knows = one, other, knows

    def compare(self) -> Comparison:
        """The difference that ended first in the first run.

        Calls that only gave other arguments to the same functions count where nothing else differs.
        """
        found: list[Difference] = []
        weaker: list[Difference] = []
        matched = 0
        for a, b, is_equal in self._pairs():
            if not is_equal:
                continue
            matched += 1
            if a.outcome != b.outcome:
                found.append(Difference(a, b))
            elif self._branches(a, b, with_arguments=False):
                found.append(Difference(a, b, True))
            elif self._branches(a, b, with_arguments=True):
                weaker.append(Difference(a, b, True))
        differing = found or weaker
        first = min(differing, key=lambda one: one.one.ended, default=None)
        return Comparison(first, matched, len(differing))

    def _branches(self, a: Call, b: Call, *, with_arguments: bool) -> bool:
        ours = branch_of(self.one, a, self.knows[0], with_arguments=with_arguments)
        theirs = branch_of(self.other, b, self.knows[1], with_arguments=with_arguments)
        return ours != theirs

    def _pairs(self) -> Iterator[tuple[Call, Call, bool]]:
        """Each pair of calls, and whether function and arguments are equal."""
        waiting = [(_tops(self.one), _tops(self.other))]
        while waiting:
            ours, theirs = waiting.pop()
            for a, b, is_equal in _matched(self.one, ours, self.other, theirs):
                yield a, b, is_equal
                under = below(self.one, a.number), below(self.other, b.number)
                if all(under):
                    waiting.append(under)


def branch_of(
    run: RecordedRun, call: Call, knows: Callable[[int], bool], *, with_arguments: bool
) -> list[tuple[Any, ...]]:
    """The functions that a call has called, in their order."""
    called = [one for one in below(run, call.number) if knows(one.function)]
    keys = [run.functions[one.function].key for one in called]
    if not with_arguments:
        return list(keys)
    return [(*key, one.arguments) for key, one in zip(keys, called, strict=True)]


def below(run: RecordedRun, number: int) -> list[Call]:
    return [run.calls[child] for child in run.children.get(number, ()) if child in run.calls]


def _tops(run: RecordedRun) -> list[Call]:
    """Calls that nobody made whose end is known."""
    parents = [number for number in run.children if number == TOP or number not in run.calls]
    return [call for number in sorted(parents) for call in below(run, number)]


def _matched(
    one: RecordedRun, ours: Sequence[Call], other: RecordedRun, theirs: Sequence[Call]
) -> Iterator[tuple[Call, Call, bool]]:
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
