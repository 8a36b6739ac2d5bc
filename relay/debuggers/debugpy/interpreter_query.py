"""Asking a Python executable: what it is, once, and anything else that a short process can say."""

from __future__ import annotations

import os
import subprocess
from typing import Any

import trio

from relay.actions import Action
from relay.debuggers.debugpy.interpreter import OLDEST, Interpreter, parse, query_argv
from relay.environments import own_environment
from relay.errors import LaunchFailed
from relay.session.debuggee.exit_text import describe_exit

ANSWER_SECONDS = 20.0

_interpreters: dict[tuple[Any, ...], Interpreter] = {}


async def interpreter_of(python_path: str) -> Interpreter:
    """What lies behind `python_path`; raises LaunchFailed if it is no usable Python."""
    try:
        key = identity_of(python_path)
    except OSError as error:
        raise LaunchFailed(
            f"cannot use {python_path}: {error.strerror}", python_path=python_path
        ) from None
    if key not in _interpreters:
        _interpreters[key] = await _ask_interpreter(python_path)
    return _interpreters[key]


async def _ask_interpreter(python_path: str) -> Interpreter:
    interpreter = parse(await run_python(query_argv(python_path), b"", python_path), python_path)
    if interpreter.version[:2] < OLDEST:
        version = ".".join(map(str, interpreter.version))
        raise LaunchFailed(
            f"{python_path} is Python {version}, which is too old to be debugged",
            suggestion=Action.GIVE_INTERPRETER.of(
                interpreter="an interpreter of Python {}.{} or newer".format(*OLDEST)
            ),
            python_path=python_path,
            version=version,
        )
    return interpreter


async def run_python(argv: list[str], stdin: bytes, python_path: str) -> bytes:
    """What a process of `python_path` prints. Raises LaunchFailed if it fails or takes too long."""
    try:
        with trio.fail_after(ANSWER_SECONDS):
            done = await trio.run_process(
                argv, stdin=stdin, capture_stdout=True, capture_stderr=True, env=own_environment()
            )
    except (OSError, subprocess.CalledProcessError, trio.TooSlowError) as error:
        raise LaunchFailed(
            f"{python_path} does not answer as a Python interpreter: {_why(error)}",
            suggestion=Action.GIVE_INTERPRETER.of(
                interpreter="a Python interpreter; it is asked by running -c CODE"
            ),
            python_path=python_path,
            stderr=_tail(getattr(error, "stderr", None)),
        ) from None
    return bytes(done.stdout)


def _why(error: Exception) -> str:
    """Without the command, which is our own code."""
    if isinstance(error, subprocess.CalledProcessError):
        return describe_exit(error.returncode).replace("Process", "it", 1)
    if isinstance(error, trio.TooSlowError):
        return f"it said nothing within {ANSWER_SECONDS:g} s"
    return str(error.strerror if isinstance(error, OSError) else error)


def _tail(stderr: bytes | None) -> str | None:
    """The end of what it said, unless it only repeats our question."""
    text = stderr.decode(errors="backslashreplace")[-2000:].strip() if stderr else ""
    return None if not text or "sys.stdout.write" in text else text


def identity_of(path: str) -> tuple[str, int, int]:
    """The file as it is now: another content has another identity."""
    stat = os.stat(path)
    return path, stat.st_mtime_ns, stat.st_size
