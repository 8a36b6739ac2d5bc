"""Reads of a socket that wait first: never of what has its number after it."""

from __future__ import annotations

import os
import socket

import pytest
import trio

from relay.process.ready_reads import read_when_ready


async def test_what_is_there_is_read_to_the_end() -> None:
    ours, theirs = trio.socket.socketpair()
    with ours, theirs:
        os.write(theirs.fileno(), b"ab")
        assert await read_when_ready(ours, 1) == b"a"
        assert await read_when_ready(ours, 9) == b"b"
        theirs.shutdown(socket.SHUT_WR)
        assert await read_when_ready(ours, 9) == b""


async def test_a_socket_closed_as_it_gets_ready_is_at_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its number may be somebody's who has opened something between."""
    ours, theirs = trio.socket.socketpair()
    reading, writing = os.pipe()
    wait_readable = trio.lowlevel.wait_readable

    async def wait_and_close(descriptor: int) -> None:
        await wait_readable(descriptor)
        ours.close()
        os.dup2(reading, descriptor)
        opened.append(descriptor)

    opened = [reading, writing]
    monkeypatch.setattr(trio.lowlevel, "wait_readable", wait_and_close)
    try:
        with theirs:
            os.write(theirs.fileno(), b"for us")
            os.write(writing, b"not for us")
            assert await read_when_ready(ours, 99) == b""
        assert os.read(reading, 99) == b"not for us"
    finally:
        for descriptor in opened:
            os.close(descriptor)
