"""Bodies come whole and bounded, or not at all: the wrapper in front of the app.

Knows how large a body may be and how long it may take. Knows nothing of its content.
The app sees the body as one message, so it never answers while a client still sends,
and a flood in chunks is counted before anybody keeps it.
"""

from __future__ import annotations

import trio

from relay.errors import InvalidRequest, PayloadTooLarge, RelayError
from relay.faces.common.asgi import App, Message, Receive, Scope, Send, has_body, header, refuse

BODY_BYTES = 10 * 1024 * 1024
"""The largest body that is accepted."""

BODY_SECONDS = 30.0
"""How long a body may take to arrive."""


class _ClientLeftError(Exception):
    """The connection ended before the body did."""


def limit_body(app: App, *, limit: int = BODY_BYTES, seconds: float = BODY_SECONDS) -> App:
    """`app` behind the limit; larger bodies get 413, slower ones 400."""

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not has_body(scope):
            await app(scope, receive, send)
            return
        try:
            body = await _collect(scope, receive, limit, seconds)
        except _ClientLeftError:
            return
        except RelayError as error:
            await refuse(scope, receive, send, error)
            return
        await app(scope, _replay(body, receive), send)

    return limited


async def _collect(scope: Scope, receive: Receive, limit: int, seconds: float) -> bytes:
    if _declared_length(scope) > limit:
        raise _too_large(limit)
    with trio.move_on_after(seconds):
        return await _read(receive, limit)
    raise InvalidRequest(f"the body did not arrive within {seconds:g} seconds")


def _declared_length(scope: Scope) -> int:
    declared = header(scope, b"content-length") or b""
    return int(declared) if declared.isdigit() else 0


async def _read(receive: Receive, limit: int) -> bytes:
    collected = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _ClientLeftError
        collected += message.get("body", b"")
        more = message.get("more_body", False)
        if len(collected) > limit:
            raise _too_large(limit)
    return bytes(collected)


def _too_large(limit: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"the body is larger than {limit} bytes", max_bytes=limit)


def _replay(body: bytes, receive: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed
