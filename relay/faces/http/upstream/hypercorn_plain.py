"""Plain requests that come whole, and answers that go out whole, pass h11 by.

Knows what of HTTP/1.1 leaves nothing to interpret: one request with its body in one read, each header
once, a body as long as it says. Everything else is h11's, as it comes: another form, a part of a
request, what a client sends ahead, a stream as answer. h11 makes a third of the steps of a small
request, all of them in Python, and each takes several times as long after a pause, when nothing of
it is in the processor's caches.

Waits for: Hypercorn to have a quicker parser beside h11. No issue is known; to be reported: each
small request takes some two hundred steps in h11.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import h11

from relay.faces.common.asgi import Headers

_HEAD = re.compile(
    rb"(GET|POST|PUT|PATCH|DELETE) (/[!-~]*) HTTP/1\.1((?:\r\n[-!#$%&'*+.^_`|~0-9A-Za-z]+:[ -~]*)+)"
)
_HEADER = re.compile(rb"\r\n([^:]+):([^\r]*)")
_INTERPRETED = frozenset((b"transfer-encoding", b"expect", b"upgrade"))
"""Headers that change how a request is read."""


class PlainRequest(NamedTuple):
    """A request that came whole; the names of its headers are lower-case."""

    data: bytes
    method: str
    target: bytes
    headers: Headers
    body: bytes


def plain_request(data: bytes) -> PlainRequest | None:
    """The one request that `data` is; None if h11 has to look at it."""
    head, end, body = data.partition(b"\r\n\r\n")
    found = _HEAD.fullmatch(head) if end else None
    if found is None:
        return None
    headers = [(name.lower(), value.strip(b" ")) for name, value in _HEADER.findall(found[3])]
    by_name = dict(headers)
    is_plain = (
        len(by_name) == len(headers)
        and b"host" in by_name
        and by_name.keys().isdisjoint(_INTERPRETED)
        and by_name.get(b"connection", b"keep-alive").lower() == b"keep-alive"
        and by_name.get(b"content-length", b"0") == b"%d" % len(body)
    )
    return PlainRequest(data, found[1].decode(), found[2], headers, body) if is_plain else None


def plain_answer(status: int, headers: Headers, body: bytes) -> bytes | None:
    """Head and body of an answer as h11 writes them; None if h11 has to look at it."""
    by_name = dict(headers)
    has_its_length = by_name.get(b"content-length") == b"%d" % len(body)
    if not has_its_length or b"connection" in by_name or status < 200 or status in (204, 304):
        return None
    lines = [b"%b: %b\r\n" % header for header in headers]
    head = b"HTTP/1.1 %d \r\n%b\r\n" % (status, b"".join(lines))
    # A line end in a header would be the end of the header for whoever reads it.
    is_whole = head.count(b"\n") == head.count(b"\r") == len(headers) + 2
    return head + body if is_whole else None


class ShortConnection:
    """h11's connection of a server, whose plain requests h11 sees only if their answers are not.

    Has of h11's what Hypercorn uses.
    """

    # Invariant: while _request is there, h11 has seen nothing since the request before it.

    def __init__(self, connection: h11.Connection) -> None:
        self._h11 = connection
        self._rests = True  # no request is under way, and no byte of the next one has come
        self._request: PlainRequest | None = None
        self._is_answered = False
        self._ahead = b""  # what the client sent after the plain request under way
        self._has_ended = False

    def take(self, data: bytes) -> PlainRequest | None:
        """The request that is under way from now on, if `data` is a plain one and its turn has come."""
        if not self._rests:
            return None
        self._request = plain_request(data)
        self._rests = self._request is None
        return self._request

    def note_answered(self) -> None:
        """The plain request has its answer."""
        self._is_answered = True

    def send(self, event: Any) -> bytes | None:
        """The bytes of a part of an answer; a plain request becomes h11's by that."""
        self._hand_over()
        data: bytes | None = self._h11.send(event)
        return data

    def _hand_over(self) -> None:
        request, self._request = self._request, None
        if request is not None:
            self._h11.receive_data(request.data)
            while type(self._h11.next_event()) is not h11.EndOfMessage:
                pass
            self._receive_ahead()

    def _receive_ahead(self) -> None:
        ahead, self._ahead = self._ahead, b""
        if ahead:
            self._h11.receive_data(ahead)
        if self._has_ended:
            self._h11.receive_data(b"")

    def receive_data(self, data: bytes) -> None:
        """Bytes of the client, none at its end."""
        if self._request is None:
            self._rests = False
            self._h11.receive_data(data)
        else:
            self._ahead += data
            self._has_ended = self._has_ended or not data

    def next_event(self) -> Any:
        """What h11 makes of the bytes so far; nothing while a plain request is under way."""
        if self._request is None:
            return self._h11.next_event()
        if self._ahead:
            return h11.PAUSED
        return h11.ConnectionClosed() if self._has_ended else h11.NEED_DATA

    def start_next_cycle(self) -> None:
        """The request is answered, and the next one may come."""
        if self._request is None:
            self._h11.start_next_cycle()
        else:
            self._request, self._is_answered = None, False
            self._receive_ahead()
        self._rests = self._h11.trailing_data == (b"", False)

    @property
    def our_state(self) -> Any:
        """How far the answer is."""
        if self._request is None:
            return self._h11.our_state
        return h11.DONE if self._is_answered else h11.SEND_RESPONSE

    @property
    def their_state(self) -> Any:
        """How far the request is."""
        if self._request is None:
            return self._h11.their_state
        return h11.CLOSED if self._has_ended else h11.DONE

    @property
    def they_are_waiting_for_100_continue(self) -> bool:
        """Whether the client waits for that before it sends its body."""
        return self._request is None and self._h11.they_are_waiting_for_100_continue

    @property
    def trailing_data(self) -> tuple[bytes, bool]:
        """What came after the request that h11 has read last."""
        return self._h11.trailing_data
