"""A shell of the test's own: state directory, port and directory are nobody else's."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from click.testing import CliRunner

from relay.command_line import cli
from relay.config import Settings, variable_of
from relay.faces.common.background import noted_in
from relay.quick import shell as quick_shell
from tests.relays import ANSWER_SECONDS, with_compiled_code


class Result(NamedTuple):
    """What a command printed, and its exit code."""

    stdout: str
    stderr: str
    exit_code: int


class Shell:
    """Runs `relay` in this process, which spares an interpreter for each command.

    `way`: the quick one, wherever it is one, or the whole command.
    """

    def __init__(self, directory: Path, way: Literal["quick", "whole"]) -> None:
        self.directory = directory
        self.state_dir = directory / "state"
        self._way = way

    def run(self, *args: str, code: int = 0, **env: str) -> Result:
        """The command, which must end with this exit code."""
        noted = noted_in(self.state_dir)
        result = self._quick(args, env) if self._way == "quick" else None
        if noted is not None and result is not None and args[0] == "stop":
            # The server is a child of this process here, and not of a command that has ended.
            with contextlib.suppress(ChildProcessError):
                os.waitpid(noted.pid, 0)
        if result is None:
            found = CliRunner().invoke(cli, args, prog_name="relay", env=env)
            result = Result(found.stdout, found.stderr, found.exit_code)
        assert result.exit_code == code, (args, result)
        return result

    def _quick(self, args: Sequence[str], env: dict[str, str]) -> Result | None:
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        with pytest.MonkeyPatch.context() as patched:
            for name, value in env.items():
                patched.setenv(name, value)
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = quick_shell.answer(list(args))
        if code is None:
            return None
        stdout, stderr = (stream.buffer.getvalue().decode() for stream in (out, err))
        return Result(stdout, stderr, code)

    def __call__(self, *args: str, code: int = 0, **env: str) -> str:
        """Its standard output."""
        return self.run(*args, code=code, **env).stdout

    def json(self, *args: str, code: int = 0) -> Any:
        """What it prints with --json, put before the arguments."""
        command, *rest = args
        return json.loads(self.run(command, "--json", *rest, code=code).stdout)

    def kept(self) -> set[str]:
        """What the relays of this shell have left in their state directory, beside compiled code."""
        return {path.name for path in self.state_dir.iterdir()} - {"cache"}

    def command(self, *args: str) -> list[str]:
        """The same as a command line, for a process of its own."""
        return [sys.executable, "-m", "relay", *args]


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Shell]:
    """Quick; `whole` where a test is parametrized with it."""
    for name in (*Settings.model_fields, "url", "session"):
        monkeypatch.delenv(variable_of(name), raising=False)
    shell = Shell(tmp_path, getattr(request, "param", "quick"))
    monkeypatch.setenv("RELAY_STATE_DIR", str(with_compiled_code(shell.state_dir)))
    monkeypatch.setenv("RELAY_REQUEST_TIMEOUT_SECONDS", f"{ANSWER_SECONDS:g}")
    monkeypatch.setenv("RELAY_PORT", "0")
    monkeypatch.chdir(tmp_path)
    yield shell
    monkeypatch.setenv("RELAY_STATE_DIR", str(shell.state_dir))
    monkeypatch.delenv("RELAY_URL", raising=False)
    shell.run("stop")
