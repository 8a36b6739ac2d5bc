"""Suggestions in the words of each face: none names what the reader does not have."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Literal, get_args

import pytest

import relay
from relay.errors import catalog
from relay.suggestions import Face, in_words

ROOT = Path(relay.__file__).parent
OF_THE_API = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE)\b|/sessions|/api/v1|details\.|python_path")
OTHER_FACES = {
    "shell": re.compile(r"debug_[a-z]+\b"),
    "run": re.compile(r"debug_[a-z]+\b"),
    "mcp": re.compile(r"\brelay [a-z]+\b|--\w"),
}
ONLY_HTTP = (
    "faces/http",
    "faces/tool",
    "operations/tool/calls.py",
    "operations/sessions/profiles.py",
)


def written() -> list[str]:
    """Every suggestion in the source, with `X` for what is filled in."""
    found = {error.suggestion for error in catalog().values()}
    for path in ROOT.rglob("*.py"):
        if any(part in str(path) for part in ONLY_HTTP):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "suggestion":
                found |= set(texts_of(node.value))
            elif isinstance(node, ast.FunctionDef) and node.name == "_way_out":
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Return) and inner.value is not None:
                        found |= set(texts_of(inner.value))
    return sorted(found)


def texts_of(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [*texts_of(node.body), *texts_of(node.orelse)]
    if isinstance(node, ast.JoinedStr):
        parts = [str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values]
        return ["".join(parts)]
    return []


@pytest.mark.parametrize("face", get_args(Face))
def test_no_suggestion_speaks_of_another_face(face: Literal["shell", "run", "mcp"]) -> None:
    said = {text: in_words(text, {"max_line": 12}, face) for text in written()}
    assert len(said) > 60
    assert {t: s for t, s in said.items() if OF_THE_API.search(s)} == {}
    foreign = {t: s for t, s in said.items() if OTHER_FACES[face].search(s)}
    assert {t: s for t, s in foreign.items() if t != s} == {}
    assert all(said.values())


def test_most_are_said_and_not_only_in_general() -> None:
    general = in_words("GET /", {}, "shell")
    vague = [text for text in written() if in_words(text, {"max_line": 1}, "shell") == general]
    assert len(vague) < 0.15 * len(written()), vague


def test_a_short_fact_stands_for_its_name() -> None:
    text = "Choose a line between 1 and details.max_line"
    assert in_words(text, {"max_line": 12}, "shell") == "Choose a line between 1 and 12"
