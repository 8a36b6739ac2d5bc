"""What strikes pydevd's trace function, which would log and forget it: handed on to the program.

Knows where pydevd does that. Refuses to know what strikes.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside, raise_soon

_TRACERS = (
    "_pydevd_bundle.pydevd_trace_dispatch_regular",
    "_pydevd_bundle.pydevd_cython",
)
_CAN_RAISE_SOON = sys.version_info >= (3, 11)
_LOG = "pydev_log_exception"


def hand_on_what_strikes() -> None:
    """From now on. Before Python 3.11 the debugger would be struck again as it is handed on."""
    if not _CAN_RAISE_SOON:
        return
    for name in _TRACERS:
        module = sys.modules.get(name)
        log = None if module is None else vars(module).get(_LOG)
        if log is not None and not hasattr(log, "hands_on"):
            setattr(module, _LOG, _handing_on(log))


def _handing_on(log: Any) -> Any:
    def log_or_hand_on() -> None:
        error = sys.exc_info()[1]
        if error is not None and is_from_outside(error):
            raise_soon(error)
        else:
            log()

    log_or_hand_on.hands_on = True  # type: ignore[attr-defined]
    return log_or_hand_on
