"""The routes of /api/v1, one line each. The operations' signatures say the rest."""

from __future__ import annotations

from relay.errors import (
    AttachFailed,
    AttachRefused,
    AttachTimeout,
    BreakpointFileNotFound,
    BreakpointInvalidCondition,
    BreakpointInvalidLine,
    BreakpointNotFound,
    DebuggerError,
    DebuggerTimeout,
    EvaluateError,
    FrameNotFound,
    InvalidRequest,
    InvalidSessionState,
    LaunchFailed,
    LaunchScriptNotFound,
    LaunchSyntaxError,
    NotSupported,
    ProfileNotFound,
    RelayError,
    SessionCrashed,
    SessionLimitReached,
    StdinClosed,
    ThreadNotFound,
    VariableNotFound,
)
from relay.faces.http import sse
from relay.faces.http.metrics_page import get_metrics
from relay.faces.http.routes_looking import LOOKING_ROUTES
from relay.faces.http.table import Route
from relay.hub import Hub
from relay.models.server import Info
from relay.operations.breakpoints import breakpoints, captures, exception_breakpoints
from relay.operations.execution import run_to, threads, trace
from relay.operations.execution import stepping as execution
from relay.operations.hangs import hang_report as hangs
from relay.operations.inspect import evaluation, inspection, tasks
from relay.operations.output import reading as output
from relay.operations.server import about as server
from relay.operations.server import processes
from relay.operations.sessions import (
    creating,
    definitions,
    ending,
    launching,
    profiles,
    sessions,
    status,
)

_ASKS_DEBUGGER: tuple[type[RelayError], ...] = (
    InvalidSessionState,
    DebuggerError,
    DebuggerTimeout,
    SessionCrashed,
)
_PLACES: tuple[type[RelayError], ...] = (
    BreakpointFileNotFound,
    BreakpointInvalidLine,
    BreakpointInvalidCondition,
)
_LAUNCHES: tuple[type[RelayError], ...] = (
    LaunchScriptNotFound,
    LaunchSyntaxError,
    LaunchFailed,
    NotSupported,
    # `include` asks for the values of the first stop.
    *_ASKS_DEBUGGER,
)
_ATTACHES: tuple[type[RelayError], ...] = (AttachRefused, AttachTimeout, AttachFailed)
_CREATES: tuple[type[RelayError], ...] = (
    SessionLimitReached,
    ProfileNotFound,
    *_PLACES,
    *_LAUNCHES,
    *_ATTACHES,
)


async def get_info(hub: Hub) -> Info:
    """Name, versions and capabilities of the relay."""
    return await server.get_info(hub, endpoints=sorted({f"/api/v1{r.path}" for r in ROUTES}))


ROUTES: tuple[Route, ...] = (
    Route("GET", "/health", server.get_health, "Server"),
    Route("GET", "/info", get_info, "Server"),
    Route("GET", "/processes", processes.list_processes, "Server"),
    Route("GET", "/config", server.get_config, "Server"),
    Route("PATCH", "/config", server.patch_config, "Server"),
    Route("POST", "/shutdown", server.shut_down, "Server", 202),
    Route("GET", "/metrics", get_metrics, "Server"),
    Route("POST", "/sessions", creating.create_session, "Sessions", 201, _CREATES),
    Route("GET", "/sessions", sessions.list_sessions, "Sessions"),
    Route("GET", "/sessions/{session_id}", sessions.get_session, "Sessions"),
    Route(
        "PATCH",
        "/sessions/{session_id}",
        sessions.patch_session,
        "Sessions",
        errors=(InvalidSessionState,),
    ),
    Route("DELETE", "/sessions/{session_id}", sessions.delete_session, "Sessions"),
    Route("GET", "/sessions/{session_id}/status", status.get_status, "Sessions"),
    Route("GET", "/sessions/{session_id}/ping", sessions.get_ping, "Sessions"),
    Route("POST", "/sessions/{session_id}/ping", sessions.ping, "Sessions"),
    Route(
        "POST",
        "/sessions/{session_id}/clone",
        definitions.clone_session,
        "Sessions",
        201,
        (SessionLimitReached,),
    ),
    Route("GET", "/sessions/{session_id}/export", definitions.export_session, "Sessions"),
    Route(
        "POST",
        "/sessions/import",
        definitions.import_session,
        "Sessions",
        201,
        (SessionLimitReached, EvaluateError, *_PLACES, *_ASKS_DEBUGGER),
    ),
    Route(
        "POST",
        "/sessions/{session_id}/restart",
        ending.restart,
        "Program Control",
        errors=_LAUNCHES,
    ),
    Route(
        "POST",
        "/sessions/{session_id}/terminate",
        ending.terminate,
        "Program Control",
        errors=(InvalidSessionState,),
    ),
    Route(
        "POST",
        "/sessions/{session_id}/detach",
        ending.detach,
        "Program Control",
        errors=(InvalidSessionState,),
    ),
    Route(
        "POST",
        "/sessions/{session_id}/launch",
        launching.launch,
        "Program Control",
        errors=_LAUNCHES,
    ),
    Route(
        "POST",
        "/sessions/{session_id}/attach",
        launching.attach,
        "Program Control",
        errors=(InvalidSessionState, NotSupported, AttachRefused, AttachTimeout, AttachFailed),
    ),
    Route(
        "POST",
        "/sessions/{session_id}/breakpoints",
        breakpoints.set_breakpoints,
        "Breakpoints",
        errors=(NotSupported, *_PLACES, *_ASKS_DEBUGGER),
    ),
    Route("GET", "/sessions/{session_id}/breakpoints", breakpoints.list_breakpoints, "Breakpoints"),
    Route(
        "DELETE",
        "/sessions/{session_id}/breakpoints",
        breakpoints.remove_breakpoints,
        "Breakpoints",
        errors=_ASKS_DEBUGGER,
    ),
    Route(
        "GET",
        "/sessions/{session_id}/breakpoints/{breakpoint_id}",
        breakpoints.get_breakpoint,
        "Breakpoints",
        errors=(BreakpointNotFound,),
    ),
    Route(
        "PATCH",
        "/sessions/{session_id}/breakpoints/{breakpoint_id}",
        breakpoints.change_breakpoint,
        "Breakpoints",
        errors=(BreakpointNotFound, NotSupported, *_PLACES, *_ASKS_DEBUGGER),
    ),
    Route(
        "DELETE",
        "/sessions/{session_id}/breakpoints/{breakpoint_id}",
        breakpoints.remove_breakpoint,
        "Breakpoints",
        errors=(BreakpointNotFound, *_ASKS_DEBUGGER),
    ),
    Route(
        "GET",
        "/sessions/{session_id}/breakpoints/{breakpoint_id}/captures",
        captures.get_captures,
        "Breakpoints",
        errors=(BreakpointNotFound, InvalidRequest),
    ),
    Route(
        "DELETE",
        "/sessions/{session_id}/breakpoints/{breakpoint_id}/captures",
        captures.clear_captures,
        "Breakpoints",
        errors=(BreakpointNotFound, InvalidRequest),
    ),
    Route(
        "POST",
        "/sessions/{session_id}/exception-breakpoints",
        exception_breakpoints.set_exception_breakpoints,
        "Breakpoints",
        errors=(BreakpointInvalidCondition, *_ASKS_DEBUGGER),
    ),
    Route(
        "GET",
        "/sessions/{session_id}/exception-breakpoints",
        exception_breakpoints.get_exception_breakpoints,
        "Breakpoints",
    ),
    Route("GET", "/breakpoint-profiles", profiles.list_profiles, "Breakpoints"),
    Route("POST", "/breakpoint-profiles", profiles.create_profile, "Breakpoints", 201),
    Route(
        "GET",
        "/breakpoint-profiles/{name}",
        profiles.get_profile,
        "Breakpoints",
        errors=(ProfileNotFound,),
    ),
    Route("PUT", "/breakpoint-profiles/{name}", profiles.put_profile, "Breakpoints"),
    Route(
        "DELETE",
        "/breakpoint-profiles/{name}",
        profiles.delete_profile,
        "Breakpoints",
        errors=(ProfileNotFound,),
    ),
    Route(
        "POST",
        "/sessions/{session_id}/breakpoint-profiles/{name}/apply",
        profiles.apply_profile,
        "Breakpoints",
        errors=(ProfileNotFound, NotSupported, *_PLACES, *_ASKS_DEBUGGER),
    ),
    Route(
        "POST",
        "/sessions/{session_id}/continue",
        execution.continue_execution,
        "Execution",
        errors=(ThreadNotFound, *_ASKS_DEBUGGER),
    ),
    Route(
        "POST",
        "/sessions/{session_id}/pause",
        execution.pause_execution,
        "Execution",
        errors=(ThreadNotFound, *_ASKS_DEBUGGER),
    ),
    *(
        Route(
            "POST",
            f"/sessions/{{session_id}}/{path}",
            operation,
            "Execution",
            errors=(ThreadNotFound, *_ASKS_DEBUGGER),
        )
        for path, operation in (
            ("step-over", execution.step_over),
            ("step-into", execution.step_into),
            ("step-out", execution.step_out),
        )
    ),
    Route(
        "POST",
        "/sessions/{session_id}/run-to",
        run_to.run_to,
        "Execution",
        errors=(ThreadNotFound, *_PLACES, *_ASKS_DEBUGGER),
    ),
    Route(
        "POST",
        "/sessions/{session_id}/goto",
        run_to.goto,
        "Execution",
        errors=(InvalidRequest, ThreadNotFound, *_ASKS_DEBUGGER),
    ),
    Route(
        "POST",
        "/sessions/{session_id}/trace",
        trace.trace,
        "Execution",
        errors=(InvalidRequest, NotSupported, *_PLACES, *_ASKS_DEBUGGER),
    ),
    Route(
        "GET",
        "/sessions/{session_id}/trace",
        trace.get_trace,
        "Execution",
        errors=(NotSupported, *_ASKS_DEBUGGER),
    ),
    *(
        Route(
            "POST",
            f"/sessions/{{session_id}}/threads/{{thread_id}}/{path}",
            operation,
            "Execution",
            errors=(ThreadNotFound, *_ASKS_DEBUGGER),
        )
        for path, operation in (
            ("continue", threads.continue_thread),
            ("pause", threads.pause_thread),
            ("step-over", threads.step_thread_over),
            ("step-into", threads.step_thread_into),
            ("step-out", threads.step_thread_out),
        )
    ),
    Route(
        "GET",
        "/sessions/{session_id}/threads/{thread_id}/stacktrace",
        threads.get_thread_stack,
        "Inspection",
        errors=(ThreadNotFound, *_ASKS_DEBUGGER),
    ),
    Route(
        "GET",
        "/sessions/{session_id}/threads",
        inspection.list_threads,
        "Inspection",
        errors=_ASKS_DEBUGGER,
    ),
    Route(
        "GET",
        "/sessions/{session_id}/tasks",
        tasks.list_tasks,
        "Inspection",
        errors=_ASKS_DEBUGGER,
    ),
    Route(
        "POST",
        "/sessions/{session_id}/hang-report",
        hangs.hang_report,
        "Inspection",
        errors=(NotSupported, *_ASKS_DEBUGGER),
    ),
    Route(
        "GET",
        "/sessions/{session_id}/stacktrace",
        inspection.get_stack_trace,
        "Inspection",
        errors=(ThreadNotFound, *_ASKS_DEBUGGER),
    ),
    Route(
        "GET",
        "/sessions/{session_id}/scopes",
        inspection.get_scopes,
        "Inspection",
        errors=(FrameNotFound, *_ASKS_DEBUGGER),
    ),
    Route(
        "GET",
        "/sessions/{session_id}/variables",
        inspection.get_variables,
        "Inspection",
        errors=(VariableNotFound, *_ASKS_DEBUGGER),
    ),
    Route(
        "POST",
        "/sessions/{session_id}/evaluate",
        evaluation.evaluate,
        "Inspection",
        errors=(EvaluateError, FrameNotFound, *_ASKS_DEBUGGER),
    ),
    *LOOKING_ROUTES,
    Route("GET", "/sessions/{session_id}/output", output.get_output, "Output"),
    Route("DELETE", "/sessions/{session_id}/output", output.clear_output, "Output"),
    Route("GET", "/sessions/{session_id}/output/stream", sse.stream_output, "Output"),
    Route("GET", "/sessions/{session_id}/events", output.get_events, "Output"),
    Route("GET", "/sessions/{session_id}/events/stream", sse.stream_events, "Output"),
    *(
        Route(
            "POST",
            f"/sessions/{{session_id}}/{path}",
            operation,
            "Output",
            errors=(InvalidRequest, InvalidSessionState, StdinClosed),
        )
        for path, operation in (("input", output.send_input), ("stdin", output.send_stdin))
    ),
)
"""Every route of the API. `/openapi.json` and `/docs` are made from this table."""
