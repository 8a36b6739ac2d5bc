"""The parts of the MCP face that need no program: what is listed, spelled and cut."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import InvalidRequest, catalog
from relay.faces.mcp.arguments import Inspect
from relay.faces.mcp.failures import error_text, in_arguments, suggestion_of
from relay.faces.mcp.places import breakpoint_specs, file_and_line
from relay.faces.mcp.server import read_arguments
from relay.faces.mcp.tables import table_of
from relay.faces.mcp.texts import clip, listed, tail
from relay.faces.mcp.tools import TOOLS, Tool

EVERY = [*table_of("default"), *table_of("v0")]


@pytest.mark.parametrize("tool", EVERY, ids=lambda tool: tool.name)
def test_schemas_say_the_type_of_everything_and_name_what_is_required(tool: Tool) -> None:
    schema = tool.schema
    assert schema["type"] == "object"
    assert set(schema.get("required", [])) <= set(schema["properties"])
    for field in schema["properties"].values():
        assert field["type"] in {"string", "integer", "number", "boolean", "array", "object"}
        assert field["type"] != "array" or field["items"]["type"] == "string"


LEAST: dict[str, dict[str, object]] = {
    "debug_eval": {"expression": "x"},
    "debug_inspect": {"what": "stack"},
    "debug_trace": {"target": "main"},
    "debug_input": {"text": "x"},
    "debug_attach": {"pid": 1},
}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_null_is_the_absence_of_an_argument(tool: Tool) -> None:
    """As clients send it that fill in every argument they know."""
    least = LEAST.get(tool.name, {})
    expected = tool.model.model_validate(least)
    found = tool.model.model_validate({**dict.fromkeys(tool.model.model_fields), **least})
    assert found == expected
    assert found.model_fields_set == expected.model_fields_set


def test_every_description_says_when_to_use_the_tool() -> None:
    situation = re.compile(r"when|instead|more than|at a stop|from a stop|waits|any time|hangs")
    assert [t.name for t in TOOLS if not situation.search(t.description.lower())] == []


@pytest.mark.parametrize(
    ("place", "fields"),
    [
        ("app.py:42", {"file": "app.py", "line": 42}),
        ("a b/x.py:1:n > 3", {"file": "a b/x.py", "line": 1, "condition": "n > 3"}),
        ("x.py:1 if n > 3", {"file": "x.py", "line": 1, "condition": "n > 3"}),
        ("x.py:7:d['a:b'] == 2", {"file": "x.py", "line": 7, "condition": "d['a:b'] == 2"}),
        ("Cart.total", {"function": "Cart.total"}),
        ("shop::Cart::total", {"function": "shop::Cart::total"}),
        ("cart.py:Cart.add", {"function": "cart.py:Cart.add"}),
        ("t.py::Cart::test_add[1]", {"function": "t.py:Cart.test_add[1]"}),
        ("cart.py:add:x[1:2]", {"function": "cart.py:add", "condition": "x[1:2]"}),
    ],
)
def test_places_are_read_as_agents_write_them(place: str, fields: dict[str, Any]) -> None:
    (spec,) = breakpoint_specs("set", [place], ["x"])
    assert spec.model_dump(exclude_unset=True) == {**fields, "capture": ["x"]}


def test_a_place_among_what_is_captured_is_refused_with_what_to_give_instead() -> None:
    with pytest.raises(InvalidRequest) as refused:
        breakpoint_specs("breakpoints", [], ["total", "app.py:42:d['a'].price"])
    assert "capture[1]: takes expressions, evaluated at each hit" in refused.value.message
    wanted = """Write breakpoints: ["app.py:42"], capture: ["d['a'].price"]"""
    assert refused.value.details["suggestion"] == wanted
    with pytest.raises(InvalidRequest):
        breakpoint_specs("set", ["app.py:42"], ["app.py:42"])
    (spec,) = breakpoint_specs("set", ["app.py:42"], ["lambda: {1: 42}", "a[1:2]", "no place"])
    assert spec.capture == [
        "lambda: {1: 42}",
        "a[1:2]",
        "no place",
    ]  # whoever debugs it says what is wrong


def test_every_place_that_is_none_is_named_at_once() -> None:
    with pytest.raises(InvalidRequest) as refused:
        breakpoint_specs("set", ["app.py:4x", "app.py:2", "app.py:0", "a-b", ""])
    fields = [error["field"] for error in refused.value.details["errors"]]
    assert fields == ["set[0]", "set[2]", "set[3]", "set[4]"]
    for place in ("app.py", "app.py:0", "app.py:3:x", ""):
        with pytest.raises(InvalidRequest):
            file_and_line("to", place)


def test_no_way_out_leads_to_a_route() -> None:
    for error in catalog().values():
        way_out = suggestion_of(error("message"))
        assert way_out
        assert not re.search(r"\b(GET|POST|PUT|PATCH|DELETE)\b|/sessions|/api/", way_out), way_out


def test_a_field_of_an_operation_is_called_as_the_argument() -> None:
    run = TOOLS[0]
    refused = InvalidRequest.of_field("python_path", "no such executable: /nope", "/nope")
    assert error_text(in_arguments(refused, run.names), 300).startswith(
        "INVALID_REQUEST: python: no such executable: /nope\n"
    )
    errors = [
        {"field": name, "message": "is wrong", "value": None} for name in ("stdin_inputs[0]", "cwd")
    ]
    text = error_text(in_arguments(InvalidRequest("x", errors=errors), run.names), 300)
    assert "\n- stdin[0]: is wrong\n- cwd: is wrong\n" in text


@pytest.mark.parametrize("what", ["source", "variable", "exception", "threads"])
def test_a_thread_is_refused_where_it_chooses_nothing(what: str) -> None:
    given = {"what": what, "thread": 2, **({"ref": 1} if what == "variable" else {})}
    with pytest.raises(InvalidRequest, match=f'thread does not go with what "{what}"'):
        read_arguments(Inspect, given)


def test_errors_keep_to_their_bound_and_keep_their_way_out() -> None:
    error = InvalidRequest("x" * 5000, suggestion="Correct it", facts=["y" * 5000])
    text = error_text(error, 200)
    assert len(text) <= 200
    assert text.startswith("INVALID_REQUEST: xxx")
    assert text.endswith("\nsuggestion: Correct it")


@given(st.text("ab", max_size=60), st.integers(1, 50))
def test_what_is_cut_is_marked_and_fits(text: str, room: int) -> None:
    if len(text) <= room:
        assert clip(text, room) == tail(text, room) == text
    else:
        assert clip(text, room) == text[: room - 1] + "…"
        assert tail(text, room) == "…" + text[len(text) - room + 1 :]


@given(
    st.lists(st.text("ab", max_size=40), min_size=1, max_size=20),
    st.integers(60, 400),
    st.booleans(),
)
def test_lists_are_whole_or_say_how_many_are_shown(
    lines: list[str], room: int, complete: bool
) -> None:
    text = listed(lines, room, lambda n: f"… start={n}", complete=complete)
    assert len(text) <= room
    *shown, last = text.split("\n")
    if complete and len("\n".join(lines)) <= room:
        assert [*shown, last] == lines
    else:
        assert last == f"… start={len(shown)}"
        assert shown[1:] == lines[1 : len(shown)]
