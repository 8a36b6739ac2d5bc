"""Stops that pydevd misses, and stops that it makes twice, where it uses sys.monitoring (3.12+).

* It gets events of returns, but not of frames that an exception leaves: a step over a line that
  raises lets the program run away. Here such a step is handed on to the caller, as a step over
  the rest of it: it ends in the first handler.
* It gets events of calls, but not of generators and coroutines that go on: a breakpoint set while
  one waits is missed, and a step does not lead into it. Here it is reported.
* On 3.12 it takes the jump at the end of a `while` loop for one that stays on its line, stops for
  it, and from line 257 on stops again for the line: the first line of the loop stops twice, and
  counts two hits. Here it gets no events of jumps, as on 3.13; they serve pauses alone.

And, on every version, where debugpy itself runs the program: a step from `sys.exit()` leads into
the log that debugpy keeps. Here it ends with the program.

Besides, the stop that is made where a frame is about to be left: at the end of a traced call, and
at a change of data.

Knows pydevd's names for steps, and where it takes its events.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        debugger_threading,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.idle_events import (
        is_in_debuggers_thread,
        leave_out,
        pass_own_call,
        present_epoch,
        stand_at_jump,
        stand_before_pydevd,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.monitoring_tool import (
        MONITORING,
        give_back_tool,
        take_tool,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import (
        hook_suspensions,
        suspend_in,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, frame_at

_STEP_OVER = 108
_STEPS_OF_ONE_FRAME = frozenset((108, 109, 159, 160))  # over and out, also "my code"
_STEPS_OUT = frozenset((109, 160))
_own_tool: list[int] = []


def patch_steps() -> bool:
    """Stop where a step or a breakpoint says, and once. True where there was need."""
    attempt(_end_steps_at_exit)
    constants = sys.modules["_pydevd_bundle.pydevd_constants"]
    if not getattr(constants, "PYDEVD_USE_SYS_MONITORING", False):
        return False
    _patch_events()
    _follow_from_first_step()
    return True


def _end_steps_at_exit() -> None:
    """debugpy's command line passes a SystemExit on through its log, in Python code."""
    log: Any = sys.modules.get("debugpy.common.log")
    if log is None:
        return

    def reraise_exception(original: Any, *arguments: Any, **named: Any) -> None:
        end_step()
        raise

    patch(log, "reraise_exception", reraise_exception)


def end_step() -> None:
    """This thread steps no more: what it runs from here on is none of the program's own code."""
    info = getattr(pydevd_thread(), "additional_info", None)
    if info is not None:
        info.pydev_step_cmd, info.pydev_step_stop = -1, None
        info.update_stepping_info()


def events_module() -> Any:
    return sys.modules["_pydevd_sys_monitoring.pydevd_sys_monitoring"]


# The events that pydevd gets


def _patch_events() -> None:
    """pydevd registers its callbacks anew whenever breakpoints or steps change."""
    module = events_module()
    patch(module, "update_monitor_events", _register_callbacks)
    patch(module, "start_monitoring", _register_callbacks)  # it calls the first by itself
    module.update_monitor_events()


def _register_callbacks(register: Any, *arguments: Any, **named: Any) -> None:
    register(*arguments, **named)
    tool, events = MONITORING.DEBUGGER_ID, MONITORING.events
    if MONITORING.get_tool(tool) == "pydevd":  # not before the first thread is traced
        MONITORING.register_callback(tool, events.JUMP, stand_at_jump)
        MONITORING.register_callback(tool, events.PY_RESUME, _on_resume)
        stand_before_pydevd()


def pydevd_thread() -> Any:
    """The running thread as pydevd knows it; never makes one."""
    known = debugger_threading()
    return known._active.get(known.get_ident())


def _on_resume(code: Any, offset: int) -> Any:
    """What pydevd does at a call. No event again until breakpoints or steps change."""
    if is_in_debuggers_thread():
        return pass_own_call(code)
    thread, epoch = pydevd_thread(), present_epoch()
    about = getattr(thread, "additional_info", None)
    if about is None or about.is_tracing:  # what is looked at in a stopped thread is not traced
        return None
    events_module().enable_code_tracing(thread.ident, code, frame_at(1))
    return None if any_thread_steps() else leave_out(epoch)


def any_thread_steps() -> bool:
    module: Any = sys.modules["_pydevd_bundle.pydevd_additional_thread_info"]
    return bool(module.any_thread_stepping())


# Frames that an exception leaves or enters


def _follow_from_first_step() -> None:
    """Programs that nobody steps through pay nothing."""
    hook_suspensions("steps", after=_watch_if_stepped)


def _watch_if_stepped(thread: Any, frame: Any, event: Any) -> None:
    info = getattr(thread, "additional_info", None)
    if not _is_there(debugger()) or getattr(info, "pydev_step_cmd", -1) == -1:
        return
    if not _own_tool:
        _watch_exceptions()
    # A thread that ran on, or began, while this one stopped may have done without some events.
    events_module().restart_events()


def _is_there(py_db: Any) -> bool:
    return py_db is not None and not py_db.pydb_disposed


def _watch_exceptions() -> None:
    """Under a tool number of our own: pydevd gives its own events up at any time."""
    events, tool = MONITORING.events, take_tool("steps")
    if tool < 0:
        return  # others have all: a step from which an exception leads away lets the program run
    _own_tool.append(tool)
    MONITORING.register_callback(tool, events.PY_UNWIND, _on_unwind)
    MONITORING.register_callback(tool, events.PY_THROW, _on_throw)
    MONITORING.set_events(tool, events.PY_UNWIND | events.PY_THROW)
    if not _is_there(debugger()):
        stop_watching()  # it has left meanwhile


def _on_throw(code: Any, offset: int, error: BaseException) -> None:
    """An exception thrown into a generator lets it go on, as `next` would."""
    thread = pydevd_thread()
    if getattr(thread, "additional_info", None) is not None:
        events_module().enable_code_tracing(thread.ident, code, frame_at(1))


def _on_unwind(code: Any, offset: int, error: BaseException) -> None:
    thread, frame = pydevd_thread(), frame_at(1)
    info = getattr(thread, "additional_info", None)
    if info is None or info.pydev_step_stop is not frame:
        return
    if info.pydev_step_cmd in _STEPS_OF_ONE_FRAME:
        _hand_on(info, thread, frame.f_back)


def _hand_on(info: Any, thread: Any, caller: Any) -> None:
    while caller is not None and is_debugger_file(caller.f_code.co_filename):
        caller = caller.f_back
    py_db = debugger()
    if caller is not None and py_db is not None:
        info.pydev_step_cmd, info.pydev_step_stop = _STEP_OVER, caller
        py_db.set_trace_for_frame_and_parents(thread.ident, caller)


def numbers_below_steps() -> tuple[int, ...]:
    """Tool numbers that are called after the one that follows steps. 3 is hypothesis' own."""
    return tuple(number for number in (4, 3, 2) if not _own_tool or number < _own_tool[0])


def stop_watching() -> None:
    """Where there is no debugger any more: in a forked child, or as it leaves."""
    while _own_tool:
        give_back_tool(_own_tool.pop(), ("PY_UNWIND", "PY_THROW"))


# Stops of our own


def stop_at_return(frame: Any) -> None:
    """Stop this thread where the frame is about to be left; the step with which it goes on counts."""
    info = suspend_in(frame, "return")
    if info is None:
        return
    # With monitoring, pydevd may get no event of this very return: a step over it would be lost.
    is_step = info.pydev_step_cmd in _STEPS_OF_ONE_FRAME and info.pydev_step_stop is frame
    if not is_step or not hasattr(sys, "monitoring"):
        return
    caller = frame.f_back
    if info.pydev_step_cmd in _STEPS_OUT and _is_shown(caller):
        suspend_in(caller, "return")
    else:
        _hand_on(info, pydevd_thread(), caller)


def _is_shown(frame: Any) -> bool:
    return frame is not None and not is_debugger_file(frame.f_code.co_filename)
