"""Asking a Python executable: what it is, once, and anything else that a short process can say.

It is asked anew when it is another file, or something was installed into it since.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio
from trio.lowlevel import RunVar

from relay.actions import Action
from relay.debuggers.debugpy.interpreter import OLDEST, Interpreter, parse, query_argv
from relay.environments import own_environment
from relay.errors import LaunchFailed
from relay.session.debuggee.exit_text import describe_exit

ANSWER_SECONDS = 20.0

REMEMBERED = 64

_answers: dict[str, tuple[tuple[str, int, int], Interpreter]] = {}
"""By path: the executable that was asked, and what it answered. The newest REMEMBERED of them."""

_asking: RunVar[dict[str, trio.Lock]] = RunVar("asking")
"""By path: held by the one task of this event loop that asks."""


async def interpreter_of(python_path: str) -> Interpreter:
    """What lies behind `python_path`; raises LaunchFailed if it is no usable Python."""
    known = _known(python_path)
    if known is not None:
        return known
    async with _alone(python_path):
        known = _known(python_path)  # another task may have asked meanwhile
        if known is None:
            asked = _executable(python_path)
            known = await _ask_interpreter(python_path)
            _answers.pop(python_path, None)  # the newest is the last
            _answers[python_path] = asked, known
            if len(_answers) > REMEMBERED:
                del _answers[next(iter(_answers))]
        return known


def _known(python_path: str) -> Interpreter | None:
    """What it answered, if all that it spoke of is as it was then. Raises LaunchFailed."""
    asked, answer = _answers.get(python_path, (None, None))
    if answer is None or asked != _executable(python_path):
        return None
    unchanged = all(_last_change(path) == then for path, then in answer.installed_in)
    return answer if unchanged else None


def _executable(python_path: str) -> tuple[str, int, int]:
    try:
        return identity_of(python_path)
    except OSError as error:
        raise LaunchFailed(
            f"cannot use {python_path}: {error.strerror}", python_path=python_path
        ) from None


def _last_change(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


@asynccontextmanager
async def _alone(python_path: str) -> AsyncIterator[None]:
    try:
        locks = _asking.get()
    except LookupError:
        _asking.set(locks := {})
    lock = locks.setdefault(python_path, trio.Lock())
    try:
        async with lock:
            yield
    finally:
        if not lock.locked():  # nobody waits for it either: it would be theirs by now
            locks.pop(python_path, None)


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
