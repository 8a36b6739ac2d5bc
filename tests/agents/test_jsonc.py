"""Edits of JSON with comments: what is added can be taken out again, and nothing else moves."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.agents import jsonc

PATH = ("mcpServers", "debug")
ENTRY = {"command": "/opt/relay", "args": ["mcp", "a b"], "env": {}}

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)  # fmt: skip
OBJECTS = st.dictionaries(st.text(max_size=8), VALUES, max_size=4)
INDENTS: tuple[int | str | None, ...] = (None, 1, 2, 4, "\t")
FILLERS = st.sampled_from(
    ["", "", " ", "\n", "\n  ", "\n    ", "\r\n\t", " // note, {\n", "/* [,] */", "  \n\n  "]
)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A document with or without servers in it, written in any style; and what it means."""
    value: dict[str, Any] = draw(OBJECTS)
    value.pop("mcpServers", None)
    if draw(st.booleans()):
        servers: dict[str, Any] = draw(OBJECTS)
        servers.pop("debug", None)
        value["mcpServers"] = servers
        keys = draw(st.permutations(list(value)))
        value = {key: value[key] for key in keys}
    if draw(st.booleans()):
        indent = draw(st.sampled_from(INDENTS))
        text = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))
        return draw(FILLERS) + text + draw(FILLERS), value
    return draw(FILLERS) + _written(draw, value) + draw(FILLERS), value


def _written(draw: st.DrawFn, value: Any) -> str:
    """JSON with white space and comments anywhere, and commas at ends."""
    if not isinstance(value, dict | list):
        return json.dumps(value)
    pieces = []
    for one in value:
        text = f"{draw(FILLERS)}{_written(draw, value[one] if isinstance(value, dict) else one)}"
        name = f"{json.dumps(one)}{draw(FILLERS)}:" if isinstance(value, dict) else ""
        pieces.append(f"{draw(FILLERS)}{name}{text}{draw(FILLERS)}")
    inside = ",".join(pieces)
    if draw(st.booleans()) and pieces:
        inside += ","
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}{inside}{draw(FILLERS)}{closing}"


@given(documents())
def test_what_was_added_is_taken_out_without_a_trace(document: tuple[str, dict[str, Any]]) -> None:
    text, value = document
    assert jsonc.parse(text).value == value
    added, made = jsonc.set_member(text, PATH, ENTRY)
    assert jsonc.parse(added).value == {
        **value,
        "mcpServers": {**value.get("mcpServers", {}), "debug": ENTRY},
    }
    assert jsonc.prune(jsonc.without_member(added, PATH), made) == text


@given(documents(), st.lists(VALUES, max_size=3) | st.none())
def test_an_item_is_taken_out_without_a_trace(
    document: tuple[str, dict[str, Any]], there: list[Any] | None
) -> None:
    text, _ = document
    if there is not None:
        text, _ = jsonc.set_member(text, ("hooks", "After"), there)
    added, made = jsonc.append_item(text, ("hooks", "After"), {"command": "x"})
    node = jsonc.find(jsonc.parse(added), ("hooks", "After"))
    assert node is not None
    assert node.value == [*(there or []), {"command": "x"}]
    taken = jsonc.without_item(added, ("hooks", "After"), len(node.value) - 1)
    assert jsonc.prune(taken, made) == text


@given(documents(), st.sampled_from(["", "{\n  ", "[1, ", '{"a": ', '"']))
def test_half_a_document_is_refused(document: tuple[str, dict[str, Any]], before: str) -> None:
    text, _ = document
    with pytest.raises(jsonc.NotJson):
        jsonc.parse(before + text.rstrip("}") + "!")


def test_it_goes_behind_the_last_in_the_style_of_the_document() -> None:
    text = '{\n    // mine\n    "servers": {\n        "one": {} // first\n    },\n}\n'
    added, made = jsonc.set_member(text, ("servers", "debug"), ENTRY)
    assert made == []
    assert added == (
        '{\n    // mine\n    "servers": {\n        "one": {}, // first\n'
        '        "debug": {\n            "command": "/opt/relay",\n'
        '            "args": ["mcp", "a b"],\n            "env": {}\n        }\n    },\n}\n'
    )


def test_what_others_have_added_behind_it_stays() -> None:
    text = '{\n  "a": 1\n}\n'
    added, made = jsonc.set_member(text, PATH, ENTRY)
    changed, _ = jsonc.set_member(added, ("mcpServers", "mine"), {"command": "y"})
    left = jsonc.prune(jsonc.without_member(changed, PATH), made)
    assert jsonc.parse(left).value == {"a": 1, "mcpServers": {"mine": {"command": "y"}}}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"a": 1 "b": 2}', "line 1, column 9: a comma is missing"),
        ("{\n  a: 1\n}", "line 2, column 3: a name in quotes is missing"),
        ('{"a" 1}', "a colon is missing"),
        ('{"a": }', "a value is missing"),
        ('{"a": "x\n"}', "control character"),
        ("{} {}", "more text after the end"),
        ("{ /* open", "a name in quotes is missing"),
        ("[" * 100_000, "too deeply"),
    ],
)
def test_a_fault_is_named_with_its_place(text: str, fault: str) -> None:
    with pytest.raises(jsonc.NotJson) as caught:
        jsonc.parse(text)
    assert fault.lower() in str(caught.value).lower()


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": []}', '{"mcpServers": null}', "3"])
def test_another_shape_is_refused(text: str) -> None:
    with pytest.raises(jsonc.NotThatShape):
        jsonc.set_member(text, PATH, ENTRY)
