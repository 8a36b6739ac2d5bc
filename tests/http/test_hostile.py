"""Clients that break the protocol, leave, or stall. Each gets an answer or an end."""

from __future__ import annotations

import json

import pytest
import trio
import trio.testing

from relay.faces.http.server import HEADER_BYTES
from tests.http.conftest import Served, read_response


def status_and_code(answer: bytes) -> tuple[int, str | None]:
    """Status and error code of a raw response, which must have the envelope."""
    head, _, body = answer.partition(b"\r\n\r\n")
    envelope = json.loads(body)
    request_id = envelope["meta"]["request_id"].encode()
    assert b"x-request-id: " + request_id in head.lower()
    assert b"content-type: application/json; charset=utf-8" in head.lower()
    error = envelope["error"]
    return int(head.split()[1]), error and error["code"]


GET = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    ("request_bytes", "expected"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", (400, "INVALID_REQUEST")),
        (b"hello\r\n\r\n", (400, "INVALID_REQUEST")),
        (b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n", (400, "INVALID_REQUEST")),
        (b"GET / HTTP/1.1\r\n\r\n", (400, "INVALID_REQUEST")),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", (400, "INVALID_REQUEST")),
        (b"G@T / HTTP/1.1\r\nHost: localhost\r\n\r\n", (400, "INVALID_REQUEST")),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, "INVALID_REQUEST")),
        (GET + b"Content-Length: x\r\n\r\n", (400, "INVALID_REQUEST")),
        (GET + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", (400, "INVALID_REQUEST")),
        (
            GET + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            (400, "INVALID_REQUEST"),
        ),
        (GET + b"X-\xff: 1\r\n\r\n", (400, "INVALID_REQUEST")),
        (GET + b"Transfer-Encoding: gzip\r\n\r\n", (501, "NOT_SUPPORTED")),
        (GET + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", (400, "INVALID_REQUEST")),
        (GET + b"X-Long: " + b"x" * 70_000, (413, "PAYLOAD_TOO_LARGE")),
        (b"GET /" + b"x" * 70_000, (413, "PAYLOAD_TOO_LARGE")),
        (b"GET ?x HTTP/1.1\r\nHost: localhost\r\n\r\n", (400, "INVALID_REQUEST")),
        (b"GET http://[x HTTP/1.1\r\nHost: localhost\r\n\r\n", (400, "INVALID_REQUEST")),
        (b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", (400, "INVALID_REQUEST")),
        (b"CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n", (400, "INVALID_REQUEST")),
        (b"GET //// HTTP/1.1\r\nHost: localhost\r\n\r\n", (200, None)),
        (b"BREW /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n", (405, "METHOD_NOT_ALLOWED")),
        (b"get /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n", (200, None)),
        (b"GET http://localhost/api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n", (200, None)),
        (b"GET /api/v1/health HTTP/1.0\r\n\r\n", (200, None)),
        (b"GET /api/v1/health HTTP/1.2\r\nHost: localhost\r\n\r\n", (200, None)),
        (GET + b"X-Request-ID: \xff\xfe\r\n\r\n", (200, None)),
        (GET + b"X-Odd: \xff\xfe\r\nCookie: a=\xff\r\nAccept: \xff\r\n\r\n", (200, None)),
        (GET + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n", (200, None)),
        (
            GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            (200, None),
        ),
        (
            b"GET /api/v1/things?%ff=%fe&reference=1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
            (400, "INVALID_PARAMETER"),
        ),
        (
            b"GET /api/v1/health?%%%=&;&&== HTTP/1.1\r\nHost: localhost\r\n\r\n",
            (400, "INVALID_PARAMETER"),
        ),
    ],
)
async def test_odd_requests(
    served: Served, request_bytes: bytes, expected: tuple[int, str | None]
) -> None:
    assert status_and_code(await served.send(request_bytes)) == expected
    assert (await served.client.get("/health")).status_code == 200


async def test_pipelined_requests_are_answered_in_order(served: Served) -> None:
    async with await served.open() as stream:
        ids = [b"first", b"second", b"third"]
        await stream.send_all(b"".join(GET + b"X-Request-ID: " + i + b"\r\n\r\n" for i in ids))
        received = b""
        while received.count(b"HTTP/1.1 200") < 3 or not received.endswith(b"}}"):
            received += await stream.receive_some()
    positions = [received.index(b'"request_id":"' + i) for i in ids]
    assert positions == sorted(positions)


async def test_connection_is_kept(served: Served) -> None:
    async with await served.open() as stream:
        for _ in range(3):
            await stream.send_all(GET + b"\r\n")
            assert b"HTTP/1.1 200" in await read_response(stream)


async def test_connection_is_closed_if_asked(served: Served) -> None:
    async with await served.open() as stream:
        await stream.send_all(GET + b"Connection: close\r\n\r\n")
        received = b""
        while piece := await stream.receive_some():
            received += piece
    assert b"HTTP/1.1 200" in received


POLL = b"GET /api/v1/sessions/sess_1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def test_hang_up_cancels_the_handler(served: Served) -> None:
    session = served.hub.sessions["sess_1"]
    async with await served.open() as stream:
        await stream.send_all(POLL)
        await session.waiting.wait()
    await session.cancelled.wait()
    await session.idle.wait()


async def test_half_closed_client_counts_as_gone(served: Served) -> None:
    session = served.hub.sessions["sess_1"]
    async with await served.open() as stream:
        await stream.send_all(POLL)
        await session.waiting.wait()
        await stream.send_eof()
        await session.cancelled.wait()


async def test_reset_cancels_the_handler(served: Served) -> None:
    session = served.hub.sessions["sess_1"]
    stream = await served.open()
    await stream.send_all(POLL)
    await session.waiting.wait()
    stream.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    stream.socket.close()
    await session.cancelled.wait()


@pytest.mark.parametrize("ahead", [GET + b"\r\n", b"no request"])
async def test_who_has_asked_ahead_is_missed_as_well(served: Served, ahead: bytes) -> None:
    session = served.hub.sessions["sess_1"]
    async with await served.open() as stream:
        await stream.send_all(POLL + ahead)
        await session.waiting.wait()
    await session.cancelled.wait()
    await session.idle.wait()


async def test_what_is_asked_ahead_is_answered_whatever_its_length(served: Served) -> None:
    """More than is read while the first request is under way."""
    request = GET + b"X-Long: " + b"x" * 1000 + b"\r\n\r\n"
    many = 2 * HEADER_BYTES // len(request)
    async with await served.open() as stream:
        await stream.send_all(POLL)
        await served.hub.sessions["sess_1"].waiting.wait()
        received = b""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stream.send_all, request * many)
            await trio.testing.wait_all_tasks_blocked(0.05)
            served.hub.sessions["sess_1"].woken.set()
            while received.count(b"HTTP/1.1 200") < many + 1:
                received += await stream.receive_some()
