"""The run-to-breakpoint tool API: five calls, each with the hub and one body.

A run ends at the asked line, at the program's end, at an uncaught exception, or after
RUN_SECONDS, whichever comes first. The sessions are those of every other face.
Source: contract, section 8, and the tool API's document.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import trio

from relay.actions import Action
from relay.dap.lifecycle import Phase
from relay.errors import (
    BreakpointInvalidLine,
    InvalidRequest,
    InvalidSessionState,
    LaunchSyntaxError,
    RelayError,
)
from relay.hub import Hub
from relay.models.breakpoints import BreakpointSpec
from relay.models.ending import RestartRequest
from relay.models.launch import LaunchRequest
from relay.models.run_to import RunToRequest
from relay.models.sessions import SessionSettings
from relay.models.tool import (
    ToolCreated,
    ToolEnded,
    ToolFailure,
    ToolFrame,
    ToolLastBreakpoint,
    ToolLocal,
    ToolPlaceCall,
    ToolRun,
    ToolSession,
    ToolSessionCall,
    ToolState,
    ToolStatus,
    ToolTimings,
)
from relay.operations.breakpoints.placing import place
from relay.operations.execution.run_to import run_to
from relay.operations.project_paths import inside
from relay.operations.sessions.ending import RESTARTABLE, restart
from relay.operations.sessions.launching import check_launch
from relay.operations.sessions.sessions import open_session
from relay.operations.sessions.stop_wait import until_it_stands
from relay.session.dap.breakpoint_sync import send_breakpoints, send_or_undo
from relay.session.debuggee.exit_text import describe_exit
from relay.session.session import Session
from relay.session.state.breakpoints import Breakpoint
from relay.session.state.run_target import RunTarget
from relay.session.state.stop import Stop

RUN_SECONDS = 20.0
"""How long one call waits for the program to get there."""

REPR_CHARACTERS = 256
MOST_LOCALS = 100

# Create and end ---------------------------------------------------------------------------


async def create(hub: Hub, body: ToolSession) -> ToolCreated:
    """Start a new debug session. Nothing runs yet: the first breakpoint starts the program."""
    entry = inside("entry", body.entry, _root(hub))
    python_path = None if body.python_path is None else _interpreter(body.python_path)
    session = await open_session(hub, body=SessionSettings(python_path=python_path))
    session.definition.use_launch(LaunchRequest(script=entry, args=body.args, env=body.env))
    await session.keep()
    return ToolCreated(session_id=session.id)


def _root(hub: Hub) -> str:
    return os.path.normpath(hub.settings.project_root.expanduser().absolute())


def _interpreter(path: str) -> str:
    if os.path.isabs(path) and shutil.which(path) is not None:
        return path
    message = "no such executable" if os.path.isabs(path) else "must be an absolute path"
    raise InvalidRequest.of_field(
        "pythonPath",
        message,
        path[:200],
        text=f"pythonPath: {message}: {path[:200]!r}",
        suggestion="Give the absolute path of a Python interpreter, or leave pythonPath out",
    )


async def end(hub: Hub, body: ToolSessionCall) -> ToolEnded:
    """End session. Answers when the program and everything that it started are gone."""
    with hub.use(body.session_id) as session:
        session.require_control("end the session")
        await hub.end_session(session)
    return ToolEnded()


# Run ------------------------------------------------------------------------------------------


async def run_to_breakpoint(hub: Hub, body: ToolPlaceCall) -> ToolRun:
    """Run to a breakpoint. Starts the program if it has not begun, or has ended.

    The breakpoint is for once: at the next call only the line of that call counts.
    """
    with hub.use(body.session_id) as session:
        return await _run(hub, session, body)


async def continue_to_next(hub: Hub, body: ToolPlaceCall) -> ToolRun:
    """Continue execution within the same session, to reach the next breakpoint.

    A program that has ended is not started again: the answer says how it ended.
    """
    with hub.use(body.session_id) as session:
        if session.phase is Phase.CREATED:
            raise InvalidSessionState(
                "Cannot continue: the program has not been started",
                current_state=session.phase.value,
                suggestion=Action.RUN_TO_BREAKPOINT,
            )
        if session.is_over:
            inside("file", body.file, _root(hub))
            return _ended(session)
        return await _run(hub, session, body)


async def _run(hub: Hub, session: Session, body: ToolPlaceCall) -> ToolRun:
    path = inside("file", body.file, _root(hub))
    with _under_way(session):
        try:
            spot = await _spot(session, path, body.line)
            began = trio.current_time()
            if (stop := _arrived_meanwhile(session, spot)) is None:
                await _go(session, spot)
                session.line_runs.took(round((trio.current_time() - began) * 1000, 3))
                stop = session.stop
        except LaunchSyntaxError as fault:
            return _syntax_error(fault)
        return await _result(session, spot, stop)


@contextmanager
def _under_way(session: Session) -> Iterator[None]:
    if session.line_runs.under_way:
        raise InvalidSessionState(
            "Cannot run: another call waits for this program already",
            current_state=session.phase.value,
            suggestion="Wait for that call's answer; one session runs to one place at a time",
        )
    with session.line_runs.wait():
        yield


async def _spot(session: Session, path: str, line: int) -> Breakpoint:
    spot = await place(session, BreakpointSpec(file=path, line=line))
    if spot.verified:
        return spot
    if session.debuggee is None and session.definition.launch is not None:
        await check_launch(session, session.definition.launch)  # it may say more of a bad file
    raise BreakpointInvalidLine(
        f"Cannot run to line {line} of {path}: {spot.message}",
        file=path,
        line=line,
        suggestion=spot.suggestion,
    )


def _arrived_meanwhile(session: Session, spot: Breakpoint) -> Stop | None:
    """The stop at the place, if an earlier call gave up waiting for it and it has come."""
    stop = session.stop
    if stop is None or stop.id == session.line_runs.reported_stop or not stop.reached:
        return None
    return stop if _is_at(stop, spot) else None


def _is_at(stop: Stop, spot: Breakpoint) -> bool:
    return stop.top is not None and (stop.top.path, stop.top.line) == (spot.path, spot.line)


async def _go(session: Session, spot: Breakpoint) -> None:
    """Until the next stop or end, at most RUN_SECONDS."""
    cursor = session.events.last_seq
    if session.phase in RESTARTABLE:
        await _begin(session, spot)
    elif session.stop is None:
        await _aim(session, spot)
    if session.stop is not None and session.events.last_seq == cursor:
        request = RunToRequest(file=spot.path, line=spot.line, wait=RUN_SECONDS)
        await run_to(session, body=request)
    else:
        await until_it_stands(session, cursor, RUN_SECONDS)


async def _begin(session: Session, spot: Breakpoint) -> None:
    session.stops.aim(RunTarget(spot.path, spot.line))
    session.line_runs.start_anew()
    try:
        await restart(session, body=RestartRequest())
    except BaseException:
        if session.debuggee is None:
            session.stops.aim(None)
        raise


async def _aim(session: Session, spot: Breakpoint) -> None:
    """Give a program that runs another target."""
    session.require_control("run to a line")
    debuggee = session.require_debuggee("run to a line")
    target = RunTarget(spot.path, spot.line)
    before = session.stops.aim(target)
    paths = {spot.path} | ({before.path} if before is not None else set())

    async def send() -> None:
        for path in paths:
            await send_breakpoints(debuggee, path)

    def undo() -> None:
        if session.stops.target is target:  # else the program has stopped meanwhile
            session.stops.aim(before)

    await send_or_undo(debuggee, send, undo)


# The answer ----------------------------------------------------------------------------------


async def _result(session: Session, spot: Breakpoint, stop: Stop | None) -> ToolRun:
    if session.is_ending:
        raise InvalidSessionState(
            "The session was ended while its program ran",
            current_state=session.phase.value,
            suggestion=Action.CREATE_TOOL_SESSION,
        )
    if stop is None:
        return _ended(session) if session.is_over else _still_runs(spot)
    session.line_runs.reported(stop.id, _cpu_ms(session.pid))
    if stop.exception is not None:
        session.line_runs.met(stop.exception)
        return ToolRun(hit=False, completed=False, error=_failure(session))
    hit = _is_at(stop, spot)
    if hit:
        session.line_runs.arrived(stop.id, (spot.path, spot.line))
    shown, error = await _locals(session, stop)
    return ToolRun(hit=hit, frame_info=_frame(stop), locals=shown, completed=False, error=error)


def _frame(stop: Stop) -> ToolFrame | None:
    top = stop.top
    return None if top is None else ToolFrame(file=top.path or "", line=top.line)


async def _locals(
    session: Session, stop: Stop
) -> tuple[dict[str, ToolLocal] | None, ToolFailure | None]:
    """The values, or why there are none: a `__repr__` of the program may hang."""
    inspector = session.require_debuggee("look at locals").inspector
    if inspector is None or stop.top is None:
        return None, None
    room = MOST_LOCALS * (REPR_CHARACTERS + 300)
    try:
        page = await inspector.locals(stop.top, max_chars=room, max_value=REPR_CHARACTERS)
    except RelayError as error:
        return None, ToolFailure(type=type(error).__name__, message=error.message)
    return {v["name"]: _local(v) for v in page.variables if not _is_dunder(v["name"])}, None


def _local(variable: dict[str, object]) -> ToolLocal:
    text, cut = str(variable["value"]), bool(variable.get("truncated"))
    if len(text) > REPR_CHARACTERS:  # quotes and marks are on top of the room
        text, cut = text[: REPR_CHARACTERS - 1] + "…", True
    return ToolLocal(type=str(variable["type"]), repr=text, is_truncated=cut)


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _ended(session: Session) -> ToolRun:
    """How the program ended: an uncaught exception, or a signal, kept it from completing."""
    code, error = session.exit_code, None
    if code is None:
        error = ToolFailure(type="DebuggerLost", message=session.reason or "the debugger broke off")
    elif code:
        name = "SystemExit" if code > 0 else "ProcessKilled"
        error = _failure(session) or ToolFailure(
            type=name, message=describe_exit(code, session.launched)
        )
    return ToolRun(hit=False, completed=_has_completed(session), error=error)


def _has_completed(session: Session) -> bool:
    """Whether the program went to its end, though that may be sys.exit(1)."""
    code, raised = session.exit_code, session.line_runs.raised
    return code == 0 or (code is not None and code > 0 and raised is None)


def _still_runs(spot: Breakpoint) -> ToolRun:
    name = os.path.basename(spot.path)
    message = (
        f"{name}:{spot.line} was not reached in {RUN_SECONDS:g} s. The program runs on and stops "
        "there when it comes; the same call again waits on"
    )
    return ToolRun(
        hit=False, completed=False, error=ToolFailure(type="TimeoutError", message=message)
    )


def _failure(session: Session) -> ToolFailure | None:
    raised = session.line_runs.raised
    if raised is None:
        return None
    return ToolFailure(type=raised.type, message=raised.message, traceback=raised.traceback or None)


def _syntax_error(fault: LaunchSyntaxError) -> ToolRun:
    details = fault.details
    text = f'  File "{details["file"]}", line {details["line"]}\n    {details["text"] or ""}'
    error = ToolFailure(
        type="SyntaxError",
        message=str(details["error_message"]),
        traceback=f"{text.rstrip()}\nSyntaxError: {details['error_message']}",
    )
    return ToolRun(hit=False, completed=False, error=error)


def _cpu_ms(pid: int | None) -> float | None:
    import psutil

    try:
        times = psutil.Process(pid).cpu_times() if pid else None
    except psutil.Error:
        return None
    return None if times is None else round((times.user + times.system) * 1000, 3)


# State ----------------------------------------------------------------------------------------


async def get_state(hub: Hub, body: ToolSessionCall) -> ToolState:
    """Get session state."""
    with hub.use(body.session_id) as session:
        _notice(session)
        runs = session.line_runs
        started = session.program_run.runtime_seconds > 0 or session.pid is not None
        return ToolState(
            status=_status(session),
            last_breakpoint=_last_breakpoint(hub, session),
            timings=ToolTimings(last_run_ms=runs.last_ms, total_cpu_time_ms=runs.cpu_ms)
            if started
            else None,
        )


def _notice(session: Session) -> None:
    """It may have come to the place after the call for it was answered."""
    stop = session.stop
    if stop is None or session.line_runs.under_way:
        return
    if stop.exception is not None:
        session.line_runs.met(stop.exception)
    elif stop.reached and stop.top is not None and stop.top.path is not None:
        session.line_runs.arrived(stop.id, (stop.top.path, stop.top.line))


def _status(session: Session) -> ToolStatus:
    match session.phase:
        case Phase.CREATED:
            return "idle"
        case Phase.LAUNCHING | Phase.RUNNING:
            return "running"
        case Phase.PAUSED:
            stop = session.stop
            return "error" if stop is not None and stop.exception is not None else "paused"
        case _:
            return "completed" if _has_completed(session) else "error"


def _last_breakpoint(hub: Hub, session: Session) -> ToolLastBreakpoint | None:
    if session.line_runs.last is None:
        return None
    path, line = session.line_runs.last
    return ToolLastBreakpoint(
        file=os.path.relpath(path, _root(hub)),
        line=line,
        hit_count=session.line_runs.hits[path, line],
    )
