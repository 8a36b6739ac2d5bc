"""A shell of the test's own: state directory, port and directory are nobody else's."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from relay.__main__ import cli
from relay.config import Settings


class Shell:
    """Runs `relay` in this process, which spares an interpreter for each command."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.state_dir = directory / "state"

    def run(self, *args: str, code: int = 0, **env: str) -> Result:
        """The command, which must end with this exit code."""
        result = CliRunner().invoke(cli, args, prog_name="relay", env=env)
        assert result.exit_code == code, (args, result.exit_code, result.output, result.exception)
        return result

    def __call__(self, *args: str, code: int = 0, **env: str) -> str:
        """Its standard output."""
        return self.run(*args, code=code, **env).stdout

    def json(self, *args: str, code: int = 0) -> Any:
        """What it prints with --json, put before the arguments."""
        command, *rest = args
        return json.loads(self.run(command, "--json", *rest, code=code).stdout)

    def command(self, *args: str) -> list[str]:
        """The same as a command line, for a process of its own."""
        return [sys.executable, "-m", "relay", *args]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    for name in (*Settings.model_fields, "url", "session"):
        monkeypatch.delenv(f"RELAY_{name.upper()}", raising=False)
    shell = Shell(tmp_path)
    monkeypatch.setenv("RELAY_STATE_DIR", str(shell.state_dir))
    monkeypatch.setenv("RELAY_PORT", "0")
    monkeypatch.chdir(tmp_path)
    yield shell
    monkeypatch.setenv("RELAY_STATE_DIR", str(shell.state_dir))
    shell.run("stop")
