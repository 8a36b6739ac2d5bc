"""The runs of both sides, made one after the other: each is read while the next one is made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence, Set
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from relay.config import Settings
from relay.errors import RelayError
from relay.operations.compare.equal_chance import (
    EqualChance,
    bring_examples,
    remembered_examples,
)
from relay.operations.compare.readings import Readings
from relay.operations.compare.recorded_calls import RecordedRun
from relay.operations.compare.recorded_run import Printed, Progress, Ran, Side, run_recorded
from relay.operations.compare.stream_reader import last_whole_call
from relay.operations.compare.whole_calls import ALL, SECOND_RUN, WHOLE_SECONDS, Whole
from relay.redaction.redaction import Redaction

Pair = tuple[Ran, Ran]
"""A run of each side; or two of one, of which chance makes the differences."""

FURTHER = 2
"""How many times as long as the first two a further run may take: it records more, and is to come as far."""


class SideRuns:
    """Makes and reads them, and knows how each side has ended."""

    def __init__(
        self,
        settings: Settings,
        sides: tuple[Side, Side],
        focus: Sequence[str],
        home: str,
        limit: float | None,
        progress: Progress,
    ) -> None:
        """home: the directory for their files. limit: seconds that each of the first two may take."""
        self.sides = sides
        self.whole = Whole(seconds=WHOLE_SECONDS), ALL
        """Which calls the next run of either side records whole."""
        self.masked = Redaction(settings.redact_patterns, settings.redact_credentials).text
        self._settings, self._focus, self._home = settings, focus, home
        self._limit, self._progress = limit, progress
        self._readings = Readings(self.masked, sides)
        self._python: str | None = None
        self._count = 0
        self._examples = remembered_examples(sides[0].cwd, sides[0].root, sides[0].env)
        self._last: Ran | None = None
        self._exit_codes: tuple[set[int | None], set[int | None]] = (set(), set())
        self._printed: tuple[set[Printed], set[Printed]] = (set(), set())

    async def run(
        self, side: Side, *, rereads: bool = False, scattered: bool = True, anew: int | None = None
    ) -> Ran:
        """One more. Raises RelayError if it cannot be started.

        rereads: with what becomes of arguments. scattered: from the third on with addresses by lot; what
        depends on them is chance. anew: the number of the call from which on random numbers are others than in all
        other runs.
        """
        self._count += 1
        is_further = self._count > len(self.sides)
        async with self._reading_the_last():
            ran = await run_recorded(
                self._settings,
                side,
                self._focus,
                Path(self._home) / f"{self._count}.jsonl",
                side.python or self._python,
                rereads=rereads,
                seed=self._count if scattered and is_further else None,
                chance=await self._chance_of_run(anew),
                limit=self._limit and self._limit * (FURTHER if is_further else 1),
                progress=self._progress,
                whole=self.whole[self.sides.index(side)],
            )
        self._last = ran
        self._python = ran.python  # the other runs by the same, unless it has its own
        if not ran.late:
            self._exit_codes[self.sides.index(side)].add(ran.exit_code)
            self._printed[self.sides.index(side)].add(ran.printed)
        return ran

    async def _chance_of_run(self, anew: int | None) -> EqualChance | None:
        """Two runs of one program differ in nothing but chance: that is left to them."""
        if self.are_of_one:
            return None
        directory = Path(self._home) / f"{self._count}.examples"
        await trio.to_thread.run_sync(bring_examples, self._examples, directory)
        return EqualChance(str(directory), anew)

    async def both(self, *, rereads: bool = False) -> Pair:
        """One more of each."""
        ours, theirs = [
            await self.run(side, rereads=rereads, scattered=False) for side in self.sides
        ]
        return ours, theirs

    def second_has_whole_what_is_in(self, first: Ran) -> None:
        """The other side records those calls whole that this run has had the time for; if these are all, as many as
        it has some times as long for.
        """
        last, seconds = last_whole_call(first.stream), self.whole[0].seconds
        longer = SECOND_RUN * seconds if last is None and seconds is not None else None
        self.whole = Whole(last=last), Whole(last=last, seconds=longer)

    def further_have_whole_what_is_in(self, second: Ran) -> None:
        """Further runs record those calls whole that both have had the time for."""
        if self.whole[1].seconds is not None:
            self.whole = (Whole(last=last_whole_call(second.stream)),) * 2

    @asynccontextmanager
    async def _reading_the_last(self) -> AsyncIterator[None]:
        """The last run is read while the block makes the next one."""
        refused = None
        async with trio.open_nursery() as nursery:
            if self._last is not None:
                nursery.start_soon(self.read, self._last)
            try:
                yield
            except RelayError as error:
                refused = error  # by itself, and not in a group
        if refused is not None:
            raise refused

    # What they were ------------------------------------------------------------------

    async def read(self, *ran: Ran) -> list[RecordedRun]:
        """What these have recorded, in their order."""
        return await trio.to_thread.run_sync(self.read_here, *ran, abandon_on_cancel=True)

    def read_here(self, *ran: Ran) -> list[RecordedRun]:
        """The same in a thread that may wait."""
        return self._readings.read(*ran)

    def forget(self, *ran: Ran) -> None:
        """These are not compared any more."""
        self._readings.forget(*ran)

    @property
    def are_of_one(self) -> bool:
        """Whether both sides are one program, so that nothing but chance makes a difference."""
        one, other = self.sides
        return one.where_and_what == other.where_and_what

    @property
    def exit_codes_differ(self) -> bool:
        """Whether each side has ended in one way only, and the other in another."""
        return _is_known_to_differ(*self._exit_codes)

    @property
    def printed(self) -> tuple[Printed, Printed] | None:
        """What each side prints, if that is always one thing, and another on the other side."""
        if self.are_of_one or not _is_known_to_differ(*self._printed):
            return None
        ours, theirs = (next(iter(each)) for each in self._printed)
        return ours, theirs


def ends_differ(ran: Pair) -> bool:
    """Whether these two have ended, or printed, otherwise; False if nobody knows."""
    if any(one.late for one in ran):
        return False
    return (ran[0].exit_code, ran[0].printed) != (ran[1].exit_code, ran[1].printed)


def _is_known_to_differ(ours: Set[object], theirs: Set[object]) -> bool:
    return len(ours) == len(theirs) == 1 and ours != theirs
