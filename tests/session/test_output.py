"""Bytes become numbered lines: nothing lost, nothing torn, bounded, and quick."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import trio
import trio.testing

from relay.process import output_pipe
from relay.process.output_pipe import DRAIN_BYTES, OutputPipe
from relay.redaction.output_mask import OutputMask
from relay.session.clock import format_timestamp
from relay.session.output_log import ENTRY_OVERHEAD, OutputLog, split_lines


class Program:
    """The writing end of an OutputPipe."""

    def __init__(self) -> None:
        reading, self.fd = os.pipe()
        self.pipe = OutputPipe(reading)
        self.texts: list[str] = []

    def write(self, data: bytes) -> None:
        os.write(self.fd, data)

    def exit(self) -> None:
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    async def pump(self) -> None:
        await self.pipe.pump(self.texts.append)


@contextmanager
def program() -> Iterator[Program]:
    writer = Program()
    try:
        yield writer
    finally:
        writer.exit()
        writer.pipe.close()


SAMPLE = "aé€😀\n".encode() + b"\xff\xe2\x82\n\xf0\x9f\n" + "ü".encode()


@pytest.mark.parametrize("split", range(len(SAMPLE) + 1))
async def test_characters_are_whole_wherever_the_reads_fall(split: int) -> None:
    with program() as writer:
        for piece in (SAMPLE[:split], SAMPLE[split:]):
            writer.write(piece)
            writer.pipe.drain_now(writer.texts.append)
        writer.exit()
        writer.pipe.drain_now(writer.texts.append)
    assert "".join(writer.texts) == SAMPLE.decode(errors="backslashreplace")


async def test_bytes_one_by_one() -> None:
    with program() as writer:
        for byte in SAMPLE:
            writer.write(bytes([byte]))
            writer.pipe.drain_now(writer.texts.append)
    assert "".join(writer.texts) == SAMPLE.decode(errors="backslashreplace")


async def test_half_a_character_at_the_end_is_shown_escaped() -> None:
    with program() as writer:
        writer.write("ok €".encode()[:-1])
        writer.exit()
        await writer.pump()
        assert writer.pipe.closed
    assert "".join(writer.texts) == "ok \\xe2\\x82"


async def test_lines_are_put_together_when_their_rest_comes_soon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(output_pipe, "HOLD_SECONDS", 60)
    with program() as writer:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(writer.pump)
            for piece in (b"one\ntw", b"o\nthr", b"ee"):
                writer.write(piece)
                await trio.testing.wait_all_tasks_blocked(0.02)
            assert writer.texts == ["one\n", "two\n"]
            writer.exit()
    assert writer.texts == ["one\n", "two\n", "three"]


async def test_a_prompt_is_given_although_no_newline_comes() -> None:
    with program() as writer, trio.fail_after(30):
        prompted = trio.Event()

        def sink(text: str) -> None:
            writer.texts.append(text)
            prompted.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(writer.pipe.pump, sink)
            writer.write(b"Name? ")
            await prompted.wait()
            writer.exit()
    assert writer.texts == ["Name? "]


async def test_draining_takes_also_what_the_pump_holds_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(output_pipe, "HOLD_SECONDS", 60)
    with program() as writer:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(writer.pump)
            writer.write(b"begin")
            await trio.testing.wait_all_tasks_blocked(0.02)
            writer.write(b"ning\n>>> ")
            assert writer.pipe.drain_now() == len(b"ning\n>>> ")
            assert "".join(writer.texts) == "beginning\n>>> "
            writer.exit()
    assert "".join(writer.texts) == "beginning\n>>> "


async def test_the_beginning_of_a_credential_waits_longer_than_that_of_a_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(output_pipe, "HOLD_SECONDS", 0.001)
    monkeypatch.setattr(output_pipe, "CREDENTIAL_SECONDS", 60)
    begun = trio.Event()
    with program() as writer, trio.fail_after(30):
        writer.pipe.mask(OutputMask())

        def sink(text: str) -> None:
            writer.texts.append(text)
            begun.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(writer.pipe.pump, sink)
            writer.write(b"key: ghp_a1B2")
            await begun.wait()
            assert writer.texts == ["key: "]
            writer.write(b"a1B2" * 8 + b" end")
            writer.exit()
    assert "".join(writer.texts) == "key: *** end"


async def test_draining_is_bounded_and_waits_for_nothing() -> None:
    with program() as writer:
        assert writer.pipe.drain_now(writer.texts.append) == 0
        pipe = OutputPipe(os.open("/dev/zero", os.O_RDONLY))
        assert pipe.drain_now(writer.texts.append) == DRAIN_BYTES
        pipe.close()
        assert pipe.drain_now(writer.texts.append) == 0
    assert "".join(writer.texts) == "\0" * DRAIN_BYTES


async def test_a_pump_ends_when_closed_by_another_task() -> None:
    with program() as writer:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(writer.pump)
            await trio.testing.wait_all_tasks_blocked()
            writer.pipe.close()
        with pytest.raises(trio.ClosedResourceError):
            await writer.pipe.receive_some()


async def test_a_flood_lets_others_run() -> None:
    pipe = OutputPipe(os.open("/dev/zero", os.O_RDONLY))
    with trio.move_on_after(0.05) as scope:
        await pipe.pump(lambda text: None)
    assert scope.cancelled_caught
    pipe.close()


async def test_a_terminal_that_is_left_has_ended() -> None:
    master, slave = os.openpty()
    pipe = OutputPipe(master)
    os.write(slave, b"last\n")
    os.close(slave)
    texts: list[str] = []
    await pipe.pump(texts.append)
    assert "".join(texts) == "last\r\n"


async def test_bytes_can_be_had_as_they_are() -> None:
    with program() as writer:
        writer.write(b"\xff\x00")
        assert await writer.pipe.receive_some() == b"\xff\x00"
        writer.exit()
        assert await writer.pipe.receive_some() == b""


# The log


def texts(
    log: OutputLog, after: int = 0, limit: int = 100, category: str | None = None
) -> list[str]:
    return [entry.output for entry in log.read(after, limit, category).entries]


def test_one_entry_a_line() -> None:
    log = OutputLog()
    added = log.append("stdout", "one\n\ntwo\x0c\u2028\r\nrest")
    log.append("stderr", "oops\n", source="/a.py", line=3)
    assert texts(log) == ["one\n", "\n", "two\x0c\u2028\r\n", "rest", "oops\n"]
    entries = log.read(0).entries
    assert added == entries[:4]
    assert [entry.seq for entry in entries] == [1, 2, 3, 4, 5]
    assert (entries[0].source, entries[0].line) == (None, None)
    assert (entries[4].category, entries[4].source, entries[4].line) == ("stderr", "/a.py", 3)
    assert format_timestamp(entries[0].timestamp).endswith("Z")
    assert log.append("stdout", "") == []


def test_long_lines_come_in_pieces() -> None:
    line = "x" * 150_000 + "\n"
    assert [len(piece) for piece in split_lines(line + "y\n")] == [65_536, 65_536, 18_929, 2]
    assert "".join(split_lines(line)) == line


def test_pages_and_cursors() -> None:
    log = OutputLog()
    log.append("stdout", "".join(f"{n}\n" for n in range(1, 11)))
    first = log.read(0, 4)
    assert (len(first.entries), first.next_seq, first.has_more) == (4, 4, True)
    last = log.read(first.next_seq, 6)
    assert (len(last.entries), last.next_seq, last.has_more) == (6, 10, False)
    assert log.read(10) == ([], 10, False, 0)
    assert log.read(99) == ([], 10, False, 0)
    assert log.read(0, 0).next_seq == 1


def test_a_category_is_found_among_the_others() -> None:
    log = OutputLog()
    for n in range(1, 7):
        log.append("stderr" if n % 3 == 0 else "stdout", f"{n}\n")
    page = log.read(0, 1, "stderr")
    assert ([entry.seq for entry in page.entries], page.next_seq, page.has_more) == ([3], 3, True)
    page = log.read(3, 1, "stderr")
    assert ([entry.seq for entry in page.entries], page.next_seq, page.has_more) == ([6], 6, False)
    assert log.read(0, 5, "console") == ([], 6, False, 0)


def test_the_oldest_go_first_and_readers_are_told() -> None:
    log = OutputLog(limit_bytes=10 * (ENTRY_OVERHEAD + 2))
    for n in range(25):
        log.append(("stdout", "stderr")[n % 2], chr(ord("a") + n) + "\n")
    assert len(log) == 10
    assert log.size == log.limit_bytes
    page = log.read(5, 3)
    assert ([entry.seq for entry in page.entries], page.dropped) == ([16, 17, 18], 10)
    assert log.read(16).dropped == 0
    assert log.read(0, 100, "stdout").dropped == 15
    assert [entry.seq for entry in log.read(0, 100, "stdout").entries] == [17, 19, 21, 23, 25]


def test_bytes_are_counted_as_utf_8_and_the_newest_is_kept() -> None:
    log = OutputLog(limit_bytes=1000)
    log.append("stdout", "ü" * 100)
    assert log.size == ENTRY_OVERHEAD + 200
    log.append("stdout", "x" * 5000)
    assert texts(log) == ["x" * 5000]
    assert log.read(0).dropped == 1
    log.append("stdout", "small")
    assert texts(log) == ["small"]


def test_clearing_is_not_dropping() -> None:
    log = OutputLog()
    log.append("stdout", "a\nb\n")
    log.clear()
    assert log.read(0) == ([], 2, False, 0)
    log.append("stdout", "c\n")
    page = log.read(0)
    assert ([entry.seq for entry in page.entries], page.dropped, log.size) == ([3], 0, 122)


def test_a_million_lines_are_quick() -> None:
    log = OutputLog(limit_bytes=64 * 1024 * 1024)
    chunk = "a line of output, as they are\n" * 1000
    started = time.process_time()  # others may be busy here
    for _ in range(1000):
        log.append("stdout", chunk)
    elapsed = time.process_time() - started
    assert log.last_seq == 1_000_000
    assert log.size <= log.limit_bytes
    assert elapsed < 10  # about 1

    started = time.process_time()
    for after in range(600_000, 1_000_000, 400):
        assert log.read(after, 10, "stdout").entries
    assert time.process_time() - started < 2  # about 0.02


async def test_waiting_for_a_category() -> None:
    log = OutputLog()
    seen: list[str] = []

    async def wait(category: str | None) -> None:
        await log.wait(0, category=category)
        seen.append(str(category))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait, "stderr")
        nursery.start_soon(wait, None)
        await trio.testing.wait_all_tasks_blocked()
        log.append("stdout", "x")
        await trio.testing.wait_all_tasks_blocked()
        assert seen == ["None"]
        log.append("stderr", "x")
    assert seen == ["None", "stderr"]
