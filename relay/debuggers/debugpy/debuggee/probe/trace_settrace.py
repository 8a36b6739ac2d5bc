"""How a call is recorded from the interpreter's events: by `sys.settrace`, before 3.12.

There is one trace function a thread, and it is pydevd's. So ours stands before it and hands
everything on; where pydevd sets its own again, ours is set instead. When the trace is over, each
thread gives the place back at its next call.
"""

from __future__ import annotations

import dis
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames import debugger_threading
    from relay.debuggers.debugpy.debuggee.probe.trace import end_of_call, fits_call, guarded_event
    from relay.debuggers.debugpy.debuggee.probe.trace_record import FrameTrace, starts_here
    from relay.debuggers.debugpy.debuggee.probe.tracing import hold_tracing, wanted_trace_function

_YIELDS = tuple(dis.opmap[n] for n in ("YIELD_VALUE", "YIELD_FROM", "SEND") if n in dis.opmap)
_RETURNS = tuple(dis.opmap[n] for n in ("RETURN_VALUE", "RETURN_GENERATOR") if n in dis.opmap)


class SettraceListener:
    """The events of one trace."""

    def __init__(self, trace: FrameTrace) -> None:
        self.trace = trace
        self.set_trace: Any = None  # pydevd's own way to set a thread's trace function

    def start(self) -> bool:
        """In all threads that the program has; in those to come by way of pydevd."""
        tracing: Any = sys.modules["pydevd_tracing"]
        original = self.set_trace = getattr(tracing.SetTrace, "relay_original", tracing.SetTrace)

        def SetTrace(function: Any) -> None:  # noqa: N802  its name
            original(self.on_call if function is not None and self.trace.is_active else function)

        SetTrace.relay_original = original  # type: ignore[attr-defined]
        tracing.SetTrace = SetTrace
        hold_tracing(self)
        idents = [ident for ident in sys._current_frames() if _is_programs(ident)]
        return bool(
            tracing.set_trace_to_threads(self.on_call, idents, create_dummy_thread=False) == 0
        )

    def stop(self) -> None:
        if self.set_trace is not None:
            sys.modules["pydevd_tracing"].SetTrace = self.set_trace  # type: ignore[attr-defined]
            hold_tracing(None)

    def on_call(self, frame: Any, event: str, arg: Any) -> Any:
        """The trace function of a thread: a frame begins or goes on."""
        theirs = wanted_trace_function()
        if not self.trace.is_active:
            self.set_trace(theirs)
            return None if theirs is None else theirs(frame, event, arg)
        inner = None if theirs is None else theirs(frame, event, arg)
        if guarded_event(self.trace, self._is_wanted, frame):
            return _LocalListener(self, inner)
        return inner

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

    def __init__(self, listener: SettraceListener, inner: Any) -> None:
        self.listener, self.inner = listener, inner
        self.error: Any = None

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
            self.error = None
            guarded_event(trace, trace.line, frame, frame.f_lineno)
        elif event == "exception":
            self.error = arg[1]
            guarded_event(trace, trace.raised, frame, arg[1])
        return self

    def _leave(self, frame: Any, value: Any) -> bool:
        error, self.error = self.error, None
        operation = frame.f_code.co_code[frame.f_lasti] if frame.f_lasti >= 0 else -1
        if value is None and error is not None and operation not in _RETURNS:
            return self.listener.trace.unwound(frame, error)
        return self.listener.trace.leave(frame, value, operation in _YIELDS)


def _is_programs(ident: int) -> bool:
    thread = debugger_threading()._active.get(ident)
    return not any(
        getattr(thread, mark, False) for mark in ("pydev_do_not_trace", "is_pydev_daemon_thread")
    )
