"""Lines and ends of frames for data breakpoints: by `sys.monitoring`, on 3.12 and later.

A tool number of our own. A frame that writes to a watched dict gets events of its code only from
then on. What is compared at lines needs to know all code: each is looked at once, when it starts,
and only lines that may write, or come next, stay events.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        frames_of_all_threads,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.idle_events import pass_on
    from relay.debuggers.debugpy.debuggee.probe.hooks.monitoring_tool import (
        MONITORING,
        give_back_tool,
        take_tool,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import TroubleError, attempt, frame_at
    from relay.debuggers.debugpy.debuggee.probe.writes.data_breakpoints import leave_dicts
    from relay.debuggers.debugpy.debuggee.probe.writes.data_changes import (
        data_leave,
        data_line,
        steps_on,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import (
        DataWatch,
        data_state,
        is_quiet_at,
        is_under_way,
        leaves_quietly,
        note_place,
        note_places,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import (
        NO_LINES,
        WriteLines,
        is_within_line,
        watched_lines_of,
    )

_DATA_EVENTS = (
    *("PY_START", "PY_RESUME", "PY_THROW", "LINE", "JUMP"),
    *("PY_RETURN", "PY_YIELD", "PY_UNWIND"),
)
_DATA_TOOLS = (5, 4, 3)  # the highest is called first: a change is stopped for ahead of all else
_MOST_IDLE = 1000  # events of a code that has nothing under way, before it has none any more


class DataMonitor:
    """The events of all data breakpoints."""

    def __init__(self) -> None:
        tool = take_tool("data breakpoints", _DATA_TOOLS)
        if tool < 0:
            raise TroubleError("unsupported", "The program's own tools take all events of lines")
        self.tool = tool
        self.watches: list[DataWatch] = []
        self.codes = CodeTable()  # that have events of lines and returns, with their WriteLines
        self.skips: Any = None  # the frame that has stopped, and pydevd's callback of lines
        self.armed = CodeTable()  # of these, all lines are events; how many have been for nothing
        events = MONITORING.events
        for name, callback in (
            ("PY_START", self._on_start),
            ("PY_RESUME", self._on_resume),
            ("PY_THROW", self._on_throw),
            ("LINE", self._on_line),
            ("JUMP", self._on_jump),
            ("PY_RETURN", self._on_return),
            ("PY_YIELD", self._on_yield),
            ("PY_UNWIND", self._on_unwind),
        ):
            MONITORING.register_callback(tool, getattr(events, name), callback)

        start = threading.Thread.start.__code__
        MONITORING.set_local_events(tool, start, events.PY_START)

    def stop(self) -> None:
        tool, self.tool = self.tool, -1
        if tool < 0:
            return
        self._end_skip()
        give_back_tool(tool, _DATA_EVENTS, [threading.Thread.start.__code__, *self.codes])
        self.codes.clear()
        self.armed.clear()

    def watch(self, watches: list[DataWatch]) -> None:
        """Compare these at lines from now on."""
        self.watches = watches
        for code in list(self.codes):
            self._leave(code)
        for code in self.armed:
            self._enter(code, watched_lines_of(code, self.watches))
        self._set_global()
        if not watches:
            return
        for _, frame in frames_of_all_threads():
            self._meet(frame)
        MONITORING.restart_events()  # what an earlier watch did not want to have
        note_places(self.codes.get)

    def _set_global(self) -> None:
        events, wanted = MONITORING.events, 0
        if any(watch.kind != "local" for watch in self.watches):
            wanted = events.PY_START | events.PY_RESUME | events.PY_THROW
        if self.watches or self.codes:
            wanted |= events.PY_UNWIND
        MONITORING.set_events(self.tool, wanted)

    def arm(self, frame: Any) -> None:
        """Report the next line of this frame, or its end."""
        code = frame.f_code
        was_armed = code in self.armed
        self.armed[code] = 0
        if was_armed:
            return
        is_first, lines = not self.codes, self.codes.get(code, NO_LINES)
        self._leave(code)  # some of its lines may be no events by now
        self._enter(code, lines)
        if is_first:
            self._set_global()

    def _enter(self, code: Any, lines: WriteLines) -> None:
        events = MONITORING.events
        self.codes[code] = lines
        wanted = events.LINE | events.JUMP | events.PY_RETURN | events.PY_YIELD | events.PY_RESUME
        MONITORING.set_local_events(self.tool, code, wanted)

    def _leave(self, code: Any) -> None:
        if self.codes.pop(code) is not None:
            MONITORING.set_local_events(self.tool, code, 0)

    def _meet(self, frame: Any) -> None:
        code = frame.f_code
        if code in self.codes or is_debugger_file(code.co_filename):
            return
        lines = watched_lines_of(code, self.watches, frame)
        if lines.writes or any(watch.code is code for watch in self.watches):
            self._enter(code, lines)

    # Events

    def _on_start(self, code: Any, *_: Any) -> Any:
        if code is threading.Thread.start.__code__:
            attempt(leave_dicts)
            return None
        attempt(self._meet, frame_at(1))
        return MONITORING.DISABLE

    def _on_resume(self, code: Any, *_: Any) -> Any:
        """What was suspended goes on within a line: there is no event of that line."""
        frame = frame_at(1)
        attempt(self._meet, frame)
        lines = self.codes.get(code)
        if lines is None:
            return MONITORING.DISABLE
        note_place(frame, lines)
        return None

    def _on_throw(self, code: Any, *_: Any) -> None:
        attempt(self._meet, frame_at(1))

    def _on_line(self, code: Any, line: int) -> Any:
        frame = frame_at(1)
        lines = self.codes.get(code, NO_LINES)
        if self.skips is not None and self.skips[0] is frame:
            self._end_skip()  # pydevd had no event of that line
        if line in lines.near or is_under_way(frame):
            if is_quiet_at(frame, self.watches, lines):
                return None
            if attempt(data_line, frame, lines) and steps_on():
                self._skip_here(frame, line)
            return None
        return self._idles(frame) if code in self.armed else MONITORING.DISABLE

    def _on_jump(self, code: Any, offset: int, target: int) -> Any:
        """A jump back within a line begins it anew, which is no event of lines."""
        if target > offset or not is_within_line(code, offset, target):
            return MONITORING.DISABLE
        frame = frame_at(1)
        lines = self.codes.get(code, NO_LINES)
        is_near = is_under_way(frame) or frame.f_lineno in lines.writes
        if is_near and not is_quiet_at(frame, self.watches, lines):
            attempt(data_line, frame, lines)
        return None

    def _skip_here(self, frame: Any, line: int) -> None:
        """The thread has stopped at this line, and steps: pydevd, whose turn comes now, would stop
        here once more."""
        tool, event = MONITORING.DEBUGGER_ID, MONITORING.events.LINE
        theirs = MONITORING.register_callback(tool, event, None)
        if theirs is None:
            return

        def skip(code: Any, at: int) -> Any:
            is_here = self.skips is not None and frame_at(1) is frame and at == line
            self._end_skip()
            return None if is_here else theirs(code, at)

        pass_on(skip)
        self.skips = (frame, theirs)
        MONITORING.register_callback(tool, event, skip)

    def _end_skip(self) -> None:
        skips, self.skips = self.skips, None
        if skips is not None:
            tool, event = MONITORING.DEBUGGER_ID, MONITORING.events.LINE
            MONITORING.register_callback(tool, event, skips[1])

    def _idles(self, frame: Any) -> None:
        """Nothing is under way in a code that wrote once: in the end few of its lines are events."""
        code = frame.f_code
        self.armed[code] = count = self.armed.get(code, 0) + 1
        if count > _MOST_IDLE and not any(f.f_code is code for f in list(data_state.pending)):
            self.armed.pop(code)
            self._leave(code)
            self._meet(frame)

    def _on_return(self, code: Any, offset: int, value: Any) -> None:
        self._leaves(frame_at(1), "return")

    def _on_yield(self, code: Any, offset: int, value: Any) -> None:
        self._leaves(frame_at(1), "yield")

    def _on_unwind(self, code: Any, offset: int, error: Any) -> None:
        if code in self.codes:
            self._leaves(frame_at(1), "unwind")

    def _leaves(self, frame: Any, event: str) -> None:
        is_near = self.codes.get(frame.f_code, NO_LINES) is not NO_LINES or is_under_way(frame)
        if is_near and not leaves_quietly(frame, self.watches):
            attempt(data_leave, frame, event)
