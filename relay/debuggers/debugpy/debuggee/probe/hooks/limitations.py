"""What the probe has not got of this pydevd: looked for before the program runs, and said as limitations.

Where a name is missing on which answers depend, the probe is of no use, and another way of starting may
have another pydevd. Any other costs what it is for, and no more: nothing is half done.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import send_event
    from relay.debuggers.debugpy.debuggee.probe.hooks.pydevd_names import NEEDS
    from relay.debuggers.debugpy.debuggee.probe.process.guard import TroubleError, exception_line

DEBUGGER_EVENT = "relayDebugger"

_lost: dict[str, str] = {}  # purpose -> what is missing, or went wrong
_looked: list[bool] = []


def unfit() -> str | None:
    """Why the probe is of no use with this pydevd, or None. Looks for every name, once."""
    if not _looked:
        _looked.append(True)
        for need in NEEDS:
            missing = need.missing()
            if missing:
                _lost[need.purpose] = f"there is no {', '.join(missing)}"
    found = [need for need in NEEDS if need.required and need.purpose in _lost]
    return "; ".join(f"{need.without}: {_lost[need.purpose]}" for need in found) or None


def apply_patch(purpose: str, function: Callable[[], Any]) -> bool:
    """Call it if all that it needs is there; what goes wrong is a limitation of the session."""
    if not can(purpose):
        return False
    try:
        function()
    except Exception as error:  # noqa: BLE001  whatever pydevd does instead
        _lost[purpose] = exception_line(error)
        return False
    return True


def can(purpose: str) -> bool:
    """Whether the names for this are there."""
    unfit()
    return purpose not in _lost


def require_purpose(purpose: str) -> None:
    """Raises TroubleError where the names for this are missing."""
    if not can(purpose):
        text = next(need.without for need in NEEDS if need.purpose == purpose)
        raise TroubleError("unsupported", f"With this debugger {text}: {_lost[purpose]}")


def limitations() -> list[str]:
    """What is lost, in words."""
    return [f"{need.without}: {_lost[need.purpose]}" for need in NEEDS if need.purpose in _lost]


def report_debugger() -> None:
    """Report which debugger this is, and what it cannot do with it."""
    version = getattr(sys.modules.get("debugpy"), "__version__", None)
    body = {"name": "debugpy", "version": version, "limitations": limitations()}
    send_event(debugger(), DEBUGGER_EVENT, body)
