"""Interpreters with packages of their own: virtual environments, made once for a test run."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

MAKING_SECONDS = 300

UV = "RELAY_TEST_UV"
"""Variable with the path of a uv, which installs with a tenth of the processor time of pip."""


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Only one worker of this run at a time."""
    with (directory / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory that all workers share; the last one that needs it takes it away."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "environments"
    users = shared / "users"
    users.mkdir(parents=True, exist_ok=True)
    own = users / uuid4().hex  # this fixture may be there more than once
    with locked(shared):
        own.touch()
    yield shared
    with locked(shared):
        own.unlink()
        if not any(users.iterdir()):
            for made in shared.glob("venv-*"):
                shutil.rmtree(made)


@pytest.fixture
def python_with(environments: Path) -> Callable[[str], str]:
    """python_with("debugpy==1.8.5") is the path of an interpreter into which that is installed.

    Several are parted by blanks, since what they need is not installed with them.
    """
    return lambda requirement: made(environments, requirement, "--no-deps")


def made(environments: Path, requirement: str, *options: str, base: str = sys.executable) -> str:
    """The interpreter of the environment that has it, which is made if it is not there yet.

    base: the Python that it is made of.
    """
    directory = environments / f"venv-{requirement}"
    python = directory / "bin" / "python"
    with locked(environments):
        if not (directory / "ready").exists():
            _make(directory, python, [*options, *requirement.split()], base)
            (directory / "ready").touch()
    return str(python)


def _make(directory: Path, python: Path, what: list[str], base: str) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    venv = [base, "-m", "venv", "--without-pip", str(directory)]
    subprocess.run(venv, check=True, timeout=MAKING_SECONDS)
    # What is imported is compiled then; the rest need not be.
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install"]
    commands = [[*pip, "--disable-pip-version-check", "--no-compile", *what]]
    if uv := os.environ.get(UV):
        commands.insert(0, [uv, "pip", "install", "--python", str(python), *what])
    for command in commands:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=MAKING_SECONDS,
            check=False,
        )
        if done.returncode == 0:
            return
    if "CI" not in os.environ:
        pytest.skip(f"pip cannot install {' '.join(what)}: {done.stdout[-300:]}")
    pytest.fail(done.stdout)
