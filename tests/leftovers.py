"""What a test leaves behind: processes and descriptors.

Knows how to find them, also when they have left the process tree: everything that a
test starts inherits a mark in its environment, unless the test gives it another one.
Refuses to know which test it was. On systems without /proc it finds nothing.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import time
from collections.abc import Callable, Set
from pathlib import Path
from typing import TypeVar

from relay.process.guardian import descendants

T = TypeVar("T", int, tuple[int, str])

MARK = "RELAY_TEST_RUN"
PATIENCE = 30.0
"""Seconds for what is just ending to end."""

LASTING = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")
"""Helpers of the standard library that stay as long as the test process."""

LEAKY = ("pipe:", "socket:", "/dev/ptmx", "/dev/pts/", "anon_inode:[pidfd]")
"""What a leaked descriptor leads to; other files may be opened lazily and kept."""


_older: set[tuple[str, int]] = set()
"""Processes that were there before this one was marked: pid, and inode of its folder in /proc."""


def mark() -> None:
    """Mark this test process: what it starts from now on can be recognised."""
    os.environ[MARK] = f"{os.getpid()}-{time.time_ns()}"
    _older.update(_identity(name) for name in _names("/proc") if name.isdigit())


class Leftovers:
    """Compares what there is with what there was when this was made."""

    def __init__(self) -> None:
        self._processes = processes()
        self._descriptors = descriptors()

    def find(self) -> list[str]:
        """Descriptions of all that was left behind; waits for what is just going.

        Processes are killed, so that the next test does not suffer.
        """
        left = _settle(lambda: processes() - self._processes)
        found = [f"process {pid}: {describe(pid)}" for pid in left]
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        leaked = _settle(lambda: descriptors() - self._descriptors)
        return found + [f"descriptor {fd} -> {target}" for fd, target in leaked]


def processes() -> set[int]:
    """Everything below this process, or started by it and adopted by another one.

    Zombies too: a child that nobody waited for is left behind.
    """
    below = {pid for pid, _ in descendants(os.getpid())}
    marked = {int(name) for name in _names("/proc") if name.isdigit() and _is_marked(name)}
    return {pid for pid in below | marked if not _lasts(pid)}


def descriptors() -> set[tuple[int, str]]:
    """The open descriptors of this process that matter, with what they lead to."""
    found = set()
    for fd in _names("/proc/self/fd"):
        with contextlib.suppress(OSError):
            target = os.readlink(f"/proc/self/fd/{fd}")
            if target.startswith(LEAKY):
                found.add((int(fd), target))
    return found


def describe(pid: int) -> str:
    """The command line, or what else there is to say."""
    return _read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace")[:300] or (
        "never waited for"
    )


def _settle(look: Callable[[], Set[T]]) -> list[T]:
    deadline = time.monotonic() + PATIENCE
    while (found := look()) and time.monotonic() < deadline:
        gc.collect()  # what only a reference cycle keeps open is no leak
        time.sleep(0.01)
    return sorted(found)


def _is_marked(pid: str) -> bool:
    value = os.environ.get(MARK)
    if value is None or int(pid) == os.getpid() or _identity(pid) in _older:
        return False
    return f"{MARK}={value}".encode() in _read(int(pid), "environ")


def _identity(pid: str) -> tuple[str, int]:
    """Another process has another inode, even if it gets the same id later."""
    try:
        return pid, os.stat(f"/proc/{pid}").st_ino
    except OSError:
        return pid, 0


def _lasts(pid: int) -> bool:
    command = _read(pid, "cmdline").decode(errors="replace")
    return any(name in command for name in LASTING)


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
