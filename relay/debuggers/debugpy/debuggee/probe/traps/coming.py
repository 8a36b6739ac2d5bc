"""Where a thread comes to a trap: its line is about to begin, and it alone is traced.

The trap puts the debugger's trace function into the thread and into the frame. So the interpreter
reports the line that follows, pydevd does with it what it does with any line, and if nothing else
needs tracing then, both are taken out again. Where the thread is traced anyway, the trap does
nothing.

Knows whose trace function a thread may have. Refuses to know which lines have a trap.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.program_tracing import (
        function_of_program,
        is_trace_function_of_debugger,
        real_gettrace,
        real_settrace,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import (
        is_program_thread,
        is_thread_traced,
        trace_call,
        tracing_state,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at
    from relay.debuggers.debugpy.debuggee.probe.stops.breakpoints import (
        hit_here,
        report_hits_soon,
        stops_at,
        write_log,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.direct_questions import questions
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import pydevd_thread
    from relay.debuggers.debugpy.debuggee.probe.traps.inserted import inserted_in


class _ThreadAtTraps(threading.local):
    """Of one thread."""

    is_of_program = False  # as far as is known
    known: Any = (None, None)  # a debugger, and what it knows of the thread
    displaced: Any = None  # a trace function that an extension has set, as coverage does
    has_been_free = False  # of any trace function, as it came to the trap


class _Askable:
    """The breakpoints that can be asked at a trap without pydevd, in one state of it."""

    def __init__(self, state: Any) -> None:
        self.state = state
        self.found: dict[tuple[int, int], Any] = {}  # by id of the code, and offset in the trap


_at_traps = _ThreadAtTraps()
threads_at_work: set[int] = set()
"""In which the debugger calls what the program may call too, and what is looked at then."""
_askable = [_Askable(None)]  # replaced whole: other threads go on with theirs


class _TrapCall:
    """What a trap calls. A function that is pickled with its code has an `int` in its place, which
    may be called as well."""

    __slots__ = ()

    def __call__(self) -> None:
        frame, py_db = frame_at(1), debugger()
        questions.passed = None
        if py_db is None or py_db.pydb_disposed or not is_of_program():
            return
        info = info_of_thread(py_db)
        if info is not None:
            if info.is_tracing:  # what is asked or evaluated calls functions of the program
                return
            questions.asked = None  # of an earlier line
            if real_gettrace() is None and _is_passed(py_db, frame, info):
                return
        constants: Any = sys.modules["_pydevd_bundle.pydevd_constants"]
        set_function, function = real_settrace(), real_gettrace()
        is_foreign_one = function is not None and is_foreign(function)
        # Nothing in Python is called from here on: a thread that nothing needs to be traced any
        # more gives its trace function up at a call.
        is_free = real_gettrace() is None
        if not (is_free or is_foreign_one):
            local = frame.f_trace
            if local is not None and local is not constants.NO_FTRACE:
                return
            frame.f_trace = _trace_line
            return
        _at_traps.has_been_free = is_free
        _at_traps.displaced = None if is_free else function
        frame.f_trace = _trace_line
        set_function(trace_call)

    def __reduce__(self) -> Any:
        return type, (0,)


TRAP = _TrapCall()


class DebuggerAtWork:
    """While this thread is among `threads_at_work`. None of `contextlib`, which may be looked at, too."""

    __slots__ = ("_ident",)

    def __enter__(self) -> None:
        ident = threading.get_ident()
        self._ident = None if ident in threads_at_work else ident
        threads_at_work.add(ident)

    def __exit__(self, *error: object) -> None:
        if self._ident is not None:
            threads_at_work.discard(self._ident)


def is_at_work() -> bool:
    """Whether this thread is one of them."""
    return bool(threads_at_work) and threading.get_ident() in threads_at_work


def info_of_thread(py_db: Any) -> Any:
    """What pydevd knows of this thread; None before its first event."""
    known, info = _at_traps.known
    if known is not py_db or info is None:
        info = getattr(pydevd_thread(), "additional_info", None)
        _at_traps.known = py_db, info
    return info


def _is_passed(py_db: Any, frame: Any, info: Any) -> bool:
    """Whether the breakpoint of the line has been asked, and does not stop the program.

    pydevd is not called for that: it takes several times as long. One that is to stop is asked once
    all the same: pydevd gets the answer that there is.
    """
    breakpoint = _breakpoint_of(py_db, frame)
    if breakpoint is None or breakpoint is _ASKED_BY_LINE:
        return breakpoint is None
    info.is_tracing += 1
    try:
        stops = stops_at(breakpoint, frame)
        if stops and breakpoint.is_logpoint:
            write_log(breakpoint, frame)
            stops = False
    finally:
        info.is_tracing -= 1
    if stops:
        questions.answered = breakpoint
    else:
        questions.passed = breakpoint
        report_hits_soon()
    return not stops


_ASKED_BY_LINE = "by its line"
"""In the place of a breakpoint that pydevd is to ask: one in a code that is a copy of another one with traps."""


def _breakpoint_of(py_db: Any, frame: Any) -> Any:
    """The breakpoint that a trap stands for; None if it has been taken away."""
    state, askable = (py_db, py_db.mtime), _askable[0]
    if askable.state != state:
        askable = _askable[0] = _Askable(state)
    code, at = frame.f_code, frame.f_lasti
    if (id(code), at) not in askable.found:
        with DebuggerAtWork():
            askable.found[id(code), at] = _breakpoint_behind(py_db, code, at)
    return askable.found[id(code), at]


def _breakpoint_behind(py_db: Any, code: Any, at: int) -> Any:
    behind = inserted_in(code).get(at)
    if behind is None:
        return _ASKED_BY_LINE
    line = next(line for start, end, line in code.co_lines() if start <= behind < end)
    files: Any = sys.modules["pydevd_file_utils"]
    path = files.get_abs_path_real_path_and_base_from_file(code.co_filename)[1]
    return (py_db.breakpoints.get(path) or {}).get(line)


def is_of_program() -> bool:
    """Whether this thread is none of the debugger's own."""
    if (
        not _at_traps.is_of_program
    ):  # one that is at work for the debugger, as in an attach, may be it yet
        _at_traps.is_of_program = is_program_thread(threading.get_ident())
    return _at_traps.is_of_program


def is_foreign(function: Any) -> bool:
    """Whether an extension has put its trace function in the place that debugger and program share."""
    return (
        tracing_state.holder is None
        and function_of_program() is None
        and not is_trace_function_of_debugger(function)
    )


def _trace_line(frame: Any, event: str, arg: Any) -> Any:
    """The trace function of a frame that has come to a trap: for the event that follows."""
    local, py_db = None, debugger()
    if event == "line" and py_db is not None:
        local = py_db.get_thread_local_trace_func()(frame, event, arg)
    if questions.answered is not None:  # its breakpoint was taken away
        questions.answered = None
        hit_here()
    displaced, _at_traps.displaced = _at_traps.displaced, None
    if displaced is not None:
        return _give_back(displaced, frame, event, arg)
    has_been_free, _at_traps.has_been_free = _at_traps.has_been_free, False
    if not has_been_free or real_gettrace() is not trace_call:
        return local  # or a question begun at a stop has put its own function there
    tracing_state.is_on = False
    frame.f_trace = None
    real_settrace()(None)
    if py_db is None or not is_thread_traced(py_db):
        return None
    real_settrace()(trace_call)  # for a step, or another thread's stop
    frame.f_trace = py_db.trace_dispatch
    return local


def _give_back(displaced: Any, frame: Any, event: str, arg: Any) -> Any:
    """Let an extension's trace function go on, in the callers that a stop has had traced, too."""
    local = displaced(frame, event, arg)
    caller = frame.f_back
    while caller is not None:
        if caller.f_trace is not None and is_trace_function_of_debugger(caller.f_trace):
            caller.f_trace = displaced
        caller = caller.f_back
    real_settrace()(displaced)
    return local
