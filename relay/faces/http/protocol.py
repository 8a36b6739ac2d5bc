"""Hypercorn's HTTP/1.1, with the envelope also where Hypercorn answers by itself.

Knows Hypercorn's protocol class, for which there is no setting, so it is replaced by a
subclass; on servers that are not ours that behaves like the original. On ours

- the answer to bytes that are no request has a body: the envelope;
- requests to change to HTTP/2 or WebSocket are ignored, as HTTP allows: nothing here
  speaks them;
- a head goes out together with its body: half the system calls of a small answer.

Hypercorn's version is pinned, and the tests read these answers from a socket.
"""

from __future__ import annotations

import h11
import hypercorn.protocol
from hypercorn.config import Config
from hypercorn.events import RawData
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.typing import H11SendableEvent

from relay.errors import InternalError, InvalidRequest, NotSupported, PayloadTooLarge, RelayError
from relay.faces.http.asgi import JSON, REQUEST_ID
from relay.models import envelope


class RelayConfig(Config):
    """Marks a Hypercorn server as ours."""


class EnvelopedH11(H11Protocol):
    """HTTP/1.1 whose every answer has the envelope, on servers with a RelayConfig."""

    _held = b""

    async def _send_h11_event(self, event: H11SendableEvent) -> None:
        if not isinstance(self.config, RelayConfig):
            await super()._send_h11_event(event)
            return
        try:
            self._held += self.connection.send(event)
        except h11.LocalProtocolError:
            # The client broke the protocol already, and whatever is said now is too late.
            if self.connection.their_state is not h11.ERROR:
                raise
        if self._held and not _body_follows(event):
            data, self._held = self._held, b""
            await self.send(RawData(data=data))

    async def _send_error_response(self, status_code: int) -> None:
        if not isinstance(self.config, RelayConfig):
            await super()._send_error_response(status_code)
            return
        error, request_id = self._error(status_code), envelope.choose_request_id(None)
        body = envelope.failure(error, request_id)
        headers = [
            (b"content-type", JSON.encode()),
            (b"content-length", str(len(body)).encode()),
            (REQUEST_ID.lower().encode(), request_id.encode()),
            (b"connection", b"close"),
            *self.config.response_headers("h11"),
        ]
        await self._send_h11_event(h11.Response(status_code=error.status, headers=headers))
        await self._send_h11_event(h11.Data(data=body))
        await self._send_h11_event(h11.EndOfMessage())

    def _error(self, status_code: int) -> RelayError:
        if status_code == 431:
            limit = self.config.h11_max_incomplete_size
            return PayloadTooLarge(
                f"the request line and headers are larger than {limit} bytes",
                suggestion="Shorten the URL or the headers; long values belong in the body",
                max_bytes=limit,
            )
        if status_code == 501:
            return NotSupported(
                "the only transfer encoding is chunked",
                suggestion="Send the body with Content-Length, or with Transfer-Encoding: chunked",
            )
        if status_code < 500:
            return InvalidRequest(
                "this is no HTTP/1.1 request", suggestion="Check the request line and the headers"
            )
        return InternalError("the server could not read the request")

    async def _check_protocol(self, event: h11.Request) -> None:
        if not isinstance(self.config, RelayConfig):
            await super()._check_protocol(event)

    async def _create_stream(self, request: h11.Request) -> None:
        if isinstance(self.config, RelayConfig):
            request = _without_upgrade(request)
        await super()._create_stream(request)


def _body_follows(event: H11SendableEvent) -> bool:
    """Whether this is the head of an answer whose body is there already.

    The head of a stream, which has no length, must not wait for its first piece.
    """
    return isinstance(event, h11.Response) and any(
        name == b"content-length" for name, _ in event.headers
    )


def _without_upgrade(request: h11.Request) -> h11.Request:
    kept = [(name, value) for name, value in request.headers if name != b"upgrade"]
    if len(kept) == len(request.headers):
        return request
    return h11.Request(
        method=request.method,
        target=request.target,
        headers=kept,
        http_version=request.http_version,
    )


def install() -> None:
    """Let servers with a RelayConfig answer so."""
    hypercorn.protocol.H11Protocol = EnvelopedH11  # type: ignore[attr-defined]
