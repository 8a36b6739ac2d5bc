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
    DebugpyError,
    DebugpyTimeout,
    EvaluateError,
    FrameNotFound,
    InvalidRequest,
    InvalidSessionState,
    LaunchFailed,
    LaunchScriptNotFound,
    LaunchSyntaxError,
    NotSupported,
    RelayError,
    SessionCrashed,
    SessionLimitReached,
    StdinClosed,
    ThreadNotFound,
    VariableNotFound,
)
from relay.faces.http.table import Route
from relay.hub import Hub
from relay.models.server import Info
from relay.operations import (
    breakpoints,
    evaluation,
    execution,
    inspection,
    launching,
    output,
    server,
    sessions,
)

_ASKS_DEBUGGER: tuple[type[RelayError], ...] = (
    InvalidSessionState,
    DebugpyError,
    DebugpyTimeout,
    SessionCrashed,
)
_PLACES: tuple[type[RelayError], ...] = (
    BreakpointFileNotFound,
    BreakpointInvalidLine,
    BreakpointInvalidCondition,
)


async def get_info(hub: Hub) -> Info:
    """Name, versions and capabilities of the relay."""
    return await server.get_info(hub, endpoints=sorted({f"/api/v1{r.path}" for r in ROUTES}))


ROUTES: tuple[Route, ...] = (
    Route("GET", "/health", server.get_health, "Server"),
    Route("GET", "/info", get_info, "Server"),
    Route("POST", "/sessions", sessions.create_session, "Sessions", 201, (SessionLimitReached,)),
    Route("GET", "/sessions", sessions.list_sessions, "Sessions"),
    Route("GET", "/sessions/{session_id}", sessions.get_session, "Sessions"),
    Route("DELETE", "/sessions/{session_id}", sessions.delete_session, "Sessions"),
    Route(
        "POST",
        "/sessions/{session_id}/launch",
        launching.launch,
        "Program Control",
        errors=(
            LaunchScriptNotFound,
            LaunchSyntaxError,
            LaunchFailed,
            NotSupported,
            # `include` asks for the values of the first stop.
            *_ASKS_DEBUGGER,
        ),
    ),
    Route(
        "POST",
        "/sessions/{session_id}/attach",
        launching.attach,
        "Program Control",
        errors=(InvalidSessionState, AttachRefused, AttachTimeout, AttachFailed),
    ),
    Route(
        "POST",
        "/sessions/{session_id}/breakpoints",
        breakpoints.set_breakpoints,
        "Breakpoints",
        errors=(*_PLACES, *_ASKS_DEBUGGER),
    ),
    Route("GET", "/sessions/{session_id}/breakpoints", breakpoints.list_breakpoints, "Breakpoints"),
    Route(
        "DELETE",
        "/sessions/{session_id}/breakpoints/{breakpoint_id}",
        breakpoints.remove_breakpoint,
        "Breakpoints",
        errors=(BreakpointNotFound, *_ASKS_DEBUGGER),
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
        "GET",
        "/sessions/{session_id}/threads",
        inspection.list_threads,
        "Inspection",
        errors=_ASKS_DEBUGGER,
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
    Route("GET", "/sessions/{session_id}/output", output.get_output, "Output"),
    Route("GET", "/sessions/{session_id}/events", output.get_events, "Output"),
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
