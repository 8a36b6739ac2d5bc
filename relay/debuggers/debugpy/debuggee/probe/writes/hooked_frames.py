"""Frames that were running when their code was to look whom it writes to, on Python 3.12 and 3.13.

Each goes on in such a code that is made for it, at an event of a line while nothing changes. It needs a little
more stack than it began with: of its thread's memory, as it stands there last. A generator's frame has no more
than its own. Refuses to know which codes look, and at what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import GOES_ON_LATER
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_memory import stack_depths
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_moves import (
        function_of,
        go_on_from_event,
        room_for,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.idle_events import does_nothing_at
    from relay.debuggers.debugpy.debuggee.probe.hooks.monitoring_tool import MONITORING
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.traps.trapped_codes import FUNCTION
    from relay.debuggers.debugpy.debuggee.probe.traps.write_hooks import (
        HOOK_STACK,
        FramePlace,
        entrance_in,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import data_state
    from relay.debuggers.debugpy.debuggee.probe.writes.hook_looks import depth_within
    from relay.debuggers.debugpy.debuggee.probe.writes.hooked_codes import HookedCodes
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import NO_LINES, WriteLines

_MOST_HOOKED_FRAMES = 50  # that get a code of their own
_LEAST_LINES = 2000  # events of a code before it is worth it: as long as that takes
_LINES_BETWEEN = 20  # before it is tried again where it could not be done


class FramesToHook:
    """Those of some data breakpoints."""

    def __init__(self, hooked: HookedCodes) -> None:
        # Ids of codes that have such frames: how many lines to wait.
        self.codes: dict[int, int] = {}
        self._hooked = hooked
        self._known = CodeTable()  # codes with events, with their WriteLines
        self._stay = CodeTable()  # codes whose frames go on as they are
        self._patience = CodeTable()  # by code, how many lines the next frame of it waits
        self._made = 0

    def find(self, known: CodeTable) -> None:
        """Which there may be, of codes that have events: with their WriteLines. Those that look wait too, until they
        have no events any more."""
        self.codes.clear()
        self._known = known
        may_be_more = bool(self._hooked.watches) and self._made < _MOST_HOOKED_FRAMES
        for code in known:
            if code in self._hooked.made:
                self.wait_at(code)
            elif may_be_more and code not in self._stay and known.get(code).writes:
                self.codes[id(code)] = self._patience.get(code, _LEAST_LINES)

    def wait_at(self, code: Any) -> None:
        """Some lines more of a code that has events."""
        self.codes[id(code)] = _LINES_BETWEEN

    def come(self, frame: Any, code: Any, line: int) -> None:
        """A line of such a frame is about to begin, and nothing has changed: it goes on in another code, if it
        can here."""
        self.wait_at(code)
        if not does_nothing_at(code, line) or not data_state.lock.acquire(blocking=False):
            return
        try:
            goes_on = self._goes_on(frame, self._known.get(code, NO_LINES))
        finally:
            data_state.lock.release()
        self._patience[code] = 2 * self._patience.get(code, _LEAST_LINES)
        if goes_on:
            self.codes[id(code)] = self._patience.get(code)
        else:
            self._stay[code] = True
            self.codes.pop(id(code), None)

    def _goes_on(self, frame: Any, lines: WriteLines) -> bool:
        code, hooked = frame.f_code, self._hooked
        is_local = any(one is code for one in hooked.locals)
        if is_local or not hooked.can_be or self._made >= _MOST_HOOKED_FRAMES:
            return False
        function = function_of(frame)
        looks = hooked.looks_of(function, code, lines)
        if looks and type(function) is FUNCTION and function.__code__ is code:
            hooked.give(function, lines)  # for whoever calls it next
        place = attempt(_place_of, frame, looks) if looks else None
        made = attempt(hooked.make, code, looks, place) if place else None
        if made is None:
            return False
        self._made += 1
        of_debugger = MONITORING.get_local_events(MONITORING.DEBUGGER_ID, code)
        MONITORING.set_local_events(MONITORING.DEBUGGER_ID, made, of_debugger)
        return go_on_from_event(frame, made, entrance_in(made))


def _place_of(frame: Any, looks: dict[int, Any]) -> FramePlace | None:
    """Where it comes into its code with looks; None if it has no room for them."""
    code = frame.f_code
    depths = stack_depths(code)
    if depth_within(looks, depths) + HOOK_STACK <= code.co_stacksize:
        return FramePlace(frame.f_lasti, None)
    has_own_memory = code.co_flags & GOES_ON_LATER
    if has_own_memory or depths[frame.f_lasti] >= code.co_stacksize:
        return None
    room = room_for(frame, code.co_stacksize + HOOK_STACK)
    return None if room is None else FramePlace(frame.f_lasti, room)
