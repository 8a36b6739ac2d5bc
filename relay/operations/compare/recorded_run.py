"""One run of a program, recorded call by call into a file."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trio

from relay.config import Settings
from relay.errors import InvalidSessionState
from relay.hub import open_relay
from relay.models.execution import ContinueRequest
from relay.models.launch import LaunchRequest
from relay.models.sessions import SessionSettings
from relay.operations.compare.moments import Moments
from relay.operations.compare.stream_reader import comparable_output
from relay.operations.execution.calls import focus_of
from relay.operations.execution.output_tap import feed
from relay.operations.execution.stepping import continue_execution
from relay.operations.output.reading import all_printed, last_words
from relay.operations.sessions.launching import launch
from relay.operations.sessions.sessions import open_session
from relay.operations.sessions.stop_wait import STOPS
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

    @property
    def script(self) -> str | None:
        """The file that is run, by its real path; None if it is no file."""
        named = self.target.get("script")
        return os.path.realpath(os.path.join(self.cwd, named)) if named else None


@dataclass(frozen=True)
class Ran:
    """A run that is over."""

    side: Side
    stream: Path
    """A line for each call, in the order in which they ended."""
    exit_code: int | None
    last_words: str
    """The last line of its standard error."""
    printed: str
    """All that it wrote, as far as it was kept, without what is no difference."""
    began: float
    """In seconds since 1970."""
    pid: int
    python: str
    """The interpreter that ran it."""
    has_stopped: bool
    """What it called after its first stop is not recorded."""


async def run_recorded(
    settings: Settings,
    side: Side,
    focus: Sequence[str],
    stream: Path,
    python: str | None,
    *,
    rereads: bool = False,
) -> Ran:
    """Run it to its end without input; raises RelayError if it cannot be started.

    rereads: record what has become of arguments, too, for about two fifths more processor time.
    """
    began = time.time()
    await trio.Path(stream).touch()
    async with open_relay(settings) as hub:
        request = SessionSettings(project_root=side.root, python_path=python)
        session = await open_session(hub, body=request)
        with session.activity():
            wanted = WantedCalls(focus_of(session, focus), stream=str(stream), rereads=rereads)
            session.program_run.want_calls(wanted)
            cursor = session.events.last_seq
            body = LaunchRequest(
                **side.target, cwd=side.cwd, env=dict(side.env), stop_on_exception=False
            )
            result = await launch(session, body=body)
            await feed(session, b"", end=True)
            has_stopped = False
            while not session.is_over:
                await session.events.wait(cursor, types=STOPS)
                cursor = session.events.last_seq
                if session.stop is not None:  # by a `breakpoint()` of its own
                    has_stopped = True
                    with suppress(InvalidSessionState):  # it was killed meanwhile
                        await continue_execution(session, body=ContinueRequest())
            return Ran(
                side,
                stream,
                session.exit_code,
                last_words(session),
                comparable_output(all_printed(session), side.root, Moments(began, time.time())),
                began,
                result.pid,
                python or result.python_path or settings.python_path,
                has_stopped,
            )
