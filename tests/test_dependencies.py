"""What the relay imports is what it declares, and the other way round."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import relay

ROOT = Path(relay.__file__).parent
PROJECT = tomllib.loads((ROOT.parent / "pyproject.toml").read_text())["project"]

EXTRAS = {"mcp": "faces/mcp/"}
"""By extra: the only folder that may import what it brings."""

LOADED_BY_PATH = frozenset({"debugpy", "pydevd", "_pydevd_bundle", "_pydev_bundle"})
"""The debuggee finds these beside the debugger, however the program was started."""


def names(requirements: list[str]) -> set[str]:
    """Distributions as their modules are spelled."""
    found = (re.match(r"[\w.-]+", requirement) for requirement in requirements)
    return {match[0].lower().replace("-", "_") for match in found if match is not None}


REQUIRED = names(PROJECT["dependencies"])
OPTIONAL = {extra: names(PROJECT["optional-dependencies"][extra]) for extra in EXTRAS}


def third_parties(path: Path) -> Iterator[str]:
    """The top-level packages that a file imports, anywhere in it, and that are not ours."""
    for node in ast.walk(ast.parse(path.read_text())):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        for top in {module.partition(".")[0] for module in modules}:
            if top not in sys.stdlib_module_names and top != "relay":
                yield top


FILES = {
    str(path.relative_to(ROOT)): set(third_parties(path)) - LOADED_BY_PATH
    for path in sorted(ROOT.rglob("*.py"))
}
USERS = {name: imported for name, imported in FILES.items() if imported}


@pytest.mark.parametrize("name", USERS)
def test_every_import_is_declared(name: str) -> None:
    allowed = set(REQUIRED)
    for extra, folder in EXTRAS.items():
        if name.startswith(folder):
            allowed |= OPTIONAL[extra]
    assert USERS[name] <= allowed, "declare it in pyproject.toml"


def test_every_dependency_is_imported() -> None:
    used = set().union(*USERS.values())
    assert REQUIRED.union(*OPTIONAL.values()) - used <= LOADED_BY_PATH
