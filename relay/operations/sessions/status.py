"""Where a session is, at a glance. Source: user story, sections 3.1 and 4.3; contract, section 2.

A poll must be cheap: the debuggee is asked for its threads once in each stop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relay.dap.lifecycle import Phase
from relay.errors import RelayError
from relay.models.status import (
    StatusException,
    StatusLocation,
    StatusView,
    StoppedThread,
    ThreadStanding,
)
from relay.operations.sessions.sessions import failure_fields, stop_message
from relay.session.session import Session
from relay.session.state.stop import Stop

THREADS_SECONDS = 1.0
"""How long a poll waits for the threads; without them it shows the stopped one only."""


async def get_status(session: Session) -> StatusView:
    """Show where the session is, at a glance.

    Made for polling. While paused it names every thread, and those that stopped of
    themselves: with several threads, more than one may stand at a breakpoint.
    """
    threads = await _threads(session, session.stop) if session.stop else []
    stop = session.stop  # it may have gone on meanwhile
    waits = session.phase is Phase.RUNNING and session.waiting_for_input is not None
    return StatusView(
        session_id=session.id,
        status="waiting_for_input" if waits else session.phase.value,
        reason=stop.reason if stop else session.reason,
        location=_location_of(stop),
        message=stop_message(session),
        stopped_threads=_stopped(session, stop, threads) if stop else [],
        all_threads=[_thread_status(stop, thread) for thread in threads] if stop else [],
        exception=_exception_of(stop),
        exit_code=session.exit_code,
        **failure_fields(stop),
        warning=session.warning,
        prompt=session.waiting_for_input if waits else None,
    )


async def _threads(session: Session, stop: Stop) -> Sequence[Mapping[str, Any]]:
    """The threads as the debuggee reports them, asked for once in each stop."""
    async with stop.asking:
        if stop.threads is None:
            debuggee = session.debuggee
            try:
                if debuggee is not None and debuggee.inspector is not None:
                    stop.threads = await debuggee.group.thread_states(timeout=THREADS_SECONDS)
            except RelayError:
                pass  # it hangs or has gone on: the poll is answered all the same
    return stop.threads or [{"id": stop.thread_id, "name": "", "state": "stopped", "frame": None}]


def _stopped(
    session: Session, stop: Stop, threads: Sequence[Mapping[str, Any]]
) -> list[StoppedThread]:
    """The thread of the stop, and those that stand at a breakpoint of their own."""
    found: list[StoppedThread] = []
    for thread in threads:
        if thread["id"] == stop.thread_id:
            hit = next(iter(stop.hit_breakpoint_ids), None)
            found.insert(0, _stopped_thread(thread, hit, _location_of(stop)))
        elif stop.holds(thread["id"]) and thread["state"] == "stopped":
            here = _location(thread["frame"])
            if (own := _breakpoint_at(session, here)) is not None:
                found.append(_stopped_thread(thread, own, here))
    return found


def _stopped_thread(
    thread: Mapping[str, Any], breakpoint_id: str | None, location: StatusLocation | None
) -> StoppedThread:
    return StoppedThread(
        thread_id=thread["id"],
        name=thread["name"],
        breakpoint_id=breakpoint_id,
        location=location,
        process=thread.get("process"),
    )


def _breakpoint_at(session: Session, location: StatusLocation | None) -> str | None:
    if location is None or location.path is None:
        return None
    here = session.breakpoints.at(location.path, location.line)
    # Whether a condition held, or a log message was all there was to do, nobody remembers.
    if here is None or not here.is_active or here.condition or here.log_message or here.capture:
        return None
    return here.id


def _thread_status(stop: Stop, thread: Mapping[str, Any]) -> ThreadStanding:
    held = stop.holds(thread["id"])
    return ThreadStanding(
        thread_id=thread["id"],
        name=thread["name"],
        status="paused" if held else "running",
        process=thread.get("process"),
    )


def _location(frame: Mapping[str, Any] | None) -> StatusLocation | None:
    if frame is None:
        return None
    path = frame["path"]
    return StatusLocation(file=path, path=path, line=frame["line"], function=frame["name"])


def _location_of(stop: Stop | None) -> StatusLocation | None:
    if stop is None or stop.top is None:
        return None
    top = stop.top
    return StatusLocation(file=top.path, path=top.path, line=top.line, function=top.name)


def _exception_of(stop: Stop | None) -> StatusException | None:
    if stop is None or stop.exception is None:
        return None
    raised = stop.exception
    return StatusException(
        type=raised.type,
        full_type=raised.full_type,
        message=raised.message,
        location=_location_of(stop),
    )
