"""Tests that are run by a test, as those of test runners and of their plugins do: with pytest's
`pytester`, or a suite of unittest or trial. How they end is for that test to judge.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.pytest_test import pytest_test
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at

_RUNNER = os.path.join("_pytest", "runner.py")
_CONFIG = os.path.join("_pytest", "config", "__init__.py")
_CASE = os.path.join("unittest", "case.py")
_TESTTOOLS_CASE = os.path.join("testtools", "testcase.py")
_TRIAL_CASE = os.path.join("twisted", "trial", "_synctest.py")
# What stands on the stack as long as a phase of a test runs. pytest's cases of unittest are in both.
_PHASES: dict[str, str | tuple[str, ...]] = {
    "pytest_runtest_setup": _RUNNER,
    "pytest_runtest_call": _RUNNER,
    "pytest_runtest_teardown": _RUNNER,
    "run": (_CASE, _TESTTOOLS_CASE, _TRIAL_CASE),
}
# What stands there as long as pytest runs at all, or one test of it.
_RUNS: dict[str, str | tuple[str, ...]] = {
    "main": _CONFIG,
    "_main": _CONFIG,
    "wrap_session": os.path.join("_pytest", "main.py"),
    "runtestprotocol": _RUNNER,
}


def tests_around() -> int:
    """How many tests this thread is inside of: the one that pytest runs, too, whose function
    pytest-twisted calls in another greenlet, and which may run others in another thread.
    """
    around = [frame.f_code for frame in _stack() if _is_one_of(_PHASES, frame)]
    is_elsewhere = not any(code.co_filename.endswith(_RUNNER) for code in around)
    return len(around) + (is_elsewhere and pytest_test.phase is not None)


def is_innermost(case: Any) -> bool:
    """Whether this thread is inside of no other test than this case, or of it inside of others."""
    phase = next((frame for frame in _stack() if _is_one_of(_PHASES, frame)), None)
    return phase is None or _first_local(phase) is _undecorated(case)


def is_in_method(case: Any) -> bool:
    """Whether this thread is inside of the case's own method: then nothing has left it yet."""
    case = _undecorated(case)
    name = getattr(case, "_testMethodName", None)
    return any(frame.f_code.co_name == name and _first_local(frame) is case for frame in _stack())


def _undecorated(case: Any) -> Any:
    """The case that trial's runner has decorated: results are told of what it is decorated with."""
    while (original := getattr(case, "__dict__", {}).get("_originalTest")) is not None:
        case = original
    return case


def _first_local(frame: Any) -> Any:
    names = frame.f_code.co_varnames
    return frame.f_locals.get(names[0]) if names else None


def is_run_by_a_test(running: Any) -> bool:
    """Whether the run of pytest that this thread is in was begun by a test.

    `running` is the item that pytest runs in this process, or None. A test may begin a run in
    another thread or greenlet: its stack begins there, and the run has another configuration.
    """
    is_in_run, outermost = False, None
    for frame in _stack():
        if is_in_run and _is_one_of(_PHASES, frame):
            return True
        if _is_one_of(_RUNS, frame):
            is_in_run = True
            outermost = frame if "config" in frame.f_code.co_varnames else outermost
    if running is None or outermost is None:
        return False
    return outermost.f_locals.get("config") is not running.config  # there once it is read


def _stack() -> Any:
    frame: Any = frame_at(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_one_of(functions: dict[str, str | tuple[str, ...]], frame: Any) -> bool:
    file = functions.get(frame.f_code.co_name)
    return file is not None and bool(frame.f_code.co_filename.endswith(file))
