"""The routes that look at a paused program by frame and by reference, and its watches."""

from __future__ import annotations

from relay.errors import (
    DebuggerError,
    DebuggerTimeout,
    EvaluateError,
    FrameNotFound,
    InvalidRequest,
    InvalidSessionState,
    LaunchFailed,
    RelayError,
    SessionCrashed,
    SourceNotFound,
    VariableNotFound,
    WatchNotFound,
)
from relay.faces.http.table import Route
from relay.operations.inspect import looking, source, variables, watches
from relay.operations.report import stop_report as report

_ASKS: tuple[type[RelayError], ...] = (
    InvalidSessionState,
    DebuggerError,
    DebuggerTimeout,
    SessionCrashed,
)
_FRAME: tuple[type[RelayError], ...] = (FrameNotFound, *_ASKS)
_REFERENCE: tuple[type[RelayError], ...] = (VariableNotFound, *_ASKS)
_SESSION = "/sessions/{session_id}"
_TAG = "Inspection"

LOOKING_ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        f"{_SESSION}/frames/{{frame_id}}/scopes",
        variables.get_frame_scopes,
        _TAG,
        errors=_FRAME,
    ),
    Route(
        "GET",
        f"{_SESSION}/frames/{{frame_id}}/variables",
        variables.get_frame_variables,
        _TAG,
        errors=_FRAME,
    ),
    Route(
        "GET",
        f"{_SESSION}/frames/{{frame_id}}/variables/{{variables_reference}}/children",
        variables.get_children,
        _TAG,
        errors=(FrameNotFound, *_REFERENCE),
    ),
    Route(
        "GET",
        f"{_SESSION}/scopes/{{variables_reference}}/variables",
        variables.get_scope_variables,
        _TAG,
        errors=_REFERENCE,
    ),
    Route(
        "GET",
        f"{_SESSION}/variables/{{variables_reference}}",
        variables.expand_variable,
        _TAG,
        errors=_REFERENCE,
    ),
    Route(
        "POST",
        f"{_SESSION}/variables/{{variables_reference}}/set",
        variables.set_variable,
        _TAG,
        errors=(EvaluateError, *_REFERENCE),
    ),
    Route(
        "POST",
        f"{_SESSION}/watch",
        watches.add_watch,
        _TAG,
        201,
        # LaunchFailed: the session's python_path, which checks the syntax, is none.
        errors=(EvaluateError, LaunchFailed),
    ),
    Route("GET", f"{_SESSION}/watch", watches.list_watches, _TAG, errors=_FRAME),
    Route(
        "DELETE",
        f"{_SESSION}/watch/{{watch_id}}",
        watches.remove_watch,
        _TAG,
        errors=(WatchNotFound,),
    ),
    Route(
        "POST",
        f"{_SESSION}/completions",
        looking.get_completions,
        _TAG,
        errors=_FRAME,
    ),
    Route(
        "POST",
        f"{_SESSION}/hover",
        looking.hover,
        _TAG,
        errors=(EvaluateError, InvalidRequest, SourceNotFound, *_FRAME),
    ),
    Route("GET", f"{_SESSION}/exception", looking.get_exception, _TAG, errors=_ASKS),
    Route("GET", f"{_SESSION}/report", report.get_report, _TAG, errors=_ASKS),
    Route("GET", f"{_SESSION}/modules", looking.list_modules, _TAG, errors=_ASKS),
    Route(
        "GET",
        f"{_SESSION}/frames/{{frame_id}}/source",
        source.get_frame_source,
        _TAG,
        errors=(SourceNotFound, *_FRAME),
    ),
    Route("GET", f"{_SESSION}/source", source.get_source, _TAG, errors=(SourceNotFound,)),
)
"""Laid into the table of `routes.py`."""
