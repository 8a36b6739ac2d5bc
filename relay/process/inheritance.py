"""What a process that is started now would have of this one, besides what it is given."""

from __future__ import annotations

import os
import signal
from typing import NamedTuple

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
_CHANGEABLE = {b"Umask": 8, b"SigIgn": 16, b"SigBlk": 16}
"""Of the status: what a process changes of itself, with the base of the number."""

_FILES = ("limits", "oom_score_adj", "cgroup", "attr/current")


def inheritance() -> tuple[object, ...]:
    """Equal to that of another moment where a process started then would have the same.

    User, rights, limits, mask of new files, processors, scheduling, control group and namespaces.
    Empty where the system does not say: only what this process itself changes is missed then.
    """
    facts = _facts("/proc/thread-self/status", _OF_STATUS)
    return (
        facts,
        _files("self"),
        _read("/proc/self/timerslack_ns"),
        _namespaces("self"),
        _priority(0),
    )


def inheritance_of(pid: int) -> tuple[object, ...]:
    """Equal for two processes whose children would have the same but for what is Changeable.

    As far as one process can see it of another of the same user. Raises OSError for one that is gone.
    """
    facts = _facts(f"/proc/{pid}/status", tuple(name for name in _OF_STATUS if name != b"Umask:"))
    return facts, _files(str(pid)), _namespaces(str(pid)), _priority(pid)


class Changeable(NamedTuple):
    """What a process inherits and may change. Signals are bits, the lowest for number 1."""

    umask: int
    ignored: int
    blocked: int

    @classmethod
    def of(cls, pid: int) -> Changeable:
        """Raises OSError, ValueError where the system does not say it."""
        lines = (line.partition(b":") for line in _read(f"/proc/{pid}/status").splitlines())
        found = {name: text for name, _, text in lines if name in _CHANGEABLE}
        if len(found) < len(_CHANGEABLE):
            raise ValueError(f"no status of {pid}")
        return cls(*(int(found[name], base) for name, base in _CHANGEABLE.items()))

    def take_on(self) -> None:
        """Make it this process's own. Signals that it neither ignores nor handles are as usual."""
        os.umask(self.umask)
        for number in signal.valid_signals():
            is_ignored = bool(self.ignored >> (number - 1) & 1)
            if is_ignored == (signal.getsignal(number) == signal.SIG_IGN):
                continue
            usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, signal.SIG_IGN if is_ignored else usual)
        blocked = {one for one in signal.valid_signals() if self.blocked >> (one - 1) & 1}
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _facts(path: str, names: tuple[bytes, ...]) -> tuple[bytes, ...]:
    return tuple(line for line in _read(path).splitlines() if line.startswith(names))


def _files(process: str) -> tuple[bytes, ...]:
    return tuple(_read(f"/proc/{process}/{name}") for name in _FILES)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""


def _namespaces(process: str) -> tuple[tuple[str, str], ...]:
    try:
        names = sorted(os.listdir(f"/proc/{process}/ns"))
        return tuple((name, os.readlink(f"/proc/{process}/ns/{name}")) for name in names)
    except OSError:
        return ()


def _priority(pid: int) -> tuple[int, ...]:
    """Of a process; of this one for 0."""
    nice = os.getpriority(os.PRIO_PROCESS, pid)
    if not hasattr(os, "sched_getscheduler"):
        return (nice,)
    return (nice, os.sched_getscheduler(pid), os.sched_getparam(pid).sched_priority)
