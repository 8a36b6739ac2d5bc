"""The routes that look at a program: threads, frames, values, watches."""

from __future__ import annotations

from typing import Literal

from relay.errors import (
    EvaluateError,
    FrameNotFound,
    InvalidRequest,
    LaunchFailed,
    NotSupported,
    SourceNotFound,
    ThreadNotFound,
    VariableNotFound,
    WatchNotFound,
)
from relay.models.hangs import HangReport, HangRequest
from relay.models.history import DEFAULT_SECONDS, DEFAULT_WRITES, History, HistoryRequest
from relay.models.inspection import (
    EvaluateRequest,
    Evaluation,
    ScopeList,
    ScopesQuery,
    StackQuery,
    StackTrace,
    ThreadList,
    VariableList,
    VariablesQuery,
    VariableView,
)
from relay.models.lookup import (
    Completions,
    CompletionsRequest,
    CurrentException,
    FrameSourceQuery,
    HoverRequest,
    ModulePage,
    ModulesQuery,
    SourceQuery,
    SourceText,
)
from relay.models.report import ReportQuery, ReportView
from relay.models.tasks import TaskList, TasksQuery
from relay.models.threads import ThreadStackQuery
from relay.models.variables import (
    ChildPage,
    ChildrenQuery,
    FrameVariables,
    FrameVariablesQuery,
    RevealQuery,
    SetExpressionRequest,
    SetVariableRequest,
)
from relay.models.watches import DeletedWatch, WatchesQuery, WatchList, WatchRequest, WatchView
from relay.routes.endpoint import Nothing, route, route_at, route_at_two
from relay.routes.refusals import ASKS

_S = "/sessions/{session_id}"
_THREAD = f"{_S}/threads/{{thread_id}}"
_FRAME = f"{_S}/frames/{{frame_id}}"
_REFERENCE = "{variables_reference}"


def _evaluation(
    expression: str,
    *,
    frame_id: int = 0,
    context: Literal["watch", "repl", "hover"] = "repl",
    max_value: int = 1000,
    reveal: bool = False,
) -> EvaluateRequest:
    return EvaluateRequest(
        expression=expression,
        frame_id=frame_id,
        context=context,
        max_value=max_value,
        reveal=reveal,
    )


def _history(
    expression: str,
    *,
    frame_id: int = 0,
    limit: int = DEFAULT_WRITES,
    wait: float = DEFAULT_SECONDS,
) -> HistoryRequest:
    return HistoryRequest(expression=expression, frame_id=frame_id, limit=limit, wait=wait)


def _watch(expression: str) -> WatchRequest:
    return WatchRequest(expression=expression)


class InspectionRoutes:
    """What a program is doing, and its values."""

    _tag = "Inspection"

    thread_stack = route_at(
        int,
        "GET",
        f"{_THREAD}/stacktrace",
        ThreadStackQuery,
        StackTrace,
        "execution.threads.get_thread_stack",
        errors=(ThreadNotFound, *ASKS),
    )
    threads = route(
        "GET", f"{_S}/threads", Nothing, ThreadList, "inspect.inspection.list_threads", errors=ASKS
    )
    tasks = route(
        "GET",
        f"{_S}/tasks",
        TasksQuery,
        TaskList,
        "inspect.tasks.list_tasks",
        errors=(NotSupported, *ASKS),
    )
    hang_report = route(
        "POST",
        f"{_S}/hang-report",
        HangRequest,
        HangReport,
        "hangs.hang_report.hang_report",
        errors=(NotSupported, *ASKS),
    )
    history = route(
        "POST",
        f"{_S}/history",
        _history,
        History,
        "history.history.history",
        errors=(EvaluateError, FrameNotFound, NotSupported, *ASKS),
    )
    stack = route(
        "GET",
        f"{_S}/stacktrace",
        StackQuery,
        StackTrace,
        "inspect.inspection.get_stack_trace",
        errors=(ThreadNotFound, *ASKS),
    )
    scopes = route(
        "GET",
        f"{_S}/scopes",
        ScopesQuery,
        ScopeList,
        "inspect.inspection.get_scopes",
        errors=(FrameNotFound, *ASKS),
    )
    variables = route(
        "GET",
        f"{_S}/variables",
        VariablesQuery,
        VariableList,
        "inspect.inspection.get_variables",
        errors=(VariableNotFound, *ASKS),
    )
    evaluate = route(
        "POST",
        f"{_S}/evaluate",
        _evaluation,
        Evaluation,
        "inspect.evaluation.evaluate",
        errors=(EvaluateError, FrameNotFound, *ASKS),
    )
    frame_scopes = route_at(
        int,
        "GET",
        f"{_FRAME}/scopes",
        Nothing,
        ScopeList,
        "inspect.variables.get_frame_scopes",
        errors=(FrameNotFound, *ASKS),
    )
    frame_variables = route_at(
        int,
        "GET",
        f"{_FRAME}/variables",
        FrameVariablesQuery,
        FrameVariables,
        "inspect.variables.get_frame_variables",
        # The last two of a program that runs: its frames are those of a thread, and have no summary.
        errors=(FrameNotFound, ThreadNotFound, NotSupported, *ASKS),
    )
    frame_children = route_at_two(
        "GET",
        f"{_FRAME}/variables/{_REFERENCE}/children",
        ChildrenQuery,
        ChildPage,
        "inspect.variables.get_children",
        errors=(FrameNotFound, VariableNotFound, *ASKS),
    )
    scope_variables = route_at(
        int,
        "GET",
        f"{_S}/scopes/{_REFERENCE}/variables",
        ChildrenQuery,
        VariableList,
        "inspect.variables.get_scope_variables",
        errors=(VariableNotFound, *ASKS),
    )
    children = route_at(
        int,
        "GET",
        f"{_S}/variables/{_REFERENCE}",
        ChildrenQuery,
        ChildPage,
        "inspect.variables.expand_variable",
        errors=(VariableNotFound, *ASKS),
    )
    set_variable = route_at(
        int,
        "POST",
        f"{_S}/variables/{_REFERENCE}/set",
        SetVariableRequest,
        VariableView,
        "inspect.variables.set_variable",
        errors=(EvaluateError, VariableNotFound, NotSupported, *ASKS),
    )
    set_expression = route(
        "POST",
        f"{_S}/set-expression",
        SetExpressionRequest,
        VariableView,
        "inspect.variables.set_expression",
        errors=(EvaluateError, FrameNotFound, InvalidRequest, NotSupported, *ASKS),
    )
    add_watch = route(
        "POST",
        f"{_S}/watch",
        _watch,
        WatchView,
        "inspect.watches.add_watch",
        status=201,
        errors=(EvaluateError, LaunchFailed),
    )
    watches = route(
        "GET",
        f"{_S}/watch",
        WatchesQuery,
        WatchList,
        "inspect.watches.list_watches",
        errors=(FrameNotFound, *ASKS),
    )
    delete_watch = route_at(
        str,
        "DELETE",
        f"{_S}/watch/{{watch_id}}",
        Nothing,
        DeletedWatch,
        "inspect.watches.remove_watch",
        errors=(WatchNotFound,),
    )
    completions = route(
        "POST",
        f"{_S}/completions",
        CompletionsRequest,
        Completions,
        "inspect.lookup.get_completions",
        errors=(FrameNotFound, NotSupported, *ASKS),
    )
    hover = route(
        "POST",
        f"{_S}/hover",
        HoverRequest,
        Evaluation,
        "inspect.lookup.hover",
        errors=(
            EvaluateError,
            InvalidRequest,
            SourceNotFound,
            FrameNotFound,
            NotSupported,
            *ASKS,
        ),
    )
    exception = route(
        "GET",
        f"{_S}/exception",
        RevealQuery,
        CurrentException,
        "inspect.lookup.get_exception",
        errors=ASKS,
    )
    report = route(
        "GET", f"{_S}/report", ReportQuery, ReportView, "report.stop_report.get_report", errors=ASKS
    )
    modules = route(
        "GET",
        f"{_S}/modules",
        ModulesQuery,
        ModulePage,
        "inspect.lookup.list_modules",
        errors=(NotSupported, *ASKS),
    )
    frame_source = route_at(
        int,
        "GET",
        f"{_FRAME}/source",
        FrameSourceQuery,
        SourceText,
        "inspect.source.get_frame_source",
        errors=(SourceNotFound, FrameNotFound, *ASKS),
    )
    source = route(
        "GET",
        f"{_S}/source",
        SourceQuery,
        SourceText,
        "inspect.source.get_source",
        errors=(SourceNotFound,),
    )
