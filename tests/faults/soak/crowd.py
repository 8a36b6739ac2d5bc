"""Users side by side, in rounds. Between two rounds everybody has left, and the relay is looked at."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import random
import re
import shutil
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import trio

from relay.session.debuggee.start_failures import leaves
from tests.e2e.api import Refused
from tests.faults.soak.faces import FACES
from tests.faults.soak.visit import Figures, Late, Visit
from tests.faults.trials.findings import Findings, Harm, Row
from tests.faults.trials.lane import Lane, Neighbour, orphans
from tests.faults.trials.waiters import SOON

STANDBY_SECONDS = 2.0
"""A debuggee on standby is gone so long after the last launch of its kind."""

STEP_SECONDS = 0.5
"""Between two steps of the session beside them all."""

MEMORY, OBJECTS = "memory, kB", "objects of the relay's classes"
BLOCKS, HEAP = "Python's blocks", "allocated beside them, kB"
"""What lives, in pieces of up to 512 bytes and in larger ones. Memory is that, and the gaps between."""


@dataclass(frozen=True)
class Rest:
    """What there was of the relay when nobody was there, after so many users."""

    users: int
    figures: dict[str, float]
    objects: Counter[str]
    """By class."""


class Crowd:
    """So many workers at once, each one user after the other."""

    def __init__(
        self, lane: Lane, seed: str, workers: int, only: str = "", patience: float = SOON
    ) -> None:
        self._lane = lane
        self._seed = seed
        self._workers = workers
        self._patience = patience
        self._faces = [name for name in FACES if only in name]
        self._numbers = itertools.count()
        self._descriptors_here = 0
        self._neighbour: Neighbour
        self.rows: dict[str, Row] = defaultdict(Row)
        self.figures: dict[str, Figures] = defaultdict(Figures)
        self.rests: list[Rest] = []
        self.wrong: list[str] = []
        self.users = 0

    async def run(self, seconds: float, round_seconds: float) -> None:
        """Rounds for so long, and one before them in which all is imported and made that stays."""
        deadline = time.monotonic() + seconds
        await self._round(min(round_seconds, seconds / 2))
        await trio.sleep(STANDBY_SECONDS)
        await self._settle()
        while True:
            await self._round(min(round_seconds, deadline - time.monotonic()))
            await self._look()
            if time.monotonic() >= deadline:
                return

    async def one(self, number: int) -> None:
        """That user alone."""
        self._numbers = itertools.count(number)
        await self._visit()
        await self._sweep()

    # Users ------------------------------------------------------------------------------

    async def _round(self, seconds: float) -> None:
        """New users for so long, one a worker at least; over when the last has left, and the session beside them is gone.

        It is a new one each time: what it keeps of its events grows, as it should.
        """
        deadline = time.monotonic() + seconds
        self._neighbour = await Neighbour.start(self._lane.api, self._lane.folder)
        async with trio.open_nursery() as beside:
            beside.start_soon(self._step_neighbour)
            async with trio.open_nursery() as nursery:
                for _ in range(self._workers):
                    nursery.start_soon(self._work, deadline)
            beside.cancel_scope.cancel()
        await self._sweep()
        shutil.rmtree(self._lane.folder / "users", ignore_errors=True)

    async def _work(self, deadline: float) -> None:
        while True:
            await self._visit()
            if time.monotonic() >= deadline:
                return

    async def _visit(self) -> None:
        number = next(self._numbers)
        lot = random.Random(f"{self._seed}/{number}")
        face = self._face(number, lot)
        folder = self._lane.folder / "users" / str(number)
        name = f"user {number}, {face}"
        visit = Visit(name, self._lane.url, self._lane.state, folder, f"{lot.random()}")
        try:
            await FACES[face][1](visit)
        except Exception as error:  # noqa: BLE001  what was not foreseen is a finding, too
            for leaf in leaves(error):
                if not isinstance(leaf, Late):
                    visit.wrong(f"{leaf!r}")
        self.users += 1
        self.rows[face].note(visit.findings)
        self.figures[face].counts.update(visit.figures.counts)
        self.figures[face].slowest = max(self.figures[face].slowest, visit.figures.slowest)
        self._note(f"{name}: {line}" for line in visit.findings.lines())

    def _face(self, number: int, lot: random.Random) -> str:
        """By lot, after there was one of each: what stays of the first is there before we look."""
        if number < len(self._faces):
            return self._faces[number]
        return lot.choices(self._faces, [FACES[name][0] for name in self._faces])[0]

    async def _step_neighbour(self) -> None:
        while True:
            findings = Findings()
            with trio.CancelScope(shield=True):
                await self._neighbour.step(findings)
            self.rows["the session beside them"].note(findings)
            self._note(f"beside them: {line}" for line in findings.lines())
            await trio.sleep(STEP_SECONDS)

    async def _sweep(self) -> None:
        """The session beside them, and what users leave who have broken off."""
        for item in (await self._lane.api.get("/sessions"))["items"]:
            with contextlib.suppress(Refused):  # gone by itself
                await self._lane.api.delete(f"/sessions/{item['session_id']}")

    # The relay at rest ------------------------------------------------------------------

    async def _settle(self) -> None:
        """What there is now stays."""
        await self._lane.settle()
        gc.collect()
        self._descriptors_here = _descriptors("self")
        await self._measure()

    async def _look(self) -> None:
        """Nothing is left of the last round."""
        findings = Findings()
        gc.collect()  # the official client of MCP leaves connections to it
        await self._lane.check(findings, self._patience)
        if (here := _descriptors("self")) > self._descriptors_here:
            findings.add(Harm.REST, f"{here} descriptors here, not {self._descriptors_here}")
        self.rows["the relay at rest"].note(findings)
        self._note(f"after {self.users} users: {line}" for line in findings.lines())
        await self._measure()

    async def _measure(self) -> None:
        counts = await self._lane.counts(signal.SIGUSR2)
        pid = self._lane.process.pid
        figures: dict[str, float] = {
            MEMORY: _resident(pid),
            OBJECTS: sum(counts["objects"].values()),
            BLOCKS: counts["allocated"]["blocks"],
            HEAP: counts["allocated"]["bytes"] // 1024,
            "descriptors": _descriptors(pid),
            "trio tasks": sum(counts["tasks"].values()),
            "threads": sum(counts["threads"].values()),
            "processes below it": len(self._lane.own) + len(self._lane.below()),
        }
        self.rests.append(Rest(self.users, figures, Counter(counts["objects"])))
        print(f"{self.users} users: {figures}", file=sys.stderr, flush=True)

    async def end(self) -> None:
        """The relay goes at once when it is asked to, and nothing stays behind."""
        metrics = (await self._lane.api.client.get("/metrics")).text
        if failed := re.findall(r'^relay_http_requests_total\{.*status="500".*', metrics, re.M):
            self._note(failed)
        if (code := await self._lane.end(signal.SIGTERM)) != 0:
            self._note([f"the relay ended with {code}"])
        with trio.move_on_after(SOON):
            while orphans():  # noqa: ASYNC110  processes set no event
                await trio.sleep(0.05)
        if left := orphans():
            self._note([f"processes are left: {left}"])
        if left_files := [str(path) for path in (self._lane.folder / "tmp").iterdir()]:
            self._note([f"files are left: {left_files}"])
        if "Traceback" in (log := self._lane.log()):
            self._note([f"the relay has logged:\n{log[-5000:]}"])

    def _note(self, lines: Iterable[str]) -> None:
        for text in lines:
            self.wrong.append(text)
            print(text, file=sys.stderr, flush=True)


def _resident(pid: int) -> float:
    """kB that the process has in memory."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return float(found[1])


def _descriptors(pid: int | str) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))
