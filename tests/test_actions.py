"""The way out of an error: an action in the catalog, and in every face the words for it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from pathlib import Path
from string import Template

import pytest

import relay
from relay.actions import Action, Advice, Words, from_wire, in_words, to_wire
from relay.errors import RelayError, catalog
from relay.faces.cli.actions import COMMAND_WORDS, OPTION_WORDS
from relay.faces.cli.complaint import complaint
from relay.faces.common.actions import ROUTE_WORDS, shown_details
from relay.faces.common.tool_actions import ROUTE_WORDS as TOOL_ROUTE_WORDS
from relay.faces.common.tool_actions import TOOL_WORDS as TOOL_V0_WORDS
from relay.faces.dap.actions import EDITOR_WORDS
from relay.faces.mcp.actions import TOOL_WORDS
from relay.faces.stdio.actions import COMMAND_WORDS as LINE_WORDS
from relay.models.line_protocol import COMMANDS

ROOT = Path(relay.__file__).parent
ROUTE = r"\b(?:GET|POST|PUT|PATCH|DELETE)\b|/sessions|/api/v1|details\.|python_path|project_root"
TOOL = r"debug_[a-z]+\b"
COMMAND = r"\brelay [a-z]+\b|--\w"

FACES: Mapping[str, tuple[Words, str]] = {
    "routes": (ROUTE_WORDS, f"{TOOL}|{COMMAND}"),
    "shell": (COMMAND_WORDS, f"{ROUTE}|{TOOL}"),
    "run": (OPTION_WORDS, rf"{ROUTE}|{TOOL}|\brelay (?!run\b)[a-z]+\b"),
    "tools": (TOOL_WORDS, f"{ROUTE}|{COMMAND}"),
    "lines": (LINE_WORDS, f"{ROUTE}|{TOOL}|{COMMAND}"),
    "editor": (EDITOR_WORDS, f"{ROUTE}|{TOOL}|\\brelay [a-z]+\\b"),
    "tool routes": (TOOL_ROUTE_WORDS, f"{TOOL}|{COMMAND}|/api/v1|details\\."),
    "tools v0": (TOOL_V0_WORDS, f"{ROUTE}|{TOOL}|{COMMAND}"),
}
"""The words of each face, and what stands in those of the others."""

OWN = re.compile(r"printed by relay serve|`debugpy --listen`|\"debug_subprocesses\": true")
"""What looks like a word of another face, and is none."""


@pytest.mark.parametrize("face", FACES)
def test_every_face_has_words_for_every_action_or_says_that_it_has_no_such_way(face: str) -> None:
    words, foreign = FACES[face]
    assert set(words) == set(Action), "None stands for: no such way"
    said = {action.name: text for action, text in words.items() if text is not None}
    assert all(said.values())
    own = {name: OWN.sub("", text) for name, text in said.items()}
    assert {name: text for name, text in own.items() if re.search(foreign, text)} == {}


def test_the_api_has_a_way_for_every_action_and_the_general_words_name_no_face() -> None:
    assert None not in ROUTE_WORDS.values()
    general = {action.name: action.value for action in Action}
    speech = re.compile(rf"\b(?:GET|POST|PUT|PATCH|DELETE)\b|/sessions|/api/v1|{TOOL}|{COMMAND}")
    assert {n: t for n, t in general.items() if speech.search(OWN.sub("", t))} == {}


@pytest.mark.parametrize("face", FACES)
def test_no_face_asks_for_more_than_the_action_knows(face: str) -> None:
    words, _ = FACES[face]
    for action, text in words.items():
        known = set(Template(action.value).get_identifiers())
        assert set(Template(text or "").get_identifiers()) <= known, action


def test_the_line_protocol_names_commands_that_it_has() -> None:
    sent = re.compile(r"\b[Ss]end (\w+)")
    named = {name for text in LINE_WORDS.values() for name in sent.findall(text or "")}
    assert named <= set(COMMANDS)


def test_what_is_written_as_text_names_no_verb_of_any_face() -> None:
    texts = [text for path in ROOT.rglob("*.py") for text in written(path)]
    texts += [error.way_out for error in catalog().values() if isinstance(error.way_out, str)]
    assert len(texts) > 40
    assert [text for text in texts if re.search(f"{ROUTE}|{TOOL}", text)] == []


def written(path: Path) -> list[str]:
    """The suggestions of a file that are plain text; a face's own may name what it has."""
    if path.is_relative_to(ROOT / "faces"):
        return []
    nodes = ast.walk(ast.parse(path.read_text()))
    found = [
        node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "suggestion"
    ]
    return [text for value in found for text in texts_of(value)]


def texts_of(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [*texts_of(node.body), *texts_of(node.orelse)]
    if isinstance(node, ast.JoinedStr):
        parts = [str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values]
        return ["".join(parts)]
    return []


def test_most_ways_are_those_of_the_shell_and_of_the_tools_too() -> None:
    for words in (COMMAND_WORDS, TOOL_WORDS):
        missing = [action for action, text in words.items() if text is None]
        assert len(missing) < 0.2 * len(Action), missing


# Facts -----------------------------------------------------------------------------------


def test_a_fact_comes_from_the_parameters_or_from_the_details() -> None:
    details = {"max_line": 12, "thread_id": 1}
    assert in_words(Action.CHOOSE_LINE, details, COMMAND_WORDS) == "Choose a line between 1 and 12"
    paused = in_words(Action.PAUSE_THREAD.of(thread_id=3), details, ROUTE_WORDS)
    assert paused == "Pause it first: POST /sessions/{id}/threads/3/pause"
    assert in_words("Correct it: 1 $", details, TOOL_WORDS) == "Correct it: 1 $"
    assert in_words(Action.LIST_ROUTES, details, TOOL_WORDS) is None


def test_a_fact_that_is_unknown_or_long_is_only_named() -> None:
    expected = "Choose a line between 1 and max_line"
    for details in ({}, {"max_line": "x" * 100}, {"max_line": ["1"]}):
        assert in_words(Action.CHOOSE_LINE, details, TOOL_WORDS) == expected


def test_an_error_says_its_way_out_in_general_and_where_no_face_has_one_in_general_too() -> None:
    error = RelayError("message", suggestion=Action.PAUSE_THREAD.of(thread_id=3))
    assert error.details["suggestion"] == "Pause it first: thread 3"
    error = RelayError("message", suggestion=Action.LIST_ROUTES)
    assert complaint(error, "shell")[1] == "Read the message; nothing was changed"
    assert complaint(error, "run")[1] == "Correct what is named; nothing was run"


# Over HTTP, for the clients of the relay whose faces have words of their own ----------------


@pytest.mark.parametrize("action", Action)
def test_an_action_survives_its_way_to_a_client(action: Action) -> None:
    names = Template(action.value).get_identifiers()
    advice = Advice(action, dict.fromkeys(names, 7))
    assert from_wire(json.loads(json.dumps(to_wire(advice)))) == advice


@pytest.mark.parametrize("found", [None, [], {}, {"name": "NO_SUCH"}, {"name": 3}, {"name": []}])
def test_what_is_no_known_action_is_none(found: object) -> None:
    assert from_wire(found) is None


def test_only_who_asks_is_given_the_action() -> None:
    error = RelayError("message", suggestion=Action.PAUSE)
    said = {"suggestion": "Call POST /sessions/{id}/pause first or wait for a breakpoint"}
    assert shown_details(error) == shown_details(error, b"respond-async") == said
    assert shown_details(error, b"relay-actions") == {**said, "action": {"name": "PAUSE"}}
