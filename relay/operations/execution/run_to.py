"""Run to a line, and set the next line. Source: contract sections 4 and 9; DAP goto."""

from __future__ import annotations

from typing import Any

from relay.errors import BreakpointInvalidLine, DebuggerError, InvalidRequest, ThreadNotFound
from relay.models.breakpoints import BreakpointSpec
from relay.models.execution import ExecutionResult
from relay.models.run_to import GotoRequest, RunToRequest, RunToResult
from relay.operations.breakpoints.placing import place
from relay.operations.execution.stepping import STEP_WAIT, resume_all, settle
from relay.operations.inspect.inspection import inspector_of
from relay.operations.paths import resolve
from relay.session.dap.breakpoint_sync import send_breakpoints
from relay.session.dap.stack import stack
from relay.session.session import Session
from relay.session.state.breakpoints import Breakpoint
from relay.session.state.run_target import RunTarget
from relay.session.state.stop import Frame, Stop

# Run to --------------------------------------------------------------------------------------


async def run_to(session: Session, *, body: RunToRequest) -> RunToResult:
    """Run until this line: a breakpoint for once, gone at whatever stop comes first.

    `reached` is false if something else stopped or ended the program before. Your own
    breakpoints stay as they are, one at the same line too.
    """
    session.require_control("run to a line")
    session.require_stop("run to a line")
    spot = await line_with_code(session, BreakpointSpec(file=body.file, line=body.line))
    target = await _target(session, body, spot)
    stop = session.require_stop("run to a line")
    cursor = session.events.last_seq
    await _go(session, stop, target)
    result = await settle(session, body, cursor, default_wait=STEP_WAIT)
    return RunToResult(**dict(result), reached=_reached(session, target))


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
    states = await inspector_of(session, "run to a line").thread_states()
    idents = {state["id"]: state["ident"] for state in states}
    if body.thread_id not in idents:
        raise ThreadNotFound(
            f"thread {body.thread_id} does not exist",
            thread_id=body.thread_id,
            threads=list(idents),
        )
    return RunTarget(spot.path, spot.line, body.thread_id, idents[body.thread_id])


async def _go(session: Session, stop: Stop, target: RunTarget) -> None:
    """Set the target and resume; if that fails, it is as it was."""
    debuggee = session.require_debuggee("run to a line")
    session.stops.aim(target)
    try:
        await send_breakpoints(debuggee, target.path)
        await resume_all(session, {"threadId": stop.thread_id})
    except BaseException:
        if session.stop is not None:
            session.stops.aim(None)
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
    session.require_control("set the next line")
    stop = session.require_stop("set the next line")
    thread_id = stop.thread_id if body.thread_id is None else body.thread_id
    frame = await _top_of(session, stop, thread_id)
    await _check_line(session, body, frame)
    debuggee = session.require_debuggee("set the next line")
    where = {"source": {"path": frame.path}, "line": body.line}
    targets = await debuggee.request("gotoTargets", where)
    session.journey.disturb("the next line was set by hand")
    cursor = session.events.last_seq
    target_id = targets["targets"][0]["id"]
    try:
        await debuggee.request("goto", {"threadId": thread_id, "targetId": target_id})
    except DebuggerError as error:
        raise _impossible(body, frame, str(error.details.get("adapter_message") or "")) from None
    return await settle(session, body, cursor, default_wait=STEP_WAIT)


async def _top_of(session: Session, stop: Stop, thread_id: int) -> Frame:
    stop.require_held(thread_id, "set the next line")
    states = {s["id"]: s for s in await inspector_of(session, "goto").thread_states()}
    if thread_id not in states:
        raise ThreadNotFound(
            f"thread {thread_id} does not exist", thread_id=thread_id, threads=list(states)
        )
    frames: list[Frame] = []
    if states[thread_id]["state"] == "standing":
        frames = await stack(session.require_debuggee("goto"), stop, thread_id)
    if not frames:
        raise _refusal(
            "thread_id", thread_id, f"thread {thread_id} is inside C code: it has no next line yet"
        )
    return frames[0]


async def _check_line(session: Session, body: GotoRequest, frame: Frame) -> None:
    if body.file is not None and resolve(body.file, session.config.project_root) != frame.path:
        raise _refusal("file", body.file, f"the thread stands in {frame.path}, not there")
    name, lines = await inspector_of(session, "set the next line").jump_lines(frame)
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
