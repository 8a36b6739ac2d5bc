"""The relay inside another trio program: it leaves with its block, whatever ends that."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest
import trio

from relay import Settings, open_relay
from relay.dap.lifecycle import Phase
from relay.errors import ShuttingDown
from relay.hub import Hub
from relay.models.breakpoints import SetBreakpoints
from relay.models.creating import CreateSession
from relay.models.launch import LaunchRequest
from relay.operations.breakpoints.breakpoints import set_breakpoints
from relay.operations.sessions.creating import create_session
from relay.operations.sessions.launching import launch
from relay.process.guardian import descendants
from relay.session.session import Session
from tests.e2e.served import alive, until
from tests.leftovers import descriptors
from tests.programs import Program

Write = Callable[..., Program]

STATES = ("created", "running", "paused", "terminated", "launching")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(state_dir=tmp_path / "state", project_root=tmp_path, max_sessions=100)


@pytest.fixture
async def untouched() -> AsyncIterator[Callable[[], None]]:
    """Asserts that processes and descriptors are those from before. Async, since trio has some."""
    processes, open_files = set(below_us()), descriptors()

    def check() -> None:
        assert set(below_us()) <= processes, below_us()
        assert descriptors() <= open_files

    yield check
    check()


def below_us() -> dict[int, str]:
    return alive(pid for pid, _ in descendants(os.getpid()))


def tasks_living() -> int:
    return trio.lowlevel.current_statistics().tasks_living


async def new_session(hub: Hub) -> Session:
    return hub.get((await create_session(hub, body=CreateSession())).session_id)


async def start(session: Session, state: str, program: Write, rung: str = "fast") -> None:
    """Bring the session into `state`; for `launching`, return when its processes are there."""
    script = program(
        """
        import os, subprocess, sys, time
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        here = 1  # @here
        if sys.argv[1:] == ["end"]:
            sys.exit(0)
        print("ready", flush=True)
        time.sleep(600)
        """,
        f"{session.id}.py",
    )
    if state == "paused":
        where = [{"source": {"path": script.text}, "line": script.line("here")}]
        await set_breakpoints(session, body=SetBreakpoints.model_validate({"breakpoints": where}))
    args = ["end"] if state == "terminated" else []
    wait = 0 if state == "running" else 60
    await launch(
        session,
        body=LaunchRequest(script=script.text, args=args, wait=wait, launch_mode=rung),  # type: ignore[arg-type]
    )
    if state == "running":
        await session.events.wait(0, types=frozenset({"output"}), timeout=60)
    assert session.phase.value == state


async def start_one_of_each(hub: Hub, nursery: trio.Nursery, program: Write, rung: str) -> None:
    for state in STATES:
        session = await new_session(hub)
        if state == "launching":
            nursery.start_soon(partial(start, session, "running", program, rung))
            await until(lambda s=session: s.phase is Phase.LAUNCHING, "not launching")  # type: ignore[misc]
        elif state != "created":
            await start(session, state, program, rung)


@pytest.mark.parametrize("rung", ["fast", "plain", "adapter"])
async def test_cancelling_the_embedder_ends_sessions_in_every_state(
    settings: Settings, program: Write, rung: str, untouched: Callable[[], None]
) -> None:
    tasks = tasks_living()
    sessions: list[Session] = []
    async with trio.open_nursery() as nursery, open_relay(settings) as hub:
        await start_one_of_each(hub, nursery, program, rung)
        sessions = hub.sessions
        assert tuple(session.phase.value for session in sessions) == STATES
        nursery.cancel_scope.cancel()
        await trio.sleep(600)
    untouched()
    assert tasks_living() == tasks
    assert all(session.closed.is_set() for session in sessions)
    assert {session.phase for session in sessions} == {Phase.TERMINATED}
    assert all(session.events.closed for session in sessions)


async def test_leaving_the_block_ends_every_session(
    settings: Settings, program: Write, untouched: Callable[[], None]
) -> None:
    tasks = tasks_living()
    async with open_relay(settings) as hub:
        for state in ("running", "paused"):
            await start(await new_session(hub), state, program)
        sessions = hub.sessions
        assert below_us()
    untouched()
    assert tasks_living() == tasks
    assert all(session.closed.is_set() for session in sessions)
    with pytest.raises(ShuttingDown):
        await new_session(hub)


async def test_thirty_sessions_opened_and_cancelled_leave_nothing(
    settings: Settings, program: Write, untouched: Callable[[], None]
) -> None:
    tasks = tasks_living()
    for _ in range(3):
        with trio.CancelScope() as scope:
            async with open_relay(settings) as hub, trio.open_nursery() as nursery:
                for number in range(10):
                    session = await new_session(hub)
                    if number % 2:
                        nursery.start_soon(start, session, "running", program)
                await until(lambda: len(below_us()) >= 5, "nothing was launched")
                scope.cancel()
        untouched()
        assert tasks_living() == tasks


class Boom(Exception):
    """Raised by an embedder."""


async def test_an_exception_in_the_block_comes_out_as_it_is(
    settings: Settings, program: Write, untouched: Callable[[], None]
) -> None:
    async def embed() -> None:
        async with open_relay(settings) as hub:
            await start(await new_session(hub), "paused", program)
            raise Boom

    with pytest.raises(Boom):
        await embed()
    untouched()


async def test_one_deleted_session_leaves_the_others_alone(
    settings: Settings, program: Write
) -> None:
    async with open_relay(settings) as hub:
        first, second = await new_session(hub), await new_session(hub)
        await start(first, "running", program)
        await start(second, "paused", program)
        await hub.end_session(first)
        assert hub.sessions == [second]
        assert second.phase is Phase.PAUSED
        assert second.stop is not None


async def test_two_relays_live_side_by_side(tmp_path: Path, program: Write) -> None:
    settings = Settings(state_dir=tmp_path, project_root=tmp_path)
    async with open_relay(settings) as one:
        kept = await new_session(one)
        async with open_relay(settings) as other:
            await start(await new_session(other), "running", program)
        await start(kept, "paused", program)
        assert kept.phase is Phase.PAUSED
