"""How a process ended, as a sentence."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relay.session.state.stop import Stop


def describe_exit(exit_code: int) -> str:
    """An exit code in words; negative codes are signals."""
    if exit_code >= 0:
        return f"Process exited with code {exit_code}"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    return f"Process was ended by {name}"


def while_stopped(stop: Stop | None) -> str:
    """What an ended process was doing, to be said after how it ended; empty if that is not known."""
    if stop is None:
        return ""
    top = stop.top
    place = f" at {top.path or '?'}:{top.line} in {top.name}" if top is not None else ""
    return f" while it was stopped{place} ({stop.reason})"
