"""The events of a trace that waits for an end: of `sys.monitoring`, and of `sys.settrace`.

What each call and each line costs is counted in microseconds here: lookups are few, and in order.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_user_code
    from relay.debuggers.debugpy.debuggee.probe.hooks.monitoring_tool import MONITORING
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at
    from relay.debuggers.debugpy.debuggee.probe.trace.monitor import MonitorListener
    from relay.debuggers.debugpy.debuggee.probe.trace.record import starts_here
    from relay.debuggers.debugpy.debuggee.probe.trace.settrace import SettraceListener
    from relay.debuggers.debugpy.debuggee.probe.trace.tape import MOST_EVENTS
    from relay.debuggers.debugpy.debuggee.probe.trace.traces import (
        break_off,
        count_call,
        end_of_call,
        guarded_again,
        is_meant_code,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.until import UntilTrace


class UntilMonitorListener(MonitorListener):
    """The events of such a trace, from 3.12 on. Code that is not the program's own makes one event."""

    def __init__(self, trace: UntilTrace) -> None:
        super().__init__(trace)
        self.until = trace
        self.meant: dict[int, bool] = {}  # by the code's id
        self.held: list[Any] = []  # that code, so that its id stays its own
        self.own: dict[str, bool] = {}  # by file

    def start(self) -> bool:
        if not super().start():
            return False
        events, listen = MONITORING.events, MONITORING.register_callback
        for event, callback in (
            (events.PY_START, self._on_start),
            (events.LINE, self._line_callback()),
            (events.PY_RETURN, self._return_callback()),
            (events.PY_YIELD, self._on_yield),
            (events.RAISE, self._on_raise),
            (events.PY_UNWIND, self._on_unwind),
        ):
            listen(self.tool, event, callback)
        MONITORING.set_events(self.tool, events.PY_START | events.RAISE | events.PY_UNWIND)
        return True

    def _on_start(self, code: Any, offset: int) -> Any:
        frame = frame_at(1)
        try:
            answer = self._start(code, frame)
        except RecursionError:
            return guarded_again(self.until, self._start, code, frame)
        except BaseException as error:
            break_off(self.until, error)
            return None
        if type(answer) is not int:
            return answer
        until = self.until
        try:
            return guarded_again(until, until.begin, frame, answer)
        except RecursionError:  # the program's: with it the call ends here
            next(until.ended)
            next(until.ended_by_exception)
            raise

    def _start(self, code: Any, frame: Any) -> Any:
        """What the callback is to answer; or the number of a call that is counted, where no frames were left to
        begin it."""
        meant = self.meant.get(id(code))
        if meant is None:
            meant = self._learn(code, frame)
        if meant:
            number = count_call(self.until, frame)
            if number:
                try:
                    self.until.begin(frame, number)
                except RecursionError:
                    return number
                return None
        elif not self._is_own(code.co_filename, frame):
            return MONITORING.DISABLE
        if frame.f_back in self.until.frames and self.until.enter(frame):
            self._listen_to(code, bool(self.until.frames[frame].inner))
        return None

    def _line_callback(self) -> Any:
        """A function of its own, and not a method: what each line costs is a lookup or two."""
        trace, kept_of, disable = self.until, self.until.frames.get, MONITORING.DISABLE

        def on_line(code: Any, line: int) -> Any:
            frame = frame_at(1)
            kept = kept_of(frame)
            if kept is None:
                return None
            try:
                if type(kept) is not list or len(kept) >= MOST_EVENTS:
                    trace.handles(frame, sys.exc_info()[1])
                    trace.line(frame, line)
                    return None
                facts = kept[1]
                if line in facts.quiet:
                    kept.append(line)
                    # No other thread comes in between, which might want this line again.
                    return disable if line in facts.spared else None
                quick = facts.quick.get(line)
                one = None if quick is None else quick(frame.f_locals)
                kept.append(trace.line_with_look(kept, frame, line) if one is None else one)
            except RecursionError:
                guarded_again(trace, trace.line, frame, line)
            except BaseException as error:
                break_off(trace, error)
            return None

        return on_line

    def _return_callback(self) -> Any:
        trace, frames, lingering = self.until, self.until.frames, self.until.lingering
        let_go = trace.tape_texts.let_go

        def on_return(code: Any, offset: int, value: Any) -> None:
            frame = frame_at(1)
            kept = frames.get(frame)
            if kept is None:
                return
            is_found = False
            try:
                if type(kept) is list and not trace.is_end(kept, frame, value):
                    del frames[frame]
                    if lingering:
                        trace.drop_lingering(frame)
                    if not frames:
                        let_go()
                else:
                    is_found = trace.leave(frame, value, False)
            except RecursionError:
                is_found = guarded_again(trace, trace.leave, frame, value, False)
            except BaseException as error:
                break_off(trace, error)
            if is_found:
                end_of_call(trace, frame)

        return on_return

    def _learn(self, code: Any, frame: Any) -> bool:
        meant = self.meant[id(code)] = is_meant_code(frame)
        self.held.append(code)
        if meant:
            self._listen_to(code, True)
        return meant

    def _is_own(self, file: str, frame: Any) -> bool:
        own = self.own.get(file)
        if own is None:
            own = self.own[file] = bool(is_user_code(frame))
        return own


class UntilSettraceListener(SettraceListener):
    """The events of such a trace, before 3.12."""

    def _is_between_calls(self) -> bool:
        return not self.until.frames

    def __init__(self, trace: UntilTrace) -> None:
        super().__init__(trace)
        self.until = trace
        self.meant: dict[int, bool] = {}  # by the code's id
        self.held: list[Any] = []  # that code, so that its id stays its own

    def _is_wanted(self, frame: Any) -> bool:
        trace = self.until
        if not trace.is_active:
            return False
        if frame in trace.frames:
            return True  # a generator goes on
        code = frame.f_code
        meant = self.meant.get(id(code))
        if meant is None:
            meant = self.meant[id(code)] = is_meant_code(frame)
            self.held.append(code)
        if meant:
            number = starts_here(frame) and count_call(trace, frame)
            if number:
                trace.begin(frame, number)
                return frame in trace.frames
        if frame.f_back not in trace.frames or not starts_here(frame):
            return False
        return trace.enter(frame) or frame in trace.frames
