"""The reference of the line protocol and of the tool API: nothing is missing from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from relay.faces.common.tool_calls import CALLS, PREFIX, ToolCall
from relay.faces.tool.document import document, errors_of
from relay.models.line_protocol import (
    COMMANDS,
    EVENTS,
    LineEvent,
    Place,
    StackFrame,
    Variable,
)

REFERENCE = Path(__file__).resolve().parent.parent.parent / "docs" / "reference"
LINES = (REFERENCE / "line-protocol.md").read_text()
TOOL = (REFERENCE / "tool-api.md").read_text()


def section(text: str, heading: str) -> str:
    assert f"\n### {heading}\n" in text
    return text.partition(f"\n### {heading}\n")[2].partition("\n### ")[0]


def check_fields(model: type[BaseModel], text: str) -> None:
    for name, field in model.model_fields.items():
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{field.alias}` |")]
        assert (field.description or "") in row.replace("\\|", "|"), name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_parameter_is_documented_with_its_answer(name: str) -> None:
    text = section(LINES, name)
    check_fields(COMMANDS[name], text)
    assert any(f"[`{event.event}`](#event-{event.event.lower()})" in text for event in EVENTS)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.event)
def test_every_event_and_field_is_documented(event: type[LineEvent]) -> None:
    check_fields(event, section(LINES, f"event {event.event}"))


def test_what_events_are_made_of_is_documented() -> None:
    for part in (Place, Variable, StackFrame):
        check_fields(part, section(LINES, part.__name__))


@pytest.mark.parametrize("name", CALLS)
def test_every_call_and_field_of_the_tool_api_is_documented(name: str) -> None:
    call: ToolCall = CALLS[name]
    text = section(TOOL, name)
    assert f"`{call.method} {PREFIX}{call.path}`" in text
    if call.body is not None:
        check_fields(call.body, text)
    assert all(f"`{error.__name__}`" in text for error in errors_of(call))
    check_fields(call.result, section(TOOL, call.result.__name__))


def test_every_model_of_the_tool_api_is_documented() -> None:
    bodies = {call.body.__name__ for call in CALLS.values() if call.body is not None}
    for name, schema in document()["components"]["schemas"].items():
        if name not in bodies:
            text = section(TOOL, name)
            assert all(f"| `{field}` |" in text for field in schema["properties"])
