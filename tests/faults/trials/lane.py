"""A relay under trial, a session that stays beside those on trial, and what there is of both.

Refuses to know what is done to it.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from relay.process.guardian import descendants, kill, prctl
from tests.e2e.api import Api, Session
from tests.e2e.served import alive, url_printed
from tests.faults.trials.findings import Findings, Harm
from tests.faults.trials.waiters import SOON
from tests.faults.trials.watched_relay import BROKEN, COUNTS
from tests.leftovers import describe
from tests.programs import Program
from tests.relays import environment

PR_SET_CHILD_SUBREAPER = 36
REQUEST_SECONDS = 10.0
"""What the relays wait for a debuggee's answer: double of what they do at users'."""

SETTINGS = {
    "RELAY_STANDBY": "0",  # what is there between two trials is then always the same
    "RELAY_MAX_SESSIONS": "50",
    "RELAY_REQUEST_TIMEOUT_SECONDS": f"{REQUEST_SECONDS:g}",
}

WATCHED = "tests.faults.trials.watched_relay"

COUNTING = """
total = 0
for number in range(10**9):
    total += number  # @body
"""

_relays: set[int] = set()
"""Process ids of all that were started here."""


def adopt_orphans() -> None:
    """From now on what escapes from a relay becomes a child of this process, and is seen."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def orphans() -> set[int]:
    """What has escaped from any relay; the dead of them are reaped."""
    found = set()
    for pid, ppid in descendants(os.getpid()):
        if ppid == os.getpid() and pid not in _relays:
            with contextlib.suppress(OSError):
                if os.waitpid(pid, os.WNOHANG)[0] == 0:
                    found.add(pid)
    return found


class Neighbour:
    """A session that nothing is done to. It stands in a loop, and is stepped through it."""

    def __init__(self, session: Session, body: int) -> None:
        self._session = session
        self._body = body
        self._cursor = ""
        self._seq = 0

    @classmethod
    async def start(cls, api: Api, folder: Path) -> Neighbour:
        program = Program.write(folder / "counting.py", COUNTING)
        session = await api.session(name="neighbour")
        await session.breakpoint(program.text, program.line("body"))
        await session.launch(program.text)
        await session.delete("/breakpoints")
        neighbour = cls(session, program.line("body"))
        await neighbour._news(Findings())
        return neighbour

    @property
    def id(self) -> str:
        return self._session.id

    async def step(self, findings: Findings) -> None:
        """A step is answered in time, with the right values, and is in the events once."""
        with trio.move_on_after(SOON) as scope:
            answer = await self._session.post("/step-over", wait=30)
            values = (await self._session.evaluate("(number, total)"))["result"]
            news = await self._news(findings)
        if scope.cancelled_caught:
            findings.add(Harm.NEIGHBOUR, f"its step was not answered within {SOON:g} s")
            return
        number, total = ast.literal_eval(values)
        at_body = answer["current_location"]["line"] == self._body
        right = sum(range(number if at_body else number + 1))
        if answer["status"] != "paused" or total != right:
            findings.add(Harm.NEIGHBOUR, f"{values} after a step: {answer}")
        if news.count("stopped") != 1 or news.count("continued") != 1:
            findings.add(Harm.NEIGHBOUR, f"a step is told as {news}")

    async def _news(self, findings: Findings) -> list[str]:
        """The types of the events since the last time, which are numbered without a gap."""
        since: dict[str, Any] = {"cursor": self._cursor} if self._cursor else {}
        page = await self._session.get("/events", limit=1000, **since)
        self._cursor = page["next_cursor"]
        for event in page["events"]:
            if event["seq"] != self._seq + 1:
                findings.add(Harm.NEIGHBOUR, f"event {event['seq']} after {self._seq}")
            self._seq = event["seq"]
        return [event["type"] for event in page["events"]]


Rest = Mapping[str, Counter[str]]
"""What there is of a relay: processes, descriptors, tasks, threads and files."""


class Lane:
    """One relay on which trials follow each other."""

    def __init__(self, process: trio.Process, api: Api, folder: Path, url: str) -> None:
        self.process = process
        self.api = api
        self.folder = folder
        self.url = url
        self.neighbour: Neighbour
        self._calm: Rest
        self.own: set[int] = set()
        """What it has started beside what is on trial."""

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def log(self) -> str:
        """What the relay has written to standard error."""
        return (self.folder / "log").read_text(errors="replace")

    def below(self) -> dict[int, str]:
        """What is on trial now: everything alive that the relay has started since it was calm."""
        below = alive(pid for pid, _ in descendants(self.process.pid))
        return {pid: text for pid, text in below.items() if pid not in self.own}

    async def settle(self) -> None:
        """What there is now is what there has to be after each trial."""
        self.own = {pid for pid, _ in descendants(self.process.pid)}
        self._calm = await self._rest()

    async def check(self, findings: Findings, seconds: float = SOON) -> None:
        """Nothing is left after so long: all is as it was when it was settled. Kills what is."""
        left: dict[str, Counter[str]] = {}
        with trio.move_on_after(seconds):
            while left := _more(await self._rest(), self._calm):  # noqa: ASYNC110  as below
                await trio.sleep(0.02)
            return
        for kind, names in left.items():
            harm = Harm.PROCESS if kind == "processes" else Harm.REST
            findings.add(harm, f"{kind} left: {dict(names)}")
        for pid in {*self.below(), *orphans()}:
            kill(pid)
        await self.settle()

    async def _rest(self) -> Rest:
        """All of it. The processes first, since one that ends may leave what is counted next."""
        processes = Counter(f"{describe(pid)} ({pid})" for pid in {*self.below(), *orphans()})
        counts = await self.counts()
        return {
            "processes": processes,
            "tasks": Counter(counts["tasks"]),
            "threads": Counter(counts["threads"]),
            "descriptors": Counter(_descriptors(self.process.pid)),
            "files": Counter(_files(self.folder / "tmp", self.state)),
        }

    async def counts(self, number: signal.Signals = signal.SIGUSR1) -> dict[str, dict[str, int]]:
        """Tasks and threads, as the relay tells them; what else, if it knows another signal."""
        path = self.folder / "counts"
        path.unlink(missing_ok=True)
        self.process.send_signal(number)
        with trio.fail_after(SOON):
            while not path.exists():  # noqa: ASYNC110  another process sets no trio.Event
                await trio.sleep(0.002)
        counts: dict[str, dict[str, int]] = json.loads(path.read_text())
        return counts

    async def end(self, number: signal.Signals) -> int:
        """Send the signal; the exit code."""
        self.process.send_signal(number)
        with trio.fail_after(SOON):
            return await self.process.wait()


def _more(now: Rest, before: Rest) -> dict[str, Counter[str]]:
    return {kind: more for kind in now if (more := now[kind] - before[kind])}


def _descriptors(pid: int) -> Iterator[str]:
    """What each leads to; of pipes and sockets only that they are such."""
    folder = f"/proc/{pid}/fd"
    for fd in os.listdir(folder):
        with contextlib.suppress(OSError):
            yield os.readlink(f"{folder}/{fd}").partition(":[")[0]


def _files(*folders: Path) -> Iterator[str]:
    """Every file but those that are kept to be found again."""
    for folder in folders:
        for path in folder.rglob("*"):
            if "cache" not in path.parts:
                yield str(path)


@asynccontextmanager
async def lane(folder: Path, broken: str = "") -> AsyncIterator[Lane]:
    """A relay with its neighbour; killed at the end if it runs still."""
    async with relay(folder, broken) as lane:
        lane.neighbour = await Neighbour.start(lane.api, folder)
        await lane.neighbour.step(Findings())
        await lane.settle()
        yield lane
    if not broken:
        shutil.rmtree(folder)


@asynccontextmanager
async def relay(
    folder: Path, broken: str = "", module: str = WATCHED, **settings: str
) -> AsyncIterator[Lane]:
    """The relay alone, on the state that is there.

    `module` is what is run instead of `relay`; settings are variables of its environment.
    """
    for name in ("tmp", "state"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    command = ["-m", module, "serve", "--port", "0"]
    env = environment(folder / "state") | SETTINGS | settings
    env |= {"TMPDIR": str(folder / "tmp"), COUNTS: str(folder / "counts"), BROKEN: broken}
    with (folder / "log").open("a") as log:
        process = await trio.lowlevel.open_process(
            [sys.executable, *command, "--log-level", "warning", "--project-root", str(folder)],
            stdout=subprocess.PIPE,
            stderr=log,
            env=env,
        )
    _relays.add(process.pid)
    try:
        assert process.stdout is not None
        url = await url_printed(process.stdout)
        async with Api.connect(url) as api:
            yield Lane(process, api, folder, url)
    finally:
        with trio.CancelScope(shield=True):
            process.kill()
            await process.wait()
            _relays.discard(process.pid)
            if process.stdout is not None:
                await process.stdout.aclose()
