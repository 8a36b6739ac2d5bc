"""Threads that come to a breakpoint as they are to stand for another's stop: they are asked all the same.

pydevd leaves the breakpoints of a line out for a thread that is already to be suspended, and the
thread runs on from there when it is resumed. A pass would be neither counted nor logged nor a stop.
Here it is what it would have been a moment before: the thread has a stop of its own, which is
announced when its turn comes (see own_stops.py).
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.stops.breakpoints import names_in_condition
    from relay.debuggers.debugpy.debuggee.probe.stops.direct_questions import (
        question_of_arrival,
        was_asked,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.own_stops import own_stop_of

_BREAKPOINT = 111  # pydevd's reason for a stop at one


def ask_on_arrival() -> bool:
    """From now on: what pydevd has not asked about as a thread stands is asked here."""
    hook_suspensions("arrival", before=_arrived)
    return True


def _arrived(thread: Any, frame: Any, event: str) -> None:
    is_asked = was_asked()
    if event != "line":
        return
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
    py_db, info = debugger(), thread.additional_info
    if breakpoint.expression is not None:
        py_db.handle_breakpoint_expression(breakpoint, info, frame)
    if not question_of_arrival(breakpoint, frame):
        return
    if not breakpoint.is_logpoint:
        py_db.set_suspend(thread, _BREAKPOINT, suspend_other_threads=True)
    elif info.pydev_message:
        text = py_db.cmd_factory.make_io_message(info.pydev_message + os.linesep, "1")
        py_db.writer.add_command(text)
