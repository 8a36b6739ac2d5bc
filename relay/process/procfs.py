"""What the system says of a process that does not answer itself. Linux only; else nothing."""

from __future__ import annotations

import contextlib
from pathlib import Path

MOST_THREADS = 50
_STATES = {"R": "runs", "S": "sleeps", "D": "waits for a device", "T": "is stopped", "Z": "ended"}


def threads_from_outside(pid: int | None) -> list[str]:
    """`thread 12 (python) runs`, for each thread of a process of this machine, the main first."""
    found = []
    if pid is None:
        return []
    with contextlib.suppress(OSError):
        tasks = sorted(Path(f"/proc/{pid}/task").iterdir(), key=lambda one: int(one.name))
        for task in tasks[:MOST_THREADS]:
            with contextlib.suppress(OSError, IndexError):
                head, _, rest = (task / "stat").read_text("utf-8", "replace").rpartition(")")
                state = rest.split()[0]
                where = _kernel_place(task) if state in "SD" else ""
                name = head.partition("(")[2]
                found.append(f"thread {task.name} ({name}) {_STATES.get(state, state)}{where}")
    return found


def runnable_threads(pid: int) -> set[int] | None:
    """The threads of a process that compute now, or could; None if the system does not say, or it is stopped."""
    found = set()
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                rest = (task / "stat").read_text("utf-8", "replace").rpartition(")")[2]
                state = rest.split()[0]
                if state in "Tt":
                    return None
                if state == "R":
                    found.add(int(task.name))
    except OSError:
        return None
    return found


def is_ended_by(pid: int, number: int) -> bool:
    """Whether a process takes this signal as the system does: False if it handles or ignores it."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/status").read_text("utf-8", "replace").splitlines():
            name, _, mask = line.partition(":")
            if name in ("SigIgn", "SigCgt") and int(mask, 16) >> (number - 1) & 1:
                return False
    return True


def _kernel_place(task: Path) -> str:
    """The kernel's function that a thread waits in, where this user may know it."""
    try:
        found = (task / "wchan").read_text().strip()
    except OSError:
        return ""
    return f" in {found}" if found not in ("", "0") else ""
