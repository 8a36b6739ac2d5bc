"""The line at which a data breakpoint has stopped a thread that steps: pydevd's turn comes after, and it
would stop there once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.hooks.idle_events import pass_on
    from relay.debuggers.debugpy.debuggee.probe.hooks.monitoring_tool import MONITORING
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at


class LineSkip:
    """In the place of pydevd's callback of lines, until the next event."""

    def __init__(self) -> None:
        self.frame: Any = None  # that has stopped; None as long as nothing is left out
        self._theirs: Any = None

    def begin(self, frame: Any, line: int) -> None:
        theirs = self._replace(None)
        if theirs is None:
            return

        def skip(code: Any, at: int) -> Any:
            is_here = self.frame is frame and frame_at(1) is frame and at == line
            self.end()
            return None if is_here else theirs(code, at)

        pass_on(skip)
        self.frame, self._theirs = frame, theirs
        self._replace(skip)

    def end(self) -> None:
        """pydevd's callback again, if it is not there."""
        theirs, self.frame, self._theirs = self._theirs, None, None
        if theirs is not None:
            self._replace(theirs)

    def _replace(self, callback: Any) -> Any:
        lines = MONITORING.events.LINE
        return MONITORING.register_callback(MONITORING.DEBUGGER_ID, lines, callback)
