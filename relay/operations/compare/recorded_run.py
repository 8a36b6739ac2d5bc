"""One run of a program, recorded call by call into a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trio

from relay.config import Settings
from relay.hub import Hub, open_relay
from relay.models.launch import LaunchRequest
from relay.models.sessions import SessionSettings
from relay.operations.execution.calls import focus_of
from relay.operations.execution.output_tap import feed
from relay.operations.execution.stepping import STOPS
from relay.operations.sessions.launching import launch
from relay.operations.sessions.sessions import open_session
from relay.session.session import Session
from relay.session.state.program_run import WantedCalls


@dataclass(frozen=True)
class Side:
    """One of the two runs: what is run, and where."""

    name: str
    """In texts: `1`, `this tree`, a revision."""
    target: Mapping[str, Any]
    """The fields of a launch that name the program."""
    root: str
    """Its own code is below; paths are compared without it."""
    cwd: str
    env: Mapping[str, str]


@dataclass(frozen=True)
class Ran:
    """A run that is over."""

    side: Side
    stream: Path
    """A line for each call, in the order in which they ended."""
    exit_code: int | None
    last_words: str
    """The last line of its standard error."""
    pid: int
    python: str
    """The interpreter that ran it."""


async def run_recorded(
    settings: Settings, side: Side, focus: Sequence[str], stream: Path, python: str | None
) -> Ran:
    """Run it to its end without input; raises RelayError if it cannot be started."""
    await trio.Path(stream).touch()
    async with open_relay(settings) as hub:
        session = await _opened(hub, side, python)
        with session.activity():
            wanted = WantedCalls(focus_of(session, focus), stream=str(stream))
            session.program_run.want_calls(wanted)
            cursor = session.events.last_seq
            body = LaunchRequest(
                **side.target, cwd=side.cwd, env=dict(side.env), stop_on_exception=False
            )
            result = await launch(session, body=body)
            await feed(session, b"", end=True)
            while not session.is_over:
                await session.events.wait(cursor, types=STOPS)
                cursor = session.events.last_seq
            chosen = result.python_path or settings.python_path
            said = _last_words(session)
            return Ran(side, stream, session.exit_code, said, result.pid, python or chosen)


async def _opened(hub: Hub, side: Side, python: str | None) -> Session:
    body = SessionSettings(project_root=side.root, python_path=python)
    return await open_session(hub, body=body)


def _last_words(session: Session) -> str:
    log = session.output
    entries = log.read(max(0, log.last_seq - 50), 50, "stderr").entries
    lines = "".join(entry.output for entry in entries).strip().splitlines()
    return session.redaction.text(lines[-1]) if lines else ""
