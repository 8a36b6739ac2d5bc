"""Two runs of a program, and the first call of own code that went otherwise in the second."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence, Set
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import trio

from relay.config import Settings
from relay.errors import RelayError
from relay.operations.compare.chance import Chance
from relay.operations.compare.difference_text import (
    MOST_BYTES,
    Compared,
    Lines,
    clip,
    comparison_text,
    differing_lines,
    next_without_options,
    nothing_called,
)
from relay.operations.compare.differences import Comparison, Difference
from relay.operations.compare.known_functions import all_functions, known_functions
from relay.operations.compare.matching import Matcher
from relay.operations.compare.readings import Readings
from relay.operations.compare.recorded_calls import RecordedRun
from relay.operations.compare.recorded_run import (
    NOTHING_COMPARED,
    Printed,
    Progress,
    Ran,
    Side,
    run_recorded,
)
from relay.operations.compare.scratch import scratch_directory
from relay.operations.compare.sides import missing_in
from relay.operations.compare.stream_reader import last_whole_call
from relay.operations.compare.whole_calls import (
    ALL,
    FARTHER,
    MOST_ZOOMS,
    REACH,
    WHOLE_SECONDS,
    WHOLE_SECONDS_OF_EQUAL_RUNS,
    Whole,
    around_beginning,
    as_far_as,
    enough_of,
    is_whole,
    shows_the_beginning,
    to_their_ends,
)
from relay.redaction.redaction import Redaction

Pair = tuple[Ran, Ran]

FURTHER = 2
"""How many times as long as the first two a further run may take: it records more, and is to come as far."""


class Answer(NamedTuple):
    """In words, and whether the runs differ; None: they could not be compared."""

    text: str
    differs: bool | None
    is_late: bool = False
    """Whether a run was ended after the time that it was given."""
    beside: Difference | None = None
    """What is told beside the first call that differs, where that gives options."""


async def compare_runs(
    settings: Settings,
    sides: tuple[Side, Side],
    focus: Sequence[str],
    *,
    limit: float | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Run one after the other, and compare. Programs get no input; what they print is not shown.

    Where something differs, each side runs once more: what differs in two runs of one side, too, is
    left out. Where that leaves open what has made the difference, the further runs are recorded with
    what calls change in their arguments. limit: seconds that each run may take; a further one, twice as many,
    as it is to come as far. Of runs that were ended so, what both have called by then is compared.
    """
    with scratch_directory() as home:
        return await _Runs(settings, sides, focus, home, limit, progress or Progress()).compared()


class _Runs:
    """The runs of one comparison: two, and as many more as it takes to tell a cause from chance."""

    def __init__(
        self,
        settings: Settings,
        sides: tuple[Side, Side],
        focus: Sequence[str],
        home: str,
        limit: float | None,
        progress: Progress,
    ) -> None:
        self._settings, self._sides, self._focus, self._home = settings, sides, focus, home
        self._limit, self._progress = limit, progress
        self._masked = Redaction(settings.redact_patterns, settings.redact_credentials).text
        self._readings = Readings(self._masked, sides)
        self._python: str | None = None
        self._count = 0
        self._last: Ran | None = None
        self._whole = Whole(seconds=WHOLE_SECONDS), ALL
        self._exit_codes: tuple[set[int | None], set[int | None]] = (set(), set())
        self._printed: tuple[set[Printed], set[Printed]] = (set(), set())

    async def compared(self) -> Answer:
        """What the sides differ in, but for what chance decides."""
        first: list[Ran] = []
        for side in self._sides:
            try:
                first.append(await self._run(side))
            except RelayError as error:
                hint = f". {error.suggestion}" if isinstance(error.suggestion, str) else ""
                why = missing_in(side, self._sides[0]) or f"{error.message}{hint}"
                text = f"{side.in_words} was not run: {why}"
                return Answer(clip(text, MOST_BYTES), None)
            if not first[-1].has_called:
                if first[-1].late:
                    return Answer(first[-1].late, None, is_late=True)
                text = nothing_called(first[-1])
                return Answer(clip(text, MOST_BYTES), None)
            if len(first) == 1:
                self._have_whole_what_is_in(first[0])
        ran, answer = await self._answered((first[0], first[1]))
        return _with_limit(answer, ran) if any(one.late for one in ran) else answer

    async def _answered(self, ran: Pair) -> tuple[Pair, Answer]:
        """What the sides differ in, and the runs that show it.

        Where the first runs are not recorded whole all over, further ones are, around what differs, until these
        show where that begins. If they do not, all is recorded whole; where nothing differs, as much as
        can be in some time.
        """
        if self._whole == (ALL, ALL):
            return ran, (await self._without_chance(ran))[1]
        brief, whole = ran, self._whole
        in_brief, answer = await self._compare(ran)
        found, reach, zooms, is_cleared = in_brief, REACH, 0, False
        try:
            while True:
                closer = None
                if zooms or is_whole(found):
                    found, answer = await self._without_chance(
                        ran, knows_changes=zooms > 0, to_the_end=is_cleared
                    )
                    if shows_the_beginning(found, self._whole):
                        if not zooms or await self._is_of_all(found, in_brief, ran):
                            return ran, answer
                        closer = to_their_ends(self._whole)
                    elif zooms and not (is_cleared or found.differs or found.parted):
                        self._whole = whole
                        found, answer = await self._found_in_brief(brief)
                        in_brief = found
                        reach, is_cleared = REACH, True
                    else:
                        reach *= FARTHER
                closer = closer or around_beginning(found, reach, answer.beside)
                if closer is None or zooms == MOST_ZOOMS:
                    break
                self._whole = closer
                ran, zooms = await self._both(rereads=True), zooms + 1
            ran = await self._both_whole(ran, is_equal=not (found.differs or found.parted))
        except RelayError as error:  # both have run before: what they differ in stands
            return ran, _without_further_run(answer, error)
        return ran, (await self._without_chance(ran, to_the_end=is_cleared))[1]

    async def _is_of_all(self, found: Comparison, in_brief: Comparison, ran: Pair) -> bool:
        """Whether what differs first in runs that may have ended to record before does so in all of their calls."""
        if self._whole == to_their_ends(self._whole) or _is_still_first(found, in_brief):
            return True
        return not any(run.is_cut for run in await self._read(ran))

    async def _found_in_brief(self, brief: Pair) -> tuple[Comparison, Answer]:
        """What differs in runs that were recorded in brief, where the first of it was seen to differ by chance."""
        again = await self._run(self._sides[0])
        return await self._compare(brief, await self._chance((brief[0], again)))

    async def _both_whole(self, ran: Pair, *, is_equal: bool) -> Pair:
        """Both recorded whole; is_equal: nothing has differed in brief, but for what does so by chance."""
        if not is_equal or _ends_differ(ran):
            self._whole = ALL, ALL
            return await self._both()
        self._whole = Whole(seconds=WHOLE_SECONDS_OF_EQUAL_RUNS), ALL
        ours = await self._run(self._sides[0], scattered=False)
        self._have_whole_what_is_in(ours)
        return ours, await self._run(self._sides[1], scattered=False)

    def _have_whole_what_is_in(self, ran: Ran) -> None:
        """Further runs record those calls whole that this one has had the time for."""
        self._whole = (Whole(last=last_whole_call(ran.stream)),) * 2

    async def _both(self, *, rereads: bool = False) -> Pair:
        ours, theirs = [
            await self._run(side, rereads=rereads, scattered=False) for side in self._sides
        ]
        return ours, theirs

    async def _run(self, side: Side, *, rereads: bool = False, scattered: bool = True) -> Ran:
        """One more; the one before it is read meanwhile.

        scattered: from the third on with addresses by lot: what depends on them is chance.
        """
        self._count += 1
        async with self._reading_the_last():
            ran = await run_recorded(
                self._settings,
                side,
                self._focus,
                Path(self._home) / f"{self._count}.jsonl",
                side.python or self._python,
                rereads=rereads,
                seed=self._count if scattered and self._count > len(self._sides) else None,
                limit=self._limit
                and self._limit * (1 if self._count <= len(self._sides) else FURTHER),
                progress=self._progress,
                whole=self._whole[self._sides.index(side)],
            )
        self._last = ran
        self._python = ran.python  # the other runs by the same, unless it has its own
        if not ran.late:
            self._exit_codes[self._sides.index(side)].add(ran.exit_code)
            self._printed[self._sides.index(side)].add(ran.printed)
        return ran

    @asynccontextmanager
    async def _reading_the_last(self) -> AsyncIterator[None]:
        """The last run is read while the block makes the next one."""
        refused = None
        async with trio.open_nursery() as nursery:
            if self._last is not None:
                read = partial(trio.to_thread.run_sync, abandon_on_cancel=True)
                nursery.start_soon(read, self._readings.read, self._last)
            try:
                yield
            except RelayError as error:
                refused = error  # by itself, and not in a group
        if refused is not None:
            raise refused

    async def _without_chance(
        self, first: Pair, *, knows_changes: bool = False, to_the_end: bool = False
    ) -> tuple[Comparison, Answer]:
        """With as many further runs as it takes. knows_changes: what calls change in their arguments is recorded.

        They are recorded as far as they may say something of the first call that differs. If that does
        so by chance, all are recorded to_the_end; at once, if that is known.
        """
        found, answer = await self._compare(first)
        if not found.matched or not (found.differs or _ends_differ(first)):
            return found, answer
        if _are_one(*self._sides):
            return await self._compare(first, await self._chance(first))
        enough = None if to_the_end else enough_of(found, answer.beside)
        if enough is not None and await self._go_on_behind(first, enough):
            whole = self._whole
            self._whole = as_far_as(enough, whole)
            cut = _until(first, self._whole)
            cleared, answer = await self._compared_with_further(cut, knows_changes=knows_changes)
            if _is_still_first(cleared, found):
                return cleared, answer
            self._whole = whole
        return await self._compared_with_further(first, knows_changes=knows_changes)

    async def _go_on_behind(self, ran: Pair, numbers: tuple[int, int]) -> bool:
        """Whether calls behind these are recorded."""
        runs = await self._read(ran)
        return any(run.goes_on_behind(last) for run, last in zip(runs, numbers, strict=True))

    async def _read(self, ran: Pair) -> list[RecordedRun]:
        return await trio.to_thread.run_sync(self._readings.read, *ran, abandon_on_cancel=True)

    async def _compared_with_further(
        self, first: Pair, *, knows_changes: bool
    ) -> tuple[Comparison, Answer]:
        """What differs in these, but for what differs in further runs of one side, too."""
        found, answer = await self._compare(first)
        try:
            again = await self._run(self._sides[0], rereads=True)
            chance = await self._chance((first[0], again))
            found, answer = await self._compare(first, chance)
            is_open = _is_open(found, first, again)
            if not (found.differs or is_open):
                return found, answer
            second = await self._run(self._sides[1], rereads=is_open or knows_changes)
        except RelayError as error:  # both have run before: what they differ in stands
            return found, _without_further_run(answer, error)
        if is_open and not knows_changes:
            return await self._compared_with_changes(first, (again, second))
        chances = chance, await self._chance((first[1], second))
        return await self._compare(first, *chances, with_changes=is_open)

    async def _compared_with_changes(self, first: Pair, second: Pair) -> tuple[Comparison, Answer]:
        """Of two runs of each side, the later of which know what calls change in their arguments."""
        ours = await self._chance((second[0], first[0]), with_changes=False)
        theirs = await self._chance((second[1], first[1]), with_changes=False)
        self._readings.forget(*first)
        found, answer = await self._compare(second, ours, theirs, with_changes=True)
        with suppress(RelayError):
            if found.change is not None:  # only the second runs have recorded these
                third = await self._run(self._sides[0], rereads=True)
                ours = ours.joined(await self._chance((second[0], third)))
                found, answer = await self._compare(second, ours, theirs, with_changes=True)
            if found.change is not None:
                third = await self._run(self._sides[1], rereads=True)
                theirs = theirs.joined(await self._chance((second[1], third)))
                found, answer = await self._compare(second, ours, theirs, with_changes=True)
        return found, answer

    async def _chance(self, runs: Pair, *, with_changes: bool = True) -> Chance:
        """What two runs of one side differ in, by the numbers of the first of them."""

        def chance() -> Chance:
            one, other = self._readings.read(*runs)
            return Matcher(one, other, (all_functions, all_functions)).chance(
                with_changes=with_changes
            )

        return await trio.to_thread.run_sync(chance, abandon_on_cancel=True)

    async def _compare(
        self, runs: Pair, *chances: Chance, with_changes: bool = False
    ) -> tuple[Comparison, Answer]:
        """What a run of each side differs in, but for what chance decides in the first, and the second."""
        compare = partial(self._compared, runs, chances, with_changes)
        return await trio.to_thread.run_sync(compare, abandon_on_cancel=True)

    def _compared(
        self, ran: Pair, chances: Sequence[Chance], with_changes: bool
    ) -> tuple[Comparison, Answer]:
        one, other = self._readings.read(*ran)
        knows = known_functions(one, other), known_functions(other, one)
        found = Matcher(one, other, knows).compare(*chances, with_changes=with_changes)
        by_chance = _by_chance(self._sides, len(chances))
        if chances and any(one.late for one in ran):
            by_chance += ", or the further one has not come so far"
        ends_differ = _is_known_to_differ(*self._exit_codes)
        printed = self._differing_lines()
        both = Compared((one, other), ran, knows, by_chance, ends_differ, printed)
        text = comparison_text(found, both)
        differs = found.differs or ends_differ if found.matched else None
        return found, Answer(text, differs, beside=next_without_options(found, both))

    def _differing_lines(self) -> Lines | None:
        """The first lines that the sides print otherwise, if it is known that chance has not done it."""
        if _are_one(*self._sides) or not _is_known_to_differ(*self._printed):
            return None
        lines = differing_lines(*(next(iter(each)) for each in self._printed))
        if lines is None:
            return None
        one, other = (None if line is None else self._masked(line) for line in lines)
        return one, other


def _without_further_run(answer: Answer, error: RelayError) -> Answer:
    said = clip(f"\nno further run, to see what chance decides: {error.message}", 150)
    return answer._replace(text=answer.text + said)


def _are_one(one: Side, other: Side) -> bool:
    """Whether both are the same command, so that nothing but chance makes a difference."""
    return one.where_and_what == other.where_and_what


def _by_chance(sides: tuple[Side, Side], controls: int) -> str:
    """Of which calls it is known that chance decides them, by so many further runs."""
    if _are_one(*sides):
        return "where two runs of this one command differ"
    whose = sides[0].in_words if controls < len(sides) else "one side"
    return f"where two runs of {whose} differ, too"


def _with_limit(answer: Answer, ran: Pair) -> Answer:
    """What runs that were ended after the time that they were given have called by then."""
    late = [one for one in ran if one.late]
    if answer.differs is None:
        return Answer(late[0].late, None, is_late=True)
    if len(late) == len(ran):  # slow ones: where they stood says nothing
        heads = [one.late.partition("\n")[0].partition(";")[0] for one in late]
        said = f"{' and '.join(heads)}: what is called later is not compared"
    else:
        said = late[0].late.replace(NOTHING_COMPARED, "what is called later is not compared", 1)
    return Answer(f"{answer.text}\n{said}", answer.differs, is_late=not answer.differs)


def _ends_differ(ran: Pair) -> bool:
    if any(one.late for one in ran):
        return False  # nobody knows
    return (ran[0].exit_code, ran[0].printed) != (ran[1].exit_code, ran[1].printed)


def _is_known_to_differ(ours: Set[object], theirs: Set[object]) -> bool:
    """Whether each side has ended, or printed, in one way only, and the other in another."""
    return len(ours) == len(theirs) == 1 and ours != theirs


def _until(ran: Pair, whole: tuple[Whole, Whole]) -> Pair:
    """As if they had recorded no more."""
    ours, theirs = [replace(run, until=each.until) for run, each in zip(ran, whole, strict=True)]
    return ours, theirs


def _is_still_first(cleared: Comparison, found: Comparison) -> bool:
    """Whether what differs first, but for chance, in the beginning of two runs does so in all of them.

    Another branch may be weaker than one that is behind.
    """
    if cleared.first is None or found.first is None:
        return False
    return not cleared.first.is_branch or cleared.first.one.number == found.first.one.number


def _is_open(found: Comparison, ran: Pair, again: Ran) -> bool:
    """Whether the cause may lie in what calls change in their arguments.

    again: a second run of the first side; in what that ends otherwise, chance may have ended both.
    """
    if found.first is not None or any(one.late for one in (*ran, again)):
        return found.first is not None and found.is_unexplained
    ends = [(each.exit_code, each.printed) for each in (*ran, again)]
    return any(a != b and a == c for a, b, c in zip(*ends, strict=True))
