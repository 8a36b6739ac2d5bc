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
from relay.session.inspector import Inspector
from relay.session.session import Session

Record: TypeAlias = Mapping[str, Any]

ALIVE = (Phase.RUNNING, Phase.PAUSED)
OTHERWISE = "Set a breakpoint in the function instead, and step"

GONE = "the program ended at once, and what was recorded went with it"
"""Why there is no record of a program that was killed, or left by `os._exit`."""


def recorder_of(session: Session, verb: str) -> Inspector:
    """The way to recordings in the program; raises NotSupported where there is none."""
    inspector = session.require_debuggee(verb).inspector
    if inspector is None:
        raise NotSupported(f"This debugger cannot {verb}", suggestion=OTHERWISE)
    return inspector


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
    session.program_run.record_in(_asked_process(session))


def elsewhere(session: Session) -> str | None:
    """Why the record cannot be read now: another process has it than the one that is asked."""
    begun, asked = session.program_run.recorded_in, _asked_process(session)
    if begun is None or begun == asked or session.phase not in ALIVE:
        return None
    present = f"this stop is of process {asked}" if session.stop else f"process {asked} is asked"
    return f"what is recorded is in process {begun}, and {present}"


def _asked_process(session: Session) -> int | None:
    """The process that has stopped, else the program itself."""
    stop = session.stop
    return session.pid if stop is None or stop.process is None else int(stop.process["pid"])


async def present_record(
    session: Session, read: Callable[[], Awaitable[Record | None]]
) -> Record | None:
    """What the program has recorded by now; None if it has ended, also while it was asked."""
    if session.phase not in ALIVE:
        return None
    try:
        return await read()
    except RelayError:
        if session.phase in ALIVE:
            raise
        return None
