"""How a process of any rung is started, and what it means that the system refuses."""

from __future__ import annotations

import os

from relay.debuggers.debugpy.rungs import Spawn
from relay.errors import LaunchFailed
from relay.process.guarded_process import GuardedProcess
from relay.process.spawn_error import SpawnError
from relay.process.spawning import spawn


async def start_process(plan: Spawn, *fds: int, cwd: str, terminal: bool) -> GuardedProcess:
    """Raises LaunchFailed."""
    try:
        return await spawn(plan.argv, cwd=cwd, env=plan.env, pass_fds=fds, terminal=terminal)
    except SpawnError as error:
        raise not_started(error.filename, error.errno or 0, error.reason, error.strerror) from None


def not_started(path: str, number: int, reason: str, text: str | None = None) -> LaunchFailed:
    """The error of a process that the system does not start."""
    return LaunchFailed(
        f"cannot start {path}: {text or os.strerror(number)}", errno=number, reason=reason
    )
