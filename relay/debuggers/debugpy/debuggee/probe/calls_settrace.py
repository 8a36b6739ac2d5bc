"""How own calls are recorded from the interpreter's events: by `sys.settrace`, before 3.12.

Stands before pydevd's trace function in each thread, as a trace does, and hands everything on. A
frame in which nobody else wants lines gets none: only its end is an event.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.calls_record import CallRecord
    from relay.debuggers.debugpy.debuggee.probe.calls_values import brief_error
    from relay.debuggers.debugpy.debuggee.probe.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.trace_record import starts_here
    from relay.debuggers.debugpy.debuggee.probe.trace_settrace import (
        _RETURNS,
        _YIELDS,
        _is_programs,
    )
    from relay.debuggers.debugpy.debuggee.probe.tracing import (
        _begin_thread,
        _trace_call,
        _tracing,
        hold_tracing,
        wanted_trace_function,
    )


class CallsSettrace:
    """The events of one recording."""

    def __init__(self, record: CallRecord) -> None:
        self.record = record
        self.set_trace: Any = None  # pydevd's own way to set a thread's trace function
        self.had_hook = True  # of new threads

    def start(self) -> bool:
        """In all threads that the program has, and in those to come."""
        tracing: Any = sys.modules["pydevd_tracing"]
        original = self.set_trace = getattr(tracing.SetTrace, "relay_original", tracing.SetTrace)

        def SetTrace(function: Any) -> None:  # noqa: N802  its name
            active = function is not None and self.record.is_active
            original(self.on_call if active else function)

        SetTrace.relay_original = original  # type: ignore[attr-defined]
        tracing.SetTrace = SetTrace
        hold_tracing(self)
        if threading._trace_hook is None:  # type: ignore[attr-defined]
            self.had_hook = False
            threading.settrace(_begin_thread)
        idents = [ident for ident in sys._current_frames() if _is_programs(ident)]
        return bool(
            tracing.set_trace_to_threads(self.on_call, idents, create_dummy_thread=False) == 0
        )

    def stop(self) -> None:
        if self.set_trace is None:
            return
        if _tracing.holder is self:
            sys.modules["pydevd_tracing"].SetTrace = self.set_trace  # type: ignore[attr-defined]
            hold_tracing(None)
        hook = threading._trace_hook  # type: ignore[attr-defined]
        if not self.had_hook and not _tracing.is_on and hook is _begin_thread:
            threading.settrace(None)
        for frame in _frames_of_threads():
            if type(frame.f_trace) is _CallListener:
                frame.f_trace_lines = True

    def give_way(self) -> None:
        """Somebody else takes the place in all threads."""
        self.record.finish("replaced")

    def on_call(self, frame: Any, event: str, arg: Any) -> Any:
        """The trace function of a thread: a frame begins or goes on."""
        record = self.record
        if not record.is_active:
            theirs = wanted_trace_function()
            self.set_trace(theirs)
            return None if theirs is None else theirs(frame, event, arg)
        inner = self._inner(frame, event, arg) if _tracing.is_on or not _tracing.can_wait else None
        function = record.scope.functions.get(frame.f_code)
        if function is None:
            function = attempt(record.scope.learn, frame, default=False)
        if not function or not record.is_active:
            return inner
        try:
            if not function.suspends or starts_here(frame):
                record.begin(frame, function)
            if id(frame) not in record.open:
                return inner
        except Exception as error:  # noqa: BLE001  whatever the program's objects raise
            record.broke(error)
            return inner
        if inner is None:
            frame.f_trace_lines = False
        return _CallListener(record, function, inner)

    def _inner(self, frame: Any, event: str, arg: Any) -> Any:
        theirs = _trace_call if _tracing.can_wait else wanted_trace_function()
        return None if theirs is None else theirs(frame, event, arg)

    def adopt(self) -> None:
        """pydevd has put its own trace function into frames that run: ours is set before it."""
        for frame in _frames_of_threads():
            if id(frame) in self.record.open and type(frame.f_trace) is not _CallListener:
                function = self.record.scope.functions[frame.f_code]
                frame.f_trace = _CallListener(self.record, function, frame.f_trace)
                frame.f_trace_lines = True


class _CallListener:
    """The trace function of one frame that is recorded."""

    __slots__ = ("error", "function", "inner", "record")

    def __init__(self, record: CallRecord, function: Any, inner: Any) -> None:
        self.record, self.function, self.inner = record, function, inner
        self.error: Any = None  # type, text and line of the last exception; not itself

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        record = self.record
        if record.is_active:
            try:
                if event == "return":
                    self._leave(frame, arg)
                elif event == "exception":
                    self.error = arg[0], brief_error(arg[1]), frame.f_lineno
            except Exception as fault:  # noqa: BLE001  whatever the program's objects raise
                record.broke(fault)
        if self.inner is not None:
            self.inner = self.inner(frame, event, arg) or self.inner
        return self if record.is_active else self.inner

    def _leave(self, frame: Any, value: Any) -> None:
        function, record = self.function, self.record
        if function.suspends or (value is None and self.error is not None):
            operations = function.operations
            operation = operations[frame.f_lasti] if frame.f_lasti >= 0 else -1
            if operation in _YIELDS:
                frame.f_trace_lines = True
                self.error = None
                if function.gives_values:
                    record.gave(frame, value)
                return
            if operation not in _RETURNS and self.error is not None and value is None:
                record.raised(frame, *self.error)
                return
        record.returned(frame, value)


def _frames_of_threads() -> list[Any]:
    found = []
    for top in list(sys._current_frames().values()):
        frame: Any = top
        while frame is not None:
            found.append(frame)
            frame = frame.f_back
    return found
