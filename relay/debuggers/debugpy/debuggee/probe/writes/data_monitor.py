"""Lines and ends of frames for data breakpoints: by `sys.monitoring`, on 3.12 and later.

A tool number of our own. A frame that writes to a watched dict gets events of its code only from
then on. What is compared at lines needs to know all code: each is looked at once, when it starts,
and only lines that may write, or come next, stay events. Of these, each line notes its place, for the
next to know what may have written. As long as nothing changes for a while that is left out
(`quiet_events.py`); what has written last is then read from where the frame stands.
"""

from __future__ import annotations

import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        frames_of_all_threads,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.idle_events import (
        has_lines_of_its_own,
        is_every_line_wanted,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.monitoring_tool import (
        BRANCH_EVENTS,
        MONITORING,
        call_at_events,
        give_back_tool,
        have_anew,
        take_tool,
        with_frame,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import TroubleError, attempt, frame_at
    from relay.debuggers.debugpy.debuggee.probe.traps.write_hooks import DUE, OVER
    from relay.debuggers.debugpy.debuggee.probe.writes.data_breakpoints import leave_busy_dicts
    from relay.debuggers.debugpy.debuggee.probe.writes.data_changes import (
        Claiming,
        begin_found_writes,
        frame_with_source,
        is_asked,
        settle_before,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.data_stops import (
        data_leave,
        data_line,
        steps_on,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import (
        LEAST_PATIENCE,
        MOST_PATIENCE,
        DataWatch,
        data_state,
        is_under_way,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.hooked_codes import HookedCodes
    from relay.debuggers.debugpy.debuggee.probe.writes.hooked_frames import FramesToHook
    from relay.debuggers.debugpy.debuggee.probe.writes.line_skip import LineSkip
    from relay.debuggers.debugpy.debuggee.probe.writes.lines_behind import line_that_raised
    from relay.debuggers.debugpy.debuggee.probe.writes.noted_lines import (
        UNSURE,
        is_quiet_at,
        leaves_quietly,
        note_line,
        note_line_behind,
        note_lines,
        note_lines_of_running,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.quiet_events import HookCalls, QuietEvents
    from relay.debuggers.debugpy.debuggee.probe.writes.way_changes import (
        ENDS_DICTS,
        WayChanges,
        end_dicts,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_exits import NO_EXITS, exits_of
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import (
        NO_LINES,
        WriteLines,
        is_within_line,
        line_of_any,
        line_of_offset,
        watched_lines_of,
    )

_DATA_EVENTS = (
    *("PY_START", "PY_RESUME", "PY_THROW", "LINE", "JUMP", *BRANCH_EVENTS),
    *("PY_RETURN", "PY_YIELD", "PY_UNWIND"),
)
_LOSES_LINES = sys.version_info >= (3, 13)  # of code on one line: has_lines_of_its_own
_DATA_TOOLS = (5, 4, 3)  # the highest is called first: a change is stopped for ahead of all else
_MOST_IDLE = 1000  # events of a code that has nothing under way, before it has none any more


class DataMonitor:
    """The events of all data breakpoints."""

    def __init__(self) -> None:
        tool = take_tool("data breakpoints", _DATA_TOOLS)
        if tool < 0:
            raise TroubleError("unsupported", "The program's own tools take all events of lines")
        self.tool = tool
        self.watches: list[DataWatch] = []
        self.codes = CodeTable()  # that have events of lines and returns, with their WriteLines
        self.exits = CodeTable()  # of these, those that may write, with their WriteExits
        self.skip = LineSkip()
        self.armed = CodeTable()  # of these, all lines are events; how many have been for nothing
        self.changes = 0  # how often a code was given events; another thread may need them
        # Of a frame of which no line is noted: UNSURE, or None as it stands in none that may write.
        self.unnoted: int | None = None
        self.is_quiet = False  # no place is noted, and the callbacks are those of `quiet`
        self.quiet: QuietEvents | None = None
        self.calm, self.patience = 0, LEAST_PATIENCE  # events without a change; how many will do
        self.hooked = HookedCodes([], -1)  # none, as long as no watch can have them
        self.to_hook = FramesToHook(self.hooked)
        self.known_exits = CodeTable()  # of those that have had events before
        self.busy: list[DataWatch] = []  # that are to be compared at lines from the next one on
        self.ways = WayChanges()
        called: dict[str, Any] = {
            "LINE": self._line,
            "JUMP": self._jump,
            "BRANCH": self._branch,
            "PY_RETURN": self._return,
            "PY_YIELD": self._yield,
            "PY_UNWIND": self._unwind,
        }
        self.called = {name: self._if_sure(name, call) for name, call in called.items()}
        self.thorough = {name: with_frame(call) for name, call in self.called.items()}
        call_at_events(self.tool, self.thorough)
        starts = {"PY_START": self._on_start, "PY_RESUME": self._on_resume}
        call_at_events(self.tool, {**starts, "PY_THROW": self._on_throw})

        for code in ENDS_DICTS:
            MONITORING.set_local_events(tool, code, MONITORING.events.PY_START)

    def _if_sure(self, name: str, call: Any) -> Any:
        """A callback that takes no event away (DISABLE) which another thread has come to need meanwhile, and
        that knows where the frame comes from, also if that has not been noted."""

        def checked(frame: Any, code: Any, *arguments: Any) -> Any:
            changes, place = self.changes, (threading.get_ident(), id(frame))
            if data_state.at.get(place, self.unnoted) == UNSURE:
                self._note_behind(name, frame, 0, arguments[0])
            answer = call(frame, code, *arguments)
            return answer if self.changes == changes else None

        return checked

    def _note_behind(self, name: str, frame: Any, last: int, argument: int) -> None:
        code = frame.f_code
        exits, writes = self.exits.get(code, NO_EXITS), self.codes.get(code, NO_LINES).writes
        note_line_behind(name, frame, last, argument, exits, writes)

    def stop(self) -> None:
        tool, self.tool = self.tool, -1
        if tool < 0:
            return
        self.skip.end()
        self._take_hooks_away()
        give_back_tool(tool, _DATA_EVENTS, [*ENDS_DICTS, *self.codes])
        self.codes.clear()
        self.exits.clear()
        self.armed.clear()

    def watch(self, watches: list[DataWatch]) -> None:
        """Compare these at lines from now on."""
        self.look_closely()
        self._take_hooks_away()
        self.watches, self.patience = watches, LEAST_PATIENCE
        self.ways.watch(watches)
        for code in list(self.codes):
            self._leave(code)
        for code in self.armed:
            self._enter(code, watched_lines_of(code, self.watches))
        self._set_global()
        for _, frame in frames_of_all_threads() if watches else ():
            self._meet(frame)
        if watches or self.ways.has_dicts:
            MONITORING.restart_events()  # what an earlier watch did not want to have
        if not watches:
            return
        attempt(self._begin_hooks)
        note_lines(self.codes.get)

    def _set_global(self) -> None:
        events, wanted = MONITORING.events, 0
        if self.ways.has_dicts or any(watch.kind != "local" for watch in self.watches):
            wanted = events.PY_START | events.PY_RESUME | events.PY_THROW
        if self.watches or self.codes:
            wanted |= events.PY_UNWIND
        MONITORING.set_events(self.tool, wanted)

    def arm(self, frame: Any) -> None:
        """Report the next line of this frame, or its end."""
        self.look_closely()
        code = frame.f_code
        was_armed = code in self.armed
        self.armed[code] = 0
        if was_armed:
            return
        is_first, lines = not self.codes, self.codes.get(code) or self.hooked.lines_of(code)
        self._leave(code)  # some of its lines may be no events by now
        self._enter(code, lines)
        if is_first:
            self._set_global()

    def leave_dict_after(self, frame: Any, watch: DataWatch) -> None:
        """What is watched by its dict is to be compared at lines, from where this frame's statement is over."""
        here = frame_with_source(frame)
        if here is not None:
            self.busy.append(watch)
            self.arm(here)

    def _leave_busy(self, frame: Any) -> None:
        if self.busy and not is_under_way(frame):
            busy, self.busy = self.busy, []
            if not self._is_pending_in(frame.f_code):
                self._disarm(frame)
            attempt(leave_busy_dicts, busy)

    def _enter(self, code: Any, lines: WriteLines) -> None:
        self._know(code, lines)
        if self.is_quiet:
            self.look_closely()  # until it is known which of its places are to be events
            self.calm = self.patience - LEAST_PATIENCE

    def _know(self, code: Any, lines: WriteLines) -> None:
        self.codes[code] = lines
        if lines.sites:
            self.exits[code] = self.known_exits.get(code) or exits_of(code, lines.sites)
        self._get_events(code)

    def _get_events(self, code: Any) -> None:
        """Of all its places, also those that were to be none any more."""
        events = MONITORING.events
        wanted = events.LINE | events.JUMP | events.PY_RETURN | events.PY_YIELD | events.PY_RESUME
        if self.exits.get(code, NO_EXITS).branches:
            for name in BRANCH_EVENTS:
                wanted |= getattr(events, name)
        self.changes += 1
        have_anew(self.tool, code, wanted)

    def _leave(self, code: Any) -> None:
        self.exits.pop(code)
        if self.codes.pop(code) is not None:
            has_looks = self.hooked.lines_of(code).writes
            have_anew(self.tool, code, MONITORING.events.JUMP if has_looks else 0)

    def _meet(self, frame: Any) -> None:
        code = frame.f_code
        if code in self.codes or code in self.hooked.made or is_debugger_file(code.co_filename):
            return
        lines = watched_lines_of(code, self.watches, frame)
        if lines.writes or any(watch.code is code for watch in self.watches):
            self._enter(code, lines)

    # Events

    def _on_start(self, code: Any, *_: Any) -> Any:
        if any(code is one for one in ENDS_DICTS):
            attempt(end_dicts, frame_at(1))
            return None
        self.ways.begins(code)
        attempt(self._meet, frame_at(1))
        return None if attempt(self._needs_start, code, default=False) else MONITORING.DISABLE

    def _needs_start(self, code: Any) -> bool:
        """Whether its first line may write, and is an event only as long as its start is one, too."""
        if not _LOSES_LINES:
            return False
        lines = self.codes.get(code) or self.hooked.lines_of(code)
        return lines.first in lines.writes and not has_lines_of_its_own(code)

    def _on_resume(self, code: Any, *_: Any) -> Any:
        """What was suspended goes on within a line: there is no event of that line."""
        self.ways.goes_on(code)
        if code not in self.codes:
            attempt(self._meet, frame_at(1))
        lines = self.codes.get(code)
        if lines is None:
            # That of a code with hooks is needed again later; as an event of all codes, it could not be had back.
            return None if self.hooked.lines_of(code).writes else MONITORING.DISABLE
        if not self.is_quiet:
            note_line(frame_at(1), lines)
        return None

    def _on_throw(self, code: Any, *_: Any) -> None:
        self.ways.goes_on(code)
        attempt(self._meet, frame_at(1))

    def _line(self, frame: Any, code: Any, line: int) -> Any:
        self._leave_busy(frame)
        lines = self.codes.get(code, NO_LINES)
        if self.skip.frame is frame:
            self.skip.end()  # pydevd had no event of that line
        if line in lines.near or is_under_way(frame):
            if is_quiet_at(frame, self.watches, lines):
                return self._stays_quiet(frame, line, lines)
            self.calm = 0
            if attempt(data_line, frame, lines) and steps_on():
                self.skip.begin(frame, line)
            return None
        return self._idles(frame) if code in self.armed else MONITORING.DISABLE

    def _stays_quiet(self, frame: Any, line: int, lines: WriteLines) -> Any:
        """Where a line is come to by a jump that is an event, that has compared."""
        self._note_calm()
        code, at = frame.f_code, frame.f_lasti
        if line in lines.writes or line == lines.first or code in self.armed:
            return None
        exits = self.exits.get(code, NO_EXITS)
        return None if at in exits.falls or at in exits.others else MONITORING.DISABLE

    def _jump(self, frame: Any, code: Any, offset: int, target: int) -> Any:
        """A jump back within a line begins it anew, which is no event of lines."""
        report = self.hooked.reported_at(code, offset)
        if report:  # the lines of this code are events now
            if report == OVER:
                self._begin_found(frame, offset)
                self.look_closely()  # another thread may just have taken the event away that is to tell
            return None
        self._leave_busy(frame)
        if target > offset or not is_within_line(code, offset, target):
            jumps = self.exits.get(code, NO_EXITS).jumps
            return self._jumps(frame, offset, target, jumps)
        lines = self.codes.get(code, NO_LINES)
        is_near = is_under_way(frame) or frame.f_lineno in lines.writes
        if not is_near:
            return None if code in self.armed else MONITORING.DISABLE
        if is_quiet_at(frame, self.watches, lines):
            self._note_calm()
        else:
            self.calm = 0
            attempt(data_line, frame, lines)
        return None

    def _branch(self, frame: Any, code: Any, offset: int, target: int) -> Any:
        return self._jumps(frame, offset, target, self.exits.get(code, NO_EXITS).branches)

    def _jumps(self, frame: Any, offset: int, target: int, exits: Any) -> Any:
        """A line may be left that may have written: that it has is told at the next."""
        if offset not in exits:
            return MONITORING.DISABLE
        code = frame.f_code
        if is_under_way(frame) or any(watch.peek() is not watch.last for watch in self.watches):
            self.calm = 0
            self._get_events(code)
            return None
        self._note_calm()
        if line_of_offset(code, target) != exits[offset]:
            data_state.at.pop((threading.get_ident(), id(frame)), None)
        return None

    # As long as nothing changes

    def _note_calm(self) -> None:
        """Nothing has changed. The usual case is that it has not for long."""
        self.calm += 1
        if self.calm <= self.patience or self.is_quiet:
            return
        self.calm = 0
        if data_state.lock.acquire(blocking=False):
            try:
                if self._can_be_quiet():
                    self._be_quiet()
            finally:
                data_state.lock.release()

    def _can_be_quiet(self) -> bool:
        if data_state.pending or data_state.left or self.skip.frame is not None:
            return False
        if is_every_line_wanted():
            return False
        return bool(self.watches) and all(watch.peek() is watch.last for watch in self.watches)

    def _be_quiet(self) -> None:
        live = [watch for watch in self.watches if not watch.ended]
        if len(live) < len(self.watches):
            self.watch(live)
            return
        if self.quiet is None or not self.quiet.are_for(live):
            self.quiet = QuietEvents(live)
        changed, often = partial(attempt, self._changed), partial(attempt, self._hook_more)
        self.to_hook.find(self.codes)
        jumped, came = partial(attempt, self._hook_jumped), partial(attempt, self._came)
        calls = HookCalls(self.hooked.jumps, jumped, self.to_hook.codes, came)
        callbacks = self.quiet.callbacks(self.called, changed, often, calls)
        self.is_quiet = True  # who finds a change from now on looks closely, once this is over
        call_at_events(self.tool, callbacks)
        self._leave_hooked()

    # Codes that look whom they write to. They have events as long as not all is quiet

    def _begin_hooks(self) -> None:
        hooked = HookedCodes(self.watches, self.tool, ENDS_DICTS)
        if hooked.can_be:
            self.hooked, self.to_hook = hooked, FramesToHook(hooked)
            hooked.place(self.codes)
            self._enter_hooked()

    def _hook_more(self) -> None:
        """Many calls have had events: of functions, perhaps, that were not there before."""
        if self.hooked.is_due() and data_state.lock.acquire(blocking=False):
            try:
                self.hooked.place_more(self.codes)
            finally:
                data_state.lock.release()

    def _enter_hooked(self) -> None:
        for code in list(self.hooked.made):
            lines = self.hooked.lines_of(code)
            if code not in self.codes and lines.writes:
                self._know(code, lines)
                self.known_exits[code] = self.exits.get(code)

    def _came(self, frame: Any, code: Any, line: int) -> None:
        """Some lines of a code have been events while all is quiet. It looks itself, now or from now on."""
        if code not in self.hooked.made:
            self.to_hook.come(frame, code, line)
            return
        self.to_hook.wait_at(code)
        if code not in self.armed and data_state.lock.acquire(blocking=False):
            try:
                if self.is_quiet:
                    self._leave_hooked()
            finally:
                data_state.lock.release()

    def _leave_hooked(self) -> None:
        """Their lines are no events any more; but of what another thread is about to write, perhaps, later."""
        at_writes = self.hooked.codes_at_writes()
        for code in list(self.hooked.made):
            if code in self.codes and code not in self.armed and code not in at_writes:
                self._leave(code)

    def _take_hooks_away(self) -> None:
        hooked, self.hooked = self.hooked, HookedCodes([], self.tool)
        self.to_hook = FramesToHook(self.hooked)
        self.known_exits.clear()
        hooked.take_away()

    def _hook_jumped(self, frame: Any, code: Any, offset: int, target: int) -> Any:
        """A jump in such a code while all is quiet: perhaps a look has found something."""
        report = self.hooked.reported_at(code, offset)
        if report:
            self._look_found(report, frame, offset)
            return None
        if code not in self.codes:
            return MONITORING.DISABLE
        if all(watch.peek() is watch.last for watch in self.watches):
            return self._jump(frame, code, offset, target)
        return self._changed("JUMP", frame, None, 0, code, offset, target)

    def _look_found(self, report: str, frame: Any, offset: int) -> None:
        """From here on the code has events, as if it had had them before."""
        self.look_closely()
        self.patience = min(2 * self.patience, MOST_PATIENCE)
        if report == DUE:
            attempt(settle_before, frame)
        else:
            self._begin_found(frame, offset)

    def _begin_found(self, frame: Any, offset: int) -> None:
        """By the jump that lies there: the frame itself is beyond it."""
        code = frame.f_code
        line = line_of_any(code, offset) or line_that_raised(frame)
        lines = self.codes.get(code) or self.hooked.lines_of(code)
        if line in lines.writes and not is_asked(frame):
            attempt(begin_found_writes, frame, line)

    def before_stop(self) -> None:
        """A thread is about to stop: what is under way there counts, and after it all begins anew."""
        self.look_closely()
        self.patience = LEAST_PATIENCE

    def look_closely(self) -> None:
        """Note the places of lines again, from where all frames stand now on."""
        if self.is_quiet:
            with Claiming():  # another thread may be about to do the same
                if self.is_quiet:
                    self._enter_hooked()
                    data_state.at.clear()
                    self.unnoted = UNSURE  # at the first of these events of each frame
                    call_at_events(self.tool, self.thorough)
                    note_lines_of_running(self.codes.get)
                    self.unnoted, self.is_quiet, self.calm = None, False, 0

    def _changed(
        self, name: str, frame: Any, last_code: Any, last_line: int, code: Any, *arguments: Any
    ) -> Any:
        """An event that is no more than compared has found a change, or may have."""
        if code not in self.codes and not self.hooked.lines_of(code).writes:
            return None  # it is unwound, within a statement of another that is not over
        self.look_closely()
        self.patience = min(2 * self.patience, MOST_PATIENCE)
        self._note_behind(name, frame, last_line if last_code is code else 0, arguments[0])
        return self.called[name](frame, code, *arguments)

    def _idles(self, frame: Any) -> None:
        """Nothing is under way in a code that wrote once: in the end few of its lines are events."""
        code = frame.f_code
        self.armed[code] = count = self.armed.get(code, 0) + 1
        if count > _MOST_IDLE and not self._is_pending_in(code):
            self._disarm(frame)

    def _is_pending_in(self, code: Any) -> bool:
        return any(frame.f_code is code for frame in list(data_state.pending))

    def _disarm(self, frame: Any) -> None:
        """Only those of its code's lines that may write are events from now on."""
        code = frame.f_code
        self.armed.pop(code)
        self._leave(code)
        self._meet(frame)

    def _return(self, frame: Any, code: Any, offset: int, value: Any) -> Any:
        self._leaves(frame, "return")
        is_needed = code in self.armed or any(watch.code is code for watch in self.watches)
        if not is_needed and offset in self.exits.get(code, NO_EXITS).calm_returns:
            return MONITORING.DISABLE
        return None

    def _yield(self, frame: Any, code: Any, offset: int, value: Any) -> None:
        self._leaves(frame, "yield")

    def _unwind(self, frame: Any, code: Any, offset: int, error: Any) -> None:
        if code in self.codes:
            self._leaves(frame, "unwind")

    def _leaves(self, frame: Any, event: str) -> None:
        self._leave_busy(frame)
        if self.codes.get(frame.f_code, NO_LINES) is NO_LINES and not is_under_way(frame):
            return
        if leaves_quietly(frame, self.watches):
            self._note_calm()
        else:
            self.calm = 0
            attempt(data_leave, frame, event)
