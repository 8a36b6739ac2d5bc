"""Hypercorn's HTTP/1.1, with the envelope also where Hypercorn answers by itself.

Knows Hypercorn's protocol class, for which there is no setting, so it is replaced by a
subclass; on servers that are not ours that behaves like the original. On ours

- the answer to bytes that are no request has a body: the envelope;
- a body whose end is told in two ways is refused: what a proxy takes for a body could be a request;
- a client that asks ahead and then leaves is noticed: see `Turn`;
- requests to change to HTTP/2 or WebSocket are ignored, as HTTP allows: nothing here
  speaks them. One of HTTP/2 itself is refused, and what follows it is not read;
- a head goes out together with its body: half the system calls of a small answer;
- such an answer goes out at once, if the socket takes it: of a thousand requests that wake
  together, the first does not wait until all have been looked at, and what is to be done
  after an answer waits until all are answered;
- a request costs few rounds of the event loop, and few steps: see `Exchange`, `Idleness` and
  `hypercorn_plain`;
- connections of other users of the machine are refused, where the relay is to.

Hypercorn's version is pinned, and the tests read these answers from a socket.

Waits for: Hypercorn to refuse a body with two lengths, to have settings for the body of its own
answers and for upgrades, to send a head together with a body that is there, and to send before it
lets others have their turn. The first is https://github.com/pgjones/hypercorn/issues/279. Of the
rest no issue is known; to be reported: that nothing keeps a client from changing the protocol, that
refusals are empty, and that an answer takes two sends, each behind all that can run.
"""

from __future__ import annotations

import os
from time import time
from typing import Any, cast

import h11
import hypercorn.protocol
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol import events
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol
from hypercorn.typing import H11SendableEvent

from relay.errors import (
    Forbidden,
    InternalError,
    InvalidRequest,
    NotSupported,
    PayloadTooLarge,
    RelayError,
)
from relay.faces.common.actions import shown_details
from relay.faces.common.asgi import JSON, REQUEST_ID, Headers
from relay.faces.http.upstream import hypercorn_sockets
from relay.faces.http.upstream.hypercorn_idle import Idleness
from relay.faces.http.upstream.hypercorn_plain import PlainRequest, ShortConnection, plain_answer
from relay.faces.http.upstream.hypercorn_sockets import reader, send_now
from relay.faces.http.upstream.hypercorn_stream import Exchange
from relay.faces.http.upstream.hypercorn_turn import HungUpError, Turn
from relay.models import envelope
from relay.process.peers import ROOT, user_between

WAIT_SECONDS = 0.05
"""An answer that comes later was waited for, and others may wait for the same."""


class RelayConfig(Config):
    """Marks a Hypercorn server as ours."""

    same_user_only = False
    """Whether it serves connections of this user and of root only; on TCP, where the kernel lists them."""


class EnvelopedH11(H11Protocol):
    """HTTP/1.1 whose every answer has the envelope, on servers with a RelayConfig."""

    _h11: ShortConnection
    _held = b""
    _is_whole = False  # the answer under way: no stream, which has to let others have their turn
    _idleness: Idleness | None = None
    _turn: Turn | None = None
    _is_strangers: bool | None = None  # the connection; not known before its first request

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._send_to_server = self.send
        if isinstance(self.config, RelayConfig):
            self.send = self._pass_on
            self._h11 = ShortConnection(cast(h11.Connection, self.connection))
            self.connection = cast(h11.Connection, self._h11)
            read, room = reader(self._send_to_server), self.config.h11_max_incomplete_size
            self._turn = Turn(read, lambda data: self.connection.receive_data(data), room)
            self.can_read = self._turn

    async def handle(self, event: Event) -> None:
        """Take bytes from the socket, or its end."""
        if isinstance(event, Closed) or _is_end(event):
            self._leave()
        elif isinstance(event, RawData) and isinstance(self.config, RelayConfig):
            request = self._h11.take(event.data)
            if request is not None:
                await self._take(request)
                return
        await super().handle(event)

    async def _take(self, request: PlainRequest) -> None:
        await self.send(Updated(idle=False))
        if self._is_of_stranger():
            await self._refuse(403)
            return
        self._open_stream().begin_whole(
            events.Request(
                stream_id=STREAM_ID,
                headers=request.headers,
                http_version="1.1",
                method=request.method,
                raw_path=request.target,
                state=self.connection_state,
            ),
            request.body,
            self._answer_whole,
        )

    async def _answer_whole(self, status: int, headers: Headers, body: bytes) -> bool:
        all_headers = [*headers, *self.config.response_headers("h11")]
        data = plain_answer(status, all_headers, body)
        if data is None:
            return False
        self._h11.note_answered()
        await self._send_whole(data)
        return True

    async def _send_whole(self, data: bytes) -> None:
        left = send_now(self._send_to_server, data)
        if left:
            await self.send(RawData(data=left))
        elif self._was_waited_for():
            await trio.lowlevel.cancel_shielded_checkpoint()

    def _leave(self) -> None:
        if self._idleness is not None:
            self._idleness.leave()
        if self._turn is not None:
            self._turn.leave()

    async def _handle_events(self) -> None:
        try:
            await super()._handle_events()
        except HungUpError:
            await self.handle(Closed())

    async def _pass_on(self, event: Event) -> None:
        """Report to the server, but keep the time between requests ourselves."""
        if not isinstance(event, Updated):
            await self._send_to_server(event)
        elif self._idleness is None:
            self._idleness = Idleness(self.config.keep_alive_timeout, self._close_idle)
            await self._send_to_server(Updated(idle=False))  # the last of Hypercorn's own timer
            self.task_group.spawn(self._idleness.watch, self.context.terminated.wait)
        elif event.idle:
            self._idleness.rest()
        else:
            self._idleness.wake()

    async def _close_idle(self) -> None:
        await self._send_to_server(Closed())

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
        if isinstance(event, h11.Response):
            self._is_whole = _body_follows(event)
        if self._held and not _body_follows(event):
            data, self._held = self._held, b""
            if self._is_whole:
                await self._send_whole(data)
            else:
                await self.send(RawData(data=data))

    def _is_of_stranger(self) -> bool:
        """Whether somebody has made the connection whom this relay does not serve."""
        if self._is_strangers is None:
            assert isinstance(self.config, RelayConfig)
            user = _user_of(self) if self.config.same_user_only else ROOT
            self._is_strangers = user not in (os.geteuid(), ROOT)
        return self._is_strangers

    def _refusal(self, request: h11.Request) -> int | None:
        """The status of what is not to be served by anybody; None if it may be."""
        if self._is_of_stranger():
            return 403
        is_served = request.http_version.startswith(b"1.") and not _has_two_lengths(request)
        return None if is_served else 400

    def _was_waited_for(self) -> bool:
        return self.stream is not None and time() - self.stream.start_time > WAIT_SECONDS

    async def _send_error_response(self, status_code: int) -> None:
        if not isinstance(self.config, RelayConfig):
            await super()._send_error_response(status_code)
            return
        error, request_id = self._error(status_code), envelope.choose_request_id(None)
        body = envelope.failure(error, request_id, **shown_details(error))
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
        if status_code == 403:
            return Forbidden(
                "this relay serves the user who runs it, and root: you are another one",
                suggestion="Start a relay of your own, at another port",
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
        if not isinstance(self.config, RelayConfig):
            await super()._create_stream(request)
            return
        refusal = self._refusal(request)
        if refusal is not None:
            await self._refuse(refusal)
            return
        await self._open_stream().handle(
            events.Request(
                stream_id=STREAM_ID,
                headers=[header for header in request.headers if header[0] != b"upgrade"],
                http_version=request.http_version.decode(),
                method=request.method.decode("ascii").upper(),
                raw_path=request.target,
                state=self.connection_state,
            )
        )

    async def _refuse(self, status: int) -> None:
        await self._send_error_response(status)
        await self.send(Closed())

    def _open_stream(self) -> Exchange:
        self.keep_alive_requests += 1
        self.stream = Exchange(
            self.app,
            self.config,
            self.context,
            self.task_group,
            self.ssl,
            self.client,
            self.server,
            self.stream_send,
            STREAM_ID,
        )
        return self.stream


def _user_of(protocol: H11Protocol) -> int | None:
    """Who has made the connection, if the kernel says it."""
    if protocol.client is None or protocol.server is None or protocol.server[1] is None:
        return None
    return user_between(protocol.client, (protocol.server[0], protocol.server[1]))


def _body_follows(event: H11SendableEvent) -> bool:
    """Whether this is the head of an answer whose body is there already.

    The head of a stream, which has no length, must not wait for its first piece.
    """
    return isinstance(event, h11.Response) and any(
        name == b"content-length" for name, _ in event.headers
    )


def _has_two_lengths(request: h11.Request) -> bool:
    """Whether two headers say where the body ends: who trusts the other one sees other requests."""
    names = {name for name, _ in request.headers}
    return {b"content-length", b"transfer-encoding"} <= names


def _is_end(event: Event) -> bool:
    return isinstance(event, RawData) and not event.data


def install() -> None:
    """Let servers with a RelayConfig answer so."""
    hypercorn.protocol.H11Protocol = EnvelopedH11  # type: ignore[attr-defined,assignment]
    hypercorn_sockets.install()
