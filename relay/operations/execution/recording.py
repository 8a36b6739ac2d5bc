"""What a trace of one call and a tree of calls have in common: the program records, and is asked.

Knows how a recording is reached while the program is there. Knows nothing of what is recorded.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeAlias

import trio

from relay.dap.lifecycle import Phase
from relay.errors import NotSupported, RelayError
from relay.session.debuggee.debuggee import Debuggee
from relay.session.inspector import Inspector
from relay.session.session import Session

Record: TypeAlias = Mapping[str, Any]

ALIVE = (Phase.RUNNING, Phase.PAUSED)
MOST_NAMED = 3
"""Of other processes."""
OTHERWISE = "Set a breakpoint in the function instead, and step"

GONE = "the program ended at once, and what was recorded went with it"
"""Why there is no record of a program that was killed, or left by `os._exit`."""


def recorder_of(session: Session, verb: str) -> Inspector:
    """The way to recordings in the program; raises NotSupported where there is none."""
    return _inspector_of(session.require_debuggee(verb), verb)


def _inspector_of(debuggee: Debuggee, verb: str) -> Inspector:
    if debuggee.inspector is None:
        raise NotSupported(f"This debugger cannot {verb}", suggestion=OTHERWISE)
    return debuggee.inspector


def require_room(can: bool, what: str) -> None:
    """Raise NotSupported if the debuggee could not begin."""
    if not can:
        raise NotSupported(
            f"The program's own tracing tools leave no room for a {what}", suggestion=OTHERWISE
        )


@asynccontextmanager
async def begun_whole(end: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
    """What is in the block begins a recording and lets the program go on: both, though the client
    hangs up meanwhile. If the program cannot go on, `end` ends the recording."""
    with trio.CancelScope(shield=True):
        try:
            yield
        except RelayError:
            with suppress(RelayError):
                await end()
            raise


def begin_here(session: Session) -> None:
    """Note in which process a recording begins: the one that has stopped."""
    stop = session.stop
    here = session.pid if stop is None or stop.process is None else int(stop.process["pid"])
    session.program_run.record_in(here)


def gone_with(session: Session) -> str | None:
    """Why there is no record while the program is there: it went with the process that had it."""
    begun = session.program_run.recorded_in
    if begun is None or session.phase not in ALIVE or _keeper_of(session) is not None:
        return None
    return f"what was recorded went with process {begun}, which has ended"


def in_one_process(session: Session) -> str:
    """Behind what has not been recorded yet: other processes of the session, whose calls are not."""
    keeper = None if session.phase not in ALIVE else _keeper_of(session)
    others = [] if keeper is None else keeper.group.others(keeper)
    if keeper is None or not others:
        return ""
    named = ", ".join(f"{one['pid']} ({one['name']})" for one in others[:MOST_NAMED])
    more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
    there = f"not in {named}{more}: ask at a stop there, at a breakpoint say"
    return f", in process {keeper.pid} alone, {there}"


def _keeper_of(session: Session) -> Debuggee | None:
    """The process that records; None if it has gone."""
    if session.debuggee is None:
        return None
    return session.debuggee.group.with_pid(session.program_run.recorded_in)


async def present_record(
    session: Session, verb: str, read: Callable[[Inspector, bool], Awaitable[Record | None]]
) -> Record | None:
    """What has been recorded by now, in whatever process; None if it has ended, also while it was asked.

    read: asks a process, and is told whether that has stopped.
    """
    keeper = None if session.phase not in ALIVE else _keeper_of(session)
    if keeper is None:
        return None
    stopped = session.stop is not None and keeper.group.has_stopped(keeper)
    try:
        return await read(_inspector_of(keeper, verb), stopped)
    except RelayError:
        if session.phase in ALIVE and _keeper_of(session) is not None:
            raise
        return None
