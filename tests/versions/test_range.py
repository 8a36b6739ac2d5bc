"""The range of debugpy's versions is said once; what cannot ask is compared with it."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import tomllib
from pathlib import Path

import debugpy
import pytest

from relay.debuggers.debugpy import about
from relay.debuggers.debugpy import rungs as launch
from relay.debuggers.debugpy.about import SUPPORTED_DEBUGGER, is_supported_debugger, is_too_old
from relay.debuggers.debugpy.debuggee.pydevd import load as pydevd_load
from relay.debuggers.debugpy.interpreter import parse, query_argv
from relay.debuggers.debugpy.rungs import Program
from relay.errors import LaunchFailed

ROOT = Path(__file__).parents[2]


def test_the_package_asks_for_the_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [one for one in project["dependencies"] if one.startswith("debugpy")]
    assert wanted == [f"debugpy{SUPPORTED_DEBUGGER}"]


def test_the_documentation_says_the_range() -> None:
    assert f"`debugpy{SUPPORTED_DEBUGGER}`" in (ROOT / "docs" / "limits.md").read_text()


def test_no_other_file_says_a_version_of_its_own() -> None:
    texts = {path: path.read_text() for path in (ROOT / "relay").rglob("*.py")}
    assert [p.name for p, text in texts.items() if "1.8." in text or "(1, 8" in text] == ["load.py"]


@pytest.mark.parametrize(
    ("version", "supported", "old"),
    [
        ("1.8.20", False, True),
        ("1.8.5", False, True),
        ("1.8", False, True),
        ("1.8.21", True, False),
        ("1.8.21+local", True, False),
        ("1.8.100", True, False),
        ("1.9.0", False, False),
        ("1.9.0b1", False, False),
        ("0+unknown", False, False),
        (debugpy.__version__, True, False),
    ],
)
def test_versions_are_told_apart(version: str, supported: bool, old: bool) -> None:
    assert (is_supported_debugger(version), is_too_old(version)) == (supported, old)


def test_the_installed_version_is_read_without_importing_it() -> None:
    found = pydevd_load.installed_version(str(about.debugpy_directory()))
    assert found == pydevd_load.numbers(debugpy.__version__)


def test_where_both_are_too_old_the_launch_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    done = subprocess.run(query_argv(sys.executable), capture_output=True, check=True)
    here = dataclasses.replace(parse(done.stdout), debugpy_version="1.8.5")
    monkeypatch.setattr(launch, "debugpy_version", lambda: "1.8.20")
    with pytest.raises(LaunchFailed) as failed:
        launch.choose(here, Program(kind="script", target="prog.py", cwd="/", env={}))
    assert SUPPORTED_DEBUGGER in failed.value.message
    assert "1.8.20" in failed.value.message
    assert "pip install" in failed.value.details["suggestion"]
