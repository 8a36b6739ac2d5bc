"""What passes h11 by: the same as h11 would have read and written, in whatever pieces it comes."""

from __future__ import annotations

import math

import h11
import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st

from relay.faces.http import upstream
from relay.faces.http.upstream.hypercorn_plain import (
    PlainRequest,
    ShortConnection,
    plain_answer,
    plain_request,
)
from tests.http.conftest import Served, read_response

GET = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"
POLL = b"GET /api/v1/sessions/sess_1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"


def read_by_h11(data: bytes) -> tuple[h11.Request, bytes]:
    """One request and its body; raises unless `data` is just that."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    request, body = connection.next_event(), b""
    assert isinstance(request, h11.Request)
    while isinstance(event := connection.next_event(), h11.Data):
        body += event.data
    assert isinstance(event, h11.EndOfMessage)
    assert connection.trailing_data == (b"", False)
    assert connection.our_state is h11.SEND_RESPONSE
    return request, body


def is_as_h11_reads_it(found: PlainRequest, data: bytes) -> bool:
    request, body = read_by_h11(data)
    theirs = request.method.decode(), request.target, list(request.headers), body
    return theirs == (found.method, found.target, found.headers, found.body)


@pytest.mark.parametrize(
    "data",
    [
        GET + b"\r\n",
        GET + b"Accept:*/*\r\nX-Empty:\r\nX-Spaces:   a  b   \r\n\r\n",
        GET + b"Connection: Keep-Alive\r\n\r\n",
        b"POST /a?b=%20c HTTP/1.1\r\nHOST: h\r\nContent-Length: 3\r\n\r\n\r\n\r",
        b"DELETE /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_a_plain_request_is_read_as_by_h11(data: bytes) -> None:
    found = plain_request(data)
    assert found is not None
    assert is_as_h11_reads_it(found, data)


@pytest.mark.parametrize(
    "data",
    [
        GET,
        GET + b"\r\n" + GET + b"\r\n",
        GET + b"\r\n\r\n",
        GET + b"Content-Length: 2\r\n\r\nx",
        GET + b"Content-Length: 01\r\n\r\nx",
        GET + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        GET + b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n",
        GET + b"Transfer-Encoding: chunked\r\n\r\n",
        GET + b"Connection: close\r\n\r\n",
        GET + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        GET + b"Expect: 100-continue\r\n\r\n",
        GET + b"Host: other\r\n\r\n",
        GET + b"X-Folded: a\r\n b\r\n\r\n",
        GET + b"X-Odd : a\r\n\r\n",
        GET + b"X-Odd: a\x00\r\n\r\n",
        GET + b"X-Odd: a\nTransfer-Encoding: chunked\r\n\r\n",
        GET + b"X-Odd: a\rb\r\n\r\n",
        b"GET / HTTP/1.1\r\nX: y\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.0\r\nHost: h\r\n\r\n",
        b"GET  / HTTP/1.1\r\nHost: h\r\n\r\n",
        b"GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n",
        b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n",
        b"\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
        b"",
    ],
)
def test_what_leaves_anything_to_interpret_is_left_to_h11(data: bytes) -> None:
    assert plain_request(data) is None


PIECES = [b"GET ", b"/", b" HTTP/1.1", b"\r\n", b"\n", b"\r", b":", b" ", b"Host: h", b"x", b"\t"]
PIECES += [b"Content-Length: 1", b"Content-Length: 0", b"Transfer-Encoding: chunked", b"0"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12), st.binary(max_size=6))
def test_whatever_is_taken_h11_reads_in_the_same_way(pieces: list[bytes], more: bytes) -> None:
    data = GET + b"".join(pieces) + more
    found = plain_request(data)
    assert found is None or is_as_h11_reads_it(found, data)


HEADERS = [(b"content-type", b"text/plain"), (b"content-length", b"2")]


def test_an_answer_is_written_as_by_h11() -> None:
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(GET + b"\r\n")
    assert isinstance(connection.next_event(), h11.Request)
    head = connection.send(h11.Response(status_code=404, headers=HEADERS))
    body = connection.send(h11.Data(data=b"{}"))
    assert head is not None
    assert body is not None
    assert plain_answer(404, HEADERS, b"{}") == head + body


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (204, HEADERS),
        (304, HEADERS),
        (200, [(b"content-length", b"3")]),
        (200, [(b"content-type", b"text/plain")]),
        (200, [*HEADERS, (b"connection", b"close")]),
        (200, [*HEADERS, (b"x-odd", b"a\r\nset-cookie: b")]),
        (200, [*HEADERS, (b"x-odd", b"a\nb")]),
    ],
)
def test_other_answers_are_left_to_h11(status: int, headers: list[tuple[bytes, bytes]]) -> None:
    assert plain_answer(status, headers, b"{}") is None


def test_a_request_whose_answer_is_not_plain_becomes_h11s() -> None:
    connection = ShortConnection(h11.Connection(h11.SERVER))
    assert connection.take(GET + b"\r\n") is not None
    assert connection.take(GET + b"\r\n") is None
    connection.receive_data(GET + b"\r\n")
    assert connection.next_event() is h11.PAUSED
    data = connection.send(h11.Response(status_code=200, headers=[(b"content-length", b"0")]))
    assert data == b"HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n"
    assert connection.send(h11.EndOfMessage()) == b""
    assert connection.next_event() is h11.PAUSED
    connection.start_next_cycle()
    assert isinstance(connection.next_event(), h11.Request)


async def test_a_request_in_two_pieces_is_answered(served: Served) -> None:
    async with await served.open() as stream:
        for _ in range(2):
            await stream.send_all(GET)
            await trio.testing.wait_all_tasks_blocked(0.01)
            await stream.send_all(b"\r\n")
            assert b"HTTP/1.1 200" in await read_response(stream)
            await stream.send_all(GET + b"\r\n")
            assert b"HTTP/1.1 200" in await read_response(stream)


@pytest.mark.parametrize("wait_seconds", [0, math.inf])
async def test_what_comes_right_after_an_answer_is_answered(
    served: Served, monkeypatch: pytest.MonkeyPatch, wait_seconds: float
) -> None:
    """Also where the connection is not ready for it yet: an answer that was waited for is sent first."""
    monkeypatch.setattr(upstream.hypercorn_http1, "WAIT_SECONDS", wait_seconds)
    async with await served.open() as stream:
        for _ in range(50):
            await stream.send_all(GET + b"\r\n")
            assert b"HTTP/1.1 200" in await read_response(stream)


async def test_half_a_request_behind_one_that_waits_is_kept(served: Served) -> None:
    session = served.hub.sessions["sess_1"]
    async with await served.open() as stream:
        await stream.send_all(POLL)
        await session.waiting.wait()
        await stream.send_all(GET)
        await trio.testing.wait_all_tasks_blocked(0.01)
        session.woken.set()
        assert b"HTTP/1.1 200" in await read_response(stream)
        await stream.send_all(b"\r\n")
        assert b"HTTP/1.1 200" in await read_response(stream)
