"""Threads that Python counts as ended and that still run: pydevd is to take them for alive.

Python counts the main thread as ended before it calls the exit functions (`atexit`); a failure may
be shown in a thread whose target is over. Of a thread that has ended pydevd takes no event, and
without any thread alive it closes the session, whatever is still to be said.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        debugger_threading,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt

_LIVENESS_PACKAGES = (
    "pydevd",
    "_pydevd_bundle",
    "_pydevd_sys_monitoring",
    "_pydevd_sys_monitoring_cython",
)
_LISTENING_MODULES = (
    "_pydevd_sys_monitoring._pydevd_sys_monitoring",
    "_pydevd_sys_monitoring_cython",
)
_LIVENESS_NAMES = ("is_thread_alive", "pydevd_is_thread_alive")  # by which they have imported it
_pydevd_loaded: list[tuple[int, list[str]]] = []  # of how many modules there were, pydevd's
_awaits_end: list[bool] = []
_kept_alive: dict[int, int] = {}  # how often each is to be taken for alive, by the thread's ident


class _Running:
    """A thread, for those that ask the thread itself whether it has ended, and would not hear so.

    Has all of the thread's attributes but these, without which they ask the function that is
    replaced here.
    """

    _LEFT_OUT = ("_is_stopped", "_os_thread_handle")

    def __init__(self, thread: Any) -> None:
        vars(self)["_thread"] = thread

    def __getattr__(self, name: str) -> Any:
        if name in _Running._LEFT_OUT:
            raise AttributeError(name)
        return getattr(vars(self)["_thread"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(vars(self)["_thread"], name, value)


def count_as_alive(ident: int) -> None:
    """From now on this thread runs, whatever Python says; until `count_no_longer`."""
    if len(_pydevd_loaded) != 1 or _pydevd_loaded[0][0] != len(sys.modules):
        names = [name for name in list(sys.modules) if name.split(".")[0] in _LIVENESS_PACKAGES]
        _pydevd_loaded[:] = [(len(sys.modules), names)]
    for name in _pydevd_loaded[0][1]:
        space: Any = vars(sys.modules.get(name, sys))
        for function in _LIVENESS_NAMES:
            if function in space:
                patch(sys.modules[name], function, _is_alive)
    _kept_alive[ident] = _kept_alive.get(ident, 0) + 1


def count_no_longer(ident: int) -> None:
    """Undoes one `count_as_alive`."""
    _kept_alive[ident] -= 1
    if not _kept_alive[ident]:
        del _kept_alive[ident]


def _is_alive(original: Any, thread: Any) -> Any:
    return thread.ident in _kept_alive or original(thread)


def keep_exit_functions() -> None:
    """Have the exit functions debugged also where pydevd's own start runs the program's main code.

    Before Python 3.9 there is no moment at which to do so.
    """
    register: Any = getattr(threading, "_register_atexit", None)
    if register is not None and not _awaits_end:
        _awaits_end.append(True)
        attempt(register, _end_of_main)  # fails where the interpreter has begun to end


def _end_of_main() -> None:
    """Python joins the threads next, then counts the main one as ended."""
    py_db = debugger()
    if py_db is None:
        return
    attempt(keep_main_thread)
    watch = py_db.check_alive_thread
    if watch is not None:  # Python waits for this one, which waits for the last of the program's
        watch.do_kill_pydev_thread()


def keep_main_thread() -> None:
    """The current thread has run the program's main code: exit functions are the program's, too."""
    thread = debugger_threading().current_thread()
    count_as_alive(thread.ident)
    for name in _LISTENING_MODULES:
        module: Any = sys.modules.get(name)
        local = module and vars(module)["_thread_local_info"]
        if hasattr(local, "thread_info"):  # pydevd has taken an event of this thread
            about = module.ThreadInfo(_Running(thread), thread.ident, True, thread.additional_info)
            local.thread_info = about
