"""What the relay answers, as DAP says it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Literal, cast

from relay.dap import types as dap
from relay.models.breakpoints import BreakpointView
from relay.models.exceptions import ExceptionFilter
from relay.models.execution import StepInTarget
from relay.models.inspection import Evaluation, FrameView, ScopeView, ThreadView, VariableView
from relay.models.lookup import CompletionItem, ExceptionDetails, ModuleView, usual_name
from relay.models.server import AdapterInfo
from relay.models.sessions import SessionView

_CONDITION = "Types such as ValueError, shop.Error, or an expression, which has `exception`"

_PLAIN_FILTERS: list[dap.ExceptionBreakpointsFilter] = [
    {"filter": "uncaught", "label": "Uncaught exceptions", "default": True},
    {"filter": "raised", "label": "Raised exceptions", "default": False},
    {
        "filter": "userUnhandled",
        "label": "Exceptions that own code leaves to libraries",
        "default": False,
    },
]
FILTERS: list[dap.ExceptionBreakpointsFilter] = [
    {**one, "supportsCondition": True, "conditionDescription": _CONDITION} for one in _PLAIN_FILTERS
]

FILTER_NAMES: Mapping[str, ExceptionFilter] = {
    "uncaught": "uncaught",
    "raised": "raised",
    "userUnhandled": "user_unhandled",
}
"""What the relay calls the filters."""

CAPABILITIES: dap.Capabilities = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsFunctionBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsSetVariable": True,
    "supportsDataBreakpoints": True,
    "supportsCompletionsRequest": True,
    "supportsRestartRequest": True,
    "supportsCancelRequest": True,
    "supportsClipboardContext": True,
    "supportsExceptionInfoRequest": True,
    "supportsExceptionFilterOptions": True,
    "supportTerminateDebuggee": True,
    "supportsTerminateRequest": True,
    "supportsDelayedStackTraceLoading": True,
    "exceptionBreakpointFilters": FILTERS,
}


ABILITIES: Mapping[str, dap.Capabilities] = {
    "function_breakpoints": {"supportsFunctionBreakpoints": True},
    "data_breakpoints": {"supportsDataBreakpoints": True},
    "modules": {"supportsModulesRequest": True, "supportsLoadedSourcesRequest": True},
    "set_next_line": {"supportsGotoTargetsRequest": True},
}
"""What is known of a debugger by its name: said when an editor has joined."""


def capabilities_with(adapter: AdapterInfo) -> dap.Capabilities:
    """How a debugger's capabilities differ from those that every editor was told first."""
    found: dict[str, Any] = {}
    for ability, capabilities in ABILITIES.items():
        for name, value in capabilities.items():
            present = value if ability in adapter.capabilities else False
            if present != CAPABILITIES.get(name, False):
                found[name] = present
    known = FILTERS if "exception_details" in adapter.capabilities else _PLAIN_FILTERS
    filters = [one for one in known if FILTER_NAMES[one["filter"]] in adapter.exception_filters]
    if filters != FILTERS:
        found["exceptionBreakpointFilters"] = filters
    return cast("dap.Capabilities", found)


EXTRAS: Mapping[str, dap.Capabilities] = {
    "step_back": {"supportsStepBack": True},
    "restart_frame": {"supportsRestartFrame": True},
    "set_expression": {"supportsSetExpression": True},
    "step_in_targets": {"supportsStepInTargetsRequest": True},
}
"""What only some debuggers can: said when the session's is known."""


def capabilities_of(extras: Sequence[str]) -> dap.Capabilities:
    """What an editor is told of a session's extras."""
    found: dap.Capabilities = {}
    for extra in extras:
        found |= EXTRAS.get(extra, {})
    return found


def process(view: SessionView, pid: int, how: Literal["launch", "attach"]) -> dict[str, Any]:
    """The process of the session's program."""
    program = view.program
    name = None if program is None else program.script or program.module
    return {"name": name or f"process {pid}", "systemProcessId": pid, "startMethod": how}


def source(path: str) -> dap.Source:
    """A file of the program."""
    return {"path": path, "name": PurePath(path).name}


def number_of(breakpoint_id: str) -> int:
    """DAP's number of a breakpoint: that of its id."""
    return int(breakpoint_id.rpartition("_")[2])


_FIRST_DATA = 1_000_000


def number_of_data(breakpoint_id: str) -> int:
    """DAP's number of a data breakpoint, apart from those of breakpoints."""
    return _FIRST_DATA + number_of(breakpoint_id)


def reason_of(reason: str | None) -> str:
    """The reason of a stop, as DAP spells it."""
    return (reason or "pause").replace("data_breakpoint", "data breakpoint")


def change_text(change: Mapping[str, Any] | None) -> str | None:
    """`cart.total: 40 -> 4.0`, of a stop at a data breakpoint."""
    if change is None:
        return None
    old, new = ("nothing" if change[name] is None else change[name] for name in ("old", "new"))
    return f"{change['expression']}: {old} -> {new}"


def breakpoint(view: BreakpointView) -> dap.Breakpoint:
    """A breakpoint of the session."""
    shown: dap.Breakpoint = {"id": number_of(view.id), "verified": view.verified}
    if view.source is not None:
        shown["source"] = source(view.source.path)
    if view.line is not None:
        shown["line"] = view.line
    if view.message:
        shown["message"] = view.message
    return shown


def refused_breakpoint(line: int | None, why: str) -> dap.Breakpoint:
    """A breakpoint that was not set, and why; `line`, from 1, is where it was wanted."""
    shown: dap.Breakpoint = {"verified": False, "message": why}
    if line is not None:
        shown["line"] = line
    return shown


def thread(view: ThreadView, *, named: bool) -> dap.Thread:
    """A thread; `named` with its process, where there are several: each has a MainThread."""
    of = "" if view.process is None or not named else f" ({view.process.name} {view.process.pid})"
    return {"id": view.id, "name": view.name + of}


def frame(view: FrameView, number: int, source: dap.Source | None) -> dap.StackFrame:
    """A frame, by the number that the editor knows it by."""
    shown: dap.StackFrame = {
        "id": number,
        "name": view.name,
        "line": view.line,
        "column": max(view.column, 1),
        "presentationHint": view.presentation_hint,
    }
    if source is not None:
        shown["source"] = source
    if view.module_name is not None:
        shown["moduleId"] = view.module_name
    return shown


def module(view: ModuleView) -> dap.Module:
    """A module of the program; its name is its id."""
    shown: dap.Module = {"id": view.name, "name": view.name, "isUserCode": view.is_user_code}
    if view.path is not None:
        shown["path"] = view.path
    if view.version is not None:
        shown["version"] = view.version
    return shown


def scope(view: ScopeView) -> dap.Scope:
    """A scope of a frame."""
    return {
        "name": view.name,
        "presentationHint": view.presentation_hint,
        "variablesReference": view.variables_reference,
        "namedVariables": view.named_variables,
        "indexedVariables": view.indexed_variables,
        "expensive": view.expensive,
    }


def locals_elsewhere(number: int) -> dap.Scope:
    """The locals of a frame of a thread that has not stopped."""
    return {
        "name": "Locals",
        "presentationHint": "locals",
        "variablesReference": number,
        "expensive": False,
    }


def step_in_target(view: StepInTarget) -> dict[str, Any]:
    """A call that a step may go into."""
    shown = {
        "id": view.id,
        "label": view.label,
        "line": view.line,
        "column": view.column,
        "endLine": view.end_line,
        "endColumn": view.end_column,
    }
    return {name: value for name, value in shown.items() if value is not None}


def variable(view: VariableView) -> dap.Variable:
    """A variable, or a child of one."""
    shown: dap.Variable = {
        "name": view.name,
        "value": view.value,
        "variablesReference": view.variables_reference,
    }
    shown.update(_value(view))
    if view.evaluate_name:
        shown["evaluateName"] = view.evaluate_name
    return shown


def evaluation(view: Evaluation, *, is_echo: bool) -> dict[str, Any]:
    """The body of `evaluate`; a console that echoes what was typed shows no None, as Python's."""
    if is_echo and (view.type, view.result) == ("NoneType", "None"):
        return {"result": "", "variablesReference": 0}
    return {"result": view.result or "", **_value(view)}


def changed(view: VariableView) -> dict[str, Any]:
    """The body of `setVariable`."""
    return {"value": view.value, **_value(view)}


def _value(view: VariableView | Evaluation) -> Any:
    shown = {
        "type": view.type or "",
        "variablesReference": view.variables_reference,
        "namedVariables": view.named_variables,
        "indexedVariables": view.indexed_variables,
    }
    if view.presentation_hint is not None:
        shown["presentationHint"] = view.presentation_hint
    return shown


def completion(view: CompletionItem) -> dap.CompletionItem:
    """What could be typed."""
    return {
        "label": view.label,
        "text": view.text,
        "type": _COMPLETIONS.get(view.type, "value"),  # type: ignore[typeddict-item]
        "start": view.start - 1,
        "length": view.length,
    }


_COMPLETIONS = {
    name: name
    for name in (
        "method",
        "function",
        "field",
        "variable",
        "class",
        "module",
        "property",
        "keyword",
    )
}


def exception_info(view: ExceptionDetails) -> dict[str, Any]:
    """The body of `exceptionInfo`."""
    return {
        "exceptionId": usual_name(view.full_type),
        "description": view.message,
        "breakMode": view.break_mode,
        "details": {
            "message": view.message,
            "typeName": view.type,
            "fullTypeName": view.full_type,
            "stackTrace": view.traceback,
        },
    }
