"""The stacks of a process that cannot answer: asked for without harm to one that only computes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from relay.process.foreign_stacks import foreign_stacks

Starve = Callable[[int], None]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="stacks are written on Linux only")

WRITES_ITS_STACKS = """
import faulthandler, fcntl, os, threading
low = os.memfd_create("debug-relay-stacks-57")
file = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 64)
os.close(low)
faulthandler.register(57, file=file, all_threads=True, chain=False)
threading.Thread(target=threading.Event().wait, daemon=True).start()

def first(n):
    return second(n - 1) if n else 0

def second(n):
    exec("found = [i for i in range(2)]", {})
    return first(n - 1) if n else 0

def compute():
    print("up", flush=True)
    while True:
        first(60)

for _ in range(THREADS - 1):
    threading.Thread(target=compute, daemon=True).start()
compute()
"""


@contextmanager
def computing(threads: int) -> Iterator[subprocess.Popen[bytes]]:
    source = WRITES_ITS_STACKS.replace("THREADS", str(threads))
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            for _ in range(threads):
                process.stdout.readline()
            yield process
        finally:
            process.kill()


@pytest.fixture
def starved() -> Iterator[Starve]:
    """Leaves a process what another one, which always computes, does not take of one processor."""
    one = {min(os.sched_getaffinity(0))}
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as other:
        os.sched_setaffinity(other.pid, one)

        def starve(pid: int) -> None:
            for task in map(int, os.listdir(f"/proc/{pid}/task")):
                os.sched_setaffinity(task, one)
                os.setpriority(os.PRIO_PROCESS, task, 10)

        try:
            yield starve
        finally:
            other.kill()


def test_a_program_that_computes_goes_on_when_it_has_written_its_stacks() -> None:
    with computing(1) as process:
        found = [stacks for _ in range(20) if (stacks := foreign_stacks(process.pid))]
        assert process.poll() is None
    assert found
    for stacks in found:
        functions = {frame.function for thread in stacks for frame in thread.frames}
        assert functions >= {"compute"}, stacks  # at times between two calls of it


def test_of_a_process_that_is_gone_there_are_no_stacks() -> None:
    with computing(1) as process:
        process.kill()
        process.wait()
        assert foreign_stacks(process.pid) == []


def test_nothing_is_asked_where_one_thread_may_change_its_stack_while_another_writes() -> None:
    with computing(2) as process:
        assert [foreign_stacks(process.pid) for _ in range(20)] == [[]] * 20
        assert process.poll() is None


def test_nor_where_two_that_compute_have_hardly_a_processor(starved: Starve) -> None:
    """Neither ran for long, which looked as if both waited for the interpreter."""
    with computing(2) as process:
        starved(process.pid)
        assert [foreign_stacks(process.pid) for _ in range(5)] == [[]] * 5
        assert process.poll() is None
