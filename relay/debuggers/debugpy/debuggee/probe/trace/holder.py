"""Who has the place of the trace function in all threads for a while: before 3.12.

There is one trace function a thread, and it is pydevd's. So the holder's stands before it and hands
everything on; where pydevd sets its own again, the holder's is set instead. Afterwards each thread
gives the place back at its next call.

A thread that comes to the limit of frames with a trace function is not what it is without one: it comes there
earlier, the interpreter takes the function out for good, and under pydevd's way of setting it the `RecursionError`
may be lost. So it is not traced near the limit, and is again as soon as a frame is gone that is not far above.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.hooks.program_tracing import (
        function_of_program,
        real_gettrace,
        real_settrace,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import (
        hold_tracing,
        is_program_thread,
        tracing_state,
        wanted_trace_function,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.frame_room import TOO_DEEP
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.trace.record import PAUSES

_CAN_GO_ON = sys.version_info >= (3, 10)
"""Whether a thread may go deeper once it was told that it is at the limit. Before, the interpreter ends the process then."""

_FRAMES_LEFT, _FRAMES_ABOVE = 25, 60
"""With how few left a thread is near the limit, and how far above it is traced again."""


def _nested(levels: int) -> Any:
    return (_nested(levels - 1),) if levels else int


_AS_MANY_LEVELS = _nested(_FRAMES_LEFT)
"""The interpreter counts the levels of a tuple that it looks for a type in as it counts frames: the quickest way to
ask whether there is room for so many."""


class TraceHolder:
    """One at a time: whoever takes the place ends what held it before."""

    def __init__(self) -> None:
        self.set_trace: Any = None  # pydevd's own way to set a thread's trace function
        self.may_have_hidden = False  # calls, from a thread that came to the limit of frames

    @property
    def is_active(self) -> bool:
        """Whether it still wants what happens; the place may be its own a little longer."""
        raise NotImplementedError

    def on_call(self, frame: Any, event: str, arg: Any) -> Any:
        """The trace function of a thread: a frame begins or goes on."""
        try:
            isinstance("", _AS_MANY_LEVELS)
        except RecursionError:
            self._stand_back(frame)
            if not _CAN_GO_ON:
                raise RecursionError(TOO_DEEP) from None
            return None
        return self.call(frame, event, arg)

    def call(self, frame: Any, event: str, arg: Any) -> Any:
        """What `on_call` does where there are frames enough."""
        raise NotImplementedError

    def has_regained(self) -> None:
        """A thread is traced again, in which calls may have ended that nobody heard of."""
        raise NotImplementedError

    def _stand_back(self, frame: Any) -> None:
        """This thread is near the limit: it is not traced before it is far enough from it."""
        self.may_have_hidden = True
        above = frame
        for _ in range(_FRAMES_ABOVE):
            above = above.f_back or above
        while above is not None and not self._has_witness(above):
            above = above.f_back
        if _CAN_GO_ON and function_of_program() is None:
            real_settrace()(None)

    def _has_witness(self, frame: Any) -> bool:
        """Whether it is seen from now on when this frame is gone."""
        if frame.f_code.co_flags & PAUSES:
            return False
        if frame.f_trace is None:
            frame.f_trace = _Witness(self)
        else:
            try:
                frame.f_trace.witness = _Witness(self)
            except AttributeError:
                return False
        return True

    def regain(self) -> None:
        """This thread may be traced no more, and is far enough from the limit of frames."""
        is_wanted = self.is_active and tracing_state.holder is self
        is_untraced = real_gettrace() is None and function_of_program() is None
        if is_wanted and is_untraced and is_program_thread(threading.get_ident()):
            self.set_trace(self.on_call)
            self.has_regained()

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
        return bool(
            tracing.set_trace_to_threads(self.on_call, idents, create_dummy_thread=False) == 0
        )

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


class _Witness:
    """Dies with a frame, as its trace function or with that: hears nothing, and says when it is gone."""

    __slots__ = ("holder",)

    def __init__(self, holder: TraceHolder) -> None:
        self.holder = holder

    def __call__(self, frame: Any, event: str, arg: Any) -> None:
        pass

    def __del__(self) -> None:
        attempt(self.holder.regain)
