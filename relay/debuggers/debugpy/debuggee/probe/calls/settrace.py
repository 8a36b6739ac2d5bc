"""How own calls are recorded from the interpreter's events: by `sys.settrace`, before 3.12.

A frame in which nobody else wants lines gets none: only its end is an event.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.calls.record import CallRecord, line_in_traceback
    from relay.debuggers.debugpy.debuggee.probe.frames.joined_groups import (
        came_to_frame,
        is_raised_through,
        joined_kind,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import (
        BEGINS_HANDLER,
        RAISES,
        RETURNS,
        WAITS,
        YIELDS,
        ends_wait,
        is_left_by_exception,
        stands_before_wait,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import frames_of_all_threads
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import shown_line
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import (
        begin_thread,
        trace_call,
        tracing_state,
        wanted_trace_function,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.frame_room import TOO_DEEP, with_room
    from relay.debuggers.debugpy.debuggee.probe.trace.holder import TraceHolder
    from relay.debuggers.debugpy.debuggee.probe.trace.record import starts_here
    from relay.debuggers.debugpy.debuggee.probe.values.types import qualname_of


def _with_what_there_is(act: Any, *given: Any) -> Any:
    return act(*given)


class CallsSettrace(TraceHolder):
    """The events of one recording."""

    def __init__(self, record: CallRecord) -> None:
        super().__init__()
        self.record = self.recorded = record
        self.had_hook = True  # of new threads
        # What two runs are compared by is whole, or broken off.
        self.note = with_room if record.stream is None else _with_what_there_is

    @property
    def is_active(self) -> bool:
        return self.record.is_active

    def start(self) -> bool:
        """In new threads, too, where pydevd has no hook of its own."""
        can = self.take_threads()
        if threading._trace_hook is None:  # type: ignore[attr-defined]
            self.had_hook = False
            threading.settrace(begin_thread)
        return can

    def stop(self) -> None:
        if self.set_trace is None:
            return
        self.leave_threads()
        hook = threading._trace_hook  # type: ignore[attr-defined]
        if not self.had_hook and not tracing_state.is_on and hook is begin_thread:
            threading.settrace(None)
        for _, frame in frames_of_all_threads():
            if type(frame.f_trace) is _CallListener:
                frame.f_trace_lines = True

    def give_way(self) -> None:
        """Somebody else takes the place in all threads."""
        self.record.finish("replaced")

    def hide_calls(self) -> None:
        if self.record.stream is not None:
            with_room(self.record.failed, RecursionError(TOO_DEEP))

    def has_regained(self) -> None:
        self.record.leave_unseen()

    def call(self, frame: Any, event: str, arg: Any) -> Any:
        record = self.record
        if not record.is_active:
            return self.hand_back(frame, event, arg)
        inner = (
            self._inner(frame, event, arg)
            if tracing_state.is_on or not tracing_state.can_wait
            else None
        )
        function = record.scope.functions.get(id(frame.f_code)) or record.scope.meet(frame)
        if function is None or not record.is_active:
            return inner
        try:
            if not function.suspends or starts_here(frame):
                self.note(record.begin, frame, function)
            if id(frame) not in record.open:
                return inner
        except RecursionError:
            self.has_no_room(frame)
            raise
        except BaseException as error:  # noqa: BLE001  whatever the program's objects raise
            record.failed(error)
            return inner
        listener = _CallListener(self, function, inner)
        if inner is None:
            frame.f_trace_lines = False
        if function.suspends:
            listener.note_handled(frame, record.open[id(frame)].is_handling)
        return listener

    def has_no_room(self, frame: Any) -> None:
        """For what this frame has come to."""
        self.record.open.pop(id(frame), None)
        self.record.may_have_hidden = True
        self.hide_calls()

    def _inner(self, frame: Any, event: str, arg: Any) -> Any:
        theirs = trace_call if tracing_state.can_wait else wanted_trace_function()
        return None if theirs is None else theirs(frame, event, arg)

    def adopt(self) -> None:
        """pydevd has put its own trace function into frames that run: ours is set before it."""
        for _, frame in frames_of_all_threads():
            if id(frame) in self.record.open and type(frame.f_trace) is not _CallListener:
                function = self.record.scope.functions[id(frame.f_code)]
                frame.f_trace = _CallListener(self, function, frame.f_trace)
                frame.f_trace_lines = True


class _CallListener:
    """The trace function of one frame that is recorded."""

    __slots__ = (
        "came",
        "failed",
        "function",
        "inner",
        "listener",
        "raised",
        "raised_at",
        "thrown_at",
        "witness",
    )

    def __init__(self, listener: CallsSettrace, function: Any, inner: Any) -> None:
        self.listener, self.function, self.inner = listener, function, inner
        self.failed: type | None = None  # the type of the last exception that the frame had
        self.raised: Any = None  # the last one, from then on until no handler of the frame has it
        self.came: Any = None  # the last that no handler of the frame has raised, as long
        self.raised_at: int | None = None  # the line that has raised it; None once it is handled
        # The `yield` that has raised it, or what is ahead of a wait up to 3.10; None once it is handled.
        self.thrown_at: int | None = None

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        record = self.listener.record
        if record.is_active:
            try:
                if event == "return":
                    self._leave(frame, arg)
                elif event == "exception":
                    if not ends_wait(self.function.operations, frame.f_lasti, arg[0]):
                        self.failed, self.raised = arg[:2]
                        self.came = came_to_frame(frame, self.raised, self.came)
                        self.raised_at = frame.f_lineno
                        frame.f_trace_lines = True
                        self._note_thrown(frame)
                elif event == "line" and not self._is_being_left(frame):
                    self.thrown_at = self.raised_at = None
                    self.note_handled(frame)
            except RecursionError:
                self.listener.has_no_room(frame)
                raise
            except BaseException as fault:  # noqa: BLE001  whatever the program's objects raise
                record.failed(fault)
        if not record.is_active:
            self.raised = self.came = None
        if self.inner is not None:
            self.inner = self.inner(frame, event, arg) or self.inner
        return self if record.is_active else self.inner

    def _is_being_left(self, frame: Any) -> bool:
        """Whether the line is none, but an exception that leaves a handler of the frame's."""
        operations = self.function.operations
        return self.raised is not None and is_left_by_exception(operations, frame.f_lasti)

    def note_handled(self, frame: Any, is_handling: bool = False) -> None:
        """Which exception the frame handles as a line begins, or as it goes on behind a `yield`.

        is_handling: it goes on, and has handled one as it was left. What was awaited meanwhile, as the end
        of an `async with`, may have had it raised through frames of its own: its traceback begins in these.

        A handler may change it, or handle another one meanwhile, and then raise it again, which is no
        event. So it is known until then, and written when the frame is left. It lives no longer for it.
        """
        handled = sys.exc_info()[1]
        at = max(frame.f_lasti, 0)
        if self.raised is not None and self.function.operations[at] == BEGINS_HANDLER:
            # The interpreter says so from the next instruction on; a caller may handle another one.
            handled = self.raised
        is_own = is_handling or handled is self.raised or is_raised_through(frame, handled)
        if handled is None or not is_own:
            self.raised = self.came = None
            # An `except*` may handle a group that was made for it while the frame waits, above another one.
            if self.inner is None:
                frame.f_trace_lines = handled is not None and self.function.suspends
        else:
            self.failed, self.raised = type(handled), handled
            frame.f_trace_lines = True

    def _note_thrown(self, frame: Any) -> None:
        """Of an exception that a `yield` or `await` raises, the frame is left at that very place, as
        by a value. Whoever handles it does so in another line."""
        at, function = frame.f_lasti, self.function
        if not function.suspends or at < 0:
            return
        operations = function.operations
        if operations[at] in YIELDS or stands_before_wait(operations, at, None):
            self.thrown_at = at

    def _raises_again(self, frame: Any) -> bool:
        """Whether a `raise` leaves the frame with what a caller handles, which is no event."""
        operations, at = self.function.operations, frame.f_lasti
        is_raise = at >= 0 and operations[at] == RAISES and not operations[at + 1]
        return is_raise and sys.exc_info()[1] is not None

    def _leave(self, frame: Any, value: Any) -> None:
        function, record, note = self.function, self.listener.record, self.listener.note
        raised, self.raised = self.raised, None
        came, self.came = self.came, None
        raised_at, self.raised_at = self.raised_at, None
        if value is None and raised is None and self._raises_again(frame):
            raised = sys.exc_info()[1]
            self.failed = type(raised)
        if function.suspends or (value is None and self.failed is not None):
            operations = function.operations
            operation = operations[frame.f_lasti] if frame.f_lasti >= 0 else -1
            was_thrown = value is None and self.thrown_at == frame.f_lasti
            yields = operation in YIELDS and operation not in WAITS and not was_thrown
            if yields or stands_before_wait(operations, frame.f_lasti, self.thrown_at):
                frame.f_trace_lines = True
                self.failed = None
                node = record.open.get(id(frame))
                if node is not None:
                    node.is_handling = raised is not None and raised is sys.exc_info()[1]
                if function.yields_values:
                    note(record.yielded, frame, value)
                return
            if operation not in RETURNS and self.failed is not None and value is None:
                line = self._line_of(frame, raised, raised_at)
                kind = joined_kind(frame, raised, came)
                if kind is not None:
                    self.failed, raised = kind, None
                text = (
                    str(qualname_of(self.failed))
                    if raised is None
                    else note(record.write_error, raised)
                )
                note(record.raised, frame, self.failed, text, line)
                return
        note(record.returned, frame, value)

    def _line_of(self, frame: Any, raised: Any, raised_at: int | None) -> int:
        """The line that an exception leaves the frame from.

        Before 3.12 an exception has its traceback from a handler only. Until the next one has it, that of
        an exception which is raised again tells where it was raised before.
        """
        if raised_at is not None:
            return shown_line(frame, raised_at)
        return line_in_traceback(frame, raised)
