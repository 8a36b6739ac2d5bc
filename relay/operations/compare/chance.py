"""What two runs of one side differ in, which says what chance decides. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import NamedTuple

from relay.operations.compare.differences import DifferenceKind
from relay.operations.compare.recorded_calls import EndedCall, RecordedRun


class KnownCalls:
    """Calls of a run that another one of the same side has made with equal arguments."""

    def __init__(self, run: RecordedRun) -> None:
        self._run = run
        self._calls: set[int] = set()
        self._in_equal_trees: dict[
            int, bool
        ] = {}  # of the calls that begin one, and of those asked for

    def add(self, call: EndedCall, *, with_all_below: bool) -> None:
        """This one is; with_all_below: so are all that it has made, and so on. Before anybody asks."""
        if with_all_below:
            self._in_equal_trees[call.number] = True
        else:
            self._calls.add(call.number)

    def __contains__(self, call: EndedCall) -> bool:
        return call.number in self._calls or self._is_in_equal_tree(call)

    def _is_in_equal_tree(self, call: EndedCall) -> bool:
        asked: list[int] = []
        above: EndedCall | None = call
        while above is not None and above.number not in self._in_equal_trees:
            asked.append(above.number)
            above = self._run.caller(above)
        found = above is not None and self._in_equal_trees[above.number]
        self._in_equal_trees.update(dict.fromkeys(asked, found))
        return found


class Chance(NamedTuple):
    """What two runs of one side differ in. Where chance has decided one call of a function, it may
    decide another, too."""

    known: tuple[KnownCalls, ...]
    """Calls of the first run that the others have made with equal arguments: of others nothing is known."""
    functions: Mapping[DifferenceKind, Set[int]]
    """Those that have differed in any call, by their numbers in the first run."""
    counted: frozenset[tuple[str, str]] = frozenset()
    """Keys of those that the two have called in other numbers, though none of their calls says why."""

    def decides(self, call: EndedCall, kind: DifferenceKind) -> bool:
        """Whether a call of the first run may differ so without a cause."""
        return not self.knows(call) or call.function in self.functions[kind]

    def knows(self, call: EndedCall) -> bool:
        """Whether each other run has made it with equal arguments."""
        return all(call in each for each in self.known)

    def of_functions(self) -> Chance:
        """The same of a run that draws other random numbers from some call on: what it has not called is not unknown for that."""
        return Chance((), self.functions)

    def joined(self, other: Chance) -> Chance:
        """With what the first run differs in from another one."""
        functions = {kind: self.functions[kind] | other.functions[kind] for kind in DifferenceKind}
        return Chance(self.known + other.known, functions, self.counted | other.counted)
