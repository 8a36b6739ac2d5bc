"""The generated parts of `line-protocol.md` and `tool-api.md`: what the models say of themselves."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from relay.faces.common.tool_calls import CALLS, PREFIX
from relay.faces.tool.document import errors_of
from relay.models import line_protocol as protocol
from relay.models import tool
from tools.markdown import table

DOES = {
    "initialize": ("initialized", "Take a program. It does not run yet, and may be another again."),
    "start": (
        "started",
        "Begin, or resume. Without breakpoints the program stops at its first line, reason "
        "`entry`. After its end it is run again.",
    ),
    "stepInto": ("stopped", "Run to the next line, into a call if there is one."),
    "stepOver": ("stopped", "Run to the next line of this function."),
    "stepOut": ("stopped", "Run until this function has returned."),
    "continue": ("stopped", "Run to the next breakpoint, or to the end (`exited`)."),
    "setBreakpoint": (
        "breakpointSet",
        "At any time after `initialize`. Where the line has no code, the next that has is taken: "
        "the answer names the line as asked, `stopped` the real one.",
    ),
    "clearBreakpoint": ("breakpointCleared", "At any time; also where there is none."),
    "getVariables": ("variables", "The variables of a frame, while the program stands."),
    "getStackTrace": ("stackTrace", "The stack, innermost first, while the program stands."),
    "evaluate": ("evaluateResult", "The value of an expression, while the program stands."),
    "terminate": ("terminated", "End the program and everything that it started, then the relay."),
}
"""By command: the event that answers it, and what it does."""

STRING = {"type": "string"}
PARTS_OF_EVENTS = (protocol.Place, protocol.Variable, protocol.StackFrame)


def line_commands() -> str:
    """Every command with its parameters and its answer."""
    return "\n".join(part for name in protocol.COMMANDS for part in _command(name))


def _command(name: str) -> Iterator[str]:
    event, text = DOES[name]
    yield f"### {name}\n\n{text} Answered by [`{event}`](#event-{event.lower()}).\n"
    yield from _fields(protocol.COMMANDS[name], "parameter")


def line_events() -> str:
    """Every event with its fields, then what these are made of."""
    return "\n".join([*_events(), *_parts()])


def _events() -> Iterator[str]:
    for event in protocol.EVENTS:
        yield f"### event {event.event}\n\n{inspect.getdoc(event)}\n"
        yield from _fields(event, "field")


def _parts() -> Iterator[str]:
    for part in PARTS_OF_EVENTS:
        yield f"### {part.__name__}\n\n{inspect.getdoc(part)}\n"
        yield from _fields(part, "field")


def tool_calls() -> str:
    """Every call with what it takes, gives and may be refused with."""
    return "\n".join([*_calls(), *_results()])


def _calls() -> Iterator[str]:
    for name, call in CALLS.items():
        text = inspect.getdoc(call.operation)
        refusals = ", ".join(f"`{error.__name__}`" for error in errors_of(call))
        yield f"### {name}\n\n`{call.method} {PREFIX}{call.path}`\n\n{text}\n"
        if call.body is not None:
            yield from _fields(call.body, "field")
        yield f"Answers with a [{call.result.__name__}](#{call.result.__name__.lower()}). "
        yield f"Refused with {refusals}.\n"


def _results() -> Iterator[str]:
    for model in _models():
        yield f"### {model.__name__}\n"
        yield from _fields(model, "field")


def _models() -> list[type[BaseModel]]:
    results: list[type[BaseModel]] = [call.result for call in CALLS.values()]
    parts: list[type[BaseModel]] = [tool.ToolFrame, tool.ToolLocal, tool.ToolFailure]
    more: list[type[BaseModel]] = [
        tool.ToolLastBreakpoint,
        tool.ToolTimings,
        tool.ToolError,
        tool.ToolRefusal,
    ]
    return list(dict.fromkeys([*results, *parts, *more]))


def _fields(model: type[BaseModel], kind: str) -> Iterator[str]:
    schema = model.model_json_schema()
    required = schema.get("required", [])
    rows = [
        (f"`{name}`", _type_of(field), _default(field, name in required), _meaning(field))
        for name, field in schema.get("properties", {}).items()
    ]
    if rows:
        yield table([kind, "type", "default", "meaning"], rows)


def _type_of(field: Mapping[str, Any]) -> str:
    if (reference := field.get("$ref")) is not None:
        name = str(reference).rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in field:
        return " or ".join(_type_of(member) for member in field["anyOf"])
    if "enum" in field:
        return ", ".join(f"`{json.dumps(value)}`" for value in field["enum"])
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if field.get("type") == "array":
        return f"list of {_type_of(field['items'])}"
    if field.get("type") == "object":
        return f"object of {_type_of(field.get('additionalProperties') or STRING)}"
    return str(field.get("type", "any")) + _bounds(field)


def _bounds(field: Mapping[str, Any]) -> str:
    low, high = field.get("minimum"), field.get("maximum")
    least = "" if low is None else f" from {low}"
    most = "" if high in (None, protocol.LAST_LINE) else f" up to {high}"
    length = field.get("maxLength")
    return least + most + ("" if length is None else f" of up to {length} characters")


def _default(field: Mapping[str, Any], required: bool) -> str:
    if required:
        return "required"
    return "" if field.get("default") is None else f"`{json.dumps(field['default'])}`"


def _meaning(field: Mapping[str, Any]) -> str:
    text = str(field.get("description", ""))
    for schema in (field, *field.get("anyOf", ())):
        items = schema.get("maxItems", schema.get("maxProperties"))
        if items is not None:
            return f"{text}; at most {items}"
    return text
