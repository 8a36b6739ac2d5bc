"""The calls of the probe: one question as text, one answer as JSON.

Knows the calls, and that each has one answer, whatever happens. Refuses to know the relay, DAP and
sockets: its only way in is `call`.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe import PARTS
    from relay.debuggers.debugpy.debuggee.probe.calls.recordings import calls_read, calls_start
    from relay.debuggers.debugpy.debuggee.probe.failures.watching import watch_failures
    from relay.debuggers.debugpy.debuggee.probe.frames.assignment import (
        set_expression,
        set_variable,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.evaluation import evaluate
    from relay.debuggers.debugpy.debuggee.probe.frames.modules import (
        loaded_modules,
        modules,
        source,
        stack_modules,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.report import report
    from relay.debuggers.debugpy.debuggee.probe.frames.returns import return_values
    from relay.debuggers.debugpy.debuggee.probe.frames.scopes import scopes
    from relay.debuggers.debugpy.debuggee.probe.frames.snapshot import snapshot
    from relay.debuggers.debugpy.debuggee.probe.frames.static_lookup import completions, hover
    from relay.debuggers.debugpy.debuggee.probe.hooks.install import install
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        Interrupted,
        TroubleError,
        exception_line,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.inherit import debug_children
    from relay.debuggers.debugpy.debuggee.probe.process.interrupts import RunningCall, interrupt
    from relay.debuggers.debugpy.debuggee.probe.process.killing import kill_answered
    from relay.debuggers.debugpy.debuggee.probe.process.stdin import watch_input
    from relay.debuggers.debugpy.debuggee.probe.stops.breakpoints import hits
    from relay.debuggers.debugpy.debuggee.probe.stops.captures import report_captures, set_captures
    from relay.debuggers.debugpy.debuggee.probe.stops.exceptions import exception
    from relay.debuggers.debugpy.debuggee.probe.stops.functions import (
        function_places,
        set_function_breakpoints,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.jumps import jump_lines
    from relay.debuggers.debugpy.debuggee.probe.stops.raises import (
        exception_condition,
        limit_exceptions,
        refine_exceptions,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.threads import (
        resume_all,
        resume_thread,
        thread_states,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.traces import (
        trace_functions,
        trace_read,
        trace_start,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.pages import variables
    from relay.debuggers.debugpy.debuggee.probe.values.references import references, release
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import configure, reveal_in_call
    from relay.debuggers.debugpy.debuggee.probe.values.writers import learn_array
    from relay.debuggers.debugpy.debuggee.probe.waits.hang import hang_report
    from relay.debuggers.debugpy.debuggee.probe.waits.tasks import tasks
    from relay.debuggers.debugpy.debuggee.probe.writes.client_writes import as_clients_doing_at_stop
    from relay.debuggers.debugpy.debuggee.probe.writes.data_breakpoints import (
        data_change,
        data_delete,
        data_set,
        data_states,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_history import (
        watch_writes,
        write_question,
        written,
    )


def _load_parts() -> None:
    """Run the other files here."""
    home = os.path.dirname(os.path.abspath(__file__))
    _run_file(os.path.join(home, "__init__.py"))  # it lists them
    for name in PARTS:
        _run_file(os.path.join(home, name + ".py"))


def _run_file(path: str) -> None:
    """Run a file here; by the compiled code that whoever loads the probe has, if it has any."""
    import importlib.machinery

    from_pyc = importlib.machinery.SourceFileLoader(path, path).get_code
    code_of: Callable[[str], Any] = globals().get("_debug_relay_code_of") or from_pyc
    exec(code_of(path), globals())


if "plan_of" not in globals():
    _load_parts()


_CALLS: dict[str, Callable[..., dict[str, Any]]] = {
    function.__name__: function
    for function in (
        scopes,
        variables,
        evaluate,
        set_variable,
        set_expression,
        snapshot,
        exception,
        return_values,
        modules,
        stack_modules,
        release,
        install,
        debug_children,
        kill_answered,
        refine_exceptions,
        hits,
        set_function_breakpoints,
        function_places,
        set_captures,
        report_captures,
        trace_start,
        trace_read,
        trace_functions,
        calls_start,
        calls_read,
        data_set,
        data_delete,
        data_states,
        data_change,
        limit_exceptions,
        exception_condition,
        watch_failures,
        configure,
        hover,
        completions,
        loaded_modules,
        source,
        watch_input,
        thread_states,
        resume_thread,
        resume_all,
        jump_lines,
        tasks,
        report,
        hang_report,
        watch_writes,
        write_question,
        written,
    )
}
_encode = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder().decode


class _Answer(str):
    """JSON that pydevd shows as it is: without quotes, and whole."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str.__str__(self)


_INTERRUPTED = _Answer('{"error":{"kind":"interrupted","message":"the call was interrupted"}}')


def call(text: str) -> _Answer:
    """Answer one request: {"do": name, "call": id, "stop": number, …arguments} as JSON."""
    try:
        request = _decode(text)
        name, stop = request.pop("do"), request.pop("stop", None)
        running_id = request.pop("call", None)
        reveal = request.pop("reveal", False)
        if stop is not None:
            references.at_stop(stop)
        if name == "interrupt":
            return _Answer(_encode(dict(interrupt(**request), ok=True)))
        reveal_in_call(reveal)
        try:
            answer: _Answer
            answer = as_clients_doing_at_stop(_guarded, _CALLS[name], request, running_id)
            return answer
        finally:
            reveal_in_call(False)
    except Exception as error:
        message = "the probe was asked wrongly: " + exception_line(error)
        return _Answer(_encode({"error": {"kind": "request", "message": message}}))


def _guarded(function: Callable[..., dict[str, Any]], arguments: Any, call_id: Any) -> _Answer:
    running = RunningCall(call_id)
    try:
        running.begin()
        answer = _Answer(_encode(_answer(function, arguments)))
    except Interrupted:
        running.interrupted()
        answer = _INTERRUPTED
    while True:
        try:
            running.end()
            return answer
        except Interrupted:
            running.interrupted()
            answer = _INTERRUPTED


def _answer(function: Callable[..., dict[str, Any]], arguments: Any) -> dict[str, Any]:
    try:
        learn_array()
        answer = dict(function(**arguments), ok=True)
        return dict(answer, expires=True) if references.expires_by_itself else answer
    except TroubleError as trouble:
        return trouble.answer
    except Interrupted:
        raise
    except BaseException as error:
        return {"error": {"kind": "internal", "message": exception_line(error)[:2000]}}
