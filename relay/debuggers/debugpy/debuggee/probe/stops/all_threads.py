"""All threads at once: held for the stop of one, and let run on, in time that grows as their number does.

pydevd counts anew which threads step with each single one that it holds or lets go, and asks the interpreter
for the innermost frames of all threads each time: beside a hundred that wait, a step took 35 ms. Here all are
marked first, and counted once. Refuses to know why threads are held.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.hooks.running_frames import innermost_frames
    from relay.debuggers.debugpy.debuggee.probe.stops.own_stops import is_unseen
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import events_module
    from relay.debuggers.debugpy.debuggee.probe.stops.threads import (
        SUSPENDED,
        mark_let_go,
        wake_thread,
    )

# pydevd's numbers
_HELD = 105  # CMD_THREAD_SUSPEND: reason and command of a thread that is held with others
_INTO = 107  # CMD_STEP_INTO: the command where it does not know that one yet
_IN_PYTHON = 1  # PYTHON_SUSPEND


def hold_and_let_go_at_once() -> None:
    """Have pydevd do so from now on, in each module that has taken its functions for it."""
    lifecycle: Any = sys.modules["_pydevd_bundle.pydevd_thread_lifecycle"]
    users = (
        sys.modules[name]
        for name in ("pydevd", *(f"_pydevd_bundle.pydevd_{one}" for one in ("vars", "api", "comm")))
        if name in sys.modules
    )
    for module in (lifecycle, *users):
        for name, replacement in (
            ("suspend_all_threads", _hold_all),
            ("resume_threads", _let_all_go),
        ):
            if hasattr(module, name):
                patch(module, name, replacement)


def _hold_all(_: Any, py_db: Any, except_thread: Any) -> None:
    """Each stands at the next line that it comes to: also in frames that were not traced so far."""
    lifecycle: Any = sys.modules["_pydevd_bundle.pydevd_thread_lifecycle"]
    monitoring = events_module() if lifecycle.PYDEVD_USE_SYS_MONITORING else None
    if monitoring is not None:
        monitoring.update_monitor_events(suspend_requested=True)
    knows_held = _takes(lifecycle.mark_thread_suspended, "main_suspend")
    info, held = None, []
    for thread in _threads_but(except_thread):
        if getattr(thread, "pydev_do_not_trace", None):
            continue
        info = lifecycle.set_additional_thread_info(thread)
        info.suspend_type = _IN_PYTHON
        thread.stop_reason = _HELD
        if knows_held or info.pydev_step_cmd == -1:
            info.pydev_step_cmd = _HELD if knows_held else _INTO
            info.pydev_step_stop = None
        info.pydev_state = SUSPENDED  # last: then it may stand
        held.append(thread)
    if info is not None:
        info.update_stepping_info()
    tops = innermost_frames()
    try:
        for thread in held:
            if thread.ident in tops:
                py_db.set_trace_for_frame_and_parents(thread.ident, tops[thread.ident])
    finally:
        tops.clear()  # the frame of this call is one of them
    if monitoring is not None:
        monitoring.restart_events()


def _let_all_go(resume: Any, thread_id: str, except_thread: Any = None) -> None:
    if thread_id != "*":
        resume(thread_id, except_thread)
        return
    lifecycle: Any = sys.modules["_pydevd_bundle.pydevd_thread_lifecycle"]
    info = None
    for thread in _threads_but(except_thread):
        if is_unseen(thread):  # it is to announce its own stop
            continue
        info = lifecycle.set_additional_thread_info(thread)
        mark_let_go(info)
        if info.is_in_wait_loop:
            wake_thread(thread)
    if info is not None:
        info.update_stepping_info()


def _threads_but(thread: Any) -> list[Any]:
    utils: Any = sys.modules["_pydevd_bundle.pydevd_utils"]
    return [one for one in utils.get_non_pydevd_threads() if one is not thread]


def _takes(function: Any, name: str) -> bool:
    return name in function.__code__.co_varnames
