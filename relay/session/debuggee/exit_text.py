"""How a process ended, as a sentence."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relay.session.state.program_run import Launched
    from relay.session.state.stop import Stop


def describe_exit(exit_code: int, launched: Launched | None = None) -> str:
    """An exit code in words; negative codes are signals. `launched` says what limits there were."""
    if exit_code >= 0:
        return f"Process exited with code {exit_code}"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    seconds = launched.limits.get("cpu_seconds") if launched is not None else None
    if seconds is not None and name == "SIGXCPU":
        name += f": it used its limit of {seconds} s of processor time (limits.cpu_seconds)"
    return f"Process was ended by {name}"


def while_stopped(stop: Stop | None) -> str:
    """What an ended process was doing, to be said after how it ended; empty if that is not known."""
    if stop is None:
        return ""
    top = stop.top
    place = f" at {top.path or '?'}:{top.line} in {top.name}" if top is not None else ""
    return f" while it was stopped{place} ({stop.reason})"
