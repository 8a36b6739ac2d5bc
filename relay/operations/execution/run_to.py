"""Run to a line, and set the next line. Source: contract sections 4 and 9; DAP goto."""

from __future__ import annotations

from functools import partial
from typing import Any

import trio

from relay.errors import (
    BreakpointInvalidLine,
    DebuggerError,
    DebuggerTimeout,
    InvalidRequest,
    ThreadNotFound,
)
from relay.models.breakpoints import BreakpointSpec
from relay.models.execution import ExecutionResult
from relay.models.run_to import GotoRequest, RunToRequest, RunToResult
from relay.operations.allowed_roots import meant_path
from relay.operations.breakpoints.placing import place
from relay.operations.execution.stepping import (
    STEP_WAIT,
    present_as,
    require_unmoved,
    resume_all,
    settle,
    until_settled,
)
from relay.operations.execution.threads import states_at
from relay.operations.inspect.inspection import inspector_of
from relay.session.dap.breakpoint_sync import send_breakpoints, send_later
from relay.session.dap.stack import stack
from relay.session.session import Session
from relay.session.state.breakpoints import Breakpoint
from relay.session.state.run_target import RunTarget
from relay.session.state.stop import Frame, Stop

RUN_TO, GOTO = "run to a line", "set the next line"

# Run to --------------------------------------------------------------------------------------


async def run_to(session: Session, *, body: RunToRequest) -> RunToResult:
    """Run until this line: a breakpoint for once, gone at whatever stop comes first.

    `reached` is false if something else stopped or ended the program before. Your own
    breakpoints stay as they are, one at the same line too.
    """
    session.require_control(RUN_TO)
    stop = session.require_stop(RUN_TO)
    spot = await line_with_code(session, BreakpointSpec(file=body.file, line=body.line))
    target = await _target(session, body, spot)
    require_unmoved(session, stop, RUN_TO)
    cursor = session.events.last_seq
    await _go(session, stop, target)
    await until_settled(session, body, cursor, default_wait=STEP_WAIT)
    reached = _reached(session, target)
    return await present_as(RunToResult, session, body, cursor, reached=reached)


async def line_with_code(
    session: Session, spec: BreakpointSpec, verb: str = "run to"
) -> Breakpoint:
    """The line, checked as for a breakpoint; raises BreakpointInvalidLine if it has no code."""
    spot = await place(session, spec)
    if not spot.verified and not spot.judged_by_adapter:
        raise BreakpointInvalidLine(
            f"Cannot {verb} line {spot.line} of {spot.path}: {spot.message}",
            file=spot.path,
            line=spot.line,
            suggestion=spot.suggestion,
        )
    return spot


async def _target(session: Session, body: RunToRequest, spot: Breakpoint) -> RunTarget:
    if body.thread_id is None:
        return RunTarget(spot.path, spot.line)
    states = await inspector_of(session, RUN_TO).thread_states()
    idents = {state["id"]: state["ident"] for state in states}
    if body.thread_id not in idents:
        raise ThreadNotFound(
            f"thread {body.thread_id} does not exist",
            thread_id=body.thread_id,
            threads=list(idents),
        )
    return RunTarget(spot.path, spot.line, body.thread_id, idents[body.thread_id])


async def _go(session: Session, stop: Stop, target: RunTarget) -> None:
    """Set the target and resume, also when the asker is cancelled; if that fails, it is as it was."""
    debuggee = session.live_debuggee
    send = partial(send_breakpoints, debuggee, target.path)
    session.stops.aim(target)
    try:
        with trio.CancelScope(shield=True):
            await send()
            thread = {"threadId": stop.thread_id}
            await resume_all(session, stop, RUN_TO, thread, expects_stop=True)
    except Exception as error:
        # A program that was resumed and has not answered in time goes to the target when it can.
        is_sent = isinstance(error, DebuggerTimeout) and session.stop is None
        if session.stops.target is target and not is_sent:
            session.stops.aim(None)
            send_later(debuggee, send)
        raise


def _reached(session: Session, target: RunTarget) -> bool | None:
    """Whether it stopped there; None while it is on its way, false after an end."""
    return None if session.stops.target is target else bool(target.reached)


# Set the next line -------------------------------------------------------------------------


async def goto(session: Session, *, body: GotoRequest) -> ExecutionResult:
    """Set the line that runs next, in the function where a thread stands; nothing between runs.

    A line that Python cannot jump to (of another function, into a `for` or `with` block) is
    refused, and nothing changes.
    """
    session.require_control(GOTO)
    stop = session.require_stop(GOTO)
    thread_id = stop.thread_id if body.thread_id is None else body.thread_id
    frame = await _top_of(session, stop, thread_id)
    await _check_line(session, body, frame)
    require_unmoved(session, stop, GOTO)
    debuggee = session.live_debuggee
    where = {"source": {"path": frame.path}, "line": body.line}
    targets = await debuggee.request("gotoTargets", where)
    require_unmoved(session, stop, GOTO)
    session.journey.disturb("the next line was set by hand")
    cursor = session.events.last_seq
    target_id = targets["targets"][0]["id"]
    try:
        await debuggee.request("goto", {"threadId": thread_id, "targetId": target_id})
    except DebuggerError as error:
        raise _impossible(body, frame, str(error.details.get("adapter_message") or "")) from None
    return await settle(ExecutionResult, session, body, cursor, default_wait=STEP_WAIT)


async def _top_of(session: Session, stop: Stop, thread_id: int) -> Frame:
    stop.require_held(thread_id, GOTO)
    states = await states_at(inspector_of(session, GOTO), thread_id)
    if thread_id not in states:
        raise ThreadNotFound(
            f"thread {thread_id} does not exist", thread_id=thread_id, threads=list(states)
        )
    frames: list[Frame] = []
    if states[thread_id]["state"] == "stopped":
        require_unmoved(session, stop, GOTO)
        frames = await stack(session.live_debuggee, stop, thread_id)
    if not frames:
        raise _refusal(
            "thread_id", thread_id, f"thread {thread_id} is inside C code: it has no next line yet"
        )
    return frames[0]


async def _check_line(session: Session, body: GotoRequest, frame: Frame) -> None:
    if body.file is not None and meant_path(session, body.file) != frame.path:
        raise _refusal("file", body.file, f"the thread stands in {frame.path}, not there")
    name, lines = await inspector_of(session, GOTO).jump_lines(frame)
    if body.line not in lines:
        nearest = min(lines, key=lambda line: abs(line - body.line), default=frame.line)
        raise _refusal(
            "line",
            body.line,
            f"line {body.line} is no line of code of {name}",
            suggestion=f"Try line {nearest}, the nearest of this function",
            lines=lines[:100],
        )


def _impossible(body: GotoRequest, frame: Frame, reason: str) -> InvalidRequest:
    return _refusal(
        "line",
        body.line,
        f"Python cannot jump from line {frame.line} to line {body.line}: "
        + (reason or "the thread does not stand at the beginning of a line"),
        suggestion="Choose a line outside of for, with, try and except blocks, or step once first",
    )


def _refusal(
    field: str, value: Any, message: str, *, suggestion: str | None = None, **details: Any
) -> InvalidRequest:
    return InvalidRequest.of_field(
        field, message, value, text=message, suggestion=suggestion, **details
    )
