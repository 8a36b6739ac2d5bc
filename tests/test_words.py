"""The code speaks the field's words: no private ones in identifiers, states and names of files.

A comment may use any word of English; a name is met again and again, and must be known already.
So is a state, which is a string of one word.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.sources import ROOT, faults, files, name_of, tree_of

PRIVATE = frozenset(
    {"tell", "tells", "told", "teller", "telling", "tale", "tales", "ears", "door", "doors"}
    | {"mend", "mends", "mended", "mending", "foremost", "passing", "standing"}
    | {"looking", "talking"}
)
"""Each has a word of the field: report, event, writer, listener, patch, port, current, stopped."""

KEPT = {
    "client/__init__.py": {"Told"},  # public: the earlier name of StreamEvent
    "faces/common/background.py": {"tell"},  # of a file
    "models/status.py": {"ThreadStanding"},  # a schema that clients see
    "operations/sessions/status.py": {"ThreadStanding"},
}
"""Names that cannot be others, and why."""


TWICE = {
    "Child": "a process as the system lists it, and one that has joined a session",
    "Link": "both ends of the connection between the relay and the program",
    "Program": "in the debuggee, as it is to be started, and as clients see it",
    "Session": "what a client drives, and what the relay has",
    "SyntaxFault": "what a session knows of one, and a debugger's own",
    "Watch": "an expression of a session, and what the guardian, which stands alone, looks after",
}
"""Public classes of which there are several with one name, and why that is clearer."""

PROTOCOLS = {ROOT / "dap" / "types.py", ROOT / "models" / "line_protocol.py"}
"""Whose shapes are said with their module: `dap.Breakpoint`, `protocol.Place`."""


def test_no_name_has_a_private_word() -> None:
    def private(path: Path) -> set[str]:
        found = {one for one in {path.stem, *names(path)} if words(one) & PRIVATE}
        return found - KEPT.get(name_of(path), set())

    assert faults(files("**/*.py"), private) == {}


def test_what_is_kept_is_still_there() -> None:
    gone = {name: kept - set(names(ROOT / name)) for name, kept in KEPT.items()}
    assert {name: kept for name, kept in gone.items() if kept} == {}


def test_a_class_has_a_name_of_its_own() -> None:
    places = defaultdict(list)
    for path in set(files("**/*.py")) - PROTOCOLS:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name_of(path))
    assert {name for name, found in places.items() if len(found) > 1} == set(TWICE)


def words(name: str) -> set[str]:
    """`_tellAll`, `tell_all` and `TellAll` are of the same words."""
    return set(re.findall(r"[a-z]+", re.sub(r"([A-Z][a-z]+)", r"_\1", name).lower()))


def names(path: Path) -> Iterator[str]:
    """Every name that a file defines, uses or imports, and every string that could be one."""
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
            case ast.Constant(value=str(name)) if name.isidentifier():
                yield name
