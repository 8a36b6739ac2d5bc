"""Threads that come to a breakpoint as they are to stand for another's stop: they are asked all the same.

pydevd leaves the breakpoints of a line out for a thread that is already to be suspended, and the
thread runs on from there when it is resumed. A pass would be neither counted nor logged nor a stop.
So it is with an exception that it raises then, and with a change at a data breakpoint that it has
just made. Here each is what it would have been a moment before: the thread has a stop of its own,
which is announced when its turn comes (see own_stops.py).
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import STEP_OVER, hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import tracing_state
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.stops.breakpoints import (
        names_in_condition,
        write_log,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.direct_questions import (
        question_of_arrival,
        was_asked,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.own_stops import (
        has_own_stops,
        own_stop_of,
        resume_epoch,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import pydevd_thread
    from relay.debuggers.debugpy.debuggee.probe.stops.threads import RUNNING, SUSPENDED
    from relay.debuggers.debugpy.debuggee.probe.writes.data_stops import keep_changes

_BREAKPOINT = 111  # pydevd's reason for a stop at one
_CAUGHT = "HANDLED"  # pydevd's kind of an exception that is looked at as it is raised


class _Raise(threading.local):
    """What pydevd has done about the exception that this thread raises."""

    was_asked = False  # it has looked for an exception breakpoint
    has_stood = False


_raise = _Raise()


def ask_on_arrival() -> bool:
    """From now on: what pydevd has not asked about as a thread stands is asked here."""
    hook_suspensions("arrival", before=_arrived)
    return True


def _arrived(thread: Any, frame: Any, event: str, argument: Any) -> bool:
    """False where the thread has stood by the time that this returns."""
    _raise.has_stood = True
    is_asked = was_asked()
    stands_for_others = own_stop_of(thread) is None and has_own_stops()
    if stands_for_others and event != "exception" and attempt(keep_changes, frame, default=False):
        debugger().set_suspend(thread, STEP_OVER)
    if event == "line":
        _arrived_at_line(thread, frame, is_asked)
    elif event == "exception" and argument is not None and own_stop_of(thread) is None:
        # Of a trace function: with `sys.monitoring` pydevd lets no thread stand for it.
        ask_about_raise(attempt, _raised, thread, frame, argument)
        return not _raise.has_stood
    return True


def _arrived_at_line(thread: Any, frame: Any, is_asked: bool) -> None:
    path, line = _filed_place(frame)
    breakpoint = _breakpoint_at(path, line)
    if breakpoint is None:
        return
    if not is_asked and own_stop_of(thread) is None:
        _ask(breakpoint, thread, frame)
    stop = own_stop_of(thread)
    if stop is not None and stop.reason == _BREAKPOINT:
        name = _relay_name(breakpoint)
        stop.is_wanted = lambda: _relay_name(_breakpoint_at(path, line)) == name


def _filed_place(frame: Any) -> tuple[str, int]:
    """As pydevd files its breakpoints."""
    files: Any = sys.modules["pydevd_file_utils"]
    return files.get_abs_path_real_path_and_base_from_frame(frame)[1], frame.f_lineno


def _breakpoint_at(path: str, line: int) -> Any:
    return (debugger().breakpoints.get(path) or {}).get(line)


def _relay_name(breakpoint: Any) -> str | None:
    """The relay's; pydevd has a new object for it whenever one is set in the same file."""
    return None if breakpoint is None else names_in_condition(breakpoint.condition)[1]


def _ask(breakpoint: Any, thread: Any, frame: Any) -> None:
    if not question_of_arrival(breakpoint, frame):
        return
    if not breakpoint.is_logpoint:
        debugger().set_suspend(thread, _BREAKPOINT, suspend_other_threads=True)
    else:
        write_log(breakpoint, frame)


# Exceptions


def ask_about_raise(inform: Any, *raised: Any) -> Any:
    """Inform pydevd of an exception, and have it look for an exception breakpoint.

    It looks for none where the thread is to stand: so the thread is one that runs, until it has
    looked. Another may have it stand again before that, and then pydevd is informed once more.
    """
    # It may be raised as Python makes a dummy for this thread: a second one would be known in its place.
    info = getattr(pydevd_thread(), "additional_info", None)
    if info is None or info.is_in_wait_loop:  # what runs in the wait loop is the client's
        return inform(*raised)
    while True:
        _raise.was_asked = _raise.has_stood = False
        with tracing_state.lock:
            epoch, is_to_stand = resume_epoch(), info.pydev_state == SUSPENDED
            if is_to_stand:
                info.pydev_state = RUNNING
        answer = inform(*raised)
        with tracing_state.lock:
            if _raise.has_stood:
                return answer
            is_overtaken = info.pydev_state == SUSPENDED
            if is_to_stand and epoch == resume_epoch():
                info.pydev_state = SUSPENDED
            if _raise.was_asked or not is_overtaken:
                return answer


def _raised(thread: Any, frame: Any, error: Any) -> None:
    """As pydevd asks, and stops."""
    pydevd: Any = sys.modules["_pydevd_bundle.pydevd_trace_dispatch"]
    py_db, info = debugger(), thread.additional_info
    stops, at, _ = pydevd.should_stop_on_exception(py_db, info, frame, thread, error, None)
    if stops:
        pydevd.handle_exception(py_db, thread, at, error, _CAUGHT)


def note_asked_about_raise() -> None:
    """pydevd looks for an exception breakpoint."""
    _raise.was_asked = True
