"""StdinQueue and the prompt: nothing waits, nothing is lost, nothing is kept without bound."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trio
import trio.testing

from relay.dap.lifecycle import Phase
from relay.process.stdin_queue import ITEM_OVERHEAD, QUEUE_BYTES, QueueFull, StdinQueue
from relay.process.streams import InputPipe, open_streams
from relay.session.debuggee.stdin_watch import LONGEST_PROMPT, StdinWatch, prompt_of, waits_for
from relay.session.output_log import OutputLog


class Program:
    """The reading end of a pipe, and what was told of the writing end."""

    def __init__(self) -> None:
        self.fd, writing = os.pipe()
        self.pipe = InputPipe(writing)
        self.written = b""
        self.ends = 0
        self.lost: list[int] = []
        self.queue = StdinQueue(self.pipe, self._wrote, self._ended, self.lost.append)

    def _wrote(self, data: bytes) -> None:
        self.written += data

    def _ended(self) -> None:
        self.ends += 1

    async def read(self, size: int) -> bytes:
        return await trio.to_thread.run_sync(os.read, self.fd, size)

    def hang_up(self) -> None:
        os.close(self.fd)
        self.fd = -1


@pytest.fixture
async def program() -> AsyncIterator[Program]:
    made = Program()
    yield made
    if made.fd >= 0:
        os.close(made.fd)
    made.pipe.abandon()


async def test_what_fits_is_written_at_once_without_a_task(program: Program) -> None:
    program.queue.offer(b"one\n")
    program.queue.offer(b"two\n", end=True)
    assert (program.written, program.ends, program.queue.waiting) == (b"one\ntwo\n", 1, 0)
    assert await program.read(100) == b"one\ntwo\n"
    assert await program.read(100) == b""


async def test_what_does_not_fit_comes_whole_and_in_order_and_then_the_end(
    program: Program,
) -> None:
    data = bytes(range(256)) * 4000
    received = b""
    async with trio.open_nursery() as nursery:
        program.queue.offer(data)
        program.queue.offer(b"last", end=True)
        assert 0 < program.queue.waiting < len(data)
        assert program.ends == 0
        nursery.start_soon(program.queue.run)
        with trio.fail_after(30):
            while piece := await program.read(100_000):
                received += piece
    assert received == program.written == data + b"last"
    assert (program.ends, program.lost, program.queue.waiting) == (1, [], 0)


async def test_the_bound_holds_for_many_and_for_much(program: Program) -> None:
    program.queue.offer(b"x" * (QUEUE_BYTES // 2))
    before = program.queue.waiting
    with pytest.raises(QueueFull) as full:
        program.queue.offer(b"y" * (QUEUE_BYTES // 2 + 100_000))
    assert full.value.waiting == program.queue.waiting == before
    most = QUEUE_BYTES // ITEM_OVERHEAD
    count = next(number for number in range(most) if not _takes(program.queue, b"z"))
    assert program.queue.waiting == before + count


def _takes(queue: StdinQueue, data: bytes) -> bool:
    try:
        queue.offer(data)
    except QueueFull:
        return False
    return True


async def test_nothing_goes_in_after_the_end(program: Program) -> None:
    program.queue.offer(b"x" * 1_000_000, end=True)
    with pytest.raises(trio.ClosedResourceError):
        program.queue.offer(b"more")
    assert program.ends == 0
    assert program.queue.waiting < 1_000_000


async def test_what_nobody_reads_any_more_is_told(program: Program) -> None:
    async with trio.open_nursery() as nursery:
        program.queue.offer(b"x" * 1_000_000)
        waiting = program.queue.waiting
        nursery.start_soon(program.queue.run)
        await trio.testing.wait_all_tasks_blocked()
        program.hang_up()
    assert program.lost == [waiting]
    with pytest.raises(trio.BrokenResourceError):
        program.queue.offer(b"more")


async def test_a_pipe_that_was_let_go_ends_the_task_quietly(program: Program) -> None:
    async with trio.open_nursery() as nursery:
        program.queue.offer(b"x" * 1_000_000)
        nursery.start_soon(program.queue.run)
        await trio.testing.wait_all_tasks_blocked()
        program.pipe.abandon()
    assert (program.lost, program.queue.waiting) == ([], 0)
    with pytest.raises(trio.ClosedResourceError):
        program.queue.offer(b"more")


@pytest.mark.parametrize(
    ("printed", "prompt"),
    [
        ([], ""),
        (["name? "], "name? "),
        (["hello\n", "name? "], "name? "),
        (["hello\n"], ""),
        (["na", "me", "? "], "name? "),
        (["hello\nname? "], "name? "),
        (["x" * 3000 + "end"], ("x" * 3000 + "end")[-LONGEST_PROMPT:]),
    ],
)
def test_the_prompt_is_what_stands_after_the_last_newline(printed: list[str], prompt: str) -> None:
    log = OutputLog()
    for text in printed:
        log.append("stdout", text)
        log.append("stderr", "noise\n")
    assert prompt_of(log, 0) == prompt
    # What was answered is no question any more.
    assert prompt_of(log, log.last_seq) == ""


# Who waits ----------------------------------------------------------------------------------

READS_WHEN_TOLD = """
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
while os.read(0, 100):
    signal.sigwait({signal.SIGUSR1})
"""


@contextlib.contextmanager
def reading(stdin: int) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", READS_WHEN_TOLD], stdin=stdin) as reader:
        try:
            yield reader
        finally:
            reader.kill()


@pytest.mark.skipif(
    not Path("/proc/self/syscall").exists(), reason="this system does not show what threads do"
)
@pytest.mark.parametrize("terminal", [False, True])
async def test_who_was_given_a_line_does_not_look_as_if_it_waited(terminal: bool) -> None:
    with contextlib.ExitStack() as theirs, contextlib.ExitStack() as failed:
        streams = open_streams(terminal, theirs, failed)
        with reading(streams.theirs[0]) as reader:
            for _ in range(50):
                with trio.fail_after(30):
                    while not waits_for(reader.pid, streams.stdin):  # noqa: ASYNC110
                        await trio.sleep(0.001)
                assert streams.stdin.send_now(memoryview(b"a line\n")) == 7
                assert not waits_for(reader.pid, streams.stdin)
                reader.send_signal(signal.SIGUSR1)


class _Counting:
    """A session that stands, or runs; it counts how often it is asked which."""

    def __init__(self, phase: Phase) -> None:
        self.asked, self._phase = 0, phase
        self.pid, self.waiting_for_input, self.events = os.getpid(), None, None

    @property
    def phase(self) -> Phase:
        self.asked += 1
        return self._phase

    def input_over(self) -> None:
        pass


@pytest.mark.parametrize(("phase", "most"), [(Phase.PAUSED, 2), (Phase.RUNNING, 1000)])
async def test_a_program_that_stands_is_not_looked_at_and_an_idle_one_rarely(
    autojump_clock: trio.testing.MockClock, phase: Phase, most: int
) -> None:
    session: Any = _Counting(phase)
    debuggee: Any = SimpleNamespace(session=session, events=session)
    program = Program()
    watch = StdinWatch(debuggee, program.pipe, lambda: None, lambda: 0)
    with trio.move_on_after(3600):
        await watch.poll()
        raise AssertionError("it has ended")
    assert session.asked <= most
    program.pipe.close()
    os.close(program.fd)
