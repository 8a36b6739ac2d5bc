"""Lines go to a descriptor, and never wait for who reads it."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from typing import Any

import pytest

from relay.logs.formats import JsonFormat
from relay.logs.stream import DROPPED, LineStream


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    for descriptor in (reader, writer):
        try:
            os.close(descriptor)
        except OSError:
            continue


def stream_to(descriptor: int) -> LineStream:
    stream = LineStream(descriptor)
    stream.setFormatter(JsonFormat(str))
    return stream


def record(message: str) -> logging.LogRecord:
    return logging.makeLogRecord({"msg": message, "name": "relay", "levelname": "INFO"})


def read(descriptor: int) -> bytes:
    """What lies in the pipe now."""
    os.set_blocking(descriptor, False)
    text = b""
    try:
        while piece := os.read(descriptor, 1 << 20):
            text += piece
    except BlockingIOError:
        pass
    return text


def messages(text: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_line_is_written_whole(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    stream_to(writer).handle(record("é" * 5000))
    (entry,) = messages(read(reader))
    assert entry["message"].startswith("éé")


def test_nothing_waits_for_a_reader_and_what_was_dropped_is_told(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    stream = stream_to(writer)
    for number in range(3000):  # some 300 KB: a pipe holds 64
        stream.handle(record(f"line {number}"))
    before = messages(read(reader))
    assert [entry["message"] for entry in before] == [f"line {n}" for n in range(len(before))]
    stream.handle(record("last"))
    told, last = messages(read(reader))
    assert (told["message"], told["count"]) == (DROPPED, 3000 - len(before))
    assert last["message"] == "last"


def test_a_line_that_was_cut_does_not_run_into_the_next(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    stream = stream_to(writer)
    room = 0
    while stream._has_room():  # a page at a time, as the kernel counts it
        os.write(writer, b"x" * 4096)
        room += 4096
    os.read(reader, 4096)
    stream.handle(logging.makeLogRecord({"msg": "long", "exc_text": "t" * 10_000}))
    text = read(reader)
    assert not text.endswith(b"\n")
    stream.handle(record("next"))
    empty, line = read(reader).split(b"\n", 1)
    assert empty == b""
    assert json.loads(line)["message"] == "next"


def test_a_reader_that_is_gone_is_no_error(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    stream = stream_to(writer)
    os.close(reader)
    stream.handle(record("to nobody"))
    assert stream._dropped == 1
