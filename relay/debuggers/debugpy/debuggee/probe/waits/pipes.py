"""Child processes that wait at a pipe whose other end this process has, read in /proc.

Who waits for such a child, for its end or at a pipe that it has, waits for itself, unless another
thread comes to serve the pipe.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.waits.child_processes import process_name
    from relay.debuggers.debugpy.debuggee.probe.waits.descriptors import (
        children_of_process,
        proc_text,
        system_call_in,
    )

WRITING_CALLS = ("write", "writev")
PIPE_CALLS = (*WRITING_CALLS, "read", "readv")
_STREAMS = {0: "its stdin", 1: "its stdout", 2: "its stderr"}
_MOST_PROCESSES = 50
_ACCESS_MODE = 3  # of the flags of a descriptor: 0 reads, 1 writes, 2 does both


class PipeWait(NamedTuple):
    """What a process below this one waits for."""

    pid: int
    is_main: bool
    """Whether its main thread does: else it may end nevertheless."""
    descriptor: int
    writes: bool
    own: int
    """The descriptor of the other end in this process."""

    def words(self) -> str:
        """`waits to write to its stdout, a full pipe that this program is to read (its fd 5)`"""
        end = _STREAMS.get(self.descriptor, f"its fd {self.descriptor}")
        if self.writes:
            what = f"waits to write to {end}, a full pipe that this program is to read"
        else:
            what = f"waits to read from {end}, an empty pipe that this program is to write or close"
        return f"{what} (fd {self.own} here)"


def waits_at_pipe(pid: int) -> PipeWait | None:
    """Of a child, or of one below it, for it may wait for that one in turn."""
    own = attempt(_pipes_of, "self", default={})
    below, seen = [pid] if own else [], 0
    while below and seen < _MOST_PROCESSES:
        one = below.pop(0)
        found: PipeWait | None = attempt(_wait_of, one, own)
        if found is not None:
            return found
        below += attempt(children_of_process, one, default=[])
        seen += 1
    return None


def served_by(descriptor: int, writes: bool) -> tuple[int, PipeWait] | None:
    """Of a pipe that this process waits to write to, or to read from: the one child that has its other
    end, if all that it does is to wait at another pipe of ours."""
    pipe = attempt(os.readlink, f"/proc/self/fd/{descriptor}", default="")
    if not pipe.startswith("pipe:["):
        return None
    holders, waiting, seen = [], children_of_process("self"), 0
    while waiting and seen < _MOST_PROCESSES:
        one = waiting.pop(0)
        if (pipe, writes) in attempt(_pipes_of, one, default={}):
            holders.append(one)
        waiting += attempt(children_of_process, one, default=[])
        seen += 1
    if waiting or len(holders) != 1:
        return None
    (pid,) = holders
    found = attempt(_wait_of, pid, attempt(_pipes_of, "self", default={}))
    if found is None or len(attempt(os.listdir, f"/proc/{pid}/task", default=())) != 1:
        return None
    is_same = attempt(os.readlink, f"/proc/self/fd/{found.own}") == pipe
    return None if is_same else (pid, found)


def pipe_text(pid: int, found: PipeWait) -> str:
    """`which waits to write …`, of the process itself or of one below it."""
    if found.pid == pid:
        return f"which {'' if found.is_main else 'has a thread that '}{found.words()}"
    who = process_name(found.pid) if found.is_main else f"a thread of {process_name(found.pid)}"
    return f"below which {who} {found.words()}"


def process_and_pipe(pid: int) -> str:
    """A child by its name, and whether it waits to write; to read from us is what idle workers do."""
    found = attempt(waits_at_pipe, pid)
    name = process_name(pid)
    return f"{name}, {pipe_text(pid, found)}" if found and found.writes else name


def _pipes_of(process: int | str) -> dict[tuple[str, bool], int]:
    """The descriptor of each pipe's end that a process has: by the pipe, and by whether it is the one to
    read."""
    found: dict[tuple[str, bool], int] = {}
    for name in os.listdir(f"/proc/{process}/fd"):
        target = attempt(os.readlink, f"/proc/{process}/fd/{name}", default="")
        if target.startswith("pipe:["):
            lines = proc_text(f"/proc/{process}/fdinfo/{name}").splitlines()
            flags = [int(line.split()[1], 8) for line in lines if line.startswith("flags:")]
            mode = flags[0] & _ACCESS_MODE
            if mode != 1:
                found[target, True] = int(name)
            if mode != 0:
                found[target, False] = int(name)
    return found


def _wait_of(pid: int, own: dict[tuple[str, bool], int]) -> PipeWait | None:
    threads = sorted(map(int, os.listdir(f"/proc/{pid}/task")), key=lambda one: one != pid)
    for thread in threads[:_MOST_PROCESSES]:
        home = f"/proc/{pid}/task/{thread}"
        call = system_call_in(home)
        if call is None or call[0] not in PIPE_CALLS:
            continue
        writes, descriptor = call[0] in WRITING_CALLS, call[1][0]
        pipe = attempt(os.readlink, f"/proc/{pid}/fd/{descriptor}", default="")
        # It sleeps in the call, so that the pipe is full, or empty: not just on its way.
        sleeps = proc_text(home + "/stat").rpartition(")")[2].split()[:1] == ["S"]
        if sleeps and (pipe, writes) in own:
            return PipeWait(pid, thread == pid, descriptor, writes, own[pipe, writes])
    return None
