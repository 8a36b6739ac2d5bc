"""The instructions that may write a state, as events of `sys.settrace`: before 3.12.

Only the code that may write is traced by instructions, and nothing of that is handed on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        frames_of_all_threads,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import (
        trace_call,
        trace_functions_of,
        tracing_state,
        wanted_trace_function,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.holder import TraceHolder
    from relay.debuggers.debugpy.debuggee.probe.trace.record import starts_here
    from relay.debuggers.debugpy.debuggee.probe.writes.write_recorder import WriteRecorder


class WriteTracer(TraceHolder):
    """The events of one recorder."""

    def __init__(self, recorder: WriteRecorder) -> None:
        super().__init__()
        self.recorder = recorder
        self.codes = CodeTable()
        self.watches = False

    @property
    def is_active(self) -> bool:
        return self.watches

    def start(self) -> bool:
        self.watches = True
        patch(type(debugger()), "set_trace_for_frame_and_parents", self._trace_for_step)
        return self.take_threads()

    def stop(self) -> None:
        self.watches = False
        self.leave_threads()

    def go_on_in_fork(self) -> bool:
        """The debugger that has joined has taken the place."""
        return self.watches and self.take_threads()

    def give_way(self) -> None:
        """Somebody else takes the place in all threads."""
        self.watches = False
        self.recorder.failed("a trace has taken its place")

    def _trace_for_step(self, trace: Any, py_db: Any, ident: Any, frame: Any, **how: Any) -> None:
        """pydevd takes the place of the trace function in frames that are stepped through."""
        trace(py_db, ident, frame, **how)
        while self.watches and frame is not None:
            known, chain = self.codes.get(frame.f_code), trace_functions_of(frame)
            if known and chain and FrameTracer not in map(type, chain):
                frame.f_trace = FrameTracer(self, known, chain[0])
            frame = frame.f_back

    def on_call(self, frame: Any, event: str, arg: Any) -> Any:
        if not self.watches:
            return self.hand_back(frame, event, arg)
        code = frame.f_code
        known = self.codes.get(code)
        if known is None:
            self._look_again(code)
            known = self.recorder.looks_in(code, frame) or False
            self.codes[code] = known
        if self.recorder.wants_starts_of(code) and starts_here(frame):
            self.recorder.begin(frame)
        # What the debugger wants is asked at the moments that may change it: see `leave_thread`.
        is_traced = tracing_state.is_on or not tracing_state.can_wait
        inner = self._inner(frame, event, arg) if is_traced else None
        if not known:
            return inner
        frame.f_trace_opcodes = True
        return FrameTracer(self, known, inner)

    def _inner(self, frame: Any, event: str, arg: Any) -> Any:
        theirs = trace_call if tracing_state.can_wait else wanted_trace_function()
        return None if theirs is None else theirs(frame, event, arg)

    def _look_again(self, begun: Any) -> None:
        """Codes that have begun before may write by ways that count only now."""
        codes = self.recorder.widens_at(begun, lambda: list(self.codes))
        for code in codes:
            self.codes.pop(code)  # to be looked at when it begins anew
        if not codes:
            return
        for _, frame in frames_of_all_threads():
            known = (
                self.recorder.looks_in(frame.f_code)
                if any(one is frame.f_code for one in codes)
                else None
            )
            tracers = [one for one in trace_functions_of(frame) if type(one) is FrameTracer]
            for tracer in tracers if known else ():
                tracer.known = known
            if known and not tracers:
                frame.f_trace_opcodes = True
                frame.f_trace = FrameTracer(self, known, frame.f_trace)


class FrameTracer:
    """The trace function of one frame whose code may write."""

    def __init__(self, tracer: WriteTracer, known: Any, inner: Any) -> None:
        self.tracer, self.known, self.inner = tracer, known, inner

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        if event == "opcode":
            if self.tracer.watches:
                looks = self.known.get(frame.f_lasti)
                if looks is not None:
                    self.tracer.recorder.look(frame, frame.f_lasti, looks)
            return self
        if self.inner is not None:
            self.inner = self.inner(frame, event, arg) or self.inner
        return self
