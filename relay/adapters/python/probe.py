"""The probe: lives in the debuggee, and answers about frames and values in JSON.

Knows the calls, and that each has one answer, whatever happens. Refuses to know the relay, DAP and
sockets: its only way in is `call`.

It runs inside other people's programs. So it imports the standard library only, supports
Python 3.8 and later, asks types and never objects (`type(x)`, descriptors of the builtin
base, never `x.__class__`, `len(x)` or `isinstance(x, …)`), calls a `__repr__` once and
guarded, runs no property, and leaves no name and no module behind.

Several files, one namespace: those of `_PARTS` are run in this module's globals before the rest
of it. The relay sends all of them to a debuggee that cannot read them.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.adapters.python.probe_assignment import set_variable
    from relay.adapters.python.probe_breakpoints import hits
    from relay.adapters.python.probe_captures import set_captures, tell_captures
    from relay.adapters.python.probe_evaluation import evaluate
    from relay.adapters.python.probe_exceptions import exception
    from relay.adapters.python.probe_functions import function_places, set_function_breakpoints
    from relay.adapters.python.probe_guard import Interrupted, TroubleError, exception_line
    from relay.adapters.python.probe_inherit import debug_children
    from relay.adapters.python.probe_install import install
    from relay.adapters.python.probe_interrupts import RunningCall, interrupt
    from relay.adapters.python.probe_look import completions, hover
    from relay.adapters.python.probe_modules import loaded_modules, modules, source
    from relay.adapters.python.probe_pages import variables
    from relay.adapters.python.probe_raises import (
        exception_condition,
        limit_exceptions,
        refine_exceptions,
    )
    from relay.adapters.python.probe_references import references, release
    from relay.adapters.python.probe_report import report
    from relay.adapters.python.probe_returns import return_values
    from relay.adapters.python.probe_scopes import scopes
    from relay.adapters.python.probe_secrets import configure, reveal_in_call
    from relay.adapters.python.probe_snapshot import snapshot
    from relay.adapters.python.probe_stdin import watch_input
    from relay.adapters.python.probe_tasks import tasks
    from relay.adapters.python.probe_threads import (
        jump_lines,
        resume_all,
        resume_thread,
        thread_states,
    )
    from relay.adapters.python.probe_trace import trace_functions, trace_read, trace_start
    from relay.adapters.python.probe_writers import learn_array

# From the ground up; only `writers` needs another, `types`, while it is loaded.
_PARTS = (
    "secrets",
    "guard",
    "types",
    "text",
    "writers",
    "contents",
    "attributes",
    "frames",
    "scopes",
    "interrupts",
    "references",
    "variables",
    "pages",
    "returns",
    "exceptions",
    "snapshot",
    "expressions",
    "evaluation",
    "assignment",
    "look",
    "modules",
    "events",
    "children",
    "forks",
    "ending",
    "install",
    "steps",
    "resumes",
    "captures",
    "breakpoints",
    "functions",
    "trace_values",
    "trace_record",
    "trace_monitor",
    "trace_settrace",
    "trace",
    "raises",
    "stops",
    "expected",
    "inherit",
    "stdin",
    "threads",
    "awaits",
    "asyncio",
    "trio",
    "tasks",
    "report",
)


def _load_parts() -> None:
    """Run the other files here, from their .pyc files if there are any."""
    import importlib.machinery

    home = os.path.dirname(os.path.abspath(__file__))
    for name in _PARTS:
        part = f"probe_{name}.py"
        path = os.path.join(home, part)
        code = importlib.machinery.SourceFileLoader(part, path).get_code(part)
        if code is None:
            raise ImportError("no code in " + path)
        exec(code, globals())


if "plan_of" not in globals():
    _load_parts()


_CALLS: dict[str, Callable[..., dict[str, Any]]] = {
    function.__name__: function
    for function in (
        scopes,
        variables,
        evaluate,
        set_variable,
        snapshot,
        exception,
        return_values,
        modules,
        release,
        install,
        debug_children,
        refine_exceptions,
        hits,
        set_function_breakpoints,
        function_places,
        set_captures,
        tell_captures,
        trace_start,
        trace_read,
        trace_functions,
        limit_exceptions,
        exception_condition,
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
            return _guarded(_CALLS[name], request, running_id)
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
        return dict(function(**arguments), ok=True)
    except TroubleError as trouble:
        return trouble.answer
    except Interrupted:
        raise
    except BaseException as error:
        return {"error": {"kind": "internal", "message": exception_line(error)[:2000]}}
