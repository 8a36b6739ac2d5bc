"""The relays that tests start: no setting of the developer's, patience, compiled code.

Users are told after a second or five that a debuggee does not answer; on a busy machine that is
no failure. A test that is about it says itself how long its relay waits.

A user's relay finds in its state directory what debuggees keep of their compiled code from the second
launch on. The state of a test is new, so all share that one directory of it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from relay import Hub, Settings
from relay.config import variable_of
from relay.debuggers.debugpy import fast_debuggee

ANSWER_SECONDS = 30.0
"""Seconds that a relay of a test waits for a debuggee's answer."""

_SHORT = {
    "relay.operations.breakpoints.breakpoints.COUNT_SECONDS": 10.0,
    "relay.operations.execution.threads.PATIENCE": 10.0,
    "relay.operations.report.blocked.PATIENCE": 10.0,
    "relay.operations.sessions.status.THREADS_SECONDS": 10.0,
    "relay.session.children.process_group.LIST_SECONDS": 10.0,
    # The call includes the import of the debugger: with ten processes a core it takes longer
    # than the 20 s after which a user is told that something is wrong.
    "relay.debuggers.debugpy.injection.CALL_SECONDS": 120.0,
}
"""Limits of the relay after which it answers with less than there is, and what tests give it."""


def share_compiled_code(folder: Path) -> None:
    """From now on the relays of this process keep there what debuggees have compiled."""
    fast_debuggee.CACHE = str(folder)  # absolute: the state directory does not count


def with_compiled_code(state_dir: Path) -> Path:
    """The state directory for a relay that is a process of its own, made if need be."""
    shared = Path(fast_debuggee.CACHE)
    if shared.is_absolute() and state_dir.parent.is_dir():
        state_dir.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            (state_dir / "cache").symlink_to(shared)
    return state_dir


def completed(argv: list[str], folder: Path, seconds: float) -> subprocess.CompletedProcess[str]:
    """The command, run to its end in the folder, without standard input; relays keep their state below that."""
    return subprocess.run(
        argv,
        cwd=folder,
        env=environment(folder / "state"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def environment(state_dir: Path) -> dict[str, str]:
    """This process's environment for a relay that is a process of its own."""
    ours = {variable_of(name) for name in Settings.model_fields}
    env = {name: value for name, value in os.environ.items() if name not in ours}
    return env | {
        "RELAY_STATE_DIR": str(with_compiled_code(state_dir)),
        "RELAY_REQUEST_TIMEOUT_SECONDS": f"{ANSWER_SECONDS:g}",
    }


def be_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No relay of this process answers with less than there is because the machine is busy."""
    for name, seconds in _SHORT.items():
        monkeypatch.setattr(name, seconds)


@contextmanager
def impatient(hub: Hub, seconds: float) -> Iterator[None]:
    """Meanwhile the relay waits only so long for an answer of a debuggee."""
    usual = hub.settings.request_timeout_seconds
    hub.change_settings({"request_timeout_seconds": seconds})
    try:
        yield
    finally:
        hub.change_settings({"request_timeout_seconds": usual})
