"""Runs one program plainly or under the bootstrap, with one of the interpreters of this machine."""

from __future__ import annotations

import functools
import json
import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import debugpy
import pytest

from relay.debuggers.debugpy.rungs import Program, fast_program
from tests.debuggers.dap_harness import DEADLINE, Debuggee

BOOTSTRAP = Path(__file__).parents[2] / "relay/debuggers/debugpy/debuggee/bootstrap.py"
PYENV = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
OWN_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}


def installed_python(version: str) -> str:
    """An interpreter of that version. Without one the test says that it is skipped."""
    if version == OWN_VERSION:
        return sys.executable
    found = sorted(PYENV.glob(f"{version}.*/bin/python"))
    if not found:
        pytest.skip(f"Python {version} is not installed")
    return str(found[-1])


@functools.cache
def _has_frozen_modules(python: str) -> bool:
    question = "import sys; print(sys.version_info >= (3, 11))"
    answer = subprocess.run([python, "-c", question], capture_output=True, check=True)
    return answer.stdout.strip() == b"True"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


class Runner:
    """Runs one program of `cwd` plainly, or under the bootstrap."""

    def __init__(self, python: str, cwd: Path) -> None:
        self.python = python
        self.cwd = cwd
        self.cache = cwd.parent / "cache"
        """Where compiled code is kept; one for many tests."""

    def plain(
        self, kind: str, target: str, *args: str, options: Sequence[str] = ()
    ) -> tuple[int, str, str]:
        command = ["-m", target] if kind == "module" else [target]
        done = subprocess.run(
            [self.python, *options, *command, *args],
            cwd=self.cwd,
            env=ENVIRONMENT,
            input=b"",
            capture_output=True,
            timeout=DEADLINE,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    @property
    def frozen_off(self) -> list[str]:
        return ["-X", "frozen_modules=off"] if _has_frozen_modules(self.python) else []

    def debug(
        self,
        kind: Any,
        target: str,
        *args: str,
        options: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        fallback: Path | None = None,
    ) -> Debuggee:
        ours, theirs = socket.socketpair()
        setup: dict[str, Any] = {
            "fd": theirs.fileno(),
            "debugpy": str(fallback or Path(debugpy.__file__).parents[1]),
            "cache": str(self.cache),
        }
        program = Program(kind=kind, target=target, cwd=str(self.cwd), env={}, args=args)
        ours.sendall(fast_program(program))
        argv = [self.python, *options, *self.frozen_off, str(BOOTSTRAP), json.dumps(setup)]
        return Debuggee(argv, cwd=self.cwd, env=ENVIRONMENT | dict(env or {}), pair=(ours, theirs))

    def debugged(
        self, kind: str, target: str, *args: str, options: Sequence[str] = ()
    ) -> tuple[int, str, str]:
        """Runs the program to its end under the bootstrap, without a breakpoint."""
        with self.debug(kind, target, *args, options=options) as debuggee:
            debuggee.handshake()
            return debuggee.finish()
