"""AttachableProcess: a process of this machine that a debugger knows how to attach to, or why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from relay.actions import Suggestion


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a process cannot be attached to, and what would help."""

    reason: str
    suggestion: Suggestion


@dataclass(frozen=True, slots=True)
class DebugListener:
    """Where a debug server waits for a client, and whether it has one."""

    host: str
    port: int
    is_taken: bool


@dataclass(frozen=True, slots=True)
class AttachableProcess:
    """A process that runs a debugger's language; true at the moment of asking only."""

    pid: int
    name: str
    command: Sequence[str]
    cwd: str | None
    python: str | None
    session_id: str | None
    listener: DebugListener | None
    obstacle: Obstacle | None
