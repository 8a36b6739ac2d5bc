"""Stops at data breakpoints: one for each change, when the statement that has made it is over; or with a stop for
anything else that comes at the same place.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.state_targets import ABSENT
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import suspend_in
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import pydevd_thread, stop_at_return
    from relay.debuggers.debugpy.debuggee.probe.writes.data_breakpoints import release_watch
    from relay.debuggers.debugpy.debuggee.probe.writes.data_changes import changes_in
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import (
        SeenChange,
        data_state,
    )


# What the listeners report


def data_line(frame: Any, lines: Any) -> bool:
    """A line of this frame is about to run; `lines` are those of its code that write.

    Whether it has stopped there.
    """
    stops = _stop_for_each(changes_in(frame), frame, "line")
    if frame.f_lineno in lines.writes:
        data_state.at[threading.get_ident(), id(frame)] = frame.f_lineno
    return stops > 0


def data_leave(frame: Any, event: str = "return") -> None:
    """The frame is about to be left: by a return, a yield ("yield") or an exception ("unwind")."""
    stops = changes_in(frame)
    if event != "yield":
        stops += _ended_locals(frame)
    _stop_for_each(stops, frame, "return")


def _ended_locals(frame: Any) -> list[SeenChange]:
    ended = []
    for watch in data_state.lines():
        if watch.kind == "local" and watch.owner() is frame:
            ended.append(SeenChange(watch, watch.last, ABSENT, frame, frame.f_lineno, True, True))
            release_watch(watch, "its frame has returned")
    return ended


# At any stop


def _stop_for_each(changes: list[SeenChange], frame: Any, event: str) -> int:
    """One stop for each change. Others that a stop's own condition makes are stopped for, too."""
    ident, stops = threading.get_ident(), 0
    while changes:
        change = changes.pop(0)
        if change.watch.ended == "deleted":
            continue
        data_state.left[ident] = [change]
        if event == "return":
            attempt(stop_at_return, frame)
        else:
            attempt(suspend_in, frame, "line")
        # Still there where no stop was made: nobody debugs any more.
        changes += [one for one in data_state.left.pop(ident, []) if one is not change]
        stops += 1
    return stops


def steps_on() -> bool:
    """Whether this thread is in a step."""
    info = getattr(pydevd_thread(), "additional_info", None)
    return info is not None and info.pydev_step_cmd != -1


def change_at_stop(frame: Any) -> dict[str, Any] | None:
    """What the stop that is about to be made in this frame is for, if it is a data breakpoint."""
    if not data_state.watches and not data_state.left:
        return None
    ident, changes = threading.get_ident(), _changes_at_stop(frame)
    if not changes:
        return None
    change = data_state.shown[ident] = changes.pop(0)
    if changes:
        data_state.left[ident] = changes
    return {"id": change.watch.number, "ended": change.ended}


def keep_changes(frame: Any) -> bool:
    """A thread is to stand for another's stop: whether it has changed something itself, for which it stops now."""
    if not data_state.watches and not data_state.left:
        return False
    changes = _changes_at_stop(frame)
    if changes:
        data_state.left[threading.get_ident()] = changes
    return bool(changes)


def _changes_at_stop(frame: Any) -> list[SeenChange]:
    if data_state.listener is not None:
        attempt(data_state.listener.before_stop)
    ident = threading.get_ident()
    at = data_state.at.get((ident, id(frame)))
    changes: list[SeenChange] = attempt(changes_in, frame, default=[])
    if at is not None and at == frame.f_lineno:  # its statement is yet to run
        data_state.at[ident, id(frame)] = at
    return changes


def forget_shown(thread: Any, frame: Any, event: Any) -> None:
    """The thread runs on: nothing of the change is kept."""
    data_state.shown.pop(threading.get_ident(), None)
