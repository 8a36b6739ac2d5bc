"""What the relay imports is what it declares, and the other way round."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

from packaging.requirements import Requirement

from tests.sources import ROOT, faults, files, name_of, tree_of

PROJECT = tomllib.loads((ROOT.parent / "pyproject.toml").read_text())["project"]

EXTRAS = {"mcp": "faces/mcp/"}
"""By extra: the only folder that may import what it brings."""

LOADED_BY_PATH = frozenset({"debugpy", "pydevd", "_pydevd_bundle", "_pydev_bundle"})
"""The debuggee finds these beside the debugger, however the program was started."""

IMPORTED_BY = {"pytest_plugin.py": frozenset({"pytest"})}
"""By file: who imports it, and so is there."""


MODULES = {"pyelftools": "elftools"}
"""By distribution: the module that it brings, where that has another name."""


def names(requirements: list[str]) -> set[str]:
    """Distributions as their modules are spelled."""
    found = (re.match(r"[\w.-]+", requirement) for requirement in requirements)
    spelled = {match[0].lower().replace("-", "_") for match in found if match is not None}
    return {MODULES.get(name, name) for name in spelled}


REQUIRED = names(PROJECT["dependencies"])
OPTIONAL = {extra: names(PROJECT["optional-dependencies"][extra]) for extra in EXTRAS}


@cache
def third_parties(path: Path) -> frozenset[str]:
    """The top-level packages that a file imports, anywhere in it, and that are not ours."""
    return frozenset(_packages(path)) - sys.stdlib_module_names - LOADED_BY_PATH - {"relay"}


def _packages(path: Path) -> Iterator[str]:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def test_every_import_is_declared() -> None:
    def undeclared(path: Path) -> frozenset[str]:
        extras = (extra for extra, folder in EXTRAS.items() if name_of(path).startswith(folder))
        there = IMPORTED_BY.get(name_of(path), frozenset())
        return third_parties(path) - there - REQUIRED.union(*(OPTIONAL[one] for one in extras))

    assert faults(files("**/*.py"), undeclared) == {}, "declare it in pyproject.toml"


def test_every_dependency_is_imported() -> None:
    used: set[str] = set().union(*map(third_parties, files("**/*.py")))
    assert REQUIRED.union(*OPTIONAL.values()) - used <= LOADED_BY_PATH


def test_every_dependency_is_bounded_on_both_sides_and_is_here_within() -> None:
    """The next major version may be another library: who installs the relay does not find that out."""
    for requirement in map(Requirement, PROJECT["dependencies"]):
        bounds = {bound.operator for bound in requirement.specifier}
        assert bounds == {">=", "<"}, requirement
        assert version(requirement.name) in requirement.specifier
