"""Resume, pause and step. Source: API section 3.5, contract section 4; DAP next, stepIn, stepOut.

Each takes its place in the event log before it sends: a stop that comes before
the debugger's own answer is not missed, and one that outlasts `wait` is not lost.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, TypeVar

from relay.actions import Action
from relay.dap.lifecycle import Phase
from relay.errors import (
    DebuggerError,
    DebuggerTimeout,
    InvalidRequest,
    InvalidSessionState,
    RelayError,
    ThreadNotFound,
)
from relay.models.execution import (
    ContinueRequest,
    ContinueResult,
    ExecutionResult,
    PauseRequest,
    PauseResult,
    RestartFrameRequest,
    ReturnValue,
    StepInTarget,
    StepInTargets,
    StepIntoRequest,
    StepOutRequest,
    StepRequest,
    Waiting,
)
from relay.operations.execution.recording import end_elsewhere
from relay.operations.inspect.inspection import reported_threads
from relay.operations.inspect.snapshot import included_parts, values_within
from relay.operations.report.blocked import (
    until_stop_or_blocked,
    why_not_paused,
)
from relay.operations.sessions.sessions import (
    change_view,
    failure_fields,
    location_view,
    stop_message,
)
from relay.operations.sessions.stop_wait import STOPS, until_it_stands
from relay.session.dap.stack import frame_at
from relay.session.debuggee.debuggee import Debuggee
from relay.session.inspector import Extra
from relay.session.session import Session
from relay.session.state.journey import leg_of, setting_of
from relay.session.state.stop import Stop

STEP_WAIT = 10.0
"""Seconds that a step or a pause waits for its stop by default."""

PAUSE_ANSWER = 0.3
"""Seconds that a debugger is given to say that it pauses the program: later it does so all the same."""

JUST_RESUMED = 2.0
"""Seconds after a resume in which a debugger may forget a pause. Later it is only slow, as with a program in a
call of C code, and would stop once for each that it is asked for.
"""

PAUSE_FORGOTTEN = 0.5
"""Seconds without a stop after which a debugger that may forget a pause is asked again, once."""

MOST_RUNNING = 20
"""Processes that the answer of a pause names which it has not stopped."""

IRREGULAR = frozenset({"stepBack", "reverseContinue", "restartFrame"})
"""Commands that do not go on from where the program stands."""

ANY_THREAD = "*"
"""Some debuggers take this where DAP has a number: they need not be asked for one first."""

Result = TypeVar("Result", bound=ExecutionResult)


async def continue_execution(session: Session, *, body: ContinueRequest) -> ContinueResult:
    """Resume the program until its next breakpoint or its end.

    Answers at once; with `wait`, at the next stop or exit.
    """
    session.require_control("continue")
    stop = session.require_stop("continue")
    await _check_thread(session.live_debuggee, stop, body.thread_id)
    cursor = session.events.last_seq
    await resume_all(session, stop, "continue", {"threadId": body.thread_id or stop.thread_id})
    return await settle(ContinueResult, session, body, cursor, default_wait=0.0)


async def pause_execution(session: Session, *, body: PauseRequest) -> PauseResult:
    """Pause the program at its next line of code.

    A program in which no thread runs Python cannot stop. The answer then comes at once, says
    `running`, and has each thread's stack, locals and what it waits for; the stop follows as an
    event when a thread comes back. With `wait`, one that waits for a limited time is waited for.
    """
    session.require_control("pause")
    stop = session.stop
    if stop is None or stop.held is None:  # else some threads run
        session.require("pause", Phase.RUNNING)
    debuggee = session.live_debuggee
    cursor = session.events.last_seq
    await _check_thread(debuggee, stop, body.thread_id)
    # C code that keeps the GIL keeps the debugger from answering, not the pause from coming.
    is_late = False
    is_new = session.program_run.seconds_since_resumed < JUST_RESUMED
    try:
        thread = await _thread_to_pause(debuggee) if body.thread_id is None else body.thread_id
        await debuggee.request("pause", {"threadId": thread}, timeout=PAUSE_ANSWER)
        if session.debugger.may_forget_pauses and is_new:
            session.start_soon(_pause_again, session, debuggee, thread, cursor)
    except DebuggerTimeout:
        is_late = True
    wait = STEP_WAIT if body.wait is None else body.wait
    reported = await until_stop_or_blocked(
        session, cursor, wait, asked=body.wait is not None, is_late=is_late
    )
    running = debuggee.group.running()[:MOST_RUNNING] or None
    result = await present_as(PauseResult, session, body, cursor, running=running)
    room = body.max_chars - len(result.model_dump_json(include={"running"}))
    why = await why_not_paused(
        session, reported, room, is_of_program=bool(running) and body.thread_id is None
    )
    return result.model_copy(update=why)


async def _pause_again(
    session: Session, debuggee: Debuggee, thread: int | str, cursor: int
) -> None:
    """Ask once more if nothing has stopped since: lldb 14 answers before it has sent the program on, and forgets."""
    if await session.events.wait(cursor, types=STOPS, timeout=PAUSE_FORGOTTEN):
        return
    if session.phase is Phase.RUNNING:
        with contextlib.suppress(RelayError):
            await debuggee.request("pause", {"threadId": thread})


async def _thread_to_pause(debuggee: Debuggee) -> int | str:
    if debuggee.session.debugger.pauses_any_thread:
        return ANY_THREAD
    threads = await _thread_ids(debuggee)
    return threads[0] if threads else 1


async def step_over(session: Session, *, body: StepRequest) -> ExecutionResult:
    """Run to the next line of this function, calls and all."""
    return await _step(session, "step-over", "next", body, {"granularity": body.granularity})


async def step_into(session: Session, *, body: StepIntoRequest) -> ExecutionResult:
    """Run to the next line, into the call if there is one.

    With `target_id` into that call, and over those before it. If it is never made, or runs no code that
    the debugger sees, the step ends behind the function that was to make it.
    """
    arguments: dict[str, Any] = {"granularity": body.granularity}
    if body.target_id is not None:
        require_step_in_target(session, body.target_id, body.thread_id)
        arguments["targetId"] = body.target_id
    return await _step(session, "step-into", "stepIn", body, arguments)


async def step_in_targets(session: Session) -> StepInTargets:
    """The calls that the stopped thread's function has still to make, for `step-into`.

    For debuggers that can: a session's `extras` have `step_in_targets` then.
    """
    stop = require_extra(session, Extra.STEP_IN_TARGETS, "tell what can be stepped into")
    debuggee = session.live_debuggee
    frame = await frame_at(debuggee, stop, 0)
    found: list[dict[str, Any]] = []
    if stop.failure is None:  # else the program has left that frame
        answer = await debuggee.request("stepInTargets", {"frameId": frame.dap_id})
        found = answer.get("targets") or []
    require_unmoved(session, stop, "tell what can be stepped into")
    stop.step_in_targets = frozenset(one["id"] for one in found)
    return StepInTargets(thread_id=stop.thread_id, targets=[_target(one) for one in found])


def _target(listed: Mapping[str, Any]) -> StepInTarget:
    return StepInTarget(
        id=listed["id"],
        label=listed["label"],
        line=listed.get("line"),
        column=listed.get("column"),
        end_line=listed.get("endLine"),
        end_column=listed.get("endColumn"),
    )


def require_step_in_target(session: Session, target_id: int, thread_id: int | None) -> None:
    """Raise InvalidRequest for a call that was not told of at the present stop."""
    stop = require_extra(session, Extra.STEP_IN_TARGETS, "step into a chosen call")
    if target_id not in stop.step_in_targets or thread_id not in (None, stop.thread_id):
        raise InvalidRequest.of_field(
            "target_id",
            f"{target_id} is none of the calls that were listed at this stop of thread {stop.thread_id}",
            target_id,
            suggestion="List the calls that can be stepped into, and choose one of them",
        )


async def step_out(session: Session, *, body: StepOutRequest) -> ExecutionResult:
    """Run until this function has returned to its caller."""
    return await _step(session, "step-out", "stepOut", body, {})


async def step_back(session: Session, *, body: StepRequest) -> ExecutionResult:
    """Run backwards to the line before this one, calls and all.

    For debuggers that run backwards: a session's `extras` have `step_back` then.
    """
    session.require_control("step-back")
    stop = require_extra(session, Extra.STEP_BACK, "run backwards")
    arguments = {"granularity": body.granularity}
    return await _step_from(session, stop, "step-back", "stepBack", body, arguments)


async def reverse_continue(session: Session, *, body: ContinueRequest) -> ContinueResult:
    """Run backwards to the breakpoint before, or to the beginning.

    Answers at once; with `wait`, at that stop. For debuggers that run backwards: a session's
    `extras` have `step_back` then.
    """
    session.require_control("reverse-continue")
    stop = require_extra(session, Extra.STEP_BACK, "run backwards")
    await _check_thread(session.live_debuggee, stop, body.thread_id)
    cursor = session.events.last_seq
    arguments = {"threadId": body.thread_id or stop.thread_id}
    await _resume(session, stop, "reverse-continue", "reverseContinue", arguments)
    return await settle(ContinueResult, session, body, cursor, default_wait=0.0)


async def restart_frame(session: Session, *, body: RestartFrameRequest) -> ExecutionResult:
    """Begin the call of a frame anew, with its arguments; what it has done stays done.

    For debuggers that can: a session's `extras` have `restart_frame` then.
    """
    session.require_control("restart-frame")
    stop = require_extra(session, Extra.RESTART_FRAME, "restart a frame")
    frame = await frame_at(session.live_debuggee, stop, body.frame_id)
    cursor = session.events.last_seq
    await _resume(session, stop, "restart-frame", "restartFrame", {"frameId": frame.dap_id})
    return await settle(ExecutionResult, session, body, cursor, default_wait=STEP_WAIT)


def require_extra(session: Session, extra: Extra, what: str) -> Stop:
    """The present stop; raises NotSupported unless the session's debugger has said that it can."""
    stop = session.require_stop(what)
    inspector = session.live_debuggee.inspector
    assert inspector is not None
    if extra not in inspector.extras:
        raise session.debugger.cannot(what)
    return stop


async def _step(
    session: Session,
    verb: str,
    command: str,
    body: StepRequest | StepOutRequest,
    arguments: Mapping[str, Any],
) -> ExecutionResult:
    session.require_control(verb)
    stop = session.require_stop(verb)
    return await _step_from(session, stop, verb, command, body, arguments)


async def _step_from(
    session: Session,
    stop: Stop,
    verb: str,
    command: str,
    body: StepRequest | StepOutRequest,
    arguments: Mapping[str, Any],
) -> ExecutionResult:
    await _check_thread(session.live_debuggee, stop, body.thread_id)
    if body.thread_id is not None:
        stop.require_held(body.thread_id, verb)
    cursor = session.events.last_seq
    thread_id = body.thread_id or stop.thread_id
    await _resume(session, stop, verb, command, {"threadId": thread_id, **arguments})
    return await settle(ExecutionResult, session, body, cursor, default_wait=STEP_WAIT)


async def _check_thread(debuggee: Debuggee, stop: Stop | None, thread_id: int | None) -> None:
    """Raise ThreadNotFound for one that does not exist, InvalidSessionState for one that runs on
    in another process than that of `stop`."""
    if thread_id is None or (stop is not None and thread_id == stop.thread_id):
        return
    threads = await _thread_ids(debuggee)
    if thread_id not in threads:
        raise _no_such_thread(thread_id, threads)
    if stop is not None and stop.is_stopped is not None:
        stop.require_held(thread_id, "resume")  # the debugger of its process never would


async def _thread_ids(debuggee: Debuggee) -> list[int]:
    return [thread["id"] for thread in await reported_threads(debuggee)]


def _no_such_thread(thread_id: int, threads: list[int]) -> ThreadNotFound:
    return ThreadNotFound(
        f"thread {thread_id} does not exist", thread_id=thread_id, threads=threads
    )


async def resume_all(
    session: Session,
    stop: Stop,
    verb: str,
    arguments: Mapping[str, Any],
    *,
    expects_stop: bool = False,
) -> None:
    """Every thread runs from `stop`, also if some were let go before.

    expects_stop: its process is to stop again soon, at a place; those of others wait for that a while.
    Raises InvalidSessionState, and sends nothing, if the program has moved since.
    """
    if stop.held is None:
        if expects_stop:
            session.live_debuggee.group.expect_stop()
        await _resume(session, stop, verb, "continue", arguments)
        return
    inspector = (await _released(session, stop, verb)).inspector
    assert inspector is not None
    _note_leg(session, stop, "continue", arguments)
    session.program_events.resumed(stop.thread_id)
    await inspector.resume_all()


async def _resume(
    session: Session, stop: Stop, verb: str, command: str, arguments: Mapping[str, Any]
) -> None:
    """Send a resuming request. The phase changes on sending: a stop may overtake the answer."""
    debuggee = await _released(session, stop, verb)
    _note_leg(session, stop, command, arguments)
    session.program_events.resumed(stop.thread_id)
    try:
        await debuggee.request(command, arguments)
    except DebuggerError:
        _still_stands(session, stop)
        raise


async def _released(session: Session, stop: Stop, verb: str) -> Debuggee:
    """The process of `stop`, in which no value is kept any more that was shown."""
    require_unmoved(session, stop, verb)
    await end_elsewhere(session)
    debuggee = session.live_debuggee
    if debuggee.inspector is not None:
        await debuggee.inspector.release()
        require_unmoved(session, stop, verb)
    return debuggee


def require_unmoved(session: Session, stop: Stop, verb: str) -> None:
    """Raise InvalidSessionState unless `stop`, at which `verb` was legal, is the present one.

    To be asked after each wait: what is meant for one stop is not done at another.
    """
    if session.stop is stop:
        return
    session.require_stop(verb)
    raise InvalidSessionState(
        f"Cannot {verb}: the program has moved since",
        current_state=session.phase.value,
        suggestion=Action.SEE_STATUS,
    )


def _note_leg(session: Session, stop: Stop, command: str, arguments: Mapping[str, Any]) -> None:
    """Another run of the program could be brought on in the same way."""
    target, journey = session.stops.target, session.journey
    if command in IRREGULAR:
        journey.disturb("it was run backwards, or a frame was restarted")
    if arguments.get("threadId", stop.thread_id) != stop.thread_id:
        journey.disturb("another thread than the one that stopped was resumed")
    if "targetId" in arguments:
        journey.disturb("the call to step into was chosen")
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
    kind: type[Result], session: Session, body: Waiting, cursor: int, *, default_wait: float
) -> Result:
    """Where the program stands at its next stop or exit, or when the wait is over."""
    await until_settled(session, body, cursor, default_wait=default_wait)
    return await present_as(kind, session, body, cursor)


async def until_settled(
    session: Session, body: Waiting, cursor: int, *, default_wait: float
) -> None:
    """Until the program's next stop or exit, or until the wait is over."""
    wait = default_wait if body.wait is None else body.wait
    if wait:
        await until_it_stands(session, cursor, wait)


async def present_as(
    kind: type[Result], session: Session, body: Waiting, cursor: int, **more: Any
) -> Result:
    """Where the program stands now, with what the client wants to see of it.

    more: the fields that `kind` has besides those of an ExecutionResult.
    """
    stop = session.stop
    result = kind(
        session_id=session.id,
        status=session.phase,
        stop_reason=stop.reason if stop else None,
        current_location=location_view(stop),
        thread_id=stop.thread_id if stop else None,
        return_value=_return_value(await _shown_return(session, stop, body)),
        change=change_view(stop),
        exit_code=session.exit_code,
        **failure_fields(stop),
        **{"message": stop_message(session), **more},
    )
    result = values_within(result, body.max_chars, for_parts=bool(body.include))
    if not body.include:
        return result
    parts = await included_parts(session, body, cursor, len(result.model_dump_json()))
    return result.model_copy(update={"stop": parts})


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
