"""Who has the place of the trace function in all threads for a while: before 3.12.

There is one trace function a thread, and it is pydevd's. So the holder's stands before it and hands
everything on; where pydevd sets its own again, the holder's is set instead. Afterwards each thread
gives the place back at its next call.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.hooks.limit_of_frames import (
        AS_MANY_LEVELS,
        stand_back,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import (
        hold_tracing,
        is_program_thread,
        regain_tracing,
        trace_more,
        tracing_state,
        wanted_trace_function,
    )


class TraceHolder:
    """One at a time: whoever takes the place ends what held it before."""

    def __init__(self) -> None:
        self.set_trace: Any = None  # pydevd's own way to set a thread's trace function
        self.recorded: Any = None  # what has `may_have_hidden`: calls, from a thread that came to the limit of frames

    @property
    def is_active(self) -> bool:
        """Whether it still wants what happens; the place may be its own a little longer."""
        raise NotImplementedError

    def on_call(self, frame: Any, event: str, arg: Any) -> Any:
        """The trace function of a thread: a frame begins or goes on."""
        try:
            isinstance("", AS_MANY_LEVELS)
            return self.call(frame, event, arg)
        except RecursionError:
            self.recorded.may_have_hidden = True
        self.hide_calls()
        stand_back(frame, self.regain)
        return None

    def call(self, frame: Any, event: str, arg: Any) -> Any:
        """What `on_call` does where there are frames enough."""
        raise NotImplementedError

    def hide_calls(self) -> None:
        """This thread is not traced from here on, and perhaps never again."""

    def has_regained(self) -> None:
        """A thread is traced again, in which calls may have ended that nobody heard of."""
        raise NotImplementedError

    def regain(self) -> None:
        """This thread is traced no more, and is far enough from the limit of frames."""
        if self.is_active and tracing_state.holder is self:
            self.set_trace(self.on_call)
            self.has_regained()
        else:
            regain_tracing()

    def take_threads(self) -> bool:
        """All threads that the program has; those to come are traced by way of pydevd."""
        tracing: Any = sys.modules["pydevd_tracing"]
        original = self.set_trace = getattr(tracing.SetTrace, "relay_original", tracing.SetTrace)

        def SetTrace(function: Any) -> None:  # noqa: N802  its name
            original(self.on_call if function is not None and self.is_active else function)

        SetTrace.relay_original = original  # type: ignore[attr-defined]
        tracing.SetTrace = SetTrace
        hold_tracing(self)
        idents = [ident for ident in sys._current_frames() if is_program_thread(ident)]
        failed = tracing.set_trace_to_threads(self.on_call, idents, create_dummy_thread=False)
        trace_more()  # breakpoints that get no traps, as codes are to stay what they are
        return bool(failed == 0)

    def leave_threads(self) -> None:
        """Give the place back, unless somebody else has it by now."""
        if self.set_trace is not None and tracing_state.holder is self:
            sys.modules["pydevd_tracing"].SetTrace = self.set_trace  # type: ignore[attr-defined]
            hold_tracing(None)

    def hand_back(self, frame: Any, event: str, arg: Any) -> Any:
        """A call in a thread after the end: pydevd's function, if it needs one, takes over."""
        theirs = wanted_trace_function()
        self.set_trace(theirs)
        return None if theirs is None else theirs(frame, event, arg)
