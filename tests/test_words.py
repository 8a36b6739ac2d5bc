"""The code speaks the field's words: no private ones in identifiers and names of files.

A comment may use any word of English; a name is met again and again, and must be known already.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sources import ROOT, faults, files, name_of, tree_of

PRIVATE = frozenset(
    {"tell", "tells", "told", "teller", "telling", "tale", "tales", "ears", "door", "doors"}
    | {"mend", "mends", "mended", "mending", "foremost", "passing", "standing"}
    | {"looking", "talking"}
)
"""Each has a word of the field: report, event, writer, listener, patch, port, current, stopped."""

CLEAN_ROOMS = (
    "actions.py",
    "client",
    "dap",
    "debuggers",
    "errors.py",
    "faces/cli",
    "faces/common",
    "faces/dap",
    "faces/mcp",
    "faces/stdio",
    "faces/tool",
    "operations",
    "models",
    "perl",
    "process",
    "redaction",
    "routes",
    "session",
)
"""Rooms without such a name. One that has become clean is added here."""

KEPT = {
    "client/__init__.py": {"Told"},  # public: the earlier name of StreamEvent
    "faces/common/background.py": {"tell"},  # of a file
    "models/status.py": {"ThreadStanding"},  # a schema that clients see
    "operations/sessions/status.py": {"ThreadStanding"},
}
"""Names that cannot be others, and why."""


@pytest.mark.parametrize("room", CLEAN_ROOMS)
def test_a_clean_room_has_no_private_word_in_a_name(room: str) -> None:
    def private(path: Path) -> set[str]:
        found = {one for one in {path.stem, *names(path)} if words(one) & PRIVATE}
        return found - KEPT.get(name_of(path), set())

    assert faults(files(room if room.endswith(".py") else f"{room}/**/*.py"), private) == {}


def test_what_is_kept_is_still_there() -> None:
    gone = {name: kept - set(names(ROOT / name)) for name, kept in KEPT.items()}
    assert {name: kept for name, kept in gone.items() if kept} == {}


def words(name: str) -> set[str]:
    """`_tellAll`, `tell_all` and `TellAll` are of the same words."""
    return set(re.findall(r"[a-z]+", re.sub(r"([A-Z][a-z]+)", r"_\1", name).lower()))


def names(path: Path) -> Iterator[str]:
    """Every name that a file defines, uses or imports."""
    for node in ast.walk(tree_of(path)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.keyword(arg=str(name)):
                yield name
            case ast.alias(name=name, asname=alias):
                yield from (name, alias or "")
