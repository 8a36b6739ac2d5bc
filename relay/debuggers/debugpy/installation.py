"""Whether what Python programs are debugged with is there, for `relay doctor`. Changes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess

import trio

from relay.config import Settings
from relay.debuggers.debugpy.about import (
    DEBUGGER,
    INSTALL_COMMAND,
    SUPPORTED_DEBUGGER,
    debugpy_version,
    is_supported_debugger,
)
from relay.debuggers.debugpy.interpreter import OLDEST, parse, query_argv
from relay.debuggers.debugpy.processes import obstacle_to_tracing
from relay.environments import own_environment
from relay.errors import RelayError
from relay.models.doctor import Check

INTERPRETER_SECONDS = 20.0


def check_debugger() -> Check:
    found = debugpy_version()
    if found is None:
        return Check.broken(DEBUGGER, "it is not installed beside the relay", INSTALL_COMMAND)
    if not is_supported_debugger(found):
        return Check.broken(DEBUGGER, f"{found} is not {SUPPORTED_DEBUGGER}", INSTALL_COMMAND)
    return Check.found(DEBUGGER, found)


async def check_interpreter(settings: Settings) -> Check:
    """The one that programs run in, unless a session names another."""
    name, path = "interpreter of programs", settings.python_path
    remedy = "Set python_path to a Python that runs: RELAY_PYTHON_PATH, or --python-path of serve"
    found = _executable(path)
    if found is None:
        return Check.broken(name, f"there is no {path}", remedy)
    try:
        with trio.fail_after(INTERPRETER_SECONDS):
            done = await trio.run_process(
                query_argv(found),
                capture_stdout=True,
                stderr=subprocess.DEVNULL,
                check=False,
                env=own_environment(),
            )
        answer = parse(done.stdout, found)
    except (OSError, trio.TooSlowError, RelayError) as error:
        return Check.broken(
            name, f"{found} does not answer: {str(error) or type(error).__name__}", remedy
        )
    version = ".".join(map(str, answer.version))
    description = f"{answer.implementation} {version}, {answer.executable}"
    if answer.version < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        return Check.broken(name, description, f"Programs need Python {oldest} or newer. {remedy}")
    return Check.found(name, description)


def _executable(path: str) -> str | None:
    return shutil.which(os.path.expanduser(path))


def check_tracing() -> Check:
    """Only attaching by process id needs it."""
    obstacle = obstacle_to_tracing()
    if obstacle is None:
        return Check.found("attach by process id", "programs of yours can be attached to")
    return Check(
        name="attach by process id",
        status="warning",
        message=obstacle.reason,
        remedy=str(obstacle.suggestion),
    )
