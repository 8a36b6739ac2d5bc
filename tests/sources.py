"""The relay's source files, for the tests that read them instead of running them.

A test of a rule reads every file that the rule is about, and names each that breaks it. One test
for each file would say the same, and cost a minute: there are five hundred files.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

import relay

ROOT = Path(relay.__file__).parent


def files(*patterns: str) -> list[Path]:
    """The files below relay/ that match one of the patterns; each pattern must match some."""
    found: set[Path] = set()
    for pattern in patterns:
        matching = set(ROOT.glob(pattern))
        assert matching, f"there is no relay/{pattern}"
        found |= matching
    return sorted(found)


def name_of(path: Path) -> str:
    """The path below relay/."""
    return str(path.relative_to(ROOT))


@cache
def text_of(path: Path) -> str:
    """What the file says."""
    return path.read_text()


@cache
def tree_of(path: Path) -> ast.Module:
    """The file as Python reads it. Shared: look, and change nothing."""
    return ast.parse(text_of(path), str(path))


def faults(paths: Sequence[Path], find: Callable[[Path], Iterable[str]]) -> dict[str, list[str]]:
    """What `find` finds in each file, by the file's name; nothing of those without a fault."""
    assert paths, "a rule about no file at all"
    found = {name_of(path): sorted(find(path)) for path in paths}
    return {name: faulty for name, faulty in found.items() if faulty}
