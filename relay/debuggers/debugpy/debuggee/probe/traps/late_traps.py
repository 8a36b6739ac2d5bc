"""Breakpoints that come while their function is running: its frames get traps as the program goes on.

That is where a client sets most of them: it has stopped in there. A frame goes on in a code of its own then
(`under_way.py`). Where that cannot be, all is traced until the frame is left, as `placing.py` says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.program_tracing import function_of_program
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import (
        is_thread_traced,
        leave_thread,
        someone_steps_or_stops,
        trace_less,
        tracing_state,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.traps.coming import DebuggerAtWork
    from relay.debuggers.debugpy.debuggee.probe.traps.instructions import NoTrapError
    from relay.debuggers.debugpy.debuggee.probe.traps.trapped_codes import (
        PlacingTraps,
        trapped_code,
        traps_state,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.under_way import go_on_in_own_code

_MOST_LATE_FRAMES = 20
"""That get codes of their own, each of which takes milliseconds: what recurses deep is traced instead."""
_MOST_REMEMBERED = 1000
_tried: set[tuple[int, int, int, bool]] = set()
"""Frames and codes by their ids, offsets, and whether they were at a line: where it could not be."""


def begin_late_traps() -> None:
    """From now on frames get traps as the program goes on."""
    hook_suspensions("traps", after=_give_traps)


def _give_traps(thread: Any, frame: Any, event: str) -> None:
    """This thread goes on after a stop: callers first, since the frame itself may go on anew."""
    if not 0 < len(traps_state.frames) <= _MOST_LATE_FRAMES:
        return
    if tracing_state.holder is not None or tracing_state.data is not None:
        return
    if function_of_program() is not None or someone_steps_or_stops():
        return
    given, here = [], frame.f_back
    with DebuggerAtWork():
        while here is not None:
            given.append(_is_given(here, False))
            here = here.f_back
        given.append(event == "line" and _is_given(frame, True))
    if any(given):
        trace_less()
        if not is_thread_traced(debugger()):
            leave_thread()


def _is_given(frame: Any, is_at_line: bool) -> bool:
    if id(frame) not in traps_state.frames:
        return False
    this = id(frame), id(frame.f_code), frame.f_lasti, is_at_line
    if this in _tried:
        return False
    if len(_tried) >= _MOST_REMEMBERED:
        _tried.clear()
    _tried.add(this)
    return bool(attempt(_give, frame, is_at_line))


def _give(frame: Any, is_at_line: bool) -> bool:
    with PlacingTraps():
        try:
            trapped_code(frame.f_code)
            return go_on_in_own_code(traps_state.codes.get(frame.f_code), frame, is_at_line)
        except NoTrapError:
            return False
