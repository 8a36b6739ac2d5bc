"""An exit code, as a sentence."""

from __future__ import annotations

import signal


def describe_exit(exit_code: int) -> str:
    """An exit code in words; negative codes are signals."""
    if exit_code >= 0:
        return f"Process exited with code {exit_code}"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    return f"Process was ended by {name}"
