"""What a process that is started now would have of this one, besides what it is given."""

from __future__ import annotations

import os

_OF_STATUS = (
    b"Umask:",
    b"Uid:",
    b"Gid:",
    b"Groups:",
    b"Cap",
    b"NoNewPrivs:",
    b"Seccomp",
    b"Cpus_allowed:",
    b"Mems_allowed:",
)
_FILES = ("limits", "oom_score_adj", "cgroup", "timerslack_ns", "attr/current")


def inheritance() -> tuple[object, ...]:
    """Equal to that of another moment where a process started then would have the same.

    User, rights, limits, mask of new files, processors, scheduling, control group and namespaces.
    Empty where the system does not say: only what this process itself changes is missed then.
    """
    status = _read("/proc/thread-self/status").splitlines()
    facts = tuple(line for line in status if line.startswith(_OF_STATUS))
    files = tuple(_read(f"/proc/self/{name}") for name in _FILES)
    return facts, files, _namespaces(), _priority()


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""


def _namespaces() -> tuple[tuple[str, str], ...]:
    try:
        names = sorted(os.listdir("/proc/self/ns"))
        return tuple((name, os.readlink(f"/proc/self/ns/{name}")) for name in names)
    except OSError:
        return ()


def _priority() -> tuple[int, ...]:
    if not hasattr(os, "sched_getscheduler"):
        return (os.nice(0),)
    return (
        os.getpriority(os.PRIO_PROCESS, 0),
        os.sched_getscheduler(0),
        os.sched_getparam(0).sched_priority,
    )
