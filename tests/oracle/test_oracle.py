"""Every stop, every simple local and every step of the standard library's own code is right.

A driver's chapter runs twice: once under `sys.settrace` in a plain interpreter, which writes down
everything that happens, and once under the relay, with breakpoints on a sample of lines and a
random walk of steps. Each stop must be the one that the recording predicts, by the rules that
`trace.py` states; nothing may be missing, added or different.

By default each walk is cut off after a while. RELAY_ORACLE_WALKS=N takes N whole walks a chapter,
and RELAY_ORACLE_SEED another sample.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.api import Api, Session
from tests.e2e.conftest import api, settings
from tests.oracle import driver
from tests.oracle.trace import DRIVER, HASH_SEED, START, Place, Position, Trace, Untold
from tests.programs import Program

__all__ = ["api", "settings"]

WALKS = int(os.environ.get("RELAY_ORACLE_WALKS", "0"))
WHOLE = 1_000_000
MOVES = WHOLE if WALKS else 50
"""Stops of one walk."""

SEED = os.environ.get("RELAY_ORACLE_SEED", "relay")
SAMPLE = 12
"""Lines with a breakpoint in one walk."""

COMMON = 12
"""Lines that run more often are not sampled: one walk visits many lines, not one line often."""

FEW = ("control", "json_decode")
"""Chapters for the rungs that share everything but their start with the fast one."""

STEPS = ("step-over", "step-into", "step-out")


@dataclass
class Walk:
    """One run under the relay, checked against the recording stop by stop."""

    trace: Trace
    session: Session
    breakpoints: set[Place]
    dice: random.Random
    here: Position = START
    history: list[str] = field(default_factory=list)
    hits: Counter[Place] = field(default_factory=Counter)

    async def go(self, verbs: Sequence[str], moves: int) -> None:
        """To the end of the program, or as many moves."""
        verb = "continue"
        while moves and await self._move(verb):
            verb = self.dice.choice(verbs)
            moves -= 1

    async def _move(self, verb: str) -> bool:
        """One verb; False at the end of the program."""
        try:
            wanted = self.trace.next(verb, self.here, self.breakpoints)
        except Untold:
            verb, wanted = "continue", self.trace.next("continue", self.here, self.breakpoints)
        self.history.append(f"{verb} from {self.here} should stop at {wanted}")
        answer = await self.session.post(
            f"/{verb}", wait=30, include=["locals"], max_chars=1_000_000, reveal=True
        )
        if wanted is None:
            assert answer["status"] == "terminated", self._told(answer)
            assert answer["exit_code"] == 0
            return False
        self._check(wanted, answer)
        self._count(wanted, answer)
        self.here = wanted
        return True

    def _check(self, wanted: Position, answer: dict[str, Any]) -> None:
        place = answer.get("current_location")
        assert place is not None, self._told(answer)
        found = (place["path"], place["line"], place["function"])
        assert found == (*wanted.place, wanted.function), self._told(answer)
        if wanted.function != "<module>":
            self._check_locals(wanted, answer["stop"]["locals"])

    def _check_locals(self, wanted: Position, shown: list[dict[str, Any]]) -> None:
        found = {local["name"]: [local["type"], local["value"]] for local in shown}
        assert found.keys() == wanted.locals.keys(), self._told(found)
        simple = {name: value for name, value in wanted.locals.items() if value is not None}
        assert {name: found[name] for name in simple} == simple, self._told(found)

    def _count(self, wanted: Position, answer: dict[str, Any]) -> None:
        """A breakpoint is hit when its line begins, not when a step comes back to it."""
        is_line = self.trace.events[wanted.index][0] == "line"
        if is_line and wanted.place in self.breakpoints:
            self.hits[wanted.place] += 1
            assert answer["stop_reason"] == "breakpoint", self._told(answer)
        else:
            assert answer["stop_reason"] == "step", self._told(answer)

    def _told(self, found: object) -> str:
        return "\n".join([*self.history[-5:], f"found {found}"])

    async def check_hits(self) -> None:
        """The relay has counted what the walk has seen, and nothing else."""
        listed = (await self.session.get("/breakpoints"))["breakpoints"]
        counts = {(b["source"]["path"], b["line"]): b["hit_count"] for b in listed}
        assert {p: counts[p] for p in self.breakpoints} == {
            p: self.hits[p] for p in self.breakpoints
        }


async def begin(api: Api, chapters: Sequence[str], mode: str | None) -> Session:
    """A session that stands where the recordings begin."""
    session = await api.session(project_root=str(DRIVER.parent))
    program = Program(DRIVER)
    placed = await session.breakpoint(program.text, program.line("begin"))
    more: dict[str, Any] = {"launch_mode": mode} if mode else {}
    at = await session.launch(program.text, args=list(chapters), env=HASH_SEED, **more)
    assert at["current_location"]["line"] == program.line("begin")
    await session.delete(f"/breakpoints/{placed['id']}")
    return session


def sample(trace: Trace, dice: random.Random, lines: int) -> set[Place]:
    counts = Counter(position.place for position in trace.lines)
    rare = [place for place, count in counts.items() if count <= COMMON]
    # The same lines wherever this is checked out.
    rare.sort(key=lambda place: (Path(place[0]).name, place))
    return set(dice.sample(rare, min(lines, len(rare))))


async def walk(
    api: Api,
    trace: Trace,
    chapters: Sequence[str],
    name: str,
    verbs: Sequence[str],
    *,
    mode: str | None = None,
    lines: int = SAMPLE,
    moves: int = MOVES,
) -> None:
    dice = random.Random(f"{SEED}/{chapters}/{name}")
    breakpoints = sample(trace, dice, lines)
    session = await begin(api, chapters, mode)
    await place(session, breakpoints)
    one = Walk(trace, session, breakpoints, dice)
    await one.go(verbs, moves)
    await one.check_hits()
    await session.delete()


async def place(session: Session, places: set[Place]) -> None:
    wanted = [{"file": path, "line": line} for path, line in sorted(places)]
    answer = await session.post("/breakpoints", breakpoints=wanted)
    assert [b["line"] for b in answer["breakpoints"] if not b["verified"]] == []


async def test_breakpoints_stop_where_the_recording_says(api: Api, tmp_path: Path) -> None:
    everything = tuple(driver.CHAPTERS)
    trace = Trace.record(everything, tmp_path)
    for number in range(WALKS or 1):
        await walk(
            api, trace, everything, f"continue {number}", ("continue",), lines=100, moves=4 * MOVES
        )


@pytest.mark.parametrize("chapter", driver.CHAPTERS)
async def test_steps_stop_where_the_recording_says(api: Api, tmp_path: Path, chapter: str) -> None:
    trace = Trace.record((chapter,), tmp_path)
    for number in range(WALKS or 1):
        await walk(api, trace, (chapter,), f"steps {number}", ("continue", *STEPS))


@pytest.mark.parametrize("mode", ["plain", "adapter"])
@pytest.mark.parametrize("chapter", FEW)
async def test_every_rung_stops_where_the_recording_says(
    api: Api, tmp_path: Path, chapter: str, mode: str
) -> None:
    trace = Trace.record((chapter,), tmp_path)
    for number in range(WALKS or 1):
        await walk(
            api,
            trace,
            (chapter,),
            f"{mode} {number}",
            ("continue", *STEPS),
            mode=mode,
            moves=MOVES // 2,
        )


@pytest.mark.parametrize("verb", STEPS)
async def test_one_kind_of_step_alone_walks_through_everything(
    api: Api, tmp_path: Path, verb: str
) -> None:
    trace = Trace.record(("control",), tmp_path)
    await walk(api, trace, ("control",), verb, (verb,), moves=2 * MOVES)


async def test_every_line_that_ran_is_verified(api: Api, tmp_path: Path) -> None:
    """What the compiler says of lines, and what the interpreter made of them."""
    session = await api.session()
    for chapter in ("control", "arguments", "unparse"):
        await place(
            session, {position.place for position in Trace.record((chapter,), tmp_path).lines}
        )
    await session.delete()
