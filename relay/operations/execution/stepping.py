"""Resume, pause and step. Source: API section 3.5, contract section 4; DAP next, stepIn, stepOut.

Each takes its place in the event log before it sends: a stop that comes before
the debugger's own answer is not missed, and one that outlasts `wait` is not lost.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from relay.dap.lifecycle import Phase
from relay.errors import DebuggerError, DebuggerTimeout, ThreadNotFound
from relay.models.execution import (
    ContinueRequest,
    ContinueResult,
    ExecutionResult,
    PauseRequest,
    PauseResult,
    RestartFrameRequest,
    ReturnValue,
    StepOutRequest,
    StepRequest,
    Waiting,
)
from relay.operations.inspect.inspection import frame_of, inspector_of, reported_threads
from relay.operations.inspect.snapshot import included_parts
from relay.operations.report.blocked import (
    PATIENCE,
    until_stop_or_blocked,
    why_not_paused,
)
from relay.operations.sessions.sessions import change_view, failure_fields, location_view
from relay.operations.sessions.stop_wait import until_it_stands
from relay.session.inspector import Extra
from relay.session.session import Session
from relay.session.state.journey import leg_of, setting_of
from relay.session.state.stop import Stop

STEP_WAIT = 10.0
"""Seconds that a step or a pause waits for its stop by default."""

IRREGULAR = frozenset({"stepBack", "reverseContinue", "restartFrame"})
"""Commands that do not go on from where the program stands."""

ANY_THREAD = "*"
"""Some debuggers take this where DAP has a number: they need not be asked for one first."""


async def continue_execution(session: Session, *, body: ContinueRequest) -> ContinueResult:
    """Resume the program until its next breakpoint or its end.

    Answers at once; with `wait`, at the next stop or exit.
    """
    session.require_control("continue")
    stop = session.require_stop("continue")
    await _check_thread(session, body.thread_id)
    cursor = session.events.last_seq
    await resume_all(session, {"threadId": body.thread_id or stop.thread_id})
    result = await settle(session, body, cursor, default_wait=0.0)
    return ContinueResult(**dict(result))


async def pause_execution(session: Session, *, body: PauseRequest) -> PauseResult:
    """Pause the program at its next line of code.

    A program in which no thread runs Python cannot stop. The answer then comes at once, says
    `running`, and has each thread's stack, locals and what it waits for; the stop follows as an
    event when a thread comes back. With `wait`, one that waits for a limited time is waited for.
    """
    session.require_control("pause")
    if session.stop is None or session.stop.held is None:  # else some threads run
        session.require("pause", Phase.RUNNING)
    debuggee = session.require_debuggee("pause")
    cursor = session.events.last_seq
    if body.thread_id is not None:
        await _check_thread(session, body.thread_id)
    # C code that keeps the GIL keeps the debugger from answering, not the pause from coming.
    with contextlib.suppress(DebuggerTimeout):
        thread = await _thread_to_pause(session) if body.thread_id is None else body.thread_id
        await debuggee.request("pause", {"threadId": thread}, timeout=PATIENCE)
    wait = STEP_WAIT if body.wait is None else body.wait
    reported = await until_stop_or_blocked(session, cursor, wait, asked=body.wait is not None)
    result = await present_result(session, body, cursor)
    return PauseResult(**dict(result), **await why_not_paused(session, reported, body.max_chars))


async def _thread_to_pause(session: Session) -> int | str:
    if session.debugger.pauses_any_thread:
        return ANY_THREAD
    threads = await _thread_ids(session)
    return threads[0] if threads else 1


async def step_over(session: Session, *, body: StepRequest) -> ExecutionResult:
    """Run to the next line of this function, calls and all."""
    return await _step(session, "step-over", "next", body, {"granularity": body.granularity})


async def step_into(session: Session, *, body: StepRequest) -> ExecutionResult:
    """Run to the next line, into the call if there is one."""
    return await _step(session, "step-into", "stepIn", body, {"granularity": body.granularity})


async def step_out(session: Session, *, body: StepOutRequest) -> ExecutionResult:
    """Run until this function has returned to its caller."""
    return await _step(session, "step-out", "stepOut", body, {})


async def step_back(session: Session, *, body: StepRequest) -> ExecutionResult:
    """Run backwards to the line before this one, calls and all.

    For debuggers that run backwards: a session's `extras` have `step_back` then.
    """
    session.require_control("step-back")
    _require_extra(session, Extra.STEP_BACK, "run backwards")
    return await _step(session, "step-back", "stepBack", body, {"granularity": body.granularity})


async def reverse_continue(session: Session, *, body: ContinueRequest) -> ContinueResult:
    """Run backwards to the breakpoint before, or to the beginning.

    Answers at once; with `wait`, at that stop. For debuggers that run backwards: a session's
    `extras` have `step_back` then.
    """
    session.require_control("reverse-continue")
    _require_extra(session, Extra.STEP_BACK, "run backwards")
    stop = session.require_stop("reverse-continue")
    await _check_thread(session, body.thread_id)
    cursor = session.events.last_seq
    thread_id = body.thread_id or stop.thread_id
    await _resume(session, stop, "reverseContinue", {"threadId": thread_id})
    result = await settle(session, body, cursor, default_wait=0.0)
    return ContinueResult(**dict(result))


async def restart_frame(session: Session, *, body: RestartFrameRequest) -> ExecutionResult:
    """Begin the call of a frame anew, with its arguments; what it has done stays done.

    For debuggers that can: a session's `extras` have `restart_frame` then.
    """
    session.require_control("restart-frame")
    _require_extra(session, Extra.RESTART_FRAME, "restart a frame")
    stop = session.require_stop("restart-frame")
    frame = await frame_of(session, body.frame_id)
    cursor = session.events.last_seq
    await _resume(session, stop, "restartFrame", {"frameId": frame.dap_id})
    return await settle(session, body, cursor, default_wait=STEP_WAIT)


def _require_extra(session: Session, extra: Extra, what: str) -> None:
    """Raise NotSupported unless the session's debugger has said that it can."""
    session.require_stop(what)
    if extra not in inspector_of(session, what).extras:
        raise session.debugger.cannot(what)


async def _step(
    session: Session,
    verb: str,
    command: str,
    body: StepRequest | StepOutRequest,
    extra: Mapping[str, Any],
) -> ExecutionResult:
    session.require_control(verb)
    stop = session.require_stop(verb)
    await _check_thread(session, body.thread_id)
    if body.thread_id is not None:
        stop.require_held(body.thread_id, verb)
    cursor = session.events.last_seq
    thread_id = body.thread_id or stop.thread_id
    await _resume(session, stop, command, {"threadId": thread_id, **extra})
    return await settle(session, body, cursor, default_wait=STEP_WAIT)


async def _check_thread(session: Session, thread_id: int | None) -> None:
    if thread_id is None or (session.stop and thread_id == session.stop.thread_id):
        return
    threads = await _thread_ids(session)
    if thread_id not in threads:
        raise _no_such_thread(thread_id, threads)
    if session.stop is not None and session.stop.is_stopped is not None:
        session.stop.require_held(thread_id, "resume")  # the debugger of its process never would


async def _thread_ids(session: Session) -> list[int]:
    return [thread["id"] for thread in await reported_threads(session)]


def _no_such_thread(thread_id: int, threads: list[int]) -> ThreadNotFound:
    return ThreadNotFound(
        f"thread {thread_id} does not exist", thread_id=thread_id, threads=threads
    )


async def resume_all(session: Session, arguments: Mapping[str, Any]) -> None:
    """Every thread runs, also if some were let go before."""
    stop = session.require_stop("continue")
    if stop.held is None:
        await _resume(session, stop, "continue", arguments)
        return
    inspector = session.require_debuggee("continue").inspector
    assert inspector is not None
    await inspector.release()
    stop = session.require_stop("continue")
    _note_leg(session, stop, "continue", arguments)
    session.program_events.resumed(stop.thread_id)
    await inspector.resume_all()


async def _resume(session: Session, stop: Stop, command: str, arguments: Mapping[str, Any]) -> None:
    """Send a resuming request. The phase changes on sending: a stop may overtake the answer.

    `stop` is the one in which resuming was found legal; only another one is looked at again.
    """
    if session.stop is not stop:
        stop = session.require_stop(command)
    debuggee = session.require_debuggee(command)
    if debuggee.inspector is not None:
        await debuggee.inspector.release()
    if session.stop is not stop:
        session.require_stop(command)
    _note_leg(session, stop, command, arguments)
    session.program_events.resumed(stop.thread_id)
    try:
        await debuggee.request(command, arguments)
    except DebuggerError:
        _still_stands(session, stop)
        raise


def _note_leg(session: Session, stop: Stop, command: str, arguments: Mapping[str, Any]) -> None:
    """Another run of the program could be brought on in the same way."""
    target, journey = session.stops.target, session.journey
    if command in IRREGULAR:
        journey.disturb("it was run backwards, or a frame was restarted")
    if arguments.get("threadId", stop.thread_id) != stop.thread_id:
        journey.disturb("another thread than the one that stopped was resumed")
    if target is not None and target.thread_id is not None:
        journey.disturb("it was to run to a line in one thread only")
    setting = setting_of(session.breakpoints, session.exceptions)
    journey.leave(leg_of(command, arguments.get("granularity"), target, setting))


def _still_stands(session: Session, stop: Stop) -> None:
    """The debugger has refused to move the program: it stands where it stood."""
    debuggee = session.debuggee
    several = debuggee is not None and debuggee.group.follows_children
    if session.phase is Phase.RUNNING and session.stop is None and not several:
        session.program_events.stopped(stop)


async def settle(
    session: Session, body: Waiting, cursor: int, *, default_wait: float
) -> ExecutionResult:
    """Where the program stands at its next stop or exit, or when the wait is over."""
    wait = default_wait if body.wait is None else body.wait
    if wait:
        await until_it_stands(session, cursor, wait)
    return await present_result(session, body, cursor)


async def present_result(session: Session, body: Waiting, cursor: int) -> ExecutionResult:
    """Where the program stands now, with what the client wants to see of it."""
    stop = session.stop
    return ExecutionResult(
        session_id=session.id,
        status=session.phase,
        stop_reason=stop.reason if stop else None,
        current_location=location_view(stop),
        thread_id=stop.thread_id if stop else None,
        return_value=_return_value(await _shown_return(session, stop, body)),
        change=change_view(stop),
        exit_code=session.exit_code,
        **failure_fields(stop),
        stop=await included_parts(session, body, cursor) if body.include else None,
    )


async def _shown_return(
    session: Session, stop: Stop | None, body: Waiting
) -> Mapping[str, Any] | None:
    """What the last call gave back; asked for again if it was masked and is to be shown."""
    reported = stop.return_value if stop is not None else None
    if reported is None or not (body.reveal and reported.get("redacted")):
        return reported
    assert stop is not None
    debuggee = session.debuggee
    if stop.top is None or debuggee is None or debuggee.inspector is None:
        return reported
    return await debuggee.inspector.return_value(stop.top, reveal=True)


def _return_value(reported: Mapping[str, Any] | None) -> ReturnValue | None:
    return None if reported is None else ReturnValue.pick(reported, function=reported.get("name"))
