"""The routes that resume a program, or stop it."""

from __future__ import annotations

from relay.errors import FrameNotFound, InvalidRequest, NotSupported, ThreadNotFound
from relay.models.calls import CallsRequest, CallsResult, CallsView
from relay.models.execution import (
    ContinueRequest,
    ContinueResult,
    ExecutionResult,
    PauseRequest,
    PauseResult,
    RestartFrameRequest,
    StepInTargets,
    StepIntoRequest,
    StepOutRequest,
    StepRequest,
)
from relay.models.run_to import GotoRequest, RunToRequest, RunToResult
from relay.models.threads import ThreadRequest, ThreadResult
from relay.models.trace import TraceRequest, TraceResult, TraceView
from relay.routes.endpoint import Nothing, route, route_at
from relay.routes.refusals import ASKS, PLACES, RUNS

_S = "/sessions/{session_id}"
_THREAD = f"{_S}/threads/{{thread_id}}"


class ExecutionRoutes:
    """Resuming, stepping and pausing."""

    _tag = "Execution"

    continue_ = route(
        "POST",
        f"{_S}/continue",
        ContinueRequest,
        ContinueResult,
        "execution.stepping.continue_execution",
        errors=(ThreadNotFound, *RUNS),
    )
    pause = route(
        "POST",
        f"{_S}/pause",
        PauseRequest,
        PauseResult,
        "execution.stepping.pause_execution",
        errors=(ThreadNotFound, *RUNS),
    )
    step_over = route(
        "POST",
        f"{_S}/step-over",
        StepRequest,
        ExecutionResult,
        "execution.stepping.step_over",
        errors=(ThreadNotFound, *RUNS),
    )
    step_into = route(
        "POST",
        f"{_S}/step-into",
        StepIntoRequest,
        ExecutionResult,
        "execution.stepping.step_into",
        errors=(NotSupported, ThreadNotFound, *RUNS),
    )
    step_in_targets = route(
        "GET",
        f"{_S}/step-in-targets",
        Nothing,
        StepInTargets,
        "execution.stepping.step_in_targets",
        errors=(NotSupported, *RUNS),
    )
    step_out = route(
        "POST",
        f"{_S}/step-out",
        StepOutRequest,
        ExecutionResult,
        "execution.stepping.step_out",
        errors=(ThreadNotFound, *RUNS),
    )
    step_back = route(
        "POST",
        f"{_S}/step-back",
        StepRequest,
        ExecutionResult,
        "execution.stepping.step_back",
        errors=(NotSupported, ThreadNotFound, *RUNS),
    )
    reverse_continue = route(
        "POST",
        f"{_S}/reverse-continue",
        ContinueRequest,
        ContinueResult,
        "execution.stepping.reverse_continue",
        errors=(NotSupported, ThreadNotFound, *RUNS),
    )
    restart_frame = route(
        "POST",
        f"{_S}/restart-frame",
        RestartFrameRequest,
        ExecutionResult,
        "execution.stepping.restart_frame",
        errors=(NotSupported, FrameNotFound, *RUNS),
    )
    run_to = route(
        "POST",
        f"{_S}/run-to",
        RunToRequest,
        RunToResult,
        "execution.run_to.run_to",
        errors=(ThreadNotFound, *PLACES, *RUNS),
    )
    goto = route(
        "POST",
        f"{_S}/goto",
        GotoRequest,
        ExecutionResult,
        "execution.run_to.goto",
        errors=(InvalidRequest, NotSupported, ThreadNotFound, *RUNS),
    )
    trace = route(
        "POST",
        f"{_S}/trace",
        TraceRequest,
        TraceResult,
        "execution.trace.trace",
        errors=(InvalidRequest, NotSupported, *PLACES, *RUNS),
    )
    last_trace = route(
        "GET",
        f"{_S}/trace",
        TraceView,
        TraceResult,
        "execution.trace.get_trace",
        errors=(NotSupported, *ASKS),
    )
    calls = route(
        "POST",
        f"{_S}/calls",
        CallsRequest,
        CallsResult,
        "execution.calls.calls",
        errors=(InvalidRequest, NotSupported, *RUNS),
    )
    last_calls = route(
        "GET",
        f"{_S}/calls",
        CallsView,
        CallsResult,
        "execution.calls.get_calls",
        errors=(NotSupported, *ASKS),
    )
    continue_thread = route_at(
        int,
        "POST",
        f"{_THREAD}/continue",
        ThreadRequest,
        ThreadResult,
        "execution.threads.continue_thread",
        errors=(NotSupported, ThreadNotFound, *RUNS),
    )
    pause_thread = route_at(
        int,
        "POST",
        f"{_THREAD}/pause",
        ThreadRequest,
        ThreadResult,
        "execution.threads.pause_thread",
        errors=(ThreadNotFound, *RUNS),
    )
    step_thread_over = route_at(
        int,
        "POST",
        f"{_THREAD}/step-over",
        ThreadRequest,
        ThreadResult,
        "execution.threads.step_thread_over",
        errors=(NotSupported, ThreadNotFound, *RUNS),
    )
    step_thread_into = route_at(
        int,
        "POST",
        f"{_THREAD}/step-into",
        ThreadRequest,
        ThreadResult,
        "execution.threads.step_thread_into",
        errors=(NotSupported, ThreadNotFound, *RUNS),
    )
    step_thread_out = route_at(
        int,
        "POST",
        f"{_THREAD}/step-out",
        ThreadRequest,
        ThreadResult,
        "execution.threads.step_thread_out",
        errors=(NotSupported, ThreadNotFound, *RUNS),
    )
