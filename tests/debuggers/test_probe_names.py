"""The probe's files are run in one namespace: a name that two of them define would be lost."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import TypeGuard

from relay.debuggers.debugpy.debuggee import probe

HERE = Path(probe.__file__).parent
FILES = [HERE / f"{part}.py" for part in (*probe.PARTS, "__init__", "entry")]


def defined(path: Path) -> set[str]:
    """The names that a file gives to its namespace, imports aside."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            names = (name for target in node.targets for name in ast.walk(target))
            found |= {name.id for name in names if is_given(name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def is_given(node: ast.AST) -> TypeGuard[ast.Name]:
    """Whether it is a name that gets a value, alone or in a tuple."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def test_no_name_is_defined_by_two_parts() -> None:
    counts = Counter(name for path in FILES for name in defined(path))
    assert {name for name, count in counts.items() if count > 1} == set()


def imported(path: Path) -> set[str]:
    """The modules that a file imports for itself: a part that defines the name takes it away."""
    body = ast.parse(path.read_text()).body
    return {alias.name for node in body if isinstance(node, ast.Import) for alias in node.names}


def test_no_part_defines_the_name_of_a_module_that_another_imports() -> None:
    names = set().union(*map(defined, FILES))
    assert names & set().union(*map(imported, FILES)) == set()


def test_every_part_is_listed() -> None:
    found = [
        path for path in HERE.rglob("*.py") if path.name != "__init__.py" or path.parent == HERE
    ]
    assert sorted(found) == sorted(FILES)


def test_no_part_defines_what_the_bootstrap_hands_over_while_it_loads() -> None:
    assert "_code_of" not in set().union(*map(defined, FILES))


def test_one_part_alone_lists_what_the_collector_tracks() -> None:
    """Each other one would refer to tuples that the program is making, and break them."""
    listing = {"get_objects", "get_referrers"}
    found = {
        path.relative_to(HERE).as_posix()
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in listing
    }
    assert found == {"process/tracked_objects.py"}
