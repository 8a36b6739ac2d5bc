"""The Python stacks of a process that cannot answer, as it writes them at a signal.

The debuggee has given that signal a handler in C, which needs no interpreter, and a file without a place
to write into, see `STACKS_FILE` in its probe. The handler reads the stacks of all threads as they are, and would crash the
process if one was changed meanwhile. So the signal goes to the only thread that computes, which cannot go on before all is
written; if none computes, to one that waits for another thread: such a wait goes on behind it, whereas one
in a sleep or a read would be cut short. Where several compute, nothing is asked. Linux only; else nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import operator
import os
import re
import struct
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

_FILE = re.compile(r"/memfd:debug-relay-stacks-(\d+) \(deleted\)")
_HEADING = re.compile(r"^(?:Current thread|Thread) 0x([0-9a-f]+)[^\n]*\n", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)
_ESCAPED = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_SECONDS = 2.0
_LOOKS, _LOOKS_APART = 4, 0.01
_ENOUGH, _LONGEST_WINDOW = 30_000_000, 500_000_000
"""Nanoseconds: a thread that has run so long has had to hand on the interpreter some times, and one that
could have run has been seen not to; and what this is waited for."""
_IDLE_SHARE = 0.05
"""Of that time, which a thread may run that only waits for the interpreter: it is awake now and then."""
_LONGEST_TURN = 300_000
"""Nanoseconds that it runs on average from one wait to the next, if it only waits for the interpreter: it looks
whether that is free. One that has had it, and hardly a processor, runs a slice of the system's."""
_DESCRIPTION_BYTES = 2048
"""Of what the C library keeps of a thread, at the address by which Python knows it."""


class ForeignFrame(NamedTuple):
    """`path` is as in the code: it may be relative. Longer ones than 500 characters end in `...`."""

    path: str
    line: int
    function: str


class ForeignThread(NamedTuple):
    """A thread of Python. `native_id` and `state` are None where the system would not tell."""

    ident: int
    native_id: int | None
    runs: bool | None
    frames: tuple[ForeignFrame, ...]
    """Innermost first, at most 100."""


def foreign_stacks(pid: int | None) -> list[ForeignThread]:
    """Those of all threads, the main one first; none of a process that does not write them. Takes up to 2 s."""
    if pid is None:
        return []
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return _in_order(pid, *_written(pid))
    return []


def _written(pid: int) -> tuple[str, int | None]:
    """What it writes at one signal, and the thread that computes; empty if nothing can be asked of it,
    or if it is not written in time."""
    found = _file_of(pid)
    writer, computes = (None, False) if found is None else _writer(pid)
    if found is None or writer is None:
        return "", None
    file, number = found
    with file.open("rb") as text:
        begins = text.seek(0, os.SEEK_END)
        for _ in range(2):  # the signal queues up: where a second text begins, the first is whole
            _send(pid, writer, number)
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            text.seek(begins)
            written = text.read().decode("ascii", "replace")
            heading = _HEADING.match(written)
            if heading is not None and (end := written.find(heading[0], heading.end())) > 0:
                return written[:end], writer if computes else None
            time.sleep(_LOOKS_APART)
    return "", None


def _file_of(pid: int) -> tuple[Path, int] | None:
    """What the process writes into, and at which signal, if it still has both."""
    for one in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            named = _FILE.fullmatch(os.readlink(one))
            if named is not None and _handles(pid, int(named[1])):
                return one, int(named[1])
    return None


def _handles(pid: int, number: int) -> bool:
    """Whether the signal has a handler: without one it would end the process."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8", "replace")
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", status, re.MULTILINE)
    return caught is not None and bool(int(caught[1], 16) >> (number - 1) & 1)


def _writer(pid: int) -> tuple[int | None, bool]:
    """The thread to be sent the signal, and whether it computes; None if another one may run Python meanwhile,
    or this is not known.

    The one that computes is in C code that keeps the interpreter if it computes without ever waiting: one that runs
    Python hands the interpreter on every few milliseconds, since the debugger's thread wants it. None of a
    process that is stopped, too: it would write as it goes on.
    """
    tasks = _tasks(pid)
    if any(_state(pid, task) in "Tt" for task in tasks):
        return None, False
    before, began = {task: _Use.of(pid, task) for task in tasks}, time.monotonic_ns()
    computing = set(tasks)
    while True:
        resting = _resting(pid)
        tasks, window = _tasks(pid), time.monotonic_ns() - began
        computing &= set(tasks) - resting.keys()
        ran = [_Use.of(pid, task).since(before.get(task)) for task in computing]
        others = [task for task in tasks if task not in computing]
        # Of one that has waited for a processor all the time, it is not known what it would do with it.
        shares = [_share(began, before.get(task), resting.get(task)) for task in others]
        if any(share is not None and share > _IDLE_SHARE for share in shares):
            return None, False
        if all(use.ran >= _ENOUGH for use in ran) and None not in shares:
            break
        if window > _LONGEST_WINDOW:
            return None, False
    if len(computing) > 1:
        return None, False
    if not computing:
        return next(_waiting_for_threads(pid), None), False
    (writer,) = computing
    return (None, False) if ran[0].waits else (writer, True)


def _resting(pid: int) -> dict[int, tuple[int, _Use]]:
    """When a thread was last asleep at one of several looks, and what it had had by then; not of others.

    While a thread waits for a processor, the system does not count how long.
    """
    found = {}
    for _ in range(_LOOKS):
        for task in _tasks(pid):
            if _state(pid, task) != "R":
                found[task] = (time.monotonic_ns(), _Use.of(pid, task))
        time.sleep(_LOOKS_APART)
    return found


def _share(began: int, before: _Use | None, rested: tuple[int, _Use] | None) -> float | None:
    """How much it ran of the time in which it had a processor, or did not want any.

    None if that time was too short, as where the machine is busy: then a thread that runs
    Python has hardly more than one that waits for the interpreter. 1 if it has run for long at a time.
    """
    if rested is None:
        return None
    at, use = rested[0], rested[1].since(before)
    if use.ran > _LONGEST_TURN * (use.waits + 1):
        return 1.0
    free = at - began - use.delayed
    return use.ran / free if free >= _ENOUGH else None


class _Use(NamedTuple):
    """What a thread has had of a processor."""

    ran: int
    """Nanoseconds."""
    delayed: int
    """Nanoseconds in which it wanted one, and had none."""
    waits: int
    """How often it has given it away to wait for something."""

    @classmethod
    def of(cls, pid: int, task: int) -> _Use:
        folder = Path(f"/proc/{pid}/task/{task}")
        status = (folder / "status").read_text("utf-8", "replace")
        waits = re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.MULTILINE)
        if waits is None:
            raise ValueError("the system does not count waits")
        ran, delayed = map(int, (folder / "schedstat").read_text().split()[:2])
        return cls(ran, delayed, int(waits[1]))

    def since(self, earlier: _Use | None) -> _Use:
        """What it has had since then; all, if it is new."""
        return _Use(*map(operator.sub, self, earlier)) if earlier is not None else self


def _tasks(pid: int) -> list[int]:
    return sorted(map(int, os.listdir(f"/proc/{pid}/task")))


def _waiting_for_threads(pid: int) -> Iterator[int]:
    """The threads that the kernel holds in a futex, the last first: the main one is the program's."""
    for task in reversed(_tasks(pid)):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/task/{task}/wchan").read_text().startswith("futex"):
                yield task


def _state(pid: int, task: int) -> str:
    stat = Path(f"/proc/{pid}/task/{task}/stat").read_text("utf-8", "replace")
    return stat.rpartition(")")[2].split()[0]


def _send(pid: int, thread: int, number: int) -> None:
    if ctypes.CDLL(None, use_errno=True).tgkill(pid, thread, number) != 0:
        raise OSError(ctypes.get_errno(), "tgkill")


def _in_order(pid: int, written: str, computes: int | None) -> list[ForeignThread]:
    parts = _HEADING.split(written)[1:]  # an ident, its frames, the next ident, …
    idents = [int(ident, 16) for ident in parts[::2]]
    native = _native_ids(pid, idents)
    found = [
        ForeignThread(ident, number, number == computes if number else None, tuple(_frames(text)))
        for ident, text in zip(idents, parts[1::2], strict=True)
        for number in [native.get(ident)]
    ]
    return sorted(found, key=lambda one: one.native_id != pid)


def _frames(text: str) -> Iterator[ForeignFrame]:
    for path, line, function in _FRAME.findall(text):
        yield ForeignFrame(_unescaped(path), int(line), _unescaped(function))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1] or found[2] or found[3], 16)), text)


def _native_ids(pid: int, idents: Sequence[int]) -> dict[int, int]:
    """The system's ids of threads by Python's, which are where the C library describes each thread.

    Each description has the id at one and the same place, which no header tells: it is where all of them
    have different ids of threads of this process. Empty if that is not so at exactly one place, or
    if the memory may not be read.
    """
    tasks = set(_tasks(pid))
    try:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            words = [_words(memory.fileno(), ident) for ident in idents]
    except (OSError, OverflowError):
        return {}
    rows = [row for row in zip(*words, strict=False) if len({*row} & tasks) == len(idents)]
    return dict(zip(idents, rows[0], strict=True)) if len(rows) == 1 else {}


def _words(memory: int, address: int) -> tuple[int, ...]:
    read = os.pread(memory, _DESCRIPTION_BYTES, address)
    return struct.unpack(f"{len(read) // 4}i", read[: len(read) // 4 * 4])
