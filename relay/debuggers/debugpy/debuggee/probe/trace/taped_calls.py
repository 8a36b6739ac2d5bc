"""Calls that go by, as far as they are on tapes: what is kept of each while it is not over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.trace.line_order import BEGINNING
    from relay.debuggers.debugpy.debuggee.probe.trace.tape import Tape


class TapedFrame:
    """Stands on tapes for a call's frame. The frame itself would hold what the call has left, such as a
    generator, which is closed then only when nothing has the tape any more."""

    __slots__ = ("f_code", "f_globals")

    def __init__(self, frame: Any) -> None:
        self.f_code, self.f_globals = frame.f_code, frame.f_globals


class TapedCall:
    """A call that is on tapes: its own if it may be the one, and those of its callers."""

    __slots__ = ("error", "facts", "frame", "inner", "last", "last_error", "line", "own", "tapes")

    def __init__(
        self, frame: TapedFrame, own: Tape | None, tapes: Any, inner: Any, facts: Any
    ) -> None:
        self.frame = frame
        self.own = own
        self.tapes = tapes  # of callers, which show that it was called, and how it ended
        self.inner = inner  # (tape, levels): those that show its lines, and so many levels of them
        self.facts = facts
        self.line = 0  # that runs
        self.last = BEGINNING  # line that had an event, or followed; NO_LINE after an exception
        # The address of the exception that was raised last; 0 once another is handled, or none.
        self.last_error = 0
        self.error: Any = None  # stands for it on tapes

    def sign_of(self, error: Any) -> Any:
        """Stands on tapes for an exception, which would hold the frames that it has passed. Another one is
        another object, also at the same address."""
        if self.last_error != id(error):
            self.last_error, self.error = id(error), object()
        return self.error

    def leave_tape_of(self, frame: Any) -> None:
        self.tapes = tuple(tape for tape in self.tapes if tape.frame is not frame)
        self.inner = tuple(one for one in self.inner if one[0].frame is not frame)


def tapes_of(called: TapedCall) -> list[Tape]:
    return [*called.tapes, *(tape for tape, _ in called.inner if tape not in called.tapes)]


class InnerCall:
    """A call of own code by one in a plain list, of which only the arguments and the end are shown."""

    __slots__ = ("caller", "frame")
    own = None
    inner = ()

    def __init__(self, frame: TapedFrame, caller: Any) -> None:
        self.frame = frame
        self.caller = caller  # its frame
