"""The relay is killed without warning: nothing that it launched stays behind."""

from __future__ import annotations

import contextlib
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import trio

from tests.e2e.api import Session
from tests.e2e.served import Served, alive, served, until
from tests.programs import DAEMON, Program

Write = Callable[..., Program]

PROGRAMS = {
    "busy": "print('ready', flush=True)\nwhile True: pass\n",
    "asleep": "import time\nprint('ready', flush=True)\ntime.sleep(600)\n",
    "in C code": """
        import itertools
        print("ready", flush=True)
        all(itertools.repeat(True))
    """,
    "deaf": """
        import signal, time
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        print("ready", flush=True)
        while True:
            time.sleep(1)
    """,
    "parent": """
        import subprocess, sys, time
        subprocess.Popen(["sleep", "600"])
        subprocess.Popen("sleep 600 & sleep 600", shell=True)
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        code = "import time; print('ready', flush=True); time.sleep(600)"
        subprocess.Popen([sys.executable, "-c", code])
        time.sleep(600)
    """,
    "daemon": DAEMON,
    "pool": """
        import multiprocessing, time
        def work(seconds):
            time.sleep(seconds)
        if __name__ == "__main__":
            with multiprocessing.Pool(2) as pool:
                pool.apply(work, (0,))
                print("ready", flush=True)
                pool.map(work, [600, 600])
    """,
}


async def start_all(relay: Served, program: Write, rung: str) -> None:
    """Every program of PROGRAMS, ready, and one that stands at a breakpoint."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(start_paused, relay, program, rung)
        for name in PROGRAMS:
            nursery.start_soon(start, relay, program, name, rung)


async def start(relay: Served, program: Write, name: str, rung: str) -> Session:
    script = program(PROGRAMS[name], f"{name.replace(' ', '_')}.py")
    session = await relay.api.session(name=name)
    await session.launch(script.text, wait=0, launch_mode=rung)
    await session.until_printed("ready")
    return session


def sleeping(relay: Served) -> int:
    return sum("sleep 600" in command for command in relay.below().values())


async def start_paused(relay: Served, program: Write, rung: str) -> Session:
    script = program("here = 1  # @here\n", "paused.py")
    session = await relay.api.session(name="paused")
    await session.breakpoint(script.text, script.line("here"))
    stop = await session.launch(script.text, launch_mode=rung, wait=60)
    assert stop["status"] == "paused"
    return session


@pytest.mark.parametrize("rung", ["fast", "plain", "adapter"])
async def test_nothing_outlives_a_killed_relay(tmp_path: Path, program: Write, rung: str) -> None:
    async with served(tmp_path) as relay:
        await start_all(relay, program, rung)
        # The shell, too, has started its own.
        await until(lambda: sleeping(relay) >= 4, f"not all began: {relay.below()}")
        below = relay.below()
        assert len(below) >= 2 * (len(PROGRAMS) + 1), "a guardian and a program for each"

        assert await relay.end(signal.SIGKILL) == -signal.SIGKILL
        await until(lambda: not alive(below), f"left behind: {alive(below)}", seconds=30)


async def test_a_relay_killed_in_the_middle_of_a_launch_leaves_nothing(
    tmp_path: Path, program: Write
) -> None:
    async with served(tmp_path) as relay:
        script = program(PROGRAMS["asleep"])
        seen: set[int] = set()
        async with trio.open_nursery() as nursery:
            for rung in ("fast", "plain", "adapter"):
                session = await relay.api.session()
                nursery.start_soon(launch_and_lose, session, script.text, rung)
            await until(lambda: len(relay.below()) >= 3, "nothing was launched")
            seen |= set(relay.below())
            await relay.end(signal.SIGKILL)
        await until(lambda: not alive(seen), f"left behind: {alive(seen)}", seconds=30)


async def launch_and_lose(session: Session, script: str, rung: str) -> None:
    """A launch whose answer never comes."""
    with contextlib.suppress(httpx.TransportError):
        await session.launch(script, wait=0, launch_mode=rung)


async def test_the_door_of_children_goes_with_a_killed_relay(
    tmp_path: Path, program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The relay cannot take it away any more: the guardian does."""
    place = Path(tempfile.mkdtemp(prefix="d-"))  # short: it is the path of a socket
    monkeypatch.setenv("TMPDIR", str(place))
    try:
        async with served(tmp_path) as relay:
            session = await relay.api.session()
            script = program(PROGRAMS["parent"])
            await session.launch(script.text, wait=0, debug_subprocesses=True)
            await session.get("/events", types="output", timeout=60)
            below = relay.below()
            assert doors(place)
            assert await relay.end(signal.SIGKILL) == -signal.SIGKILL
            await until(lambda: not alive(below), f"left behind: {alive(below)}")
            await until(lambda: not doors(place), "the door to be taken away")
    finally:
        shutil.rmtree(place)


def doors(place: Path) -> list[Path]:
    return list(place.glob("relay-*"))
