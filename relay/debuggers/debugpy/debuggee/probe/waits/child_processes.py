"""Child processes by name, what else the system says of them, and how those have ended that nobody has waited for.

Read in /proc, and asked of the system; none is waited for.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, process_id
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        clipped,
        module_globals,
        stored_field,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.descriptors import proc_text


def process_name(pid: int) -> str:
    """`process 12 (sleep 60)`; says so where it has ended already, and how."""
    raw = proc_text(f"/proc/{pid}/cmdline", 4000).replace("\0", " ").strip()
    status = _status(str(pid))
    if not status:
        return f"process {pid}, which is gone"
    called = attempt(_name_of_multiprocessing, pid)
    if status[0] == "Z":
        named = f" ({called})" if called else ""
        return f"process {pid}{named}, which has {attempt(end_of_child, pid) or 'ended'}"
    own = proc_text("/proc/self/cmdline", 4000).replace("\0", " ").strip()
    # One that runs the same command anew, as reloaders do, has a stack of its own.
    is_fork = raw == own and status[_START_OF_STACK] == _status("self")[_START_OF_STACK]
    what = _kinship(pid) if is_fork else raw[:120] or "?"
    return f"process {pid} ({called}, {what})" if called else f"process {pid} ({what})"


def _kinship(pid: int) -> str:
    """Of two processes of which one is a fork of the other, or both are of a third."""
    if pid in _ancestors(process_id()):
        return "of which this one is a fork"
    return "a fork of this one" if process_id() in _ancestors(pid) else "a fork of the same program"


def _ancestors(pid: int) -> list[int]:
    found: list[int] = []
    status = _status(str(pid))
    while len(status) > 1 and len(found) < _MOST_ANCESTORS and int(status[1]) > 1:
        found.append(int(status[1]))
        status = _status(status[1])
    return found


_MOST_ANCESTORS = 100
_START_OF_STACK = 25
"""Of the words of `/proc/PID/stat` behind the name: `startstack`, which a fork has in common. proc(5)."""


_BEGIN = 19
"""Of the same words: `starttime`, in ticks since the system has begun."""


def _status(process: str) -> list[str]:
    """What the system says of it behind its name; nothing where it is gone."""
    return proc_text(f"/proc/{process}/stat").rpartition(")")[2].split()


def begin_of(process: str) -> tuple[int, int] | None:
    """When a process or thread has begun, in ticks since the system has, and its number; None where that is not
    known. process: its number, of a thread `self/task/NUMBER`."""
    status, number = _status(process), process.rpartition("/")[2]
    return (int(status[_BEGIN]), int(number)) if len(status) > _BEGIN else None


def _name_of_multiprocessing(pid: int) -> str | None:
    """What multiprocessing calls a child that it has started here."""
    for one in list(module_globals("multiprocessing.process").get("_children", ())):
        if stored_field(stored_field(one, "_popen"), "pid") == pid:
            return clipped(stored_field(one, "_name"))
    return None


def end_of_child(pid: int) -> str | None:
    """How a child of this process has ended; None while it runs. It is still to be waited for then."""
    found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if found is None:
        return None
    return end_in_words(found.si_status if found.si_code == os.CLD_EXITED else -found.si_status)


def end_in_words(code: int) -> str:
    """Of an exit code, or minus the signal."""
    if code >= 0:
        return f"ended with exit code {code}"
    return f"ended by {attempt(lambda: signal.Signals(-code).name, default=f'signal {-code}')}"
