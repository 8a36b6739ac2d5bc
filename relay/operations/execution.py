"""Resume, pause and step. Source: API section 3.5, contract section 4; DAP next, stepIn, stepOut.

Each takes its place in the event log before it sends: a stop that comes before
the debugger's own answer is not missed, and one that outlasts `wait` is not lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.dap.lifecycle import Phase
from relay.errors import ThreadNotFound
from relay.models.execution import (
    ContinueRequest,
    ContinueResult,
    ExecutionResult,
    PauseRequest,
    ReturnValue,
    StepOutRequest,
    StepRequest,
    Waiting,
)
from relay.operations.sessions import location_view
from relay.operations.snapshot import stop_report
from relay.session.session import Session
from relay.session.stop import Stop

STOPS = frozenset({"stopped", "terminated"})
STEP_WAIT = 10.0
"""Seconds that a step or a pause waits for its stop, unless told otherwise."""


async def continue_execution(session: Session, *, body: ContinueRequest) -> ContinueResult:
    """Resume the program until its next breakpoint or its end.

    Answers at once; with `wait`, at the next stop or exit.
    """
    stop = session.require_stop("continue")
    await _check_thread(session, body.thread_id)
    cursor = session.events.last_seq
    await _resume(session, "continue", {"threadId": body.thread_id or stop.thread_id})
    result = await settle(session, body, cursor, default_wait=0.0)
    return ContinueResult(**dict(result))


async def pause_execution(session: Session, *, body: PauseRequest) -> ExecutionResult:
    """Pause the program at its next line of code.

    While it blocks outside of Python code it stops only when it comes back; the
    answer then says `running`, and the stop follows as an event.
    """
    session.require("pause", Phase.RUNNING)
    debuggee = session.require_debuggee("pause")
    cursor = session.events.last_seq
    threads = await _thread_ids(session)
    if body.thread_id is not None and body.thread_id not in threads:
        raise _no_such_thread(body.thread_id, threads)
    await debuggee.request("pause", {"threadId": body.thread_id or threads[0]})
    return await settle(session, body, cursor, default_wait=STEP_WAIT)


async def step_over(session: Session, *, body: StepRequest) -> ExecutionResult:
    """Run to the next line of this function, calls and all."""
    return await _step(session, "step-over", "next", body, {"granularity": body.granularity})


async def step_into(session: Session, *, body: StepRequest) -> ExecutionResult:
    """Run to the next line, into the call if there is one."""
    return await _step(session, "step-into", "stepIn", body, {"granularity": body.granularity})


async def step_out(session: Session, *, body: StepOutRequest) -> ExecutionResult:
    """Run until this function has returned to its caller."""
    return await _step(session, "step-out", "stepOut", body, {})


async def _step(
    session: Session,
    verb: str,
    command: str,
    body: StepRequest | StepOutRequest,
    extra: Mapping[str, Any],
) -> ExecutionResult:
    stop = session.require_stop(verb)
    await _check_thread(session, body.thread_id)
    cursor = session.events.last_seq
    await _resume(session, command, {"threadId": body.thread_id or stop.thread_id, **extra})
    return await settle(session, body, cursor, default_wait=STEP_WAIT)


async def _check_thread(session: Session, thread_id: int | None) -> None:
    if thread_id is None or (session.stop and thread_id == session.stop.thread_id):
        return
    threads = await _thread_ids(session)
    if thread_id not in threads:
        raise _no_such_thread(thread_id, threads)


async def _thread_ids(session: Session) -> list[int]:
    body = await session.require_debuggee("list threads").request("threads")
    return [int(thread["id"]) for thread in body.get("threads") or []]


def _no_such_thread(thread_id: int, threads: list[int]) -> ThreadNotFound:
    return ThreadNotFound(
        f"thread {thread_id} does not exist", thread_id=thread_id, threads=threads
    )


async def _resume(session: Session, command: str, arguments: Mapping[str, Any]) -> None:
    """Send a resuming request. The phase changes on sending: a stop may overtake the answer."""
    stop = session.require_stop(command)
    debuggee = session.require_debuggee(command)
    if debuggee.inspector is not None:
        await debuggee.inspector.release()
    if session.stop is not stop:
        session.require_stop(command)
    session.announce_resume(stop.thread_id)
    await debuggee.request(command, arguments)


async def settle(
    session: Session, body: Waiting, cursor: int, *, default_wait: float
) -> ExecutionResult:
    """Where the program stands at its next stop or exit, or when the wait is over."""
    wait = default_wait if body.wait is None else body.wait
    if wait:
        await session.events.wait(cursor, types=STOPS, timeout=wait)
    return await standing(session, body, cursor)


async def standing(session: Session, body: Waiting, cursor: int) -> ExecutionResult:
    """Where the program stands now, with what the client wants to see of it."""
    stop = session.stop
    return ExecutionResult(
        session_id=session.id,
        status=session.phase,
        stop_reason=stop.reason if stop else None,
        current_location=location_view(stop),
        thread_id=stop.thread_id if stop else None,
        return_value=_return_value(stop),
        exit_code=session.exit_code,
        stop=await stop_report(session, body, cursor) if body.include else None,
    )


def _return_value(stop: Stop | None) -> ReturnValue | None:
    if stop is None or stop.return_value is None:
        return None
    return ReturnValue.pick(stop.return_value, function=stop.return_value.get("name"))
