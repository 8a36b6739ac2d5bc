"""The hang report of a process that C code keeps from answering: its stacks, as seen from outside.

Source: contract, section 10 (hangs).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from relay.debuggers.debugpy.rungs import DEBUGGEE
from relay.process.foreign_stacks import ForeignFrame, ForeignThread, foreign_stacks
from relay.session.own_code import is_user_code

_DEBUGGERS_THREAD = "pydevd_daemon_thread.py"
_DEBUGGERS = f"{os.sep}debugpy{os.sep}", f"{DEBUGGEE}{os.sep}"


def report_from_outside(
    pid: int | None, roots: Sequence[str], frames: int
) -> dict[str, Any] | None:
    """None if the process has not written its stacks. roots: below which own code is."""
    found = [one for one in foreign_stacks(pid) if not _is_debuggers(one)]
    if not found:
        return None
    silent = (
        f"process {pid} does not answer: C code keeps the interpreter to itself (the GIL), so stacks"
        " are as seen from outside, without locals and tasks"
    )
    return {
        "threads": [_thread(one, one.native_id == pid, set(roots), frames) for one in found],
        "total_threads": len(found),
        "blocked": False,
        "tasks": {"tasks": [], "total": 0, "current": None, "runs": [], "total_runs": 0},
        "children": [],
        "silent": silent,
    }


def _is_debuggers(thread: ForeignThread) -> bool:
    return any(os.path.basename(frame.path) == _DEBUGGERS_THREAD for frame in thread.frames)


def _thread(thread: ForeignThread, is_main: bool, roots: set[str], frames: int) -> dict[str, Any]:
    shown = [frame for frame in thread.frames if not _is_of_debugger(frame)]
    return {
        "id": None,
        "ident": thread.ident,
        "name": "MainThread" if is_main else f"thread {thread.ident}",
        "daemon": None,
        "native_id": thread.native_id,
        "state": "running" if thread.runs is not False else "blocked",
        "stack": [_frame(frame, roots) for frame in shown[:frames]],
        "total_frames": len(shown),
        "waits_for": None,
        "system_call": None,
    }


def _frame(frame: ForeignFrame, roots: set[str]) -> dict[str, Any]:
    return {**frame._asdict(), "own": is_user_code(frame.path, roots)}


def _is_of_debugger(frame: ForeignFrame) -> bool:
    return any(one in frame.path for one in _DEBUGGERS)
