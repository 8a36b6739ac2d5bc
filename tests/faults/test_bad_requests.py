"""Half requests, trickles, floods and contradictions: each gets an answer or an end, and soon."""

from __future__ import annotations

import time

import pytest

from tests.faults.relay_process import HEALTH, RelayProcess, answer
from tests.faults.short_limits import SECONDS

POST = b"POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
MUCH = 150_000_000
"""Bytes that no client gets rid of."""

SOON = 20.0
"""Seconds; ten times what the limits say, on a machine that does something else as well."""


def refused(heard: bytes) -> tuple[int, str]:
    """Status and code; an answer that is none is one as well."""
    status, envelope = answer(heard)
    return status, envelope["error"]["code"]


@pytest.mark.parametrize(
    "half",
    [b"", b"GET /api", HEALTH, HEALTH + b"X-Half: "],
    ids=["nothing", "line", "headers", "header"],
)
def test_half_a_request_has_an_end(relay: RelayProcess, half: bytes) -> None:
    started = time.monotonic()
    with relay.client() as client:
        assert client.says(half).hears() == b""
    assert SECONDS / 2 < time.monotonic() - started < SOON


@pytest.mark.parametrize(
    ("start", "piece"),
    [(b"GET /", b"a"), (HEALTH + b"X: ", b"a"), (HEALTH, b"A: b\r\n")],
    ids=["line", "header", "headers"],
)
def test_a_head_that_trickles_has_the_same_end(
    relay: RelayProcess, start: bytes, piece: bytes
) -> None:
    started = time.monotonic()
    with relay.client() as client:
        assert client.says(start).says_on(piece, 0.05, at_most=10_000) == b""
    assert time.monotonic() - started < SOON


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (POST + b"Content-Length: 1000\r\n\r\n", b" "),
        (POST + b"Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n", b" "),
        (CHUNKED, b"1\r\n \r\n"),
        (CHUNKED + b"0\r\n", b"A: b\r\n"),
    ],
    ids=["length", "expect", "chunks", "trailers"],
)
def test_a_body_that_trickles_is_refused(relay: RelayProcess, head: bytes, piece: bytes) -> None:
    started = time.monotonic()
    with relay.client() as client:
        heard = client.says(head).says_on(piece, 0.05, at_most=10_000)
    assert refused(heard) == (400, "INVALID_REQUEST")
    assert time.monotonic() - started < SOON


@pytest.mark.parametrize(
    ("start", "piece", "code"),
    [
        (b"GET /", b"x" * 60_000, "PAYLOAD_TOO_LARGE"),
        (b"GET /api/v1/health?", b"x&" * 30_000, "PAYLOAD_TOO_LARGE"),
        (HEALTH + b"X-Long: ", b"x" * 60_000, "PAYLOAD_TOO_LARGE"),
        (HEALTH, b"a: b\r\n" * 10_000, "PAYLOAD_TOO_LARGE"),
        (b"", b"\r\n" * 30_000, "INVALID_REQUEST"),
        (CHUNKED, b"1" * 60_000, "PAYLOAD_TOO_LARGE"),
        (CHUNKED + b"1;", b"x" * 60_000, "PAYLOAD_TOO_LARGE"),
        (CHUNKED + b"0\r\n", b"a: b\r\n" * 10_000, "PAYLOAD_TOO_LARGE"),
        (CHUNKED, b"fa00\r\n" + b" " * 64_000 + b"\r\n", "PAYLOAD_TOO_LARGE"),
        (POST + b"Content-Length: 9999999999\r\n\r\n", b" " * 64_000, "PAYLOAD_TOO_LARGE"),
        (CHUNKED, b"1\r\n \r\n" * 10_000, "INVALID_REQUEST"),
    ],
    ids=[
        *("line", "query", "header", "headers", "blank-lines", "chunk-size", "chunk-extension"),
        *("trailers", "body", "body-as-declared", "tiny-chunks"),
    ],
)
def test_what_has_no_end_is_refused(
    relay: RelayProcess, start: bytes, piece: bytes, code: str
) -> None:
    with relay.client() as client:
        heard = client.says(start).says_on(piece, 0, at_most=MUCH)
    # A body may take a second here: on a busy machine that is over before it is too long.
    assert refused(heard)[1] in {code, "INVALID_REQUEST"}


def test_twelve_thousand_headers_are_read_at_once(relay: RelayProcess) -> None:
    with relay.client() as client:
        client.says(HEALTH + b"a:b\r\n" * 12_000 + b"Connection: close\r\n\r\n")
        assert answer(client.hears())[0] == 200


@pytest.mark.parametrize(
    "lengths",
    [
        b"Content-Length: 2\r\nContent-Length: 3\r\n",
        b"Content-Length: 2, 3\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: +2\r\n",
        b"Content-Length: 0x2\r\n",
        b"Content-Length: " + b"9" * 5000 + b"\r\n",
        b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
    ],
)
def test_a_body_of_two_lengths_or_none_is_refused(relay: RelayProcess, lengths: bytes) -> None:
    """And nothing that follows is taken for a request."""
    with relay.client() as client:
        client.says(POST + lengths + b"\r\n" + b"2\r\n{}\r\n0\r\n\r\n" + HEALTH + b"\r\n")
        assert refused(client.hears()) == (400, "INVALID_REQUEST")


NUMBERS = [b"1e400", b"-1e400", b"1e99999", b"1" + b"0" * 5000, b"1." + b"0" * 100_000, b"NaN"]
DEEP = [b"[" * 1_000_000, b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b"[" * 150 + b"]" * 150]
EXTENSIVE = [
    b"{" + b",".join(b'"k%d":1' % number for number in range(500_000)) + b"}",
    b"[" + b"{}," * 1_000_000 + b"{}]",
    b'"' + b"\\n" * 4_000_000 + b'"',
]
VALUES = [*NUMBERS, *DEEP, *EXTENSIVE]


@pytest.mark.parametrize("path", ["/api/v1/sessions", "/tool/v0/sessions", "/mcp", "/shell"])
def test_values_of_no_use_are_refused_at_once(relay: RelayProcess, path: str) -> None:
    """As a field, and as one that there is not, at each entrance."""
    statuses = {
        _post(relay, path, b"{%s: %s}" % (name, value))
        for value in VALUES
        for name in (b'"timeout_minutes"', b'"unknown"')
    }
    assert statuses <= {400, 413}


def _post(relay: RelayProcess, path: str, body: bytes) -> int:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n"
    started = time.monotonic()
    with relay.client() as client:
        heard = client.says(f"{head}Connection: close\r\n\r\n".encode() + body).hears()
    assert time.monotonic() - started < SOON
    return int(heard.split()[1])


def test_requests_in_one_piece_are_answered_in_turn(relay: RelayProcess) -> None:
    with relay.client() as client:
        client.says((HEALTH + b"\r\n") * 500 + HEALTH + b"Connection: close\r\n\r\n")
        others = [relay.answers() for _ in range(5)]
        assert client.hears().count(b"HTTP/1.1 200") == 501
    assert max(others) < SOON
