"""Bytes to messages and back: the base protocol of DAP.

Knows headers, lengths, UTF-8 and JSON, and bounds what a peer can make us hold.
Refuses to know what a message means, and never reads or writes anything itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relay.errors import ProtocolViolation

DEFAULT_MAX_SIZE = 64 * 1024 * 1024
"""Largest body taken from a peer, in bytes."""

MAX_HEADER_SIZE = 16 * 1024
"""Largest block of headers taken from a peer, in bytes. Real ones have about 25."""

_END_OF_HEADERS = b"\r\n\r\n"
_MOST_DIGITS = 18


class BrokenStream(ProtocolViolation):
    """The bytes are not DAP; nothing after them can be understood.

    `whole` holds the messages which the same `feed` had completed before the
    fault: an `exited` event is worth having even when garbage follows it.
    """

    def __init__(self, message: str, whole: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(message)
        self.whole = tuple(whole)


def encode(message: Mapping[str, Any]) -> bytes:
    """One message, framed. Raises TypeError or ValueError for what JSON cannot say."""
    # Escaped non-ASCII: lone surrogates, which debuggees do have, cannot be UTF-8.
    body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Decoder:
    """Takes a stream of bytes in any pieces, gives the messages that are complete.

    A fault is final: each later `feed` and `close` raises it again. With `instead`, a body
    that is no JSON object is none: its length was right, so what `instead` makes of the reason
    stands in its place, and the stream goes on.
    """

    __slots__ = ("_body_size", "_buffer", "_fault", "_instead", "_max_size", "_scanned", "_seen")

    def __init__(
        self,
        *,
        max_size: int = DEFAULT_MAX_SIZE,
        instead: Callable[[str], dict[str, Any]] | None = None,
        seen: Callable[[bytes], None] | None = None,
    ) -> None:
        """`seen` is given each body as it came, before anything is made of it."""
        self._instead = instead
        self._seen = seen
        self._buffer = bytearray()
        self._max_size = max_size
        # None while headers are being read. Of the buffer, `_scanned` bytes are
        # known to hold no end of headers: they are not searched twice.
        self._body_size: int | None = None
        self._scanned = 0
        self._fault: str | None = None

    def feed(self, data: bytes | bytearray | memoryview) -> list[dict[str, Any]]:
        """The messages that `data` completes, oldest first.

        Raises BrokenStream on bad or oversized headers, on a body over `max_size`
        (before it is read), and on a body that is not a JSON object in UTF-8.
        """
        self._refuse_after_fault()
        self._buffer += data
        messages: list[dict[str, Any]] = []
        try:
            while (message := self._next_message()) is not None:
                messages.append(message)
        except ProtocolViolation as fault:
            self._fault = str(fault)
            self._buffer.clear()
            raise BrokenStream(self._fault, messages) from None
        return messages

    def close(self) -> None:
        """Call at the end of the stream. Raises BrokenStream if it ends inside a message."""
        self._refuse_after_fault()
        if self._buffer or self._body_size is not None:
            self._fault = "the stream ended inside a message"
            self._buffer.clear()
            self._refuse_after_fault()

    def _refuse_after_fault(self) -> None:
        if self._fault is not None:
            raise BrokenStream(self._fault)

    def _next_message(self) -> dict[str, Any] | None:
        if self._body_size is None:
            self._body_size = self._take_headers()
        if self._body_size is None or len(self._buffer) < self._body_size:
            return None
        body = bytes(memoryview(self._buffer)[: self._body_size])
        del self._buffer[: self._body_size]
        self._body_size = None
        if self._seen is not None:
            self._seen(body)
        try:
            return _parse_body(body)
        except BrokenStream as bad:
            if self._instead is None:
                raise
            return self._instead(str(bad))

    def _take_headers(self) -> int | None:
        """Remove one block of headers from the buffer; the length it announces."""
        end = self._buffer.find(_END_OF_HEADERS, self._scanned)
        if (len(self._buffer) if end < 0 else end) > MAX_HEADER_SIZE:
            raise BrokenStream(f"headers of more than {MAX_HEADER_SIZE} bytes")
        if end < 0:
            self._scanned = max(0, len(self._buffer) - len(_END_OF_HEADERS) + 1)
            return None
        headers = bytes(memoryview(self._buffer)[:end])
        del self._buffer[: end + len(_END_OF_HEADERS)]
        self._scanned = 0
        return _bounded(_content_length(headers), self._max_size)


def _bounded(size: int, limit: int) -> int:
    if size > limit:
        raise BrokenStream(f"a message of {size} bytes, more than the {limit} allowed")
    return size


def _content_length(headers: bytes) -> int:
    lengths = {
        value for name, value in map(_header, headers.split(b"\r\n")) if name == b"content-length"
    }
    if len(lengths) != 1:
        raise BrokenStream(f"headers without one Content-Length: {_excerpt(headers)}")
    [length] = lengths
    if not length.isdigit() or len(length) > _MOST_DIGITS:
        raise BrokenStream(f"a Content-Length that is no number: {_excerpt(length)}")
    return int(length)


def _header(line: bytes) -> tuple[bytes, bytes]:
    name, colon, value = line.partition(b":")
    name = name.strip()
    # A request line of HTTP may have a colon, too, and its Content-Length is none of ours.
    if not colon or not name or b" " in name:
        raise BrokenStream(f"a header line without a name: {_excerpt(line)}")
    return name.lower(), value.strip()


def _parse_body(body: bytes) -> dict[str, Any]:
    try:
        # Decoded here: json.loads would guess UTF-16 from the first bytes.
        message = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BrokenStream(
            f"a body that is not JSON in UTF-8 ({error}): {_excerpt(body)}"
        ) from None
    if not isinstance(message, dict):
        raise BrokenStream(f"a body that is not a JSON object: {_excerpt(body)}")
    return message


def _excerpt(data: bytes) -> str:
    return repr(data[:80])[1:]
