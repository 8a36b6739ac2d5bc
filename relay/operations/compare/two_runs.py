"""Two runs of a program, and the first call of own code that went otherwise in the second."""

from __future__ import annotations

from collections.abc import Sequence

from relay.config import Settings
from relay.errors import RelayError
from relay.operations.compare.answer import Answer
from relay.operations.compare.difference_text import nothing_called
from relay.operations.compare.differences import Comparison
from relay.operations.compare.fitting import MOST_BYTES, clip
from relay.operations.compare.recorded_run import NOTHING_COMPARED, Progress, Ran, Side
from relay.operations.compare.scratch import scratch_directory
from relay.operations.compare.side_runs import Pair, SideRuns, ends_differ
from relay.operations.compare.sides import missing_in
from relay.operations.compare.whole_calls import (
    ALL,
    FARTHER,
    MOST_ZOOMS,
    REACH,
    WHOLE_SECONDS_OF_EQUAL_RUNS,
    Whole,
    around_beginning,
    is_whole,
    shows_the_beginning,
    to_their_ends,
)
from relay.operations.compare.without_chance import Found, WithoutChance, is_still_first


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
        runs = SideRuns(settings, sides, focus, home, limit, progress or Progress())
        first = await _first(runs)
        if isinstance(first, Answer):
            return first
        if runs.whole == (ALL, ALL):
            ran, (_, answer) = first, await WithoutChance(runs).found(first)
        else:
            ran, answer = await _Zoom(runs, first).answered()
        return answer.within_limit(ran)


async def _first(runs: SideRuns) -> Pair | Answer:
    """A run of each side; or why there is nothing to compare."""
    first: list[Ran] = []
    for side in runs.sides:
        try:
            ran = await runs.run(side)
        except RelayError as error:
            hint = f". {error.suggestion}" if isinstance(error.suggestion, str) else ""
            why = missing_in(side, runs.sides[0]) or f"{error.message}{hint}"
            text = f"{side.in_words} was not run: {why}"
            return Answer(clip(text, MOST_BYTES), None)
        if ran.strayed:
            return Answer(clip(_strayed_text(ran), MOST_BYTES), None)
        if not ran.has_called:
            if ran.late:
                return Answer(ran.late, None, is_late=True)
            return Answer(clip(nothing_called(ran), MOST_BYTES), None)
        if first:
            runs.further_have_whole_what_is_in(ran)
        else:
            runs.second_has_whole_what_is_in(ran)
        first.append(ran)
    return first[0], first[1]


def _strayed_text(ran: Ran) -> str:
    return (
        f"{NOTHING_COMPARED}: {ran.side.in_words} has run with {ran.strayed} of this tree, which is installed for"
        " editing in a way that the relay cannot lead elsewhere. Compare by an interpreter in which it is not"
        " installed (--python), or two environments: OLD/bin/python CMD ::: NEW/bin/python CMD"
    )


class _Zoom:
    """The way from runs that are recorded in brief to where their difference begins.

    Further runs are recorded whole around what differs, until these show where that begins. If they do not, all
    is recorded whole; where nothing differs, as much as can be in some time.
    """

    def __init__(self, runs: SideRuns, brief: Pair) -> None:
        self._runs, self._brief = runs, brief
        self._clear = WithoutChance(runs)
        self._whole = runs.whole  # the few calls of the first runs that are recorded so
        self._is_cleared = False
        """Whether what differed first in brief is known to do so by chance."""

    async def answered(self) -> tuple[Pair, Answer]:
        """What the sides differ in, and the runs that show it."""
        ran, reach, zooms = self._brief, REACH, 0
        quick = self._whole[0].last or 0
        in_brief, answer = await self._clear.compared(ran)
        found = in_brief
        try:
            while True:
                closer = None
                if zooms or is_whole(found):
                    found, answer = await self._found(ran, knows_changes=zooms > 0)
                    if shows_the_beginning(found, self._runs.whole):
                        if not zooms or await self._is_of_all(found, in_brief, ran):
                            return ran, answer
                        closer = to_their_ends(self._runs.whole)
                    elif zooms and not (self._is_cleared or found.differs or found.parted):
                        in_brief, answer = await self._found_in_brief()
                        found, reach = in_brief, REACH
                    elif zooms:
                        reach *= FARTHER
                closer = closer or around_beginning(found, reach, answer.beside, quick)
                if closer is None or zooms == MOST_ZOOMS:
                    break
                self._runs.whole = closer
                ran, zooms = await self._runs.both(rereads=True), zooms + 1
            ran = await self._both_whole(ran, is_equal=not (found.differs or found.parted))
        except RelayError as error:  # both have run before: what they differ in stands
            return ran, answer.without_further_run(error)
        return ran, (await self._found(ran))[1]

    async def _found(self, ran: Pair, *, knows_changes: bool = False) -> Found:
        return await self._clear.found(
            ran, knows_changes=knows_changes, to_the_end=self._is_cleared
        )

    async def _is_of_all(self, found: Comparison, in_brief: Comparison, ran: Pair) -> bool:
        """Whether what differs first in runs that may have ended to record before does so in all of their calls."""
        whole = self._runs.whole
        if whole == to_their_ends(whole) or is_still_first(found, in_brief):
            return True
        return not any(run.is_cut for run in await self._runs.read(*ran))

    async def _found_in_brief(self) -> Found:
        """What differs in the first runs but for chance, where the first of it was seen to differ by chance."""
        self._runs.whole = self._whole
        self._is_cleared = True
        again = await self._runs.run(self._runs.sides[0])
        chance = await self._clear.chance((self._brief[0], again))
        return await self._clear.compared(self._brief, chance)

    async def _both_whole(self, ran: Pair, *, is_equal: bool) -> Pair:
        """Both recorded whole; is_equal: nothing has differed in brief, but for what does so by chance."""
        if not is_equal or ends_differ(ran):
            self._runs.whole = ALL, ALL
            return await self._runs.both()
        self._runs.whole = Whole(seconds=WHOLE_SECONDS_OF_EQUAL_RUNS), ALL
        ours = await self._runs.run(self._runs.sides[0], scattered=False)
        self._runs.second_has_whole_what_is_in(ours)
        theirs = await self._runs.run(self._runs.sides[1], scattered=False)
        self._runs.further_have_whole_what_is_in(theirs)
        return ours, theirs
