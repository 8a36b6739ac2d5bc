"""DebuggerUnfit: a program that has a debugpy which the relay cannot work with."""

from __future__ import annotations

from relay.debuggers.debugpy.about import DEBUGGER, SUPPORTED_DEBUGGER
from relay.errors import DebuggerError


class DebuggerUnfit(DebuggerError):
    """The debugger in the program is none that the relay can work with."""

    def __init__(self, version: str | None = None, reason: str | None = None) -> None:
        what = f"{DEBUGGER} {version}" if version else "a debugger that answers otherwise"
        more = f" ({reason})" if reason else ""
        super().__init__(
            f"the program has {what}{more}, and the relay needs {DEBUGGER} {SUPPORTED_DEBUGGER}",
            debugger_version=version,
            reason=reason,
            suggestion=f"Run pip install '{DEBUGGER}{SUPPORTED_DEBUGGER}' in the program's "
            "environment and start the program anew; or attach by process id where no debugger is",
        )
