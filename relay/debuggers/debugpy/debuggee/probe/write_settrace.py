"""The instructions that may write a state, as events of `sys.settrace`: before 3.12.

Stands before pydevd's trace function in each thread, as a trace does. Only the code that may
write is traced by instructions, and nothing of that is handed on.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.trace_record import starts_here
    from relay.debuggers.debugpy.debuggee.probe.trace_settrace import _is_programs
    from relay.debuggers.debugpy.debuggee.probe.tracing import hold_tracing, wanted_trace_function
    from relay.debuggers.debugpy.debuggee.probe.write_recorder import WriteRecorder


class WriteTracer:
    """The events of one recorder."""

    def __init__(self, recorder: WriteRecorder) -> None:
        self.recorder = recorder
        self.codes: dict[Any, Any] = {}
        self.set_trace: Any = None  # pydevd's own way to set a thread's trace function
        self.is_active = False

    def start(self) -> bool:
        """In all threads that the program has; in those to come by way of pydevd."""
        tracing: Any = sys.modules["pydevd_tracing"]
        original = self.set_trace = getattr(tracing.SetTrace, "relay_original", tracing.SetTrace)
        self.is_active = True

        def SetTrace(function: Any) -> None:  # noqa: N802  its name
            original(self.on_call if self.is_active else function)

        SetTrace.relay_original = original  # type: ignore[attr-defined]
        tracing.SetTrace = SetTrace
        hold_tracing(self)
        patch(type(debugger()), "set_trace_for_frame_and_parents", self._trace_for_step)
        idents = [ident for ident in sys._current_frames() if _is_programs(ident)]
        return bool(
            tracing.set_trace_to_threads(self.on_call, idents, create_dummy_thread=False) == 0
        )

    def stop(self) -> None:
        was_active, self.is_active = self.is_active, False
        if was_active:
            sys.modules["pydevd_tracing"].SetTrace = self.set_trace  # type: ignore[attr-defined]
            hold_tracing(None)

    def give_way(self) -> None:
        """Somebody else takes the place in all threads."""
        self.is_active = False
        self.recorder.broke("a trace has taken its place")

    def _trace_for_step(self, trace: Any, py_db: Any, ident: Any, frame: Any, **how: Any) -> None:
        """pydevd takes the place of the trace function in frames that are stepped through."""
        trace(py_db, ident, frame, **how)
        while self.is_active and frame is not None:
            known, function = self.codes.get(frame.f_code), frame.f_trace
            if known and function is not None and type(function) is not _FrameTracer:
                frame.f_trace = _FrameTracer(self, known, function)
            frame = frame.f_back

    def on_call(self, frame: Any, event: str, arg: Any) -> Any:
        """The trace function of a thread: a frame begins or goes on."""
        theirs = wanted_trace_function()
        if not self.is_active:
            self.set_trace(theirs)
            return None if theirs is None else theirs(frame, event, arg)
        code = frame.f_code
        known = self.codes.get(code)
        if known is None:
            known = self.codes[code] = self.recorder.looks_in(code) or False
        if self.recorder.wants_starts_of(code) and starts_here(frame):
            self.recorder.begin(frame)
        inner = None if theirs is None else theirs(frame, event, arg)
        if not known:
            return inner
        frame.f_trace_opcodes = True
        return _FrameTracer(self, known, inner)


class _FrameTracer:
    """The trace function of one frame whose code may write."""

    def __init__(self, tracer: WriteTracer, known: Any, inner: Any) -> None:
        self.tracer, self.known, self.inner = tracer, known, inner

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        if event == "opcode":
            if self.tracer.is_active:
                looks = self.known.get(frame.f_lasti)
                if looks is not None:
                    self.tracer.recorder.look(frame, frame.f_lasti, looks)
            return self
        if self.inner is not None:
            self.inner = self.inner(frame, event, arg) or self.inner
        return self
