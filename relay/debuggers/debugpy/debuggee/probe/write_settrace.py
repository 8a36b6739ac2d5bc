"""The instructions that may write a state, as events of `sys.settrace`: before 3.12.

Stands before pydevd's trace function in each thread, as a trace does. Only the code that may
write is traced by instructions, and nothing of that is handed on.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.trace_record import starts_here
    from relay.debuggers.debugpy.debuggee.probe.trace_settrace import _is_programs
    from relay.debuggers.debugpy.debuggee.probe.tracing import hold_tracing, wanted_trace_function
    from relay.debuggers.debugpy.debuggee.probe.write_history import WriteWatch


class WriteTracer:
    """The events of one watch."""

    def __init__(self, watch: WriteWatch) -> None:
        self.watch = watch
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
        idents = [ident for ident in sys._current_frames() if _is_programs(ident)]
        return bool(
            tracing.set_trace_to_threads(self.on_call, idents, create_dummy_thread=False) == 0
        )

    def stop(self) -> None:
        self.is_active = False
        if self.set_trace is not None:
            sys.modules["pydevd_tracing"].SetTrace = self.set_trace  # type: ignore[attr-defined]
            hold_tracing(None)

    def on_call(self, frame: Any, event: str, arg: Any) -> Any:
        """The trace function of a thread: a frame begins or goes on."""
        theirs = wanted_trace_function()
        if not self.is_active:
            self.set_trace(theirs)
            return None if theirs is None else theirs(frame, event, arg)
        code = frame.f_code
        sites = self.codes.get(code)
        if sites is None:
            is_ours = is_debugger_file(code.co_filename)
            sites = self.codes[code] = {} if is_ours else self.watch.sites_of(code)
        if self.watch.wants_starts_of(code) and starts_here(frame):
            self.watch.begin(frame)
        inner = None if theirs is None else theirs(frame, event, arg)
        if not sites:
            return inner
        frame.f_trace_opcodes = True
        return _FrameTracer(self, sites, inner)


class _FrameTracer:
    """The trace function of one frame whose code may write."""

    def __init__(self, tracer: WriteTracer, sites: Any, inner: Any) -> None:
        self.tracer, self.sites, self.inner = tracer, sites, inner

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        if event == "opcode":
            site = self.sites.get(frame.f_lasti)
            if site is not None and self.tracer.is_active:
                self.tracer.watch.about_to_write(frame, frame.f_lasti, site)
            return self
        if self.inner is not None:
            self.inner = self.inner(frame, event, arg) or self.inner
        return self
