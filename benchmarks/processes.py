"""Starting the processes under measurement, and leaving none of them behind.

Both sides detach what they start from its parent, so a process group does not
hold them all. On Linux this process adopts its orphans and can then find every
one below it; elsewhere only process groups are ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from benchmarks.failure import Deadline

_PR_SET_CHILD_SUBREAPER = 36
_ENDING_SECONDS = 10.0


@contextlib.contextmanager
def no_survivors() -> Iterator[None]:
    """Ends every process below this one on the way out, orphans included."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    previous = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _kill_descendants()
        signal.signal(signal.SIGTERM, previous)


def _leave(number: int, _frame: object) -> None:
    sys.exit(128 + number)


def _kill_descendants() -> None:
    end = time.monotonic() + _ENDING_SECONDS
    while (living := children(os.getpid())) and time.monotonic() < end:
        for pid in living:
            # Killing a parent makes its children ours: the next round finds them.
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def children(pid: int) -> list[int]:
    """Pids of the direct children of a process; empty where there is no /proc."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, task.read_text().split())
    return found


@contextlib.contextmanager
def outlived() -> Iterator[None]:
    """Waits, on the way out, until all that was started meanwhile has ended by itself.

    What still ends would take time from the next measurement. Raises
    BenchmarkError if it does not end.
    """
    before = set(children(os.getpid()))
    yield
    deadline = Deadline("what the session started should end")
    while remaining := set(children(os.getpid())) - before:
        for pid in remaining:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(min(0.002, deadline.left()))


@contextlib.contextmanager
def started(
    argv: Sequence[str],
    *,
    cwd: Path,
    log: Path,
    ending: signal.Signals,
    keep_stdin: bool = False,
) -> Iterator[subprocess.Popen[bytes]]:
    """A process with its stdout (and stdin, with `keep_stdin`) as pipes and stderr in `log`.

    On the way out it gets `ending`, and SIGKILL if it does not go.
    """
    stdin = subprocess.PIPE if keep_stdin else subprocess.DEVNULL
    with log.open("ab") as stderr:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        _end(process, ending)


def _end(process: subprocess.Popen[bytes], ending: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(ending)
    try:
        process.wait(_ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def loop_milliseconds() -> float:
    """How long a million additions take now: best of three, so that one interruption is no matter.

    A machine that other guests slow down shows it here, and nowhere else.
    """
    return 1000 * min(_loop() for _ in range(3))


def _loop() -> float:
    start, total = time.perf_counter(), 0
    for number in range(1_000_000):
        total += number
    return time.perf_counter() - start


class Contention:
    """How much of the time since it was made some process waited for a CPU.

    Anything much above what the benchmark itself causes says that the machine
    had other work, and that the numbers are too high.
    """

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._waited = _waited()
        self._loops = [loop_milliseconds()]

    def loop(self) -> float:
        """A million additions: the mean of now and of the start, in ms."""
        self._loops.append(loop_milliseconds())
        return sum(self._loops) / len(self._loops)

    def percent(self) -> float | None:
        """0 to 100; None where the system does not tell."""
        now = _waited()
        if now is None or self._waited is None:
            return None
        return 100 * (now - self._waited) / (time.monotonic() - self._start)


def _waited() -> float | None:
    """Seconds in which some process of the machine waited for a CPU."""
    try:
        text = Path("/proc/pressure/cpu").read_text()
    except OSError:
        return None
    found = re.search(r"some .*total=(\d+)", text)
    return int(found[1]) / 1e6 if found else None


def pipe_of(pipe: IO[bytes] | None) -> int:
    """The descriptor of a pipe that must exist."""
    assert pipe is not None
    return pipe.fileno()


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log, for an error message."""
    try:
        return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""
