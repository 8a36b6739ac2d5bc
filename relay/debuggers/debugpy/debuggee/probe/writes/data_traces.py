"""The trace function of a frame that may write what is watched, before Python 3.12.

It stands before pydevd's, and hands everything on. Refuses to know which lines to compare at, and what is
done with a change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import (
        RETURNS,
        YIELDS,
        stands_before_wait,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import trace_functions_of
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.outside import raise_soon
    from relay.debuggers.debugpy.debuggee.probe.traps.coming import DebuggerAtWork
    from relay.debuggers.debugpy.debuggee.probe.writes.data_settrace import DataSettrace
    from relay.debuggers.debugpy.debuggee.probe.writes.data_stops import data_leave, data_line
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import is_under_way
    from relay.debuggers.debugpy.debuggee.probe.writes.noted_lines import (
        is_quiet_at,
        leaves_quietly,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import WriteLines
    from relay.debuggers.debugpy.debuggee.probe.writes.write_settrace import FrameTracer


class DataFrameTrace:
    """The trace function of one frame that may write."""

    __slots__ = ("inner", "lines", "listener", "thrown_at")

    def __init__(self, listener: DataSettrace, inner: Any, lines: WriteLines) -> None:
        self.listener, self.inner, self.lines = listener, inner, lines
        self.thrown_at: int | None = None  # the last exception's, since a line has begun

    def has_its_frame(self) -> None:
        """The frame has its trace function: none needs to follow this one."""

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        if self.inner is not None:
            self.inner = self.inner(frame, event, arg) or self.inner
            self._take_over(frame)
        listener = self.listener
        if listener.is_over:
            frame.f_trace = self.inner
            return self.inner
        listener.spent += 1
        if event == "line":
            self.thrown_at = None
            lines = self.lines
            is_near = frame.f_lineno in lines.near or is_under_way(frame)
            if is_near and not is_quiet_at(frame, listener.watches, lines):
                attempt(data_line, frame, lines)
                self._take_over(frame)
            elif listener.spent >= listener.due:
                attempt(listener.consider)
            if listener.relies and listener.awaited:
                with DebuggerAtWork():
                    attempt(listener.give_awaited, frame, True)
        elif event == "exception":
            self.thrown_at = frame.f_lasti
        elif event == "return":
            if not leaves_quietly(frame, listener.watches):
                attempt(data_leave, frame, "yield" if self._yields(frame, arg) else "return")
            if listener.awaited:
                listener.leaves(frame)
        return self

    def _take_over(self, frame: Any) -> None:
        """What pydevd has set at a stop, for the step with which the frame goes on."""
        chain = trace_functions_of(frame)
        if self in chain:
            return
        for one in chain:
            if isinstance(one, DataFrameTrace):  # made at the stop, before this one's turn
                one.has_its_frame()
            elif type(one) is not FrameTracer:  # which stands before this one, too
                self.inner = one
                return

    def _yields(self, frame: Any, value: Any) -> bool:
        operations = frame.f_code.co_code
        if stands_before_wait(operations, frame.f_lasti, self.thrown_at):
            return True
        operation = operations[frame.f_lasti] if frame.f_lasti >= 0 else -1
        if value is None and self.thrown_at is not None and operation not in RETURNS:
            return False
        return operation in YIELDS


class RunningFrameTrace(DataFrameTrace):
    """The trace function of a frame that runs already, until its first event."""

    __slots__ = ()

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        self.has_its_frame()
        local = frame.f_trace = DataFrameTrace(self.listener, self.inner, self.lines)
        return local(frame, event, arg)


class FollowedFrameTrace(RunningFrameTrace):
    """That of a frame which stands in pydevd's trace function, and gets what that returns in its place.

    Then this one ends, and its end puts another like it before what was returned. No other has an end
    that runs code: what a signal's handler raises in it would arrive nowhere. Nor has any other its frame,
    which may have no event any more, and would keep itself, and all that have called it.
    """

    __slots__ = ("frame",)

    def __init__(self, listener: DataSettrace, inner: Any, lines: WriteLines, frame: Any) -> None:
        super().__init__(listener, inner, lines)
        self.frame: Any = frame

    def has_its_frame(self) -> None:
        """The frame has its trace function: none needs to follow this one."""
        self.frame = None

    def __del__(self) -> None:
        try:
            frame = getattr(self, "frame", None)  # a handler may have raised as it was made
            if frame is not None and not self.listener.is_over:
                attempt(self._follow, frame)
        except BaseException as error:  # noqa: BLE001  what struck from outside
            raise_soon(error)

    def _follow(self, frame: Any) -> None:
        if not self.listener.has_wrapped(frame):
            self.listener.wrap(frame, self.lines)
