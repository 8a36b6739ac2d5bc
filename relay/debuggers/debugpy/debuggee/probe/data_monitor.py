"""Lines and ends of frames for data breakpoints: by `sys.monitoring`, on 3.12 and later.

A tool number of our own. A frame that writes to a watched dict gets events of its code only from
then on. What is compared at lines needs to know all code: each is looked at once, when it starts,
and only lines that may write, or come next, stay events.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.data_breakpoints import leave_dicts
    from relay.debuggers.debugpy.debuggee.probe.data_changes import data_leave, data_line, steps_on
    from relay.debuggers.debugpy.debuggee.probe.data_watches import (
        DataWatch,
        _data,
        frames_of_all_threads,
        is_quiet_at,
        is_under_way,
        leaves_quietly,
        note_places,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.guard import TroubleError, attempt
    from relay.debuggers.debugpy.debuggee.probe.write_lines import (
        _NO_LINES,
        WriteLines,
        write_lines_of,
    )

_data_monitoring: Any = getattr(sys, "monitoring", None)
_DATA_EVENTS = ("PY_START", "PY_RESUME", "PY_THROW", "LINE", "PY_RETURN", "PY_YIELD", "PY_UNWIND")
_DATA_TOOLS = (5, 4, 3)
_MOST_IDLE = 1000  # events of a code that has nothing under way, before it has none any more


class DataMonitor:
    """The events of all data breakpoints."""

    def __init__(self) -> None:
        tool = next((n for n in _DATA_TOOLS if _data_monitoring.get_tool(n) is None), None)
        if tool is None:
            raise TroubleError("unsupported", "The program's own tools take all events of lines")
        self.tool = tool
        _data_monitoring.use_tool_id(tool, "debug relay data breakpoints")
        self.watches: list[DataWatch] = []
        self.codes: dict[Any, WriteLines] = {}  # that have events of lines and returns
        self.skips: Any = None  # the frame that has stopped, and pydevd's callback of lines
        self.armed: set[Any] = set()  # of these, all lines are events
        self.idle: dict[Any, int] = {}
        events = _data_monitoring.events
        for name, callback in (
            ("PY_START", self._on_start),
            ("PY_RESUME", self._on_start),
            ("PY_THROW", self._on_throw),
            ("LINE", self._on_line),
            ("PY_RETURN", self._on_return),
            ("PY_YIELD", self._on_yield),
            ("PY_UNWIND", self._on_unwind),
        ):
            _data_monitoring.register_callback(tool, getattr(events, name), callback)

        start = threading.Thread.start.__code__
        _data_monitoring.set_local_events(tool, start, events.PY_START)

    def stop(self) -> None:
        tool, self.tool = self.tool, -1
        if tool < 0:
            return
        self._end_skip()
        _data_monitoring.set_events(tool, 0)
        _data_monitoring.set_local_events(tool, threading.Thread.start.__code__, 0)
        for code in self.codes:
            _data_monitoring.set_local_events(tool, code, 0)
        self.codes.clear()
        self.armed.clear()
        for name in _DATA_EVENTS:
            event = getattr(_data_monitoring.events, name)
            _data_monitoring.register_callback(tool, event, None)
        _data_monitoring.free_tool_id(tool)

    def watch(self, watches: list[DataWatch]) -> None:
        """Compare these at lines from now on."""
        self.watches = watches
        for code in list(self.codes):
            self._leave(code)
        for code in self.armed:
            self._enter(code, self._lines_of(code))
        self._set_global()
        if not watches:
            return
        for _, frame in frames_of_all_threads():
            self._meet(frame.f_code)
        _data_monitoring.restart_events()  # what an earlier watch did not want to have
        note_places(self.codes.get)

    def _set_global(self) -> None:
        events, wanted = _data_monitoring.events, 0
        if any(watch.kind != "local" for watch in self.watches):
            wanted = events.PY_START | events.PY_RESUME | events.PY_THROW
        if self.watches or self.codes:
            wanted |= events.PY_UNWIND
        _data_monitoring.set_events(self.tool, wanted)

    def arm(self, frame: Any) -> None:
        """Report the next line of this frame, or its end."""
        code = frame.f_code
        self.idle[code] = 0
        if code in self.armed:
            return
        self.armed.add(code)
        is_first, lines = not self.codes, self.codes.get(code, _NO_LINES)
        self._leave(code)  # some of its lines may be no events by now
        self._enter(code, lines)
        if is_first:
            self._set_global()

    def _enter(self, code: Any, lines: WriteLines) -> None:
        events = _data_monitoring.events
        self.codes[code] = lines
        wanted = events.LINE | events.PY_RETURN | events.PY_YIELD
        _data_monitoring.set_local_events(self.tool, code, wanted)

    def _leave(self, code: Any) -> None:
        if self.codes.pop(code, None) is not None:
            _data_monitoring.set_local_events(self.tool, code, 0)

    def _meet(self, code: Any) -> None:
        if code in self.codes or is_debugger_file(code.co_filename):
            return
        lines = self._lines_of(code)
        if lines.writes or any(watch.code is code for watch in self.watches):
            self._enter(code, lines)

    def _lines_of(self, code: Any) -> WriteLines:
        writes: set[int] = set()
        ends: set[int] = set()
        for watch in self.watches:
            if watch.kind != "local" or watch.code is code:
                found = write_lines_of(code, watch.kind, watch.key)
                writes |= found.writes
                ends |= found.ends
        return WriteLines(frozenset(writes), frozenset(ends))

    # Events

    def _on_start(self, code: Any, *_: Any) -> Any:
        if code is threading.Thread.start.__code__:
            attempt(leave_dicts)
            return None
        attempt(self._meet, code)
        return _data_monitoring.DISABLE

    def _on_throw(self, code: Any, *_: Any) -> None:
        attempt(self._meet, code)

    def _on_line(self, code: Any, line: int) -> Any:
        frame = sys._getframe(1)
        lines = self.codes.get(code, _NO_LINES)
        if self.skips is not None and self.skips[0] is frame:
            self._end_skip()  # pydevd had no event of that line
        if line in lines.ends or line in lines.writes or is_under_way(frame):
            if is_quiet_at(frame, self.watches, lines):
                return None
            if attempt(data_line, frame, lines) and steps_on():
                self._skip_here(frame, line)
            return None
        return self._idles(code) if code in self.armed else _data_monitoring.DISABLE

    def _skip_here(self, frame: Any, line: int) -> None:
        """The thread has stopped at this line, and steps: pydevd, whose turn comes now, would stop
        here once more."""
        tool, event = _data_monitoring.DEBUGGER_ID, _data_monitoring.events.LINE
        theirs = _data_monitoring.register_callback(tool, event, None)
        if theirs is None:
            return

        def skip(code: Any, at: int) -> Any:
            is_here = self.skips is not None and sys._getframe(1) is frame and at == line
            self._end_skip()
            return None if is_here else theirs(code, at)

        self.skips = (frame, theirs)
        _data_monitoring.register_callback(tool, event, skip)

    def _end_skip(self) -> None:
        skips, self.skips = self.skips, None
        if skips is not None:
            tool, event = _data_monitoring.DEBUGGER_ID, _data_monitoring.events.LINE
            _data_monitoring.register_callback(tool, event, skips[1])

    def _idles(self, code: Any) -> None:
        """Nothing is under way in a code that wrote once: in the end few of its lines are events."""
        count = self.idle[code] = self.idle.get(code, 0) + 1
        if count > _MOST_IDLE and not any(f.f_code is code for f in list(_data.pending)):
            self.armed.discard(code)
            del self.idle[code]
            self._leave(code)
            self._meet(code)

    def _on_return(self, code: Any, offset: int, value: Any) -> None:
        self._leaves(sys._getframe(1), "return")

    def _on_yield(self, code: Any, offset: int, value: Any) -> None:
        self._leaves(sys._getframe(1), "yield")

    def _on_unwind(self, code: Any, offset: int, error: Any) -> None:
        if code in self.codes:
            self._leaves(sys._getframe(1), "unwind")

    def _leaves(self, frame: Any, event: str) -> None:
        is_near = self.codes.get(frame.f_code, _NO_LINES) is not _NO_LINES or is_under_way(frame)
        if is_near and not leaves_quietly(frame, self.watches):
            attempt(data_leave, frame, event)
