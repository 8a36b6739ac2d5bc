"""Breakpoints that are asked without pydevd: it takes several times as long to ask them.

What pydevd has asked about at a line, without a stop, it asks about again whenever this thread comes
there, as long as breakpoints stay as they are and nobody steps or is to stop. So the next time the
question is put here, and pydevd is called only to stop: then it is given the answer that there is.
A log point whose condition holds is written here.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.idle_events import program_frame
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, frame_at
    from relay.debuggers.debugpy.debuggee.probe.stops.breakpoints import (
        asked_condition,
        hit_here,
        names_in_condition,
        report_hits_soon,
        stops_at,
        write_log,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.captures import captures_by_name


_PASSES = 32  # of breakpoints that do not stop, before hits are looked at that were not announced


class _DirectQuestion(NamedTuple):
    """A breakpoint of a line, in one code."""

    code: Any  # kept, so that its id is no other's
    breakpoint: Any
    name: str | None
    ask: Any
    """Its condition as a function of the frame, if it asks for nothing else."""


class _Known:
    """Where this thread asks by itself: in one epoch, and of one set of breakpoints."""

    __slots__ = ("breakpoints", "epoch", "mtime", "passes", "py_db")

    def __init__(self, epoch: Any, py_db: Any) -> None:
        self.epoch, self.py_db, self.mtime, self.passes = epoch, py_db, py_db.mtime, 0
        self.breakpoints: dict[tuple[int, int], _DirectQuestion] = {}  # by id of the code, and line


class _Questions(threading.local):
    """Of one thread."""

    known: _Known | None = None
    asked: Any = None  # the breakpoint that pydevd has asked about last
    answered: Any = None  # one that is to stop, of which pydevd does not know yet
    passed: Any = None  # one that does not stop, whose line pydevd may get all the same
    knows_begin = False  # of each line: a trace function gets no such event


questions = _Questions()


def ask_directly(code: Any, line: int, epoch: Any) -> bool | None:
    """Whether the breakpoint here stops the program; None where pydevd must be asked.

    Called by the callback of lines itself. Each line in it counts: loops come here.
    """
    known = questions.known
    if known is None or known.epoch is not epoch or known.mtime != known.py_db.mtime:
        return None
    found = known.breakpoints.get((id(code), line))
    if found is None:
        return None
    frame: Any = frame_at(2)
    while frame.f_code is not code:  # another callback may stand before that of lines
        frame = frame.f_back
    _, breakpoint, name, ask = found
    if ask is None or ask.__globals__ is not frame.f_globals or name in captures_by_name:
        stops = stops_at(breakpoint, frame)
    else:
        try:
            holds = ask(frame)
        except BaseException as error:  # noqa: BLE001  it is looked at there
            stops = stops_at(breakpoint, frame, _RaisedByCondition(error))
        else:
            stops = holds and stops_at(
                breakpoint, frame, _condition_held if holds is True else None
            )
    if stops and breakpoint.is_logpoint:
        write_log(breakpoint, frame)
    elif stops:
        questions.answered = breakpoint
        return True
    else:
        known.passes += 1
        if not known.passes % _PASSES:
            report_hits_soon()
    return False


def _condition_function(condition: str, frame: Any) -> Any:
    return asked_condition(condition).function_for(frame)


def _condition_held(frame: Any) -> bool:
    """A condition that has been asked, and holds."""
    return True


class _RaisedByCondition:
    """One that raised this."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(self, frame: Any) -> Any:
        raise self.error


def question_of_pydevd(breakpoint: Any, frame: Any) -> bool:
    """Whether this breakpoint of a line stops the program."""
    questions.asked = breakpoint
    if questions.answered is breakpoint:
        questions.answered = None
        return True
    if questions.passed is breakpoint:
        questions.passed = None
        return False
    stops: bool = stops_at(breakpoint, frame)
    if not stops:
        report_hits_soon()
    return stops


def begin_questions() -> None:
    """pydevd is about to get the event of a line."""
    questions.asked = None
    questions.knows_begin = True


def was_asked() -> bool:
    """Whether pydevd has asked about a breakpoint at the line where this thread is about to stand.
    To be asked once a line."""
    asked, questions.asked = questions.asked, None
    return asked is not None


def question_of_arrival(breakpoint: Any, frame: Any) -> bool:
    """Whether it stops the program, where pydevd has not asked."""
    try:
        return question_of_pydevd(breakpoint, frame)
    finally:
        questions.asked = None


def end_questions(code: Any, line: int, epoch: Any) -> None:
    """It was, and did not stop. `epoch`: in which nothing has been under way since; or None."""
    if questions.answered is not None:  # it was not interested: the breakpoint was taken away
        questions.answered = None
        hit_here()
    breakpoint, py_db = questions.asked, debugger()
    if epoch is None or breakpoint is None or py_db is None:
        return
    known = questions.known
    if known is None or known.epoch is not epoch or known.mtime != py_db.mtime:
        known = questions.known = _Known(epoch, py_db)
    condition, name = names_in_condition(breakpoint.condition)
    is_all = condition is not None and not (breakpoint.hit_condition or breakpoint.is_logpoint)
    ask = attempt(_condition_function, condition, program_frame(1)) if is_all else None
    known.breakpoints[id(code), line] = _DirectQuestion(code, breakpoint, name, ask)
