"""CALLS: the tool API's calls by their names, for every face that offers them.

Knows names, models, and where each call is over HTTP. Knows no request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel

from relay.errors import (
    BreakpointFileNotFound,
    BreakpointInvalidLine,
    DebuggerError,
    DebuggerTimeout,
    InvalidSessionState,
    LaunchFailed,
    LaunchScriptNotFound,
    RelayError,
    SessionCrashed,
    SessionHeld,
    SessionLimitReached,
)
from relay.models.tool import (
    PREFIX,
    ToolCreated,
    ToolEnded,
    ToolPlace,
    ToolPlaceCall,
    ToolRequest,
    ToolResult,
    ToolRun,
    ToolSession,
    ToolSessionCall,
    ToolState,
)
from relay.operations.tool import calls as tool

__all__ = ["CALLS", "PREFIX", "ToolCall"]

SESSION = "/sessions/{sessionId}"

_RUNS: tuple[type[RelayError], ...] = (
    BreakpointFileNotFound,
    BreakpointInvalidLine,
    InvalidSessionState,
    SessionHeld,
    LaunchScriptNotFound,
    LaunchFailed,
    DebuggerError,
    DebuggerTimeout,
    SessionCrashed,
)


class ToolCall(NamedTuple):
    """`operation(hub, body)`, where `body` is a `model`; its result is a `result`."""

    model: type[ToolRequest]
    operation: Callable[[Any, Any], Awaitable[ToolResult]]
    result: type[ToolResult]
    method: str
    path: str
    body: type[BaseModel] | None
    """What of the model is the request's body; the session's id is in the path."""
    errors: tuple[type[RelayError], ...] = ()


CALLS: Mapping[str, ToolCall] = {
    "sessions_create": ToolCall(
        ToolSession,
        tool.create,
        ToolCreated,
        "POST",
        "/sessions",
        ToolSession,
        (SessionLimitReached, LaunchFailed),
    ),
    "sessions_breakpoint": ToolCall(
        ToolPlaceCall,
        tool.run_to_breakpoint,
        ToolRun,
        "POST",
        f"{SESSION}/breakpoint",
        ToolPlace,
        _RUNS,
    ),
    "sessions_continue": ToolCall(
        ToolPlaceCall,
        tool.continue_to_next,
        ToolRun,
        "POST",
        f"{SESSION}/continue",
        ToolPlace,
        _RUNS,
    ),
    "sessions_state": ToolCall(ToolSessionCall, tool.get_state, ToolState, "GET", SESSION, None),
    "sessions_end": ToolCall(
        ToolSessionCall, tool.end, ToolEnded, "DELETE", SESSION, None, (SessionHeld,)
    ),
}
