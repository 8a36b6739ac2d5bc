"""An agent program that owns the nursery: it cancels its sessions with its own scopes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from relay import Settings, open_relay
from relay.dap.lifecycle import Phase
from relay.hub import Hub
from relay.models.breakpoints import BreakpointSpec
from relay.models.creating import CreateSession
from relay.models.launch import LaunchRequest
from relay.operations.sessions.creating import session_for_block
from tests.e2e.test_embedding import below_us, tasks_living
from tests.leftovers import descriptors
from tests.programs import Program

SESSIONS = 100
EVERY = 5
"""Of so many sessions one has a program; each of those starts a child of its own."""

AT_ONCE = 10
DEADLINE = 120


async def test_a_hundred_sessions_cancelled_by_their_owner_leave_nothing(
    tmp_path: Path, program: Callable[..., Program]
) -> None:
    settings = Settings(state_dir=tmp_path / "state", project_root=tmp_path, max_sessions=SESSIONS)
    script = program(
        """
        import subprocess, time
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        here = 1  # @here
        time.sleep(600)
        """
    )
    processes, files, tasks = set(below_us()), descriptors(), tasks_living()
    ways: list[str] = []
    with trio.fail_after(DEADLINE):
        async with open_relay(settings) as hub, trio.open_nursery() as nursery:
            turn = trio.CapacityLimiter(AT_ONCE)
            for number in range(SESSIONS):
                nursery.start_soon(_agent, hub, number, script, turn, ways)
    assert hub.sessions == []
    assert set(below_us()) <= processes
    assert descriptors() <= files
    assert tasks_living() == tasks
    assert len(ways) == SESSIONS
    assert set(ways) == {"no program", "while it stood", "while it started"}


async def _agent(
    hub: Hub, number: int, script: Program, turn: trio.CapacityLimiter, ways: list[str]
) -> None:
    """One agent's task: a session under a scope of its own, cancelled at some moment."""
    async with turn:
        with trio.CancelScope() as scope:
            if number % EVERY:
                async with session_for_block(hub, body=CreateSession()):
                    ways.append("no program")
                    scope.cancel()
                    await trio.sleep_forever()
            await _with_program(hub, number, script, scope, ways)
        assert scope.cancelled_caught


async def _with_program(
    hub: Hub, number: int, script: Program, scope: trio.CancelScope, ways: list[str]
) -> None:
    body = CreateSession(
        breakpoints=[BreakpointSpec(file=script.text, line=script.line("here"))],
        launch=LaunchRequest(script=script.text, wait=60),
    )
    if number % (2 * EVERY):
        async with session_for_block(hub, body=body) as session:
            assert session.phase is Phase.PAUSED
            ways.append("while it stood")
            scope.cancel()
            await trio.sleep_forever()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_cancel_while_launching, hub, scope, ways)
        async with session_for_block(hub, body=body):
            pytest.fail("cancelled before it stood")


async def _cancel_while_launching(hub: Hub, scope: trio.CancelScope, ways: list[str]) -> None:
    """Cancel as soon as any program is being started."""
    while not any(session.phase is Phase.LAUNCHING for session in hub.sessions):  # noqa: ASYNC110
        await trio.sleep(0.005)
    ways.append("while it started")
    scope.cancel()
