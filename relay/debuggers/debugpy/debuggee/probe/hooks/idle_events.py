"""Events that pydevd asks for and does nothing at: from 3.12 on the interpreter leaves them out.

pydevd gets an event of every line of a function with a breakpoint, of each of its calls, and, once it was
stepped through, of its returns: a loop there takes fifty times as long. Here a callback of ours
stands before each of pydevd's. Where no breakpoint is on the line, and nobody steps or is to stop,
it has the interpreter report this place no more (`DISABLE`).

Whatever may need such a place again calls for all of them by pydevd's `restart_events`: breakpoints
that are set, a pause, a stop; and, here, each step as it begins. What was found out before that
call counts no more after it: every such call has an epoch of its own begin, and a place is left out
only if its epoch still lasts. The comparison is the callback's last act, and no other thread runs
between it and the interpreter's own note: they change hands at calls and at jumps back only. Where no place
was left out in the epoch that ends, there is nothing to call for: the interpreter would go through all code
that runs, three times at each step.

Knows pydevd's callbacks, and when they do nothing. Refuses to know what a stop is.
"""

from __future__ import annotations

import os
import sys
import threading
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import operations_named
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        debugger_threading,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.monitoring_tool import (
        MONITORING,
        instructions_wanted_by,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.own_modules import give_back_own_modules
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import (
        is_program_thread,
        someone_steps_or_stops,
        tracing_state,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, frame_at
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.stops.arrivals import ask_about_raise
    from relay.debuggers.debugpy.debuggee.probe.stops.direct_questions import (
        ask_directly,
        begin_questions,
        end_questions,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import (
        any_thread_steps,
        events_module,
        pydevd_thread,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.threads import SUSPENDED

EVERY_LINE = "DEBUG_RELAY_EVERY_LINE"
"""A variable of the debuggee's environment: if set, pydevd gets all events, as without us."""


def is_every_line_wanted() -> bool:
    """Whether it is set. Calls no function of `os`: a recording may be about those."""
    data: Any = getattr(os.environ, "_data", os.environ)
    return bool(data.get(EVERY_LINE.encode()) or data.get(EVERY_LINE))


_MANY_OWN_CALLS = 2000
_LONGEST_INSTRUCTION = 8  # bytes: three that extend its argument, and itself
_TOOLS = range(6)  # all that there can be
_RESUMES = operations_named(("RESUME",))
_OURS = "_debug_relay_callback"  # a mark of functions: of this probe, or of another relay's


def _no_callback(*_: Any) -> None:
    """pydevd's, before it first needs any events."""


class _Epoch:
    """What holds until places may be needed again."""

    def __init__(self) -> None:
        self.quiet_files: set[str] = set()  # in which pydevd looks for functions by name only
        self.has_left_out = False  # a place, or is about to
        self.own_calls = 0  # events of the debugger's own threads, about


class _IdleEvents:
    """What is between the interpreter and pydevd."""

    def __init__(self) -> None:
        self.are_left_out = False
        self.epoch = _Epoch()
        self.line: Any = _no_callback  # pydevd's, as it registered them last
        self.start: Any = _no_callback
        self.leave: Any = _no_callback
        self.error: Any = _no_callback


class _ThisThread(threading.local):
    is_known = False  # to pydevd, which learns of some threads at their first event only
    is_debuggers: bool | None = None  # None until its first event


_idle = _IdleEvents()
_this_thread = _ThisThread()
_own_lines = CodeTable()  # whether the code has any
_with_known_file = CodeTable()  # codes of which pydevd knows whose file they are in
_passed_on: set[int] = set()  # ids of the code of callbacks that stand before pydevd's


def leave_idle_events_out() -> bool:
    """From now on. False where it is not wanted, or where there is no `sys.monitoring` to ask."""
    constants: Any = sys.modules["_pydevd_bundle.pydevd_constants"]
    if is_every_line_wanted() or not constants.PYDEVD_USE_SYS_MONITORING:
        return False
    keep_frames()
    for callback in (_on_line, _on_start, _on_leave, _on_raise, ask_about_raise):
        pass_on(callback)
    module = events_module()
    patch(module, "restart_events", _restart_events)
    _idle.are_left_out = _idle.epoch.has_left_out = True  # pydevd may have, before us
    module.update_monitor_events()
    module.restart_events()
    return True


def _restart_events(restart: Any) -> None:
    begun = _Epoch()
    before, _idle.epoch = _idle.epoch, begun  # no other thread runs in between
    if before.has_left_out:
        restart()


def present_epoch() -> Any:
    """What `leave_out` is to be given by a callback that has looked since."""
    return _idle.epoch


def leave_out(epoch: Any) -> Any:
    """What a callback answers, last of all, which needs its place no more as far as it has found in this epoch."""
    epoch.has_left_out = True
    return MONITORING.DISABLE if _idle.epoch is epoch else None


def is_in_debuggers_thread() -> bool:
    """Whether this thread is one of the debugger's own. While the program stands every call there is an
    event: a step makes a hundred, of which pydevd finds out each time that they are nothing to it."""
    known = _this_thread.is_debuggers
    if known is None:
        ident = debugger_threading().get_ident()
        if ident not in debugger_threading()._active:
            return False  # it begins: it is not known yet whose it is
        known = _this_thread.is_debuggers = not attempt(is_program_thread, ident, default=True)
    return known


def be_of_debugger() -> Callable[[], None]:
    """This thread of the program is as one of those from now on: pydevd is to get no event of it. Returns
    what makes it one of the program's again."""
    before, _this_thread.is_debuggers = _this_thread.is_debuggers, True

    def be_of_program() -> None:
        _this_thread.is_debuggers = before

    return be_of_program


def pass_own_call(code: Any) -> Any:
    """What a callback answers in one of those. An answer about thousands of tasks makes a million such events while
    a pause is under way, which take longer than itself: after many of them the debugger's code has none until
    places may be needed again. Not at once, since to call for places takes as long as thousands of events."""
    epoch = _idle.epoch
    epoch.own_calls += 1
    if epoch.own_calls < _MANY_OWN_CALLS or not is_debugger_file(code.co_filename):
        return None
    return leave_out(epoch)


def stand_before_pydevd() -> None:
    """It has just registered its callbacks, or none where it needs no events."""
    if not _idle.are_left_out:
        return
    events = MONITORING.events
    _idle.line = _register(events.LINE, _on_line) or _idle.line
    _idle.start = _register(events.PY_START, _on_start) or _idle.start
    _idle.leave = _register(events.PY_RETURN, _on_leave) or _idle.leave
    _idle.error = _register(events.RAISE, _on_raise) or _idle.error


def _register(event: int, callback: Any) -> Any:
    """pydevd's, which this one takes the place of; None if there is none.

    Ours is never taken away: without one, a place that is an event is not left out, and costs.
    """
    theirs = MONITORING.register_callback(MONITORING.DEBUGGER_ID, event, callback)
    return None if hasattr(theirs, _OURS) else theirs


# Frames


def pass_on(callback: Any) -> None:
    """This function is called in the place of pydevd's, and calls that: it has no place on a stack."""
    setattr(callback, _OURS, True)
    _passed_on.add(id(callback.__code__))


def keep_frames() -> None:
    """Have pydevd's callbacks find the program's frame, past ours, and whatever the program does to
    `sys._getframe`: what they raise would go up in the program."""
    compiled: Any = sys.modules.get("_pydevd_sys_monitoring_cython")
    if compiled is not None:
        # What it has imported, and no name of pydevd's; looked up at each event.
        vars(compiled)["sys"] = types.SimpleNamespace(_getframe=program_frame)
    plain: Any = sys.modules.get("_pydevd_sys_monitoring._pydevd_sys_monitoring")
    if plain is not None:
        vars(plain)["_getframe"] = program_frame


def program_frame(depth: int = 0) -> Any:
    """`sys._getframe`, for a callback that pydevd was called by one of ours for."""
    frame: Any = frame_at(depth + 1)
    while id(frame.f_code) in _passed_on:
        frame = frame.f_back
    return frame


# What needs a place


def does_nothing_at(code: Any, line: int) -> bool:
    """Whether pydevd has nothing to do where this thread comes to a line of this code."""
    return _is_nothing_under_way(code) and _is_line_idle(code, line)


def _breakpoint_lines(py_db: Any, code: Any) -> Any:
    """The lines of this code's file that have a breakpoint: found as pydevd finds them."""
    files: Any = sys.modules["pydevd_file_utils"]
    path = files.get_abs_path_real_path_and_base_from_file(code.co_filename)[1]
    return py_db.breakpoints.get(path) or ()


def _is_line_idle(code: Any, line: int, frame: Any = None) -> bool:
    """Whether no breakpoint is on this line, and its event can be left out; `frame` has come to it."""
    try:
        has_breakpoint = line in _breakpoint_lines(debugger(), code)
    except Exception as error:
        if is_from_outside(error):
            raise
        return False
    return not has_breakpoint and not _would_lose_instruction(code, frame)


def _would_lose_instruction(code: Any, frame: Any) -> bool:
    """Whether a tool gets the instruction as an event with which the line begins, as the log of writes may.

    CPython's own fault (seen on 3.12.1 and 3.13.0): where a callback of lines answers DISABLE, the
    event of the line's first instruction is left out this once. `frame` is at that; if it is not
    known, it may be any of the code.
    """
    instructions = MONITORING.events.INSTRUCTION
    begins = None if frame is None or frame.f_code is not code else frame.f_lasti
    try:
        return any(
            begins is None or _wants_instruction_at(tool, code, begins)
            for tool in _TOOLS
            if MONITORING.get_tool(tool) is not None
            and (MONITORING.get_events(tool) | MONITORING.get_local_events(tool, code))
            & instructions
        )
    except ValueError:  # another thread has just given one back
        return True


def _wants_instruction_at(tool: int, code: Any, offset: int) -> bool:
    """Whether the tool does something at the instruction that begins there, with its EXTENDED_ARGs."""
    asked = instructions_wanted_by.get(tool)
    if asked is None:
        return True
    wanted = asked(code)
    return any(at in wanted for at in range(offset, offset + _LONGEST_INSTRUCTION, 2))


def _is_start_idle(code: Any) -> bool:
    """Whether all that pydevd does at calls of this code is done: its lines are events by now."""
    try:
        local = MONITORING.get_local_events(MONITORING.DEBUGGER_ID, code)
        return (
            bool(local & MONITORING.events.LINE)
            and has_lines_of_its_own(code)
            and _is_nothing_under_way(code)
            and _is_unnamed(code)
        )
    except Exception as error:
        if is_from_outside(error):
            raise
        return False


def _is_file_quiet(code: Any) -> bool:
    """Whether pydevd looks for functions by name only in all the code of this one's file, as
    breakpoints are now."""
    try:
        return _is_nothing_under_way(code) and not _breakpoint_lines(debugger(), code)
    except Exception as error:
        if is_from_outside(error):
            raise
        return False


def _is_unnamed(code: Any) -> bool:
    """Whether no breakpoint is on functions of this one's name."""
    return code.co_name not in debugger().function_breakpoint_name_to_breakpoint


def has_lines_of_its_own(code: Any) -> bool:
    """Whether its first line is not the one that it is defined in: `lambda: 0` has none.

    CPython's own fault (seen on 3.13.0): where calls are no events, it reports no line that goes on
    from the instruction that begins them. So they stay events.
    """
    known = _own_lines.get(code)
    if known is None:
        operations = code.co_code
        offset = next(n for n in range(0, len(operations), 2) if operations[n] in _RESUMES)
        lines = [line for start, end, line in code.co_lines() for _ in range(start, end, 2)]
        known = _own_lines[code] = lines[offset // 2] != lines[offset // 2 + 1]
    return bool(known)


def _is_nothing_under_way(code: Any) -> bool:
    """Whether breakpoints on lines are all that pydevd looks for in this code, which this thread
    runs: nobody steps there, or is to stop."""
    py_db = debugger()
    try:
        if py_db is None or py_db.pydb_disposed or py_db.has_plugin_line_breaks:
            return False
        if tracing_state.requests:
            return False
        # The quick question; the other one knows what it leaves out.
        return not any_thread_steps() and not someone_steps_or_stops()
    except Exception as error:
        if is_from_outside(error):
            raise
        return False


# The callbacks


def _on_line(code: Any, line: int) -> Any:
    epoch = _idle.epoch
    stops = ask_directly(code, line, epoch)
    if stops is False:
        return None
    is_quiet = _is_nothing_under_way(code)
    frame = frame_at(1)
    if is_quiet and not stops and _is_line_idle(code, line, frame) and _idle.epoch is epoch:
        return leave_out(epoch)
    give_back_own_modules()
    begin_questions()
    answer = _idle.line(code, line)
    end_questions(code, line, epoch if is_quiet and _idle.epoch is epoch else None)
    if answer is None or _would_lose_instruction(code, frame):
        return None
    return leave_out(epoch)


def _on_start(code: Any, offset: int) -> Any:
    if is_in_debuggers_thread():
        return pass_own_call(code)
    epoch = _idle.epoch
    # The first call of each function costs pydevd ten times as much, and most are of libraries.
    is_quiet = code.co_filename in epoch.quiet_files and _this_thread.is_known
    if is_quiet and _is_nothing_under_way(code) and _is_unnamed(code):
        return leave_out(epoch)
    if code not in _with_known_file:
        attempt(_find_file_of, code, frame_at(1))
    give_back_own_modules()
    answer = _idle.start(code, offset)
    _this_thread.is_known = True
    if answer is None and _is_start_idle(code):
        answer = MONITORING.DISABLE
    elif answer is MONITORING.DISABLE and _is_file_quiet(code):
        epoch.quiet_files.add(code.co_filename)
    return None if answer is None else leave_out(epoch)


def _find_file_of(code: Any, frame: Any) -> None:
    """Ahead of pydevd, which finds it out in a bare `except`. What a handler of a signal raises at the jump
    back from there, Python 3.12 takes for raised in the `try` that it jumps behind: it was lost."""
    files: Any = sys.modules["pydevd_file_utils"]
    names = files.get_abs_path_real_path_and_base_from_file(code.co_filename)
    debugger().get_file_type(frame, names)
    _with_known_file[code] = True


def _on_leave(code: Any, offset: int, value: Any) -> Any:
    epoch = _idle.epoch
    if _is_nothing_under_way(code):
        return leave_out(epoch)
    return None if _idle.leave(code, offset, value) is None else leave_out(epoch)


def _on_raise(code: Any, offset: int, error: Any) -> Any:
    return ask_about_raise(_idle.error, code, offset, error)


def stand_at_jump(code: Any, offset: int, target: int) -> Any:
    """pydevd has jumps be events wherever lines are. One is needed where a thread is to stand: a loop that
    is on one line has no event of a line after its first."""
    epoch = _idle.epoch
    if target <= offset and attempt(_stand_if_asked, frame_at(1), default=False):
        return None
    return leave_out(epoch)


def _stand_if_asked(frame: Any) -> bool:
    """Whether this thread is to stand for a pause, or for another thread's stop; then it has stood."""
    thread = pydevd_thread()
    info = getattr(thread, "additional_info", None)
    if info is None or info.pydev_state != SUSPENDED or info.is_in_wait_loop or info.is_tracing:
        return False
    py_db = debugger()
    if py_db is None or py_db.pydb_disposed:
        return False
    info.trace_suspend_type = "sys_monitor"
    # No line that it comes to: a breakpoint there has been passed.
    py_db.do_wait_suspend(thread, frame, "jump", None)
    return True
