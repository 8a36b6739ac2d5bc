"""Lines and ends of frames for data breakpoints: by the trace function, before 3.12.

Below pydevd's function in each thread, as `hooks/tracing.py` arranges it: calls of code that can neither
write nor has a breakpoint are let go of at once.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import GOES_ON_LATER
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_moves import is_in_trace_function
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        frames_of_all_threads,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.program_tracing import (
        SharedFrame,
        function_of_program,
        real_gettrace,
        real_settrace,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import (
        is_program_thread,
        is_thread_traced,
        leave_thread,
        someone_steps_or_stops,
        trace_call,
        trace_data,
        trace_functions_of,
        trace_less,
        tracing_state,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        TroubleError,
        attempt,
        frame_at,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.record import starts_here
    from relay.debuggers.debugpy.debuggee.probe.traps.checking import (
        give_checks,
        give_checks_under_way,
        has_its_checks,
        hear_new_code,
        is_to_have_checks,
        take_checks_away,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.coming import (
        DebuggerAtWork,
        info_of_thread,
        is_at_work,
        is_foreign,
        is_of_program,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.inserted import is_before_send, write_behind
    from relay.debuggers.debugpy.debuggee.probe.traps.placing import place_put_off
    from relay.debuggers.debugpy.debuggee.probe.traps.trapped_codes import GOING_ON
    from relay.debuggers.debugpy.debuggee.probe.writes.awaited_frames import AwaitedFrames
    from relay.debuggers.debugpy.debuggee.probe.writes.check_costs import CheckCosts
    from relay.debuggers.debugpy.debuggee.probe.writes.data_changes import (
        begin_found_writes,
        is_asked,
        is_asked_for_condition,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.data_checks import DataChecks
    from relay.debuggers.debugpy.debuggee.probe.writes.data_traces import (
        DataFrameTrace,
        FollowedFrameTrace,
        RunningFrameTrace,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import (
        LEAST_PATIENCE,
        MOST_PATIENCE,
        DataWatch,
        data_state,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.noted_lines import note_line, note_lines
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import (
        NO_LINES,
        WriteLines,
        may_still_write,
        watched_lines_of,
    )


class DataSettrace:
    """The events of all data breakpoints.

    Where all code that may write has checks, they are relied on, and no frame is traced but those
    that began without, until one finds a change. Then all is traced as ever, until nothing is under
    way any more.
    """

    def __init__(self) -> None:
        self.watches: list[DataWatch] = []
        self.codes = CodeTable()  # that are compared at lines, with their WriteLines
        self.others: dict[int, Any] = {}  # by id: code that is not
        self.is_over = False
        self.checks = DataChecks([])
        self.relies = False  # on checks
        self.spent = 0  # events of tracing since it was considered whether checks will do
        self.due = MOST_PATIENCE  # how many lead to that
        self.patience = LEAST_PATIENCE
        self.costs = CheckCosts()
        self.awaited = AwaitedFrames()
        self.own_codes = CodeTable()  # of frames with a watched local that go on with checks

    def watch(self, watches: list[DataWatch]) -> None:
        """Compare these at lines from now on."""
        self.relies = False
        self.checks, self.patience = DataChecks(watches), LEAST_PATIENCE
        self.costs, self.watches = CheckCosts(), watches
        self.codes, self.others, self.own_codes = CodeTable(), {}, CodeTable()
        self._trace_all()
        self._expect()
        if not self.checks.can_be:
            take_checks_away()
        hook_suspensions("data lines", after=self._go_on)
        if self.checks.everywhere:
            hear_new_code(self._on_new_code, self._on_beginning)
        else:
            hear_new_code(None)

    def _trace_all(self) -> None:
        if not trace_data(self):
            raise TroubleError(
                "unsupported", "This debugger evaluates frames in a way that leaves no room for it"
            )
        self._wrap_stack()
        note_lines(self.codes.get)

    def stop(self) -> None:
        self.is_over, self.relies = True, False
        hook_suspensions("data lines")
        hear_new_code(None)
        trace_data(None)
        take_checks_away()
        attempt(place_put_off, debugger())

    def before_stop(self) -> None:
        """Nothing: places of lines are noted wherever frames are traced."""

    look_closely = before_stop

    def arm(self, frame: Any) -> None:
        """Report the next line of this frame, or its end."""
        if not self.has_wrapped(frame):
            self.wrap(frame, self.lines_in(frame) or NO_LINES)

    def _go_on(self, *_: Any) -> None:
        """The program goes on after a stop."""
        self.patience = LEAST_PATIENCE
        if self.checks.can_be and not self.checks.worth and tracing_state.holder is None:
            self._place_checks()
        self._expect()
        self._wrap_stack()

    # Checks

    def needs_tracing(self) -> bool:
        """Whether checks are not enough."""
        return bool(self.watches) and (not self.relies or bool(self.awaited))

    def consider(self) -> None:
        """So many events have gone by. The usual case is that checks are relied on from now on.

        Not where so much code begins without that to make its checks would take longer than to trace it.
        """
        least = self.costs.events_of_fresh()
        if self.relies:
            self.awaited.look_anew(_running_frames, self._is_left)
            self._trace_less()
        elif self.checks.can_be and least <= self.spent and self._is_calm():
            self._place_checks(and_rely=True)
        self._expect(least)

    def _place_checks(self, and_rely: bool = False) -> None:
        if data_state.lock.acquire(blocking=False):
            try:
                if not self.checks.are_placed:
                    self.checks.worth = MOST_PATIENCE  # before it is tried again
                    with DebuggerAtWork():
                        attempt(self.checks.place)
                if self.checks.are_placed and and_rely:
                    self._rely()
            finally:
                data_state.lock.release()

    def _expect(self, least: int = LEAST_PATIENCE) -> None:
        """After how many events from now on to consider."""
        self.spent, self.due = 0, MOST_PATIENCE
        if not self.relies and self.checks.can_be:
            worth = self.patience if self.checks.are_placed else int(self.checks.worth)
            self.due = max(worth, least, LEAST_PATIENCE)

    def _is_calm(self) -> bool:
        if data_state.pending or data_state.left or tracing_state.holder is not None:
            return False
        if function_of_program() is not None or someone_steps_or_stops():
            return False
        return all(watch.peek() is watch.last for watch in self.watches)

    def _rely(self) -> None:
        self.awaited.begin(
            [frame for frame in _running_frames() if self._is_awaited(frame)],
            [weakref.ref(one) for one in self.checks.going_on if self._is_left(one)],
        )
        self.relies = True
        if not self._is_calm():  # another thread has written before, and an event of it tells
            self.relies = False
            self.awaited.begin([], [])
            return
        self._forget_places()
        self.checks.look_anew()
        trace_less()  # whatever is left to trace: what is known of codes holds no more
        self._leave_thread()

    def _is_awaited(self, frame: Any) -> bool:
        if self._has_its_checks(frame):
            return False
        if self._has_watched_local(frame):  # whose end is told
            return True
        lines = self.lines_in(frame)
        if lines is None:
            return is_to_have_checks(frame.f_code)
        return bool(frame.f_code.co_flags & GOES_ON_LATER) or may_still_write(frame, lines)

    def _is_left(self, generator: Any) -> bool:
        frame = getattr(generator, GOING_ON[type(generator)][1])
        return frame is not None and self._is_awaited(frame)

    def _trace_less(self) -> None:
        if not self.needs_tracing():
            place_put_off(debugger())
            trace_less()

    def _leave_thread(self) -> None:
        self._trace_less()
        if not is_thread_traced(debugger()):
            leave_thread()

    def give_awaited(self, frame: Any, is_at_line: bool) -> None:
        """This thread is at a line of a frame, or in what that calls: it is to go on with checks, as are
        its callers."""
        tried = self.awaited.to_try(frame, is_at_line)
        if not tried or not self._is_calm():
            return
        self.awaited.note_tried(tried)
        for one, at_line in tried:
            if attempt(self._give_checks, one, at_line):
                self.awaited.take(one)
        if not self.needs_tracing():
            self._leave_thread()

    def _give_checks(self, frame: Any, is_at_line: bool) -> bool:
        own = self.checks.of_frame(frame, self.lines_in(frame) or NO_LINES)
        before = frame.f_code
        if not give_checks_under_way(frame, is_at_line, own):
            return False
        if own is not None:
            self.own_codes[frame.f_code] = True
            for watch in self.watches:
                if watch.code is before:
                    watch.code = frame.f_code
            self.codes, self.others = CodeTable(), {}
        return True

    def leaves(self, frame: Any) -> None:
        """A frame is left that is traced."""
        if frame in self.awaited and not frame.f_code.co_flags & GOES_ON_LATER:
            self.awaited.take(frame)
            self._trace_less()

    def _forget_places(self) -> None:
        """Lines of which no event has been since are known no more."""
        kept = self.awaited.ids()
        for key in list(data_state.at):
            if key[1] not in kept:
                data_state.at.pop(key, None)

    def notice(self, frame: Any) -> None:
        """A check in this frame has found a change: trace all, and compare at the next event."""
        if is_at_work():
            return  # what a check finds there is found again, by the program's own
        with DebuggerAtWork():
            # Where another thread turns tracing on, this one may have no trace function yet.
            if not self.relies and real_gettrace() is not None:
                self._note_write(frame)
                return
            py_db = debugger()
            if py_db is not None and is_of_program() and not is_in_trace_function():
                self._notice(py_db, frame)

    def _note_write(self, frame: Any) -> None:
        """What a check finds where all is traced is told by the frame's next event. Another thread that turns
        tracing on may not have come to this frame yet, or have forgotten in which line it stands."""
        line, lines = write_behind(frame.f_code, frame.f_lasti), self.lines_in(frame)
        if line is None or lines is None:
            return
        data_state.at[threading.get_ident(), id(frame)] = line
        if not self.has_wrapped(frame):
            self.wrap(frame, lines, begins=True)

    def _notice(self, py_db: Any, frame: Any) -> None:
        live = [watch for watch in self.watches if not watch.ended]
        if len(live) < len(self.watches):
            self.watch(live)
            if all(watch.peek() is watch.last for watch in live):
                return
        info = info_of_thread(py_db)
        if is_asked(frame) or (info is not None and info.is_tracing):
            for watch in self.watches:
                watch.keep(watch.read())
            return
        self.patience = min(2 * self.patience, MOST_PATIENCE)
        line = write_behind(frame.f_code, frame.f_lasti)
        if line is not None and self._hears_next(frame):
            begin_found_writes(frame, line)  # before another thread compares
        self._rely_no_more()
        place = threading.get_ident(), id(frame)
        data_state.at.pop(place, None)
        if line is not None:
            data_state.at[place] = line

    def _hears_next(self, frame: Any) -> bool:
        """Whether the next event, once all is traced, is this frame's."""
        function = real_gettrace()
        return (function is None or not is_foreign(function)) and not is_before_send(
            frame.f_code, frame.f_lasti
        )

    def _on_beginning(self, entry: Any, frame: Any) -> None:
        """A frame of code that may write is to get its checks."""
        if is_at_work():
            return
        with DebuggerAtWork():
            if not is_of_program():
                return
            is_given = None
            # Who records by this frame's instructions knows them by the code that it has begun in.
            if tracing_state.holder is None and self.costs.is_worth(
                entry, frame.f_code, self.relies
            ):
                is_given = attempt(self.costs.spend, give_checks, entry, frame)
            if is_given is False:
                self.checks.can_be = False
            if not is_given and self.relies:  # it takes too long, or there is no stack, say
                self._rely_no_more()
            if self.watches and not self.relies:
                self._trace_beginning(frame)

    def _trace_beginning(self, frame: Any) -> None:
        """All is traced: without checks, or since another thread has found so as this frame began."""
        lines = self.lines_in(frame)
        if lines is not None and not self.has_wrapped(frame):
            self.wrap(frame, lines, begins=True)
        if real_gettrace() is None:
            real_settrace()(trace_call)

    def _on_new_code(self) -> None:
        """Code may come that nobody has looked at: trace all, until it has been."""
        if not is_asked_for_condition(frame_at(3)):
            self.checks.are_placed = False
            if is_asked(frame_at(3)):
                self.checks.worth = MOST_PATIENCE
            if self.relies:
                self._rely_no_more()
            self._expect()

    def _rely_no_more(self) -> None:
        with data_state.lock:
            if self.relies:  # no other thread has come first: places that it knows are kept
                self._forget_places()
                self.relies = False
                self._expect()
                self.awaited.begin([], [])
                attempt(self._trace_all)
        if real_gettrace() is None:
            real_settrace()(trace_call)

    # Frames

    def _wrap_stack(self, *_: Any) -> None:
        """Frames that run already, and those that pydevd has just given its own function."""
        for ident, frame in frames_of_all_threads():
            lines = self.lines_in(frame)
            if lines is None or self.has_checks_for(frame):
                continue
            local = self.local_of(frame)
            if local is not None:
                local.lines = lines  # those of all watches that there are by now
            elif is_program_thread(ident):
                self.wrap(frame, lines)

    def has_checks_for(self, frame: Any) -> bool:
        """Whether a frame's checks are relied on."""
        return self.relies and self._has_its_checks(frame)

    def _has_its_checks(self, frame: Any) -> bool:
        if self._has_watched_local(frame):
            return frame.f_code in self.own_codes
        return has_its_checks(frame)

    def _has_watched_local(self, frame: Any) -> bool:
        return any(watch.owner() is frame for watch in self.checks.locals)

    def wrap(self, frame: Any, lines: WriteLines, begins: bool = False) -> None:
        """Stand before the trace function that a frame has, and before the one that it may get; but
        behind the program's own, which is to hear of each event, whatever happens at a stop."""
        shared = frame.f_trace if type(frame.f_trace) is SharedFrame else None
        theirs = frame.f_trace if shared is None else shared.inner
        while isinstance(theirs, DataFrameTrace):  # of watches taken away at this very stop
            theirs.has_its_frame()
            theirs = theirs.inner
        is_followed = not begins and _is_called_from(frame)
        local: DataFrameTrace
        if is_followed:
            local = FollowedFrameTrace(self, theirs, lines, frame)
        else:
            local = RunningFrameTrace(self, theirs, lines)
        if shared is None:
            frame.f_trace = local
        else:
            shared.go_on(frame, local)

    def has_wrapped(self, frame: Any) -> bool:
        """Whether the frame's trace function is one of this listener's."""
        return self.local_of(frame) is not None

    def local_of(self, frame: Any) -> DataFrameTrace | None:
        """This listener's trace function of the frame, wherever it stands; None if it has none."""
        # No generator: what a handler of a signal raises while one is closed is lost.
        for one in trace_functions_of(frame):
            if isinstance(one, DataFrameTrace) and one.listener is self:
                return one
        return None

    def lines_in(self, frame: Any) -> WriteLines | None:
        """The lines of a frame's code to compare at; None if there are none."""
        code = frame.f_code
        known: WriteLines | None = self.codes.get(code)
        if known is not None or id(code) in self.others:
            return known
        watches = () if is_debugger_file(code.co_filename) else self.watches
        lines = watched_lines_of(code, watches, frame)
        if not lines.writes and not any(watch.code is code for watch in watches):
            self.others[id(code)] = code
            return None
        self.codes[code] = lines
        return lines

    def lines_to_trace(self, frame: Any) -> WriteLines | None:
        """The same for a frame that begins; None, too, if its checks are relied on."""
        self.spent += 1
        if self.spent >= self.due:
            attempt(self.consider)
        if self.relies and self.awaited:
            with DebuggerAtWork():
                attempt(self.give_awaited, frame.f_back, False)
        return None if self.has_checks_for(frame) else self.lines_in(frame)

    def enter(self, frame: Any, inner: Any, lines: WriteLines) -> Any:
        """The trace function of a frame that begins, or goes on: within a line, of which there is no
        event. It hands everything on to pydevd's, if the frame has one."""
        if is_at_work():
            return inner
        if frame.f_code.co_flags & GOES_ON_LATER and not starts_here(frame):
            attempt(note_line, frame, lines)
        return DataFrameTrace(self, inner, lines)


def _is_called_from(frame: Any) -> bool:
    """Whether the debugger is at work in a call by this frame, such as that of its trace function."""
    return any(
        one.f_back is frame and is_debugger_file(one.f_code.co_filename)
        for _, one in frames_of_all_threads()
    )


def _running_frames() -> list[Any]:
    return [frame for _, frame in frames_of_all_threads()]
