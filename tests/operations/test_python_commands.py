"""Which command lines run Python: what is said of processes that had no debugger depends on it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from relay.operations.report.python_commands import runs_python


@pytest.mark.parametrize(
    "command",
    [
        ["python", "app.py"],
        ["/usr/bin/python3.12", "-m", "app"],
        ["env", "-i", "A=1", "pypy3", "app.py"],
        ["nice", "-n", "10", "timeout", "5s", "python3.13t", "app.py"],
        ["sh", "-c", "cd here && A=1 exec python app.py"],
        ["bash", "-lc", "(python app.py; true) | cat"],
        ["sh", "-c", "if python app.py; then true; fi"],
        ["bin/tool"],
        ["tool", "--quickly"],
        ["far"],
    ],
)
def test_runs_python(command: list[str], tools: Path) -> None:
    assert runs_python(command, str(tools), {"PATH": str(tools / "bin")})


@pytest.mark.parametrize(
    ("command", "is_one"),
    [
        (["python3", "app.py"], True),
        (["bin/tool"], True),
        (["sh", "-c", "python app.py; true"], False),
        (["timeout", "5", "python", "app.py"], False),
    ],
)
def test_runs_python_in_its_own_process(command: list[str], is_one: bool, tools: Path) -> None:
    env = {"PATH": str(tools / "bin")}
    assert runs_python(command, str(tools), env, by_itself=True) is is_one


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["true"],
        ["which", "python"],
        ["python", "--version"],
        ["python", "-c", "from multiprocessing.resource_tracker import main;main(3)"],
        ["sh", "-c", "echo python; ls '"],
        ["sh", "python"],
        ["sh", "-c"],
        ["absent"],
        ["bin"],
        ["shell"],
    ],
)
def test_runs_none(command: list[str], tools: Path) -> None:
    assert not runs_python(command, str(tools), {"PATH": str(tools / "bin")})


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A directory with programs in `bin`: of Python, of a shell, and one whose interpreter is far."""
    (tmp_path / "bin").mkdir()
    for name, head in (
        ("tool", "#!/usr/bin/env python3\n"),
        ("far", "#!/bin/sh\n'''exec' /a/very/long/way/to/python \"$0\" \"$@\"\n"),
        ("shell", "#!/bin/sh\npython app.py\n"),
    ):
        (tmp_path / "bin" / name).write_text(head)
        os.chmod(tmp_path / "bin" / name, 0o755)
    return tmp_path
