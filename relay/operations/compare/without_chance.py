"""What two runs differ in, but for what two runs of one side differ in, too: that is chance."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import trio

from relay.errors import RelayError
from relay.operations.compare.answer import Answer
from relay.operations.compare.chance import Chance
from relay.operations.compare.difference_text import (
    Compared,
    Lines,
    comparison_text,
    differing_lines,
    next_without_options,
)
from relay.operations.compare.differences import Comparison
from relay.operations.compare.known_functions import all_functions, known_functions
from relay.operations.compare.matching import Matcher
from relay.operations.compare.recorded_run import Ran
from relay.operations.compare.side_runs import Pair, SideRuns, ends_differ
from relay.operations.compare.whole_calls import Whole, as_far_as, enough_of

MOST_REDRAWN = 3
"""Calls that were found to depend on random numbers, one after the other, before the next is told."""

Found = tuple[Comparison, Answer]
"""What two runs differ in, and that in words."""


class WithoutChance:
    """Compares runs, with as many further ones as it takes to tell a cause from chance."""

    def __init__(self, runs: SideRuns) -> None:
        self._runs = runs
        self._first_was_chance = False
        """Whether what differed first has turned out to do so by chance: it may again, in other runs."""

    async def found(
        self, first: Pair, *, knows_changes: bool = False, to_the_end: bool = False
    ) -> Found:
        """What these differ in, but for chance. knows_changes: what calls change in their arguments is recorded.

        Further runs are recorded as far as they may say something of the first call that differs. If that does
        so by chance, all are recorded to_the_end; at once, if that is known.
        """
        found, answer = await self.compared(first)
        if found.unequal and not found.differs and await self._learns_drawn_ids(first):
            found, answer = await self.compared(first)
        if not found.matched or not (
            found.differs or ends_differ(first) or _only_one_is_late(first)
        ):
            return found, answer
        if self._runs.are_of_one:
            return await self.compared(first, await self.chance(first))
        ends_early = not (to_the_end or self._first_was_chance)
        enough = enough_of(found, answer.beside) if ends_early else None
        if enough is not None and await self._go_on_behind(first, enough):
            whole = self._runs.whole
            self._runs.whole = as_far_as(enough, whole)
            cut = _until(first, self._runs.whole)
            cleared, answer = await self._compared_with_further(cut, knows_changes=knows_changes)
            if is_still_first(cleared, found):
                return cleared, answer
            self._first_was_chance = True
            self._runs.whole = whole
        return await self._compared_with_further(first, knows_changes=knows_changes)

    async def _learns_drawn_ids(self, first: Pair) -> bool:
        """Whether a further run of each side has said of ids in other arguments that they are drawn by lot."""
        if self._runs.are_of_one or any(one.late for one in first):
            return False
        one, other = await self._runs.read(*first)
        if not one.ids_drawn(other):
            return False
        with suppress(RelayError):
            for ran in first:
                await self._runs.read(ran, await self._runs.run(ran.side))
        return True

    async def _go_on_behind(self, ran: Pair, numbers: tuple[int, int]) -> bool:
        """Whether calls behind these are recorded."""
        runs = await self._runs.read(*ran)
        return any(run.goes_on_behind(last) for run, last in zip(runs, numbers, strict=True))

    async def _compared_with_further(self, first: Pair, *, knows_changes: bool) -> Found:
        """What differs in these, but for what differs in further runs of one side, too."""
        found, answer = await self.compared(first)
        ours, theirs = self._runs.sides
        try:
            again = await self._runs.run(ours, rereads=True)
            chance = await self.chance((first[0], again))
            found, answer = await self.compared(first, chance)
            is_open = _is_open(found, first, again)
            if not (found.differs or is_open):
                return found, answer
            second = await self._runs.run(theirs, rereads=is_open or knows_changes)
        except RelayError as error:  # both have run before: what they differ in stands
            return found, answer.without_further_run(error)
        if is_open and not knows_changes:
            return await self._compared_with_changes(first, (again, second))
        chances = chance, await self.chance((first[1], second))
        cleared = await self.compared(first, *chances, with_changes=is_open)
        return await self._without_numbers(cleared, first, *chances, with_changes=is_open)

    async def _compared_with_changes(self, first: Pair, second: Pair) -> Found:
        """Of two runs of each side, the later of which know what calls change in their arguments."""
        ours = await self.chance((second[0], first[0]), with_changes=False)
        theirs = await self.chance((second[1], first[1]), with_changes=False)
        self._runs.forget(*first)
        found, answer = await self.compared(second, ours, theirs, with_changes=True)
        with suppress(RelayError):
            if found.change is not None:  # only the second runs have recorded these
                third = await self._runs.run(self._runs.sides[0], rereads=True)
                ours = ours.joined(await self.chance((second[0], third)))
                found, answer = await self.compared(second, ours, theirs, with_changes=True)
            if found.change is not None:
                third = await self._runs.run(self._runs.sides[1], rereads=True)
                theirs = theirs.joined(await self.chance((second[1], third)))
                found, answer = await self.compared(second, ours, theirs, with_changes=True)
        return await self._without_numbers((found, answer), second, ours, theirs, with_changes=True)

    async def _without_numbers(
        self, so_far: Found, ran: Pair, ours: Chance, theirs: Chance, *, with_changes: bool
    ) -> Found:
        """The same but for functions that depend on random numbers: in all these runs they were the same.

        Where one side draws one more, each later one is another; that is no cause. So a run has the same numbers
        up to the call that differs, and others from there on.
        """
        found, answer = so_far
        asked: int | None = None
        for _ in range(MOST_REDRAWN if any(one.draws for one in ran) else 0):
            first = found.first or found.change
            if first is None or first.is_end or first.one.number == asked:
                break
            asked = first.one.number
            try:
                run = await self._runs.run(self._runs.sides[0], rereads=with_changes, anew=asked)
            except RelayError as error:
                return found, answer.without_further_run(error)
            redrawn = await self.chance((ran[0], run), with_changes=with_changes)
            ours = ours.joined(redrawn.of_functions())
            found, answer = await self.compared(ran, ours, theirs, with_changes=with_changes)
        return found, answer

    async def chance(self, runs: Pair, *, with_changes: bool = True) -> Chance:
        """What two runs of one side differ in, by the numbers of the first of them."""

        def chance() -> Chance:
            one, other = self._runs.read_here(*runs)
            return Matcher(one, other, (all_functions, all_functions)).chance(
                with_changes=with_changes
            )

        return await trio.to_thread.run_sync(chance, abandon_on_cancel=True)

    async def compared(self, ran: Pair, *chances: Chance, with_changes: bool = False) -> Found:
        """What a run of each side differs in, but for what chance decides in the first, and the second."""
        compare = partial(self._compared, ran, chances, with_changes)
        return await trio.to_thread.run_sync(compare, abandon_on_cancel=True)

    def _compared(self, ran: Pair, chances: Sequence[Chance], with_changes: bool) -> Found:
        one, other = self._runs.read_here(*ran)
        knows = known_functions(one, other), known_functions(other, one)
        found = Matcher(one, other, knows).compare(*chances, with_changes=with_changes)
        by_chance = self._by_chance(len(chances))
        if chances and any(one.late for one in ran):
            by_chance += ", or the further one has not come so far"
        codes_differ = self._runs.exit_codes_differ
        both = Compared((one, other), ran, knows, by_chance, codes_differ, self._differing_lines())
        text = comparison_text(found, both)
        differs = found.differs or codes_differ if found.matched else None
        return found, Answer(text, differs, beside=next_without_options(found, both))

    def _by_chance(self, controls: int) -> str:
        """Of which calls it is known that chance decides them, by so many further runs."""
        if self._runs.are_of_one:
            return "where two runs of this one command differ"
        whose = self._runs.sides[0].in_words if controls < len(self._runs.sides) else "one side"
        return f"where two runs of {whose} differ, too"

    def _differing_lines(self) -> Lines | None:
        """The first lines that the sides print otherwise, if it is known that chance has not done it."""
        printed = self._runs.printed
        lines = None if printed is None else differing_lines(*printed)
        if lines is None:
            return None
        one, other = (None if line is None else self._runs.masked(line) for line in lines)
        return one, other


def is_still_first(cleared: Comparison, found: Comparison) -> bool:
    """Whether what differs first, but for chance, in the beginning of two runs does so in all of them.

    Another branch may be weaker than one that is behind.
    """
    if cleared.first is None or found.first is None:
        return False
    return not cleared.first.is_branch or cleared.first.one.number == found.first.one.number


def _until(ran: Pair, whole: tuple[Whole, Whole]) -> Pair:
    """As if they had recorded no more."""
    ours, theirs = [replace(run, until=each.until) for run, each in zip(ran, whole, strict=True)]
    return ours, theirs


def _only_one_is_late(ran: Pair) -> bool:
    """Whether one has ended, and the other would not."""
    return bool(ran[0].late) != bool(ran[1].late)


def _is_open(found: Comparison, ran: Pair, again: Ran) -> bool:
    """Whether the cause may lie in what calls change in their arguments.

    again: a second run of the first side; in what that ends otherwise, chance may have ended both.
    """
    if found.first is not None:
        return found.is_unexplained
    if any(one.late for one in (*ran, again)):
        return _only_one_is_late(ran) and bool(again.late) == bool(ran[0].late)
    ends = [(each.exit_code, each.printed) for each in (*ran, again)]
    return any(a != b and a == c for a, b, c in zip(*ends, strict=True))
