"""Forked children, set free: they have the debugger's hooks, and none of its threads.

Knows what pydevd leaves behind in a child. How one joins the session is in `pydevd/child.py`.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.calls.recordings import forget_calls
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.monitoring_tool import (
        MONITORING,
        give_back_tool,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import forget_tracing
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import stop_watching
    from relay.debuggers.debugpy.debuggee.probe.trace.traces import forget_trace
    from relay.debuggers.debugpy.debuggee.probe.values.references import references
    from relay.debuggers.debugpy.debuggee.probe.writes.data_breakpoints import (
        forget_data_breakpoints_at_fork,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_recorder import forget_writes

_PYDEVD_EVENTS = ("PY_START", "PY_RESUME", "LINE", "JUMP", "PY_RETURN", "PY_UNWIND", "RAISE")
_forks_freed: list[bool] = []


def free_forks() -> bool:
    if not hasattr(os, "register_at_fork"):
        return False
    if not _forks_freed:
        os.register_at_fork(after_in_child=_after_fork)
        _forks_freed.append(True)
    return True


def _after_fork() -> None:
    """A breakpoint would stop the child for good. pydevd debugs it by itself, after this, where
    it is to."""
    attempt(references.release)
    attempt(stop_watching)
    attempt(forget_trace)
    attempt(forget_calls)
    attempt(forget_data_breakpoints_at_fork)
    attempt(forget_writes)
    attempt(forget_tracing)
    attempt(_drop_debugger)


def _drop_debugger() -> None:
    py_db = debugger()
    attempt(stop_tracing)
    if py_db is None:
        return
    for thread in (py_db.reader, py_db.writer):
        # Closes this process's end only: the parent's connection lives on.
        attempt(lambda t=thread: t.sock.close())
    attempt(lambda: py_db.created_pydb_daemon_threads.clear())
    attempt(lambda: sys.modules["_pydevd_bundle.pydevd_constants"].set_global_debugger(None))


def stop_tracing() -> None:
    if MONITORING is not None and MONITORING.get_tool(MONITORING.DEBUGGER_ID) == "pydevd":
        give_back_tool(MONITORING.DEBUGGER_ID, _PYDEVD_EVENTS)
        return
    # pydevd has put a function that warns in the place of sys.settrace; its own refuses to be
    # called where pydevd uses sys.monitoring.
    settrace = getattr(sys.modules.get("pydevd_tracing"), "SetTrace", sys.settrace)
    settrace(None)
    threading.settrace(None)
