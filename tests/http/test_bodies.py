"""Bodies on the wire: how large, how announced, and refused without losing the answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import trio
import trio.testing

from relay.faces.common.asgi import Message, Receive, Scope, Send
from relay.faces.http.body_limit import BODY_BYTES, BODY_SECONDS
from relay.faces.http.gateway import Gateway
from relay.faces.http.security import Guard
from relay.metrics import Metrics
from tests.http.conftest import Served, read_response
from tests.http.fake import settings
from tests.http.test_routing import error_of

JSON = {"Content-Type": "application/json"}


def padded(size: int) -> bytes:
    """A valid body of exactly that many bytes."""
    return b"{}" + b" " * (size - 2)


async def pieces(size: int) -> AsyncIterator[bytes]:
    """The same in chunks."""
    yield b"{}"
    for left in range(size - 2, 0, -65536):
        yield b" " * min(left, 65536)


async def test_largest_body(served: Served) -> None:
    response = await served.client.post("/things", content=padded(BODY_BYTES), headers=JSON)
    assert response.status_code == 201


async def test_largest_chunked_body(served: Served) -> None:
    response = await served.client.post("/things", content=pieces(BODY_BYTES), headers=JSON)
    assert response.status_code == 201


async def test_body_over_the_limit(served: Served) -> None:
    response = await served.client.post("/things", content=padded(BODY_BYTES + 1), headers=JSON)
    error = error_of(response, 413, "PAYLOAD_TOO_LARGE")
    assert error["details"]["max_bytes"] == BODY_BYTES


async def test_chunked_body_over_the_limit(served: Served) -> None:
    response = await served.client.post("/things", content=pieces(BODY_BYTES + 1), headers=JSON)
    error_of(response, 413, "PAYLOAD_TOO_LARGE")


async def test_server_serves_on_after_a_refused_body(served: Served) -> None:
    await served.client.post("/things", content=padded(BODY_BYTES + 1), headers=JSON)
    assert (await served.client.get("/health")).status_code == 200


async def test_large_body_to_an_unknown_route_gets_its_answer(served: Served) -> None:
    response = await served.client.post("/nope", content=padded(5_000_000), headers=JSON)
    error_of(response, 404, "ROUTE_NOT_FOUND")


async def test_large_body_from_a_foreign_host_gets_its_answer(served: Served) -> None:
    headers = {**JSON, "Host": "evil.example"}
    response = await served.client.post("/things", content=padded(5_000_000), headers=headers)
    error_of(response, 403, "FORBIDDEN")


async def test_endless_chunks_are_answered_and_cut(served: Served) -> None:
    """The client never stops: it gets its 413, and then the end of the connection."""
    async with await served.open() as stream, trio.open_nursery() as nursery:
        nursery.start_soon(flood, stream)
        answer = await read_response(stream)
        assert answer.startswith(b"HTTP/1.1 413")
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "PAYLOAD_TOO_LARGE"
    assert (await served.client.get("/health")).status_code == 200


async def flood(stream: trio.SocketStream) -> None:
    await stream.send_all(
        b"POST /api/v1/things HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    try:
        while True:
            await stream.send_all(b"10000\r\n" + b" " * 65536 + b"\r\n")
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return


async def test_body_after_100_continue(served: Served) -> None:
    async with await served.open() as stream:
        await stream.send_all(
            b"POST /api/v1/needed HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
            b"Content-Type: application/json\r\nContent-Length: 18\r\n\r\n"
        )
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 100 ")
        await stream.send_all(b'{"expression":"x"}')
        assert b'"seen":"x"' in await read_response(stream)


async def test_body_byte_by_byte(served: Served) -> None:
    request = (
        b"POST /api/v1/needed HTTP/1.1\r\nHost: localhost\r\n"
        b'Content-Type: application/json\r\nContent-Length: 18\r\n\r\n{"expression":"x"}'
    )
    async with await served.open() as stream:
        for byte in request:
            await stream.send_all(bytes([byte]))
        assert b'"seen":"x"' in await read_response(stream)


async def test_hang_up_within_a_body(served: Served) -> None:
    async with await served.open() as stream:
        await stream.send_all(
            b"POST /api/v1/things HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
        )
    assert (await served.client.get("/health")).status_code == 200


async def test_body_of_an_operation_that_takes_none(served: Served) -> None:
    response = await served.client.request("GET", "/health", content=b"no json")
    assert response.status_code == 200


@pytest.mark.parametrize("content_type", [None, "text/plain"])
async def test_other_content_types(served: Served, content_type: str | None) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    response = await served.client.post("/things", content=b"{}", headers=headers)
    error_of(response, 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("encoding", ["gzip", "identity", "Identity", "br, gzip"])
async def test_compressed_bodies_are_not_read(served: Served, encoding: str) -> None:
    """Not as if they were plain, nor are they said to be no JSON."""
    headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
    response = await served.client.post("/things", content=b"{}", headers=headers)
    if encoding.lower() == "identity":
        assert response.status_code != 415
        return
    error = error_of(response, 415, "UNSUPPORTED_MEDIA_TYPE")
    assert error["details"]["suggestion"] == "Send the body as it is, without Content-Encoding"
    assert (await served.client.get("/health", headers=headers)).status_code == 200


async def test_complaints_arrive(served: Served) -> None:
    body = {"breakpoints": [{"path": "x", "line": 0}], "nmae": 1}
    error = error_of(await served.client.post("/things", json=body), 400, "INVALID_REQUEST")
    assert [item["field"] for item in error["details"]["errors"]] == ["breakpoints[0].line", "nmae"]
    assert error["message"] == "breakpoints[0].line: must be at least 1 (and 1 more)"


async def test_slow_body(autojump_clock: trio.testing.MockClock) -> None:
    """A body that never comes is refused in time, and the connection ends."""
    sent: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("the app must not see half a body")

    async def receive() -> Message:
        if trio.current_time() - start < BODY_SECONDS - 1:
            await trio.sleep(1)
            return {"type": "http.request", "body": b" ", "more_body": True}
        await trio.sleep_forever()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {"type": "http", "method": "POST", "path": "/"}
    scope["headers"] = [(b"content-length", b"100")]
    start = trio.current_time()
    await Gateway(app, Guard(settings()), Metrics())(scope, receive, send)
    assert trio.current_time() - start < BODY_SECONDS + 5
    assert sent[0]["status"] == 400
    assert (b"connection", b"close") in sent[0]["headers"]
    assert b"did not arrive within 30 seconds" in sent[1]["body"]
    assert sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


def test_the_limit_is_the_contracts() -> None:
    assert BODY_BYTES == 10 * 1024 * 1024
