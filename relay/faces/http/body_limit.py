"""Bodies come whole and bounded, or not at all.

Knows how large a body may be and how long it may take. Knows nothing of its content.
The app sees the body as one message, so it never answers while a client still sends,
and a flood in chunks is counted before anybody keeps it.
"""

from __future__ import annotations

import trio

from relay.errors import InvalidRequest, PayloadTooLarge, UnsupportedMediaType
from relay.faces.common.asgi import IS_WHOLE, Receive, Scope, header

BODY_BYTES = 10 * 1024 * 1024
"""The largest body that is accepted."""

BODY_SECONDS = 30.0
"""How long a body may take to arrive."""


class ClientLeftError(Exception):
    """The connection ended before the body did."""


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """The whole body, as it was sent.

    Raises PayloadTooLarge, UnsupportedMediaType if it is compressed, InvalidRequest if it is too
    slow, ClientLeftError.
    """
    if _declared_length(scope) > BODY_BYTES:
        raise _too_large()
    if IS_WHOLE in scope:  # without a timer, which is a twentieth of a small request
        body = await _collect(receive)
    else:
        with trio.move_on_after(BODY_SECONDS) as waiting:
            body = await _collect(receive)
        if waiting.cancelled_caught:
            raise InvalidRequest(f"the body did not arrive within {BODY_SECONDS:g} seconds")
    if body:
        _require_plain(scope)
    return body


def _require_plain(scope: Scope) -> None:
    """Raise UnsupportedMediaType for a body in an encoding: what it says is not known."""
    encoding = header(scope, b"content-encoding")
    if encoding and encoding.lower() != b"identity":
        raise UnsupportedMediaType(
            f"a body in the encoding {encoding[:100].decode('latin-1')!r} is not read",
            suggestion="Send the body as it is, without Content-Encoding",
        )


def _declared_length(scope: Scope) -> int:
    declared = header(scope, b"content-length") or b""
    return int(declared) if declared.isdigit() else 0


async def _collect(receive: Receive) -> bytes:
    collected = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeftError
        collected += message.get("body", b"")
        more = message.get("more_body", False)
        if len(collected) > BODY_BYTES:
            raise _too_large()
    return bytes(collected)


def _too_large() -> PayloadTooLarge:
    return PayloadTooLarge(f"the body is larger than {BODY_BYTES} bytes", max_bytes=BODY_BYTES)
