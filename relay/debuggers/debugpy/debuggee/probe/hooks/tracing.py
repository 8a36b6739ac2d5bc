"""No price: a program is traced only while something needs it.

Before Python 3.12 the debugger gets its events by a trace function in each thread, which costs
even where it has nothing to do. Here that function is set when a breakpoint, a step, a pause or an
exception filter first needs it, in all threads, and each thread takes it out at its next call once
nothing does. While it is set, one of ours stands before pydevd's: it lets go at once of calls into
code that no breakpoint is in, as long as nobody steps or is to stop. On 3.11 breakpoints of lines
need none of this as a rule: see `traps/`.

From 3.12 on pydevd asks the interpreter for events only when they are needed, but then keeps them
until breakpoints change again. Here they end with the need.

Knows where pydevd sets its trace function, and what it traces for.
"""

from __future__ import annotations

import dis
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        debugger_threading,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.counting_thread import await_counting_briefly
    from relay.debuggers.debugpy.debuggee.probe.hooks.idle_events import keep_frames
    from relay.debuggers.debugpy.debuggee.probe.hooks.limit_of_frames import (
        AS_MANY_LEVELS,
        stand_back,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.limitations import apply_patch
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.hooks.program_tracing import (
        frames_shared_on,
        function_of_program,
        is_trace_function_of_debugger,
        real_gettrace,
        real_settrace,
        share_trace_functions,
        threads_that_share,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.struck import hand_on_what_strikes
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.process.ending import presence
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.stops.entry_stop import (
        enters_own_code,
        give_up_entry,
        is_entry_sought,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.own_stops import (
        forget_own_stops,
        note_own_stop,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.threads import SUSPENDED
    from relay.debuggers.debugpy.debuggee.probe.traps.coming import is_at_work
    from relay.debuggers.debugpy.debuggee.probe.traps.late_traps import begin_late_traps
    from relay.debuggers.debugpy.debuggee.probe.traps.placing import (
        begin_placing,
        begin_traps,
        forget_traps_at_fork,
        meet_code,
        need_tracing,
        place_traps,
        until_return,
    )

_SUSPEND_ARGUMENT = 4  # of pydevd.settrace, where it is not named


class _Tracing:
    """What is traced in this process."""

    def __init__(self) -> None:
        self.monitors = False  # by sys.monitoring; the rest is of no use there
        self.can_wait = False  # whether all threads can be traced later
        self.has_begun = False  # the program, or its debugger
        self.is_on = False  # every thread of the program has the trace function
        self.requests = 0  # stops that are being arranged for
        self.lock: Any = threading.RLock()  # held meanwhile
        self.data: Any = None  # the listener of data breakpoints, if there are any
        self.holder: Any = None  # who has the place for now, and hands on to ours


tracing_state = _Tracing()
_quiet_files: set[str] = set()
_quiet_codes: dict[int, Any] = {}
"""Calls of which pydevd need not trace: into these files, and of this code, by its id: itself, and
for data breakpoints their listener and the lines to compare at, or None and None. Replaced, never
emptied: a thread that has just found out about one by what held before does not report it."""


def trace_when_needed() -> bool:
    """Have pydevd trace only when it is needed. False where it is not for us to say."""
    constants: Any = sys.modules["_pydevd_bundle.pydevd_constants"]
    tracing_state.monitors = bool(getattr(constants, "PYDEVD_USE_SYS_MONITORING", False))
    pydevd: Any = sys.modules["pydevd"]
    if tracing_state.monitors:
        keep_frames()
    else:
        tracing: Any = sys.modules["pydevd_tracing"]
        if debugger().frame_eval_func is not None or tracing._load_python_helper_lib() is None:
            return False  # it costs little that way; or there is no way into threads that run
        tracing_state.can_wait = True
        patch(pydevd.PyDB, "enable_tracing", _enable_tracing)
        patch(pydevd.PyDB, "patch_threads", _patch_threads)
        if apply_patch("traps", begin_traps):
            attempt(begin_late_traps)
        attempt(await_counting_briefly)
        apply_patch("struck", hand_on_what_strikes)
        attempt(share_trace_functions)
    patch(pydevd.PyDB, "on_breakpoints_changed", _on_breakpoints_changed)
    patch(pydevd.PyDB, "set_suspend", _set_suspend)
    patch(pydevd, "settrace", _settrace)
    hook_suspensions("tracing", after=_trace_steps)
    return True


def trace_as_needed() -> bool:
    """The same where the debugger traces already: each thread is let go if nothing needs it."""
    if not trace_when_needed():
        return False
    py_db = debugger()
    # Else a thread of the program is at work for the debugger, before it is traced itself.
    if not tracing_state.monitors and py_db.ready_to_run:
        tracing_state.has_begun = True
        attempt(begin_placing, py_db, False)
        _trace_all_threads(py_db)
    return True


def wanted_trace_function() -> Any:
    """What a thread's trace function is to be now; None if nothing needs one."""
    if not tracing_state.can_wait:
        py_db = debugger()
        return None if py_db is None else py_db.get_thread_local_trace_func()
    return trace_call if is_thread_traced(debugger()) else None


def hold_tracing(holder: Any) -> None:
    """Somebody has taken the place of the trace function in all threads; None: has left it."""
    give_way = getattr(tracing_state.holder, "give_way", None)
    if give_way is not None and holder is not None and holder is not tracing_state.holder:
        give_way()
    tracing_state.holder = holder


def trace_functions_of(frame: Any) -> list[Any]:
    """The trace function of a frame, and those that it hands on to, one within the other."""
    found: list[Any] = []
    function = frame.f_trace
    while function is not None and function not in found:
        found.append(function)
        function = getattr(function, "inner", None)
    return found


def trace_data(listener: Any) -> bool:
    """Trace all code for data breakpoints, from now on, or no more (None). False: it cannot be."""
    if not tracing_state.can_wait:
        return False
    with tracing_state.lock:
        tracing_state.data = listener
        if listener is None:
            trace_less()
        else:
            _begin(debugger())
    return True


def forget_tracing() -> None:
    """In a forked child: its debugger, if it gets one, begins anew."""
    give_up_entry()
    forget_own_stops()
    attempt(forget_traps_at_fork)
    tracing_state.has_begun = tracing_state.is_on = False
    tracing_state.requests, tracing_state.holder, tracing_state.data = 0, None, None
    tracing_state.lock = threading.RLock()


def trace_more() -> None:
    """Something is there that tracing may be needed for."""
    py_db = debugger()
    with tracing_state.lock:
        if is_tracing_needed(py_db):
            _begin(py_db)


def trace_less() -> None:
    """Something that tracing was needed for is over, or may be."""
    with tracing_state.lock:
        if tracing_state.monitors and not tracing_state.requests:
            module: Any = sys.modules["_pydevd_sys_monitoring.pydevd_sys_monitoring"]
            module.update_monitor_events()
    _look_again()


# What needs it


def is_tracing_needed(py_db: Any) -> bool:
    """Whether something else than a failure may stop the program: a breakpoint, a step, a pause."""
    if py_db is None or py_db.pydb_disposed:
        return False
    return bool(
        tracing_state.requests
        or is_data_traced()
        or is_entry_sought()
        or _needs_every_file(py_db)
        or py_db.function_breakpoint_name_to_breakpoint
        or someone_steps_or_stops()
        or need_tracing(py_db)
    )


def is_data_traced() -> bool:
    """Whether data breakpoints need tracing."""
    data = tracing_state.data
    return data is not None and data.needs_tracing()


def is_thread_traced(py_db: Any) -> bool:
    """Whether something needs this thread's trace function. Where the program traces in it, all
    breakpoints do: what they share gets all events, or none."""
    if is_tracing_needed(py_db):
        return True
    shares = py_db is not None and function_of_program() is not None
    return shares and not py_db.pydb_disposed and any(py_db.breakpoints.values())


def _needs_every_file(py_db: Any) -> bool:
    return bool(
        py_db.break_on_caught_exceptions
        or py_db.break_on_user_uncaught_exceptions
        or py_db.break_on_uncaught_exceptions
        or py_db.has_plugin_line_breaks
        or py_db.has_plugin_exception_breaks
    )


def someone_steps_or_stops() -> bool:
    for thread in list(debugger_threading()._active.values()):
        info = getattr(thread, "additional_info", None)
        if info is not None and (info.pydev_step_cmd != -1 or info.pydev_state == SUSPENDED):
            return True
    return False


# The trace function

_KEEPS_TRACED_LINES = sys.version_info < (3, 10)
"""Whether a frame with a trace function is, in tracebacks too, at the line that it was traced at last."""


def trace_call(frame: Any, event: str, arg: Any) -> Any:
    """The trace function of a thread: called at every call in it, so its first lines are the price."""
    try:
        isinstance("", AS_MANY_LEVELS)
        code = frame.f_code
        if code.co_filename in _quiet_files:
            return None
        known = _quiet_codes.get(id(code))
        if known is None:
            return _trace_loudly(frame, event, arg)
        _, data, lines = known
        if data is None:
            return None
        data.spent += 1
        if data.spent >= data.due:
            attempt(data.consider)
        return None if lines is None else data.enter(frame, None, lines)
    except RecursionError:
        pass
    return stand_back(frame, regain_tracing)


def regain_tracing() -> None:
    """This thread is traced no more, as it came near the limit of frames."""
    if is_thread_traced(debugger()):
        set_trace(trace_call)


def _trace_loudly(frame: Any, event: str, arg: Any) -> Any:
    if is_at_work():
        return None  # it is no code of the program that calls
    known, py_db = (_quiet_files, _quiet_codes), debugger()
    attempt(meet_code, frame)
    if not is_thread_traced(py_db):
        leave_thread()
        return None
    begins_own = is_entry_sought() and enters_own_code(frame)  # and with it, perhaps, a step
    may_be_quiet = not (
        begins_own or tracing_state.requests or _needs_every_file(py_db) or someone_steps_or_stops()
    )
    data = tracing_state.data
    lines = None if data is None else attempt(data.lines_to_trace, frame)
    inner = None
    fact = frame.f_code, data, lines
    if not may_be_quiet or not attempt(_is_quiet, py_db, frame, *known, fact, default=False):
        inner = until_return(frame, py_db.get_thread_local_trace_func()(frame, event, arg))
    return inner if lines is None else data.enter(frame, inner, lines)


def _is_quiet(py_db: Any, frame: Any, files: set[str], codes: dict[int, Any], fact: Any) -> bool:
    """Whether no breakpoint is in this code; remembers it, and the `fact` about its data breakpoints."""
    code, names = frame.f_code, py_db.function_breakpoint_name_to_breakpoint
    if code.co_name in names:
        return False
    utils: Any = sys.modules["pydevd_file_utils"]
    path = utils.get_abs_path_real_path_and_base_from_frame(frame)[1]
    breakpoints = py_db.breakpoints.get(path)
    if breakpoints and any(line in breakpoints for _, line in dis.findlinestarts(code)):
        return False
    # Who runs a text says whether it is own code, where the entry is sought.
    is_text = is_entry_sought() and code.co_filename.startswith("<")
    if not (breakpoints or names or is_text) and tracing_state.data is None:
        files.add(code.co_filename)
    else:
        codes[id(code)] = fact
    return True


def leave_thread() -> None:
    """Nothing needs tracing: this thread is rid of it, unless something does by now."""
    if tracing_state.holder is not None:
        tracing_state.is_on = False  # who holds the place asks no more, until something needs it
        return
    tracing_state.is_on = False
    if threading._trace_hook is begin_thread:  # type: ignore[attr-defined]
        threading.settrace(None)
    if function_of_program() is None and not is_trace_function_of_debugger(real_gettrace()):
        return  # an extension has set another one, or there is none
    set_trace(None)
    if _KEEPS_TRACED_LINES:
        _free_frames()
    if is_thread_traced(debugger()):
        threading.settrace(begin_thread)
        set_trace(trace_call)


def _free_frames() -> None:
    """Take the trace functions, which nobody calls any more, from this thread's frames."""
    frame: Any = sys._getframe()
    while frame is not None:
        if frame.f_trace is not None:
            frame.f_trace = None
        frame = frame.f_back


def set_trace(function: Any) -> None:
    """Of this thread; where the program traces in it, both of them."""
    both = function_of_program()
    if both is not None:
        real_settrace()(both)
        return
    sys.modules["pydevd_tracing"].SetTrace(function)


def begin_thread(frame: Any, event: str, arg: Any) -> Any:
    """The first call of a new thread. pydevd's way to set a trace function is the quicker one."""
    wanted = wanted_trace_function()
    set_trace(wanted if tracing_state.holder is None else trace_call)  # which the holder replaces
    return None if wanted is None else wanted(frame, event, arg)


# Beginning and ending


def _look_again() -> None:
    """What was found out about files holds no more."""
    global _quiet_files, _quiet_codes
    _quiet_files, _quiet_codes = set(), {}


def _begin(py_db: Any) -> None:
    """Trace every thread that the program has."""
    _look_again()
    if not tracing_state.has_begun or tracing_state.is_on:
        return
    _trace_all_threads(py_db)
    with frames_shared_on():
        _trace_frames(py_db)
    adopt = getattr(tracing_state.holder, "adopt", None)
    if adopt is not None:
        attempt(adopt)


def _trace_frames(py_db: Any) -> None:
    """Those of the program's threads. pydevd's function for them keeps the frame that it runs in, and so
    all others of this thread, with what they have; here no variable has a frame."""
    tops = sys._current_frames()
    for ident in list(filter(is_program_thread, tops)):
        py_db.set_trace_for_frame_and_parents(ident, tops.pop(ident))
    tops.clear()


def _trace_all_threads(py_db: Any) -> None:
    _look_again()
    tracing_state.is_on = True
    threading.settrace(begin_thread)
    if tracing_state.holder is None:
        sharing = threads_that_share()
        running = [one for one in sys._current_frames() if one not in sharing]
        idents = [one for one in running if is_program_thread(one)]
        here = threading.get_ident()
        if here in idents:  # pydevd's way starts a thread for each
            idents.remove(here)
            real_settrace()(trace_call)
        if idents:
            tracing: Any = sys.modules["pydevd_tracing"]
            tracing.set_trace_to_threads(trace_call, idents, create_dummy_thread=False)


def is_program_thread(ident: int) -> bool:
    """Whether the thread is the program's own, and none of the debugger's."""
    thread, py_db = debugger_threading()._active.get(ident), debugger()
    if thread is None:
        starting = list(getattr(debugger_threading(), "_limbo", ()))
        thread = next((one for one in starting if one._ident == ident), None)
    if any(getattr(thread, mark, False) for mark in _MARKS):
        return False
    if py_db is None:
        return True
    return ident not in [own._ident for own in list(py_db.created_pydb_daemon_threads)]


_MARKS = ("pydev_do_not_trace", "is_pydev_daemon_thread")


@contextmanager
def _requested(py_db: Any) -> Iterator[None]:
    """While a stop is arranged for, of which the threads do not say yet that it is to come."""
    with tracing_state.lock:
        tracing_state.requests += 1
        try:
            _begin(py_db)
            yield
        finally:
            tracing_state.requests -= 1
            _look_again()


# Where pydevd would trace


def _enable_tracing(
    enable: Any, py_db: Any, function: Any = None, apply_to_all_threads: bool = False
) -> None:
    if not tracing_state.has_begun:
        tracing_state.has_begun = True
        attempt(begin_placing, py_db)
        tracing_state.is_on = is_tracing_needed(py_db)
    if tracing_state.holder is None and not is_thread_traced(py_db):
        if function is not None:  # to be used where a trap needs it
            attempt(setattr, py_db._local_thread_trace_func, "thread_trace_func", function)
        leave_thread()
        return
    enable(py_db, function, apply_to_all_threads)
    if py_db.frame_eval_func is not None:
        return
    if apply_to_all_threads:
        _trace_all_threads(py_db)
    set_trace(trace_call)


def _patch_threads(patch_threads: Any, py_db: Any) -> None:
    patch_threads(py_db)
    is_asked_for = tracing_state.holder is not None or is_tracing_needed(py_db)
    threading.settrace(begin_thread if is_asked_for else None)


def _on_breakpoints_changed(changed: Any, py_db: Any, removed: bool = False) -> None:
    attempt(place_traps, py_db)
    if is_tracing_needed(py_db):
        _begin(py_db)
    else:
        _look_again()
    changed(py_db, removed)
    if removed:
        trace_less()


def _set_suspend(set_suspend: Any, py_db: Any, *arguments: Any, **named: Any) -> None:
    give_up_entry()
    with _requested(py_db):
        if presence.is_here:  # else nobody would resume the threads, which the client has let go
            note_own_stop(*arguments, **named)
            set_suspend(py_db, *arguments, **named)


def _settrace(settrace: Any, *arguments: Any, **named: Any) -> None:
    """`breakpoint()`, in the program's own code or by debugpy; or a debugger that attaches."""
    suspends = named.get("suspend", True)
    if len(arguments) > _SUSPEND_ARGUMENT:
        suspends = arguments[_SUSPEND_ARGUMENT]
    py_db = debugger()
    if py_db is None or not suspends:
        settrace(*arguments, **named)
        return
    give_up_entry()
    with _requested(py_db):
        settrace(*arguments, **named)


def _trace_steps(thread: Any, frame: Any, event: Any) -> None:
    """A thread runs on, perhaps for a step; it may have stopped without having been traced."""
    if getattr(getattr(thread, "additional_info", None), "pydev_step_cmd", -1) != -1:
        _begin(debugger())
    else:
        trace_less()
