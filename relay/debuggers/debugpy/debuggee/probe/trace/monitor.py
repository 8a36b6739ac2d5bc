"""How a call is recorded from the interpreter's events: by `sys.monitoring`, on 3.12 and later.

A tool number of our own, so that pydevd's events stay as they are. Until the call begins, only
beginnings of functions are events, each other function once. After that, lines, returns and
yields are events of the code that is recorded, and of no other; beginnings and exceptions of all
code, since only the frame says whose they are.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.hooks.monitoring_tool import (
        MONITORING,
        give_back_tool,
        take_tool,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import numbers_below_steps
    from relay.debuggers.debugpy.debuggee.probe.trace.record import FrameTrace
    from relay.debuggers.debugpy.debuggee.probe.trace.traces import (
        end_of_call,
        fits_call,
        guarded_event,
    )

_EVENTS = ("PY_START", "LINE", "PY_RETURN", "PY_YIELD", "RAISE", "PY_UNWIND")


class MonitorListener:
    """The events of one trace."""

    def __init__(self, trace: FrameTrace) -> None:
        self.trace, self.tool = trace, -1
        self.local_events = CodeTable()  # the events that each code has

    def start(self) -> bool:
        """False if others have all tool numbers."""
        self.tool = take_tool("trace", numbers_below_steps())
        if self.tool < 0:
            return False
        events = MONITORING.events
        MONITORING.register_callback(self.tool, events.PY_START, self._on_any_start)
        MONITORING.set_events(self.tool, events.PY_START)
        MONITORING.restart_events()  # those that an earlier trace has switched off
        return True

    def stop(self) -> None:
        tool, self.tool = self.tool, -1
        if tool >= 0:
            give_back_tool(tool, _EVENTS, self.local_events)
            self.local_events.clear()

    def _listen_to(self, code: Any, lines: bool) -> None:
        events = MONITORING.events
        known = self.local_events.get(code, 0)
        wanted = known | events.PY_RETURN | events.PY_YIELD | (events.LINE if lines else 0)
        if known != wanted:
            self.local_events[code] = wanted
            MONITORING.set_local_events(self.tool, code, wanted)

    # Before the call

    def _on_any_start(self, code: Any, offset: int) -> Any:
        frame = frame_at(1)
        fits = guarded_event(self.trace, fits_call, self.trace, frame)
        if fits is None:
            return MONITORING.DISABLE
        if fits:
            guarded_event(self.trace, self._begin, frame)
        return None

    def _begin(self, frame: Any) -> None:
        events, listen = MONITORING.events, MONITORING.register_callback
        self.trace.begin(frame)
        for event, callback in (
            (events.PY_START, self._on_start),
            (events.LINE, self._on_line),
            (events.PY_RETURN, self._on_return),
            (events.PY_YIELD, self._on_yield),
            (events.RAISE, self._on_raise),
            (events.PY_UNWIND, self._on_unwind),
        ):
            listen(self.tool, event, callback)
        self._listen_to(frame.f_code, True)
        MONITORING.set_events(self.tool, events.PY_START | events.RAISE | events.PY_UNWIND)
        MONITORING.restart_events()

    # In the call

    def _on_start(self, code: Any, offset: int) -> None:
        frame = frame_at(1)
        frames = self.trace.frames
        if frame.f_back in frames:
            guarded_event(self.trace, self.trace.enter, frame)
            call = frames.get(frame)
            if call is not None:
                self._listen_to(code, call.depth > 0)

    def _on_line(self, code: Any, line: int) -> None:
        frame = frame_at(1)
        if frame in self.trace.frames:
            guarded_event(self.trace, self.trace.handles, frame, sys.exc_info()[1])
            guarded_event(self.trace, self.trace.line, frame, line)

    def _on_return(self, code: Any, offset: int, value: Any) -> None:
        frame = frame_at(1)
        if frame in self.trace.frames and guarded_event(
            self.trace, self.trace.leave, frame, value, False
        ):
            end_of_call(self.trace, frame)

    def _on_yield(self, code: Any, offset: int, value: Any) -> None:
        frame = frame_at(1)
        if frame in self.trace.frames:
            guarded_event(self.trace, self.trace.leave, frame, value, True)

    def _on_raise(self, code: Any, offset: int, error: Any) -> None:
        frame = frame_at(1)
        if frame in self.trace.frames:
            guarded_event(self.trace, self.trace.raised, frame, error)

    def _on_unwind(self, code: Any, offset: int, error: Any) -> None:
        frame = frame_at(1)
        if frame in self.trace.frames and guarded_event(
            self.trace, self.trace.unwound, frame, error
        ):
            end_of_call(self.trace, frame)
