"""The machine's clock is set forwards and back by hours, under sessions that live: nobody notices."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trio

from relay.session.clock import FileMoment
from tests.e2e.api import Session
from tests.e2e.served import until
from tests.faults.set_clock import SetClock
from tests.faults.trials.lane import relay
from tests.faults.trials.waiters import SOON
from tests.programs import Program

JUMPS = (5.0, -30.0, 400.0, 0.0)
"""Hours that the clock is ahead of the real one, one after the other."""

WAIT = 0.4
"""Seconds that clients wait for what does not come."""

LOOP = """
    import time

    count = 0
    while True:
        count += 1  # @body
        time.sleep(0.001)
"""

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc makes the clock")


async def test_waits_sessions_and_records_outlive_every_jump(tmp_path: Path) -> None:
    set_clock = SetClock(tmp_path)
    loop = Program.write(tmp_path / "loop.py", LOOP)
    os.utime(loop.path, (time.time() - 3600,) * 2)
    async with relay(tmp_path / "relay", **set_clock.environment) as lane:
        stands, runs = await lane.api.session(name="stands"), await lane.api.session(name="runs")
        await stands.breakpoint(loop.text, loop.line("body"))
        await stands.launch(loop.text)
        await runs.launch(loop.text, wait=0)
        for number, hours in enumerate(JUMPS):
            async with _waits_as_long_as_asked(stands, runs, tmp_path / "begun"):
                set_clock.set_ahead(hours)
            await _moves(stands, number)
            await _is_dated(stands, hours)
        await _knows_what_was_edited(stands, loop, set_clock)
        ids = {stands.id, runs.id}
        await lane.end(signal.SIGKILL)
    # What was kept is from the future now.
    set_clock.set_ahead(-1000)
    async with relay(tmp_path / "relay", **set_clock.environment) as lane:
        items = (await lane.api.get("/sessions"))["items"]
        assert {item["session_id"] for item in items} == ids
        (kept,) = (await Session(lane.api, stands.id).get("/breakpoints"))["breakpoints"]
        assert kept["line"] == loop.line("body")
        assert await lane.end(signal.SIGTERM) == 0
        assert "Traceback" not in lane.log()


@asynccontextmanager
async def _waits_as_long_as_asked(
    stands: Session, runs: Session, begun: Path
) -> AsyncIterator[None]:
    """Those who wait since before the jump are answered when their time is over."""
    cursor = (await runs.get("/events"))["next_cursor"]

    async def poll() -> None:
        began = trio.current_time()
        page = await runs.get("/events", cursor=cursor, types="terminated", timeout=WAIT)
        assert page["events"] == []
        assert WAIT * 0.95 <= trio.current_time() - began < SOON

    async def evaluate() -> None:
        began = trio.current_time()
        answer = await stands.evaluate(
            f"(open({str(begun)!r}, 'w').close(), time.sleep({WAIT}))[1]"
        )
        assert answer["result"] == "None"
        assert WAIT * 0.95 <= trio.current_time() - began < SOON

    async with trio.open_nursery() as nursery:
        nursery.start_soon(poll)
        nursery.start_soon(evaluate)
        await until(begun.exists, "the expression to run")
        yield
    os.unlink(begun)


async def _moves(session: Session, number: int) -> None:
    """It steps, counts right and says so in its events, each once and in their order."""
    with trio.fail_after(SOON):
        assert (await session.get())["status"] == "paused", "not ended by an idle timeout"
        await session.resume()
        assert (await session.evaluate("count"))["result"] == str(number + 1)
    numbers = [event["seq"] for event in await session.events()]
    assert numbers == list(range(1, len(numbers) + 1))


async def _is_dated(session: Session, hours: float) -> None:
    """What is told now bears the date that the clock has now; what was told before keeps its own."""
    last = (await session.events("stopped"))[-1]
    now = time.time() + hours * 3600
    assert abs(_seconds(last["timestamp"]) - now) < SOON
    view = await session.get()
    assert 3600 - SOON < _seconds(view["expires_at"]) - now <= 3600 + SOON


async def _knows_what_was_edited(session: Session, program: Program, clock: SetClock) -> None:
    """Nobody has touched the file, which is an hour old; until somebody does."""
    clock.set_ahead(3)
    assert "warning" not in await session.get("/breakpoints")
    clock.set_ahead(-3)
    assert "may have been changed" in (await session.get("/breakpoints"))["warning"]
    clock.set_ahead(3)
    now = time.time() + 1  # before the clock was set, then
    os.utime(program.path, (now, now))
    assert "was changed after" in (await session.get("/breakpoints"))["warning"]


def _seconds(timestamp: str) -> float:
    return datetime.fromisoformat(timestamp).astimezone(UTC).timestamp()


async def test_a_file_is_dated_before_or_after_whatever_the_clock_did(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moment, began = FileMoment(), time.time()
    assert not moment.may_precede(began - 1)
    assert moment.may_precede(began + 1)
    jump = 0.0
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    jump = 7200  # what was edited before is still older, and what is edited now newer
    assert not moment.may_precede(began - 1)
    assert moment.may_precede(began + 1)
    jump = -7200  # a file of two hours before may be one of now
    assert moment.may_precede(began - 3600)
    assert not moment.may_precede(began - 7300)
