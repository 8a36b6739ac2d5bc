"""Answers without an end of their own, and what their session holds meanwhile."""

from __future__ import annotations

import pytest
import trio

from tests.http.conftest import Served

GET = b"GET /api/v1/sessions/sess_1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def read_until(stream: trio.SocketStream, end: bytes) -> bytes:
    """What arrives up to and including these bytes."""
    received = b""
    while not received.endswith(end):
        piece = await stream.receive_some()
        assert piece, received
        received += piece
    return received


async def test_pieces_arrive_at_once(served: Served) -> None:
    session = served.hub.sessions["sess_1"]
    async with await served.open() as stream:
        await stream.send_all(GET)
        head = await read_until(stream, b"data: 1\n\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert b"content-type: text/event-stream\r\n" in head
        assert b"x-request-id: " in head
        assert b"cache-control: no-store" in head
        assert session.users == 1
        session.woken.set()
        await read_until(stream, b"data: 2\n\n\r\n0\r\n\r\n")
        await session.idle.wait()


@pytest.mark.parametrize("politely", [True, False])
async def test_hang_up_ends_the_stream(served: Served, politely: bool) -> None:
    session = served.hub.sessions["sess_1"]
    async with await served.open() as stream:
        await stream.send_all(GET)
        await session.waiting.wait()
        assert session.users == 1
        if politely:
            await stream.send_eof()
            await session.idle.wait()
    await session.idle.wait()


async def test_head_waits_for_no_piece(served: Served) -> None:
    async with await served.open() as stream:
        await stream.send_all(GET.replace(b"stream", b"silence"))
        head = await read_until(stream, b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
    await served.hub.sessions["sess_1"].idle.wait()


async def test_refused_before_it_starts(served: Served) -> None:
    response = await served.client.get("/sessions/nope/stream")
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "SESSION_NOT_FOUND"
