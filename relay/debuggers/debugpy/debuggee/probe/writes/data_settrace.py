"""Lines and ends of frames for data breakpoints: by the trace function, before 3.12.

Below pydevd's function in each thread, as `hooks/tracing.py` arranges it: calls of code that can neither
write nor has a breakpoint are let go of at once.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import (
        RETURNS,
        YIELDS,
        stands_before_wait,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        frames_of_all_threads,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import (
        is_program_thread,
        trace_data,
        trace_functions_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import TroubleError, attempt
    from relay.debuggers.debugpy.debuggee.probe.trace.record import starts_here
    from relay.debuggers.debugpy.debuggee.probe.writes.data_changes import data_leave, data_line
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import (
        DataWatch,
        is_quiet_at,
        is_under_way,
        leaves_quietly,
        note_place,
        note_places,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import (
        NO_LINES,
        WriteLines,
        watched_lines_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_settrace import FrameTracer

_GOES_ON_LATER = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class DataSettrace:
    """The events of all data breakpoints."""

    def __init__(self) -> None:
        self.watches: list[DataWatch] = []
        self.codes = CodeTable()  # that are compared at lines, with their WriteLines
        self.others: dict[int, Any] = {}  # by id: code that is not
        self.is_over = False

    def watch(self, watches: list[DataWatch]) -> None:
        """Compare these at lines from now on."""
        self.watches = watches
        self.codes, self.others = CodeTable(), {}
        if not trace_data(self):
            raise TroubleError(
                "unsupported", "This debugger evaluates frames in a way that leaves no room for it"
            )
        hook_suspensions("data lines", after=self._wrap_stack)
        self._wrap_stack()
        note_places(self.codes.get)

    def stop(self) -> None:
        self.is_over = True
        hook_suspensions("data lines")
        trace_data(None)

    def arm(self, frame: Any) -> None:
        """Report the next line of this frame, or its end."""
        if not self.has_wrapped(frame):
            self.wrap(frame, self.lines_in(frame) or NO_LINES)

    def _wrap_stack(self, *_: Any) -> None:
        """Frames that run already, and those that pydevd has just given its own function."""
        for ident, frame in frames_of_all_threads():
            lines = self.lines_in(frame)
            if lines is None:
                continue
            local = self.local_of(frame)
            if local is not None:
                local.lines = lines  # those of all watches that there are by now
            elif is_program_thread(ident):
                self.wrap(frame, lines)

    def wrap(self, frame: Any, lines: WriteLines) -> None:
        """Stand before the trace function that a frame has, and before the one that it may get."""
        theirs = frame.f_trace
        while isinstance(theirs, _DataLocal):  # of watches that were taken away at this very stop
            theirs.has_its_frame()
            theirs = theirs.inner
        frame.f_trace = _LocalOfRunning(self, theirs, lines, frame)

    def has_wrapped(self, frame: Any) -> bool:
        """Whether the frame's trace function is one of this listener's."""
        return self.local_of(frame) is not None

    def local_of(self, frame: Any) -> _DataLocal | None:
        """This listener's trace function of the frame, wherever it stands; None if it has none."""
        found = [one for one in trace_functions_of(frame) if isinstance(one, _DataLocal)]
        return next((one for one in found if one.listener is self), None)

    def lines_in(self, frame: Any) -> WriteLines | None:
        """The lines of a frame's code to compare at; None if there are none."""
        code = frame.f_code
        known: WriteLines | None = self.codes.get(code)
        if known is not None or id(code) in self.others:
            return known
        watches = () if is_debugger_file(code.co_filename) else self.watches
        lines = watched_lines_of(code, watches, frame)
        if not lines.writes and not any(watch.code is code for watch in watches):
            self.others[id(code)] = code
            return None
        self.codes[code] = lines
        return lines

    def enter(self, frame: Any, inner: Any, lines: WriteLines) -> Any:
        """The trace function of a frame that begins, or goes on: within a line, of which there is no
        event. It hands everything on to pydevd's, if the frame has one."""
        if frame.f_code.co_flags & _GOES_ON_LATER and not starts_here(frame):
            attempt(note_place, frame, lines)
        return _DataLocal(self, inner, lines)


class _DataLocal:
    """The trace function of one frame that may write."""

    __slots__ = ("error", "inner", "lines", "listener")

    def __init__(self, listener: DataSettrace, inner: Any, lines: WriteLines) -> None:
        self.listener, self.inner, self.lines = listener, inner, lines
        self.error = False

    def has_its_frame(self) -> None:
        """The frame has its trace function: none needs to follow this one."""

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        if self.inner is not None:
            self.inner = self.inner(frame, event, arg) or self.inner
            self._take_over(frame)
        if self.listener.is_over:
            frame.f_trace = self.inner
            return self.inner
        if event == "line":
            self.error = False
            lines = self.lines
            is_near = frame.f_lineno in lines.near or is_under_way(frame)
            if is_near and not is_quiet_at(frame, self.listener.watches, lines):
                attempt(data_line, frame, lines)
                self._take_over(frame)
        elif event == "exception":
            self.error = True
        elif event == "return" and not leaves_quietly(frame, self.listener.watches):
            attempt(data_leave, frame, "yield" if self._yields(frame, arg) else "return")
        return self

    def _take_over(self, frame: Any) -> None:
        """What pydevd has set at a stop, for the step with which the frame goes on."""
        chain = trace_functions_of(frame)
        if self in chain:
            return
        for one in chain:
            if isinstance(one, _DataLocal):  # made at the stop, before this one's turn
                one.has_its_frame()
            elif type(one) is not FrameTracer:  # which stands before this one, too
                self.inner = one
                return

    def _yields(self, frame: Any, value: Any) -> bool:
        operations = frame.f_code.co_code
        if stands_before_wait(operations, frame.f_lasti):
            return True
        operation = operations[frame.f_lasti] if frame.f_lasti >= 0 else -1
        if value is None and self.error and operation not in RETURNS:
            return False
        return operation in YIELDS


class _LocalOfRunning(_DataLocal):
    """The trace function of a frame that runs already, until its first event.

    A frame that stands in pydevd's trace function gets what that returns in place of this one.
    Then this one ends, and its end puts another like it before what was returned.
    """

    __slots__ = ("frame",)

    def __init__(self, listener: DataSettrace, inner: Any, lines: WriteLines, frame: Any) -> None:
        super().__init__(listener, inner, lines)
        self.frame: Any = frame

    def __del__(self) -> None:
        frame = self.frame
        if frame is not None and not self.listener.is_over:
            attempt(self._follow, frame)

    def _follow(self, frame: Any) -> None:
        if not self.listener.has_wrapped(frame):
            self.listener.wrap(frame, self.lines)

    def has_its_frame(self) -> None:
        """The frame has its trace function: none needs to follow this one."""
        self.frame = None

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        self.has_its_frame()
        local = frame.f_trace = _DataLocal(self.listener, self.inner, self.lines)
        return local(frame, event, arg)
