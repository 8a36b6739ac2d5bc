"""How a process of any rung is started, and what it means that the system refuses."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType

from relay.debuggers.debugpy.rungs import Spawn
from relay.errors import LaunchFailed, NotSupported
from relay.process.guarded_process import GuardedProcess
from relay.process.spawn_error import NOT_LIMITED, SpawnError
from relay.process.spawning import spawn


async def start_process(
    plan: Spawn,
    *fds: int,
    cwd: str,
    terminal: bool,
    limits: Mapping[str, int] = MappingProxyType({}),
) -> GuardedProcess:
    """Raises LaunchFailed, or NotSupported for a limit that the system would not hold it to."""
    try:
        return await spawn(
            plan.argv, cwd=cwd, env=plan.env, pass_fds=fds, terminal=terminal, limits=limits
        )
    except SpawnError as error:
        if error.reason == NOT_LIMITED:
            raise NotSupported(
                "the system does not limit the processes of this user: root has as many as it wants",
                suggestion="Leave limits.processes out, or run the relay as another user",
            ) from None
        raise not_started(error.filename, error.errno or 0, error.reason, error.strerror) from None


def not_started(path: str, number: int, reason: str, text: str | None = None) -> LaunchFailed:
    """The error of a process that the system does not start."""
    return LaunchFailed(
        f"cannot start {path}: {text or os.strerror(number)}", errno=number, reason=reason
    )
