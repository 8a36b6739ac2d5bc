"""Who may change a session, a debuggee or a breakpoint: nobody assigns their fields, or those of their
parts, from outside.

Reads the text of the relay; runs nothing. A session is what a name `session` or `_session` says,
whoever it belongs to: `session.x = …`, `self._session.x += 1`, `debuggee.session.part.x.clear()`. So
is a debuggee, which `program` may name, too, and a breakpoint.
Not seen is one of them under another name: `stop.top = …`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sources import faults, files, tree_of

FILES = [path for path in files("**/*.py") if "client" not in path.parts]

SESSION = frozenset({"session", "_session"})
DEBUGGEE = frozenset({"debuggee", "_debuggee", "program", "_program"})
BREAKPOINT = frozenset({"breakpoint"})
PLAIN = frozenset(
    {
        *("launch", "attach", "name", "config", "exceptions"),
        *(
            "losses",
            "without_stop",
            "unwatched",
            "launched",
            "exit_code",
            "reason",
            "trace",
            "lost",
        ),
        "was_lost_itself",
        *("current", "before", "target", "hits"),
    }
)
"""Fields of the parts that hold plain values or collections: read them, do not change them."""
MUTATORS = frozenset(
    {
        "append",
        "extend",
        "clear",
        "pop",
        "popitem",
        "remove",
        "insert",
        "update",
        "add",
        "setdefault",
    }
)


def chain_of(node: ast.expr) -> list[str]:
    """`self._session.stops.target` as its names, outermost last; empty if it is no such chain."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [*reversed([*names, node.id])] if isinstance(node, ast.Name) else []


def behind(owners: frozenset[str], node: ast.expr) -> list[str]:
    """What stands behind the last owner in a chain; empty if there is none in it."""
    names = chain_of(node)
    at = max((i for i, name in enumerate(names) if name in owners), default=None)
    return [] if at is None else names[at + 1 :]


def assigned(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        found = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        found = [node.target]
    elif isinstance(node, ast.Delete):
        found = node.targets
    else:
        return []
    return [leaf for target in found for leaf in leaves(target)]


def leaves(target: ast.expr) -> Iterator[ast.expr]:
    """The single targets of `a, b.c = …`; of `a[b] = …` what is changed by it."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            yield from leaves(one)
    elif isinstance(target, (ast.Starred, ast.Subscript)):
        yield from leaves(target.value)
    else:
        yield target


def changes(module: ast.Module) -> list[str]:
    """Every place of a module that changes a field of a session, a debuggee, a breakpoint, or of a part."""
    found: list[str] = []
    for node in ast.walk(module):
        found += [
            f"line {target.lineno}: {ast.unparse(target)} is assigned"
            for target in assigned(node)
            if behind(SESSION | DEBUGGEE | BREAKPOINT, target)
        ]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            names = behind(SESSION, node.func)
            if len(names) > 1 and names[-1] in MUTATORS and names[-2] in PLAIN:
                found.append(f"line {node.lineno}: {ast.unparse(node.func)}() is called")
    return found


def test_nobody_changes_what_is_another_ones_from_outside() -> None:
    assert faults(FILES, lambda path: changes(tree_of(path))) == {}


def test_a_debuggee_reports_to_its_session_by_events_only() -> None:
    """It reads what it needs, and changes state and logs through `DebuggeeEvents`."""
    own = {"lifecycle", "program_run", "program_events"}

    def calls(path: Path) -> list[str]:
        return [
            f"line {node.lineno}: {ast.unparse(node.func)}()"
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.Call)
            if len(names := behind(SESSION, node.func)) > 1 and names[0] in own
        ]

    assert faults(files("session/d*/*.py", "session/children/*.py"), calls) == {}


# The check itself -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "session.stop = None",
        "self._session.shown += 1",
        "before, session.target = session.target, None",
        "debuggee.session.name: str = 'x'",
        "session.stops.target = None",
        "session.line_runs.hits['a'] = 1",
        "session.program_run.losses.append('a')",
        "session.program_run.unwatched.clear()",
        "del session.tap",
        "self._debuggee.exit_code = 1",
        "breakpoint.hit_count += 1",
        "debuggee.group.members[1] = child",
    ],
)
def test_a_change_is_noticed(text: str) -> None:
    assert len(changes(ast.parse(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "session = Session()",
        "self.debuggee = debuggee",
        "self._program.exit_reported(1)",
        "self._session = session",
        "session.events.append('a', {})",
        "session.stops.aim(None)",
        "session.breakpoints.remove('bp_1')",
        "stop.reached = True",
        "name = session.name",
    ],
)
def test_what_is_no_change_is_left_alone(text: str) -> None:
    assert changes(ast.parse(text)) == []
