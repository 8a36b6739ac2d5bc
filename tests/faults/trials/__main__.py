"""The command: faults by lot, on several relays at once, and the table of what was wrong."""

from __future__ import annotations

import argparse
import itertools
import os
import random
import secrets
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import trio

from tests.e2e.rungs import RUNGS
from tests.faults.trials.findings import Row, as_table
from tests.faults.trials.lane import Lane, adopt_orphans, lane
from tests.faults.trials.table import FAULTS, SAMPLE
from tests.faults.trials.trial import Trial
from tests.faults.trials.watched_relay import BREAKAGES

TRIES = "RELAY_TEST_FAULTS"
"""Variable that says how many faults `tox -e faults` does."""

TRIALS_EACH = 20
"""Trials after which there is a new relay: each starts from nothing, and none is never old."""

Numbered = tuple[int, int]
"""The number of a trial, and the place of its fault in the table."""


def plan(tries: int, seed: str) -> Iterator[Numbered]:
    """Every fault once, then all again, each time in another order."""
    lot = random.Random(seed)
    places = (place for _ in itertools.count() for place in _shuffled(lot))
    return enumerate(itertools.islice(places, tries))


def sample() -> list[Numbered]:
    """A few faults that take a second each."""
    return [
        (n, place) for n, place in enumerate(range(len(FAULTS))) if str(FAULTS[place]) in SAMPLE
    ]


def _shuffled(lot: random.Random) -> list[int]:
    return lot.sample(range(len(FAULTS)), len(FAULTS))


class Campaign:
    """Trials, and what they have found. Seed and number of a trial say all that is by lot in it."""

    def __init__(
        self, trials: Sequence[Numbered], folder: Path, options: argparse.Namespace
    ) -> None:
        deadline = time.monotonic() + options.minutes * 60
        self._trials = itertools.takewhile(lambda _: time.monotonic() < deadline, trials)
        self._folder = folder
        self._seed: str = options.seed
        self._rung: str | None = options.rung
        self._broken: str = options.broken
        self.rows: dict[str, Row] = defaultdict(Row)
        self.wrong: list[str] = []

    async def run(self, lanes: int) -> None:
        async with trio.open_nursery() as nursery:
            for number in range(lanes):
                nursery.start_soon(self._run_lane, self._folder / f"lane-{number}")

    async def _run_lane(self, folder: Path) -> None:
        for relays in itertools.count():
            some = list(itertools.islice(self._trials, TRIALS_EACH))
            if not some:
                return
            shared = [one for one in some if not FAULTS[one[1]].own_relay]
            if shared:
                async with lane(folder / f"relay-{relays}", self._broken) as where:
                    for number, place in shared:
                        await self._try(number, place, where)
                    self._read_log(where)
            for number, place in some:
                if FAULTS[place].own_relay:
                    async with lane(folder / f"own-{number}", self._broken) as where:
                        await self._try(number, place, where)

    async def _try(self, number: int, place: int, where: Lane) -> None:
        fault = FAULTS[place]
        if self._rung is not None and self._rung in fault.rungs:
            fault = replace(fault, rungs=[self._rung])
        lot = random.Random(f"{self._seed}/{number}/{fault}")
        findings = await Trial(fault, where, lot, number).run()
        self.rows[fault.group].note(findings)
        for line in findings.lines():
            self._note(f"trial {number}, {fault}: {line}")

    def _read_log(self, where: Lane) -> None:
        """No fault of a program makes the relay itself raise."""
        if "Traceback" in (log := where.log()):
            self._note(f"a relay has logged:\n{log}")

    def _note(self, text: str) -> None:
        self.wrong.append(text)
        print(text, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.trials", description=__doc__)
    parser.add_argument("--tries", type=int, default=int(os.environ.get(TRIES, "1000")))
    parser.add_argument("--seed", default=secrets.token_hex(4), help="as an earlier run printed it")
    parser.add_argument("--number", type=int, help="only this trial of them")
    parser.add_argument("--only", default="", help="only faults whose name has this in it")
    parser.add_argument("--sample", action="store_true", help="some quick ones, fast launches")
    parser.add_argument("--minutes", type=float, default=75, help="begin none after so many")
    parser.add_argument("--lanes", type=int, default=3, help="relays at once")
    parser.add_argument("--rung", choices=RUNGS, help="of all launches that can be on it")
    parser.add_argument("--broken", default="", choices=["", *BREAKAGES], help="break the relay")
    options = parser.parse_args()
    trials = list(plan(options.tries, options.seed))
    if options.sample:
        trials = sample()
    trials = [
        (number, place)
        for number, place in trials
        if options.only in str(FAULTS[place]) and options.number in (None, number)
    ]
    print(f"seed {options.seed}: {len(trials)} faults", flush=True)
    adopt_orphans()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        campaign = Campaign(trials, Path(folder), options)
        trio.run(campaign.run, options.lanes)
    print(as_table(sorted(campaign.rows.items())))
    print(f"{len(campaign.wrong)} wrong in {time.monotonic() - started:.0f} s, seed {options.seed}")
    return int(bool(campaign.wrong))


if __name__ == "__main__":
    sys.exit(main())
