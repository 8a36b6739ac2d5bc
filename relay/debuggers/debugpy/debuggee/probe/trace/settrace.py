"""How a call is recorded from the interpreter's events: by `sys.settrace`, before 3.12.

How a thread's trace function is shared with pydevd is in `holder.py`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.joined_groups import (
        came_to_frame,
        what_leaves,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import (
        BEGINS_HANDLER,
        RETURNS,
        WAITS,
        YIELDS,
        ends_wait,
        is_left_by_exception,
        stands_before_wait,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import (
        trace_call,
        tracing_state,
        wanted_trace_function,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.holder import TraceHolder
    from relay.debuggers.debugpy.debuggee.probe.trace.record import FrameTrace, starts_here
    from relay.debuggers.debugpy.debuggee.probe.trace.traces import (
        end_if_unseen,
        end_of_call,
        fits_call,
        guarded_event,
        traced_name,
    )


class SettraceListener(TraceHolder):
    """The events of one trace."""

    def __init__(self, trace: FrameTrace) -> None:
        super().__init__()
        self.trace = self.recorded = trace
        self.name = traced_name()  # of the codes that may be meant: others are let go at once

    @property
    def is_active(self) -> bool:
        return self.trace.is_active

    def start(self) -> bool:
        return self.take_threads()

    def stop(self) -> None:
        self.leave_threads()

    def has_regained(self) -> None:
        end_if_unseen()

    def call(self, frame: Any, event: str, arg: Any) -> Any:
        trace = self.trace
        if not trace.is_active:
            return self.hand_back(frame, event, arg)
        is_traced = tracing_state.is_on or not tracing_state.can_wait
        inner = self._inner(frame, event, arg) if is_traced else None
        if frame.f_code.co_name != self.name and self._is_between_calls():
            return inner
        if guarded_event(self.trace, self._is_wanted, frame):
            return _LocalListener(self, inner, None if starts_here(frame) else sys.exc_info()[1])
        return inner

    def _is_between_calls(self) -> bool:
        """Whether only a call of the function is wanted now, and nothing below one."""
        return self.trace.root is None

    def _inner(self, frame: Any, event: str, arg: Any) -> Any:
        theirs = trace_call if tracing_state.can_wait else wanted_trace_function()
        return None if theirs is None else theirs(frame, event, arg)

    def _is_wanted(self, frame: Any) -> bool:
        trace = self.trace
        if not trace.is_active:
            return False  # pydevd has stopped in between
        if frame in trace.frames:
            return True  # a generator goes on
        if trace.root is None:
            if fits_call(trace, frame, starts_here):
                trace.begin(frame)
                return True
            return False
        if frame.f_back not in trace.frames or not starts_here(frame):
            return False
        return trace.enter(frame) or frame in trace.frames


class _LocalListener:
    """The trace function of one frame that is recorded."""

    witness: Any = None  # see `stand_back`

    def __init__(self, listener: SettraceListener, inner: Any, handled: Any) -> None:
        self.listener, self.inner = listener, inner
        self.error: Any = None  # raised since the last line
        self.thrown_at: int | None = None  # its instruction
        self.came: Any = None  # raised outside of the frame's handlers, until it is handled
        self.handled = handled  # at the last line: no event says that it is raised again

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        trace = self.listener.trace
        is_over = (
            event == "return" and trace.is_active and guarded_event(trace, self._leave, frame, arg)
        )
        if is_over:
            end_of_call(trace, frame)
            if frame.f_trace is not self and frame.f_trace is not None:
                self.inner = frame.f_trace  # set for the step with which it goes on
        if self.inner is not None:
            self.inner = self.inner(frame, event, arg) or self.inner
        if not trace.is_active:
            return self.inner
        if event == "line":
            on_its_way = self.handled if self.error is None else self.error
            operations = b"" if on_its_way is None else frame.f_code.co_code
            if is_left_by_exception(operations, frame.f_lasti):
                return self
            self.handled, self.error, self.thrown_at = self._handled(frame), None, None
            if self.handled is None:
                self.came = None
            guarded_event(trace, trace.handles, frame, self.handled)
            guarded_event(trace, trace.line, frame, frame.f_lineno)
        elif event == "exception":
            if not ends_wait(frame.f_code.co_code, frame.f_lasti, arg[0]):
                self.error, self.thrown_at = arg[1], frame.f_lasti
                self.came = came_to_frame(frame, self.error, self.came)
            guarded_event(trace, trace.raised, frame, arg[1])
        return self

    def _handled(self, frame: Any) -> Any:
        """The exception that the frame handles in the line that begins. On 3.11 the line of a `with`
        or `finally`, or of an `except`, begins before the interpreter says that it is handled."""
        on_its_way, at = self.handled if self.error is None else self.error, frame.f_lasti
        is_to_be_handled = on_its_way is not None and at >= 0
        if is_to_be_handled and frame.f_code.co_code[at] == BEGINS_HANDLER:
            return on_its_way
        return sys.exc_info()[1]

    def _leave(self, frame: Any, value: Any) -> bool:
        error, handled, came = self.error, self.handled, self.came
        self.error = self.handled = self.came = None
        operations = frame.f_code.co_code
        operation = operations[frame.f_lasti] if frame.f_lasti >= 0 else -1
        waits = stands_before_wait(operations, frame.f_lasti, self.thrown_at)
        yields = operation in YIELDS and operation not in WAITS
        if error is None and not yields:
            error = handled
        if value is None and error is not None and operation not in RETURNS and not waits:
            return self.listener.trace.unwound(frame, what_leaves(frame, error, came))
        return self.listener.trace.leave(frame, value, waits or yields)
