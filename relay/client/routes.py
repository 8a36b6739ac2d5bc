"""Every route of the API as a verb of the clients, one line each.

A test compares this table with the relay's own. Fields are keyword arguments and the same
as in the reference of the routes; parameters of the path come first, without a name.
"""

from __future__ import annotations

from typing import Literal

from relay.client.verbs import Nothing, opening, route, route_at, route_at_two, tale
from relay.models.breakpoints import (
    BreakpointBatch,
    BreakpointList,
    BreakpointListQuery,
    BreakpointView,
    ChangeBreakpoint,
    DeleteBreakpointsQuery,
    DeletedBreakpoint,
    DeletedBreakpoints,
    SetBreakpoints,
)
from relay.models.captures import Captures, CapturesQuery, ClearedCaptures
from relay.models.creating import CreatedSession, CreateSession
from relay.models.definition import Definition, ExportedSession
from relay.models.ending import DetachedResult, RestartRequest, TerminatedResult
from relay.models.exceptions import ExceptionBreakpointsView, SetExceptionBreakpoints
from relay.models.execution import (
    ContinueRequest,
    ContinueResult,
    ExecutionResult,
    PauseRequest,
    PauseResult,
    StepOutRequest,
    StepRequest,
)
from relay.models.hangs import HangReport, HangRequest
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
from relay.models.launch import AttachRequest, AttachResult, LaunchRequest, LaunchResult
from relay.models.looking import (
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
from relay.models.output import (
    ClearedOutput,
    EventPage,
    EventsQuery,
    EventView,
    InputRequest,
    InputResult,
    OutputEntry,
    OutputPage,
    OutputQuery,
)
from relay.models.processes import ProcessPage, ProcessQuery
from relay.models.profiles import (
    CreateProfile,
    DeletedProfile,
    Profile,
    ProfileBody,
    ProfileList,
)
from relay.models.report import ReportQuery, ReportView
from relay.models.run_to import GotoRequest, RunToRequest, RunToResult
from relay.models.server import ConfigPatch, Configuration, Health, Info, ShutdownStarted
from relay.models.sessions import (
    CloneSession,
    DeletedSession,
    DeleteQuery,
    PatchSession,
    Ping,
    SessionListQuery,
    SessionPage,
    SessionView,
)
from relay.models.status import StatusView
from relay.models.streams import EventsStreamQuery, OutputStreamQuery
from relay.models.tasks import TaskList, TasksQuery
from relay.models.threads import ThreadRequest, ThreadResult, ThreadStackQuery
from relay.models.trace import TraceRequest, TraceResult, TraceView
from relay.models.variables import (
    ChildPage,
    ChildrenQuery,
    FrameVariables,
    FrameVariablesQuery,
    RevealQuery,
    SetVariableRequest,
)
from relay.models.watches import DeletedWatch, WatchesQuery, WatchList, WatchRequest, WatchView

_S = "/sessions/{session_id}"
_THREAD = f"{_S}/threads/{{thread_id}}"
_FRAME = f"{_S}/frames/{{frame_id}}"
_BREAKPOINT = f"{_S}/breakpoints/{{breakpoint_id}}"
_REFERENCE = "{variables_reference}"
_PROFILE = "/breakpoint-profiles/{name}"


class HubVerbs:
    """What a relay is asked for besides its sessions' own verbs."""

    health = route("GET", "/health", Nothing, Health)
    info = route("GET", "/info", Nothing, Info)
    processes = route("GET", "/processes", ProcessQuery, ProcessPage)
    config = route("GET", "/config", Nothing, Configuration)
    change_config = route("PATCH", "/config", ConfigPatch, Configuration)
    shutdown = route("POST", "/shutdown", Nothing, ShutdownStarted)
    metrics = route("GET", "/metrics", Nothing, str)
    create_session = opening("/sessions", CreateSession, CreatedSession)
    import_session = opening("/sessions/import", Definition, SessionView)
    sessions = route("GET", "/sessions", SessionListQuery, SessionPage)
    breakpoint_profiles = route("GET", "/breakpoint-profiles", Nothing, ProfileList)
    create_breakpoint_profile = route("POST", "/breakpoint-profiles", CreateProfile, Profile)
    breakpoint_profile = route_at(str, "GET", _PROFILE, Nothing, Profile)
    put_breakpoint_profile = route_at(str, "PUT", _PROFILE, ProfileBody, Profile)
    delete_breakpoint_profile = route_at(str, "DELETE", _PROFILE, Nothing, DeletedProfile)


def _evaluation(
    expression: str,
    *,
    frame_id: int = 0,
    context: Literal["watch", "repl", "hover"] = "repl",
    reveal: bool = False,
) -> EvaluateRequest:
    return EvaluateRequest(expression=expression, frame_id=frame_id, context=context, reveal=reveal)


def _input(input: str | None = None, *, eof: bool = False) -> InputRequest:
    return InputRequest(input=input, eof=eof)


def _watch(expression: str) -> WatchRequest:
    return WatchRequest(expression=expression)


class SessionVerbs:
    """What a session is asked for."""

    view = route("GET", _S, RevealQuery, SessionView)
    change = route("PATCH", _S, PatchSession, SessionView)
    delete = route("DELETE", _S, DeleteQuery, DeletedSession)
    status = route("GET", f"{_S}/status", Nothing, StatusView)
    ping = route("POST", f"{_S}/ping", Nothing, Ping)
    clone = opening(f"{_S}/clone", CloneSession, SessionView)
    export = route("GET", f"{_S}/export", Nothing, ExportedSession)

    launch = route("POST", f"{_S}/launch", LaunchRequest, LaunchResult)
    attach = route("POST", f"{_S}/attach", AttachRequest, AttachResult)
    restart = route("POST", f"{_S}/restart", RestartRequest, LaunchResult)
    terminate = route("POST", f"{_S}/terminate", Nothing, TerminatedResult)
    detach = route("POST", f"{_S}/detach", Nothing, DetachedResult)

    set_breakpoints = route("POST", f"{_S}/breakpoints", SetBreakpoints, BreakpointBatch)
    breakpoints = route("GET", f"{_S}/breakpoints", BreakpointListQuery, BreakpointList)
    delete_breakpoints = route(
        "DELETE", f"{_S}/breakpoints", DeleteBreakpointsQuery, DeletedBreakpoints
    )
    breakpoint = route_at(str, "GET", _BREAKPOINT, Nothing, BreakpointView)
    change_breakpoint = route_at(str, "PATCH", _BREAKPOINT, ChangeBreakpoint, BreakpointView)
    delete_breakpoint = route_at(str, "DELETE", _BREAKPOINT, Nothing, DeletedBreakpoint)
    captures = route_at(str, "GET", f"{_BREAKPOINT}/captures", CapturesQuery, Captures)
    clear_captures = route_at(str, "DELETE", f"{_BREAKPOINT}/captures", Nothing, ClearedCaptures)
    set_exception_breakpoints = route(
        "POST", f"{_S}/exception-breakpoints", SetExceptionBreakpoints, ExceptionBreakpointsView
    )
    exception_breakpoints = route(
        "GET", f"{_S}/exception-breakpoints", Nothing, ExceptionBreakpointsView
    )
    apply_breakpoint_profile = route_at(
        str, "POST", f"{_S}/breakpoint-profiles/{{name}}/apply", Nothing, BreakpointBatch
    )

    continue_ = route("POST", f"{_S}/continue", ContinueRequest, ContinueResult)
    pause = route("POST", f"{_S}/pause", PauseRequest, PauseResult)
    step_over = route("POST", f"{_S}/step-over", StepRequest, ExecutionResult)
    step_into = route("POST", f"{_S}/step-into", StepRequest, ExecutionResult)
    step_out = route("POST", f"{_S}/step-out", StepOutRequest, ExecutionResult)
    run_to = route("POST", f"{_S}/run-to", RunToRequest, RunToResult)
    goto = route("POST", f"{_S}/goto", GotoRequest, ExecutionResult)
    trace = route("POST", f"{_S}/trace", TraceRequest, TraceResult)
    last_trace = route("GET", f"{_S}/trace", TraceView, TraceResult)
    continue_thread = route_at(int, "POST", f"{_THREAD}/continue", ThreadRequest, ThreadResult)
    pause_thread = route_at(int, "POST", f"{_THREAD}/pause", ThreadRequest, ThreadResult)
    step_thread_over = route_at(int, "POST", f"{_THREAD}/step-over", ThreadRequest, ThreadResult)
    step_thread_into = route_at(int, "POST", f"{_THREAD}/step-into", ThreadRequest, ThreadResult)
    step_thread_out = route_at(int, "POST", f"{_THREAD}/step-out", ThreadRequest, ThreadResult)

    threads = route("GET", f"{_S}/threads", Nothing, ThreadList)
    thread_stack = route_at(int, "GET", f"{_THREAD}/stacktrace", ThreadStackQuery, StackTrace)
    tasks = route("GET", f"{_S}/tasks", TasksQuery, TaskList)
    hang_report = route("POST", f"{_S}/hang-report", HangRequest, HangReport)
    stack = route("GET", f"{_S}/stacktrace", StackQuery, StackTrace)
    scopes = route("GET", f"{_S}/scopes", ScopesQuery, ScopeList)
    variables = route("GET", f"{_S}/variables", VariablesQuery, VariableList)
    frame_scopes = route_at(int, "GET", f"{_FRAME}/scopes", Nothing, ScopeList)
    frame_variables = route_at(
        int, "GET", f"{_FRAME}/variables", FrameVariablesQuery, FrameVariables
    )
    frame_children = route_at_two(
        "GET", f"{_FRAME}/variables/{_REFERENCE}/children", ChildrenQuery, ChildPage
    )
    frame_source = route_at(int, "GET", f"{_FRAME}/source", FrameSourceQuery, SourceText)
    scope_variables = route_at(
        int, "GET", f"{_S}/scopes/{_REFERENCE}/variables", ChildrenQuery, VariableList
    )
    children = route_at(int, "GET", f"{_S}/variables/{_REFERENCE}", ChildrenQuery, ChildPage)
    set_variable = route_at(
        int, "POST", f"{_S}/variables/{_REFERENCE}/set", SetVariableRequest, VariableView
    )
    evaluate = route("POST", f"{_S}/evaluate", _evaluation, Evaluation)
    completions = route("POST", f"{_S}/completions", CompletionsRequest, Completions)
    hover = route("POST", f"{_S}/hover", HoverRequest, Evaluation)
    add_watch = route("POST", f"{_S}/watch", _watch, WatchView)
    watches = route("GET", f"{_S}/watch", WatchesQuery, WatchList)
    delete_watch = route_at(str, "DELETE", f"{_S}/watch/{{watch_id}}", Nothing, DeletedWatch)
    report = route("GET", f"{_S}/report", ReportQuery, ReportView)
    exception = route("GET", f"{_S}/exception", RevealQuery, CurrentException)
    modules = route("GET", f"{_S}/modules", ModulesQuery, ModulePage)
    source = route("GET", f"{_S}/source", SourceQuery, SourceText)

    output = route("GET", f"{_S}/output", OutputQuery, OutputPage)
    clear_output = route("DELETE", f"{_S}/output", Nothing, ClearedOutput)
    follow_output = tale(f"{_S}/output/stream", OutputStreamQuery, OutputEntry)
    event_page = route("GET", f"{_S}/events", EventsQuery, EventPage)
    events = tale(f"{_S}/events/stream", EventsStreamQuery, EventView)
    send_input = route("POST", f"{_S}/input", _input, InputResult)
