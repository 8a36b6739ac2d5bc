"""The DAP connection of one debuggee: reader, writer, and requests that always end.

Knows streams and waiting. What a message means is `relay.dap`'s business; what
follows from an event is the session's. Only the writer task writes, so a
cancelled request never leaves half a frame behind; when the reader ends, every
waiter learns of it, so nobody waits for ever. What the transport takes at once does not
wait for the writer's turn.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import socket
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import trio

from relay.dap.conversation import Conversation, IncomingEvent, IncomingRequest, Response
from relay.dap.framing import BrokenStream
from relay.errors import ProtocolViolation
from relay.process.ready_reads import read_when_ready

log = logging.getLogger("relay.dap")

RECEIVE_SIZE = 64 * 1024

EventHandler = Callable[[IncomingEvent], None]
RequestHandler = Callable[[IncomingRequest], Awaitable[Mapping[str, Any]]]


class LinkClosed(Exception):
    """The adapter hung up; no request can be answered any more."""


class RequestFailed(Exception):
    """The adapter answered `success: false`; `message` is its own text for people."""

    def __init__(self, command: str, message: str, body: Mapping[str, Any]) -> None:
        super().__init__(f"{command}: {message}")
        self.command = command
        self.message = message
        self.body = body


class RequestTimedOut(Exception):
    """The adapter did not answer in time; a later answer will be dropped."""


class Sender(Protocol):
    """The adapter's standard input."""

    async def send_all(self, data: bytes) -> None: ...
    async def aclose(self) -> None: ...


class Receiver(Protocol):
    """The adapter's standard output."""

    async def receive_some(self, max_bytes: int) -> bytes: ...
    async def aclose(self) -> None: ...


class ByteStream(Protocol):
    """What a link needs of a transport."""

    def send_now(self, data: bytes) -> int: ...
    async def send_all(self, data: bytes) -> None: ...
    async def receive_some(self, max_bytes: int) -> bytes: ...
    async def aclose(self) -> None: ...


class SocketByteStream:
    """A connected socket, TCP or Unix.

    Some debuggers send header and body apart without TCP_NODELAY, and the delayed ACK
    then stalls each message by 40 ms. TCP_QUICKACK is not sticky: it is set anew
    after each receive and each send.
    """

    def __init__(self, sock: trio.socket.SocketType) -> None:
        self._stream = trio.SocketStream(sock)
        self._socket = sock
        self._quick = sock.family != socket.AF_UNIX and sys.platform == "linux"
        self._acknowledge_quickly()

    def _acknowledge_quickly(self) -> None:
        if self._quick:
            with contextlib.suppress(OSError):
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def send_now(self, data: bytes) -> int:
        """Send what the socket takes without waiting, and say how many bytes that was."""
        try:
            return os.write(self._socket.fileno(), data)
        except OSError:  # full, or broken: whoever waits for it learns of it
            return 0

    async def send_all(self, data: bytes) -> None:
        await self._stream.send_all(data)
        self._acknowledge_quickly()

    async def receive_some(self, max_bytes: int) -> bytes:
        try:
            data = await read_when_ready(self._socket, max_bytes)
        except OSError as error:
            raise trio.BrokenResourceError from error
        self._acknowledge_quickly()
        return data

    async def aclose(self) -> None:
        await self._stream.aclose()


class StdioByteStream:
    """The standard input and output of an adapter process."""

    def __init__(self, send: Sender, receive: Receiver) -> None:
        self._send = send
        self._receive = receive

    def send_now(self, data: bytes) -> int:
        """Nothing: a pipe's stream can only wait."""
        return 0

    async def send_all(self, data: bytes) -> None:
        await self._send.send_all(data)

    async def receive_some(self, max_bytes: int) -> bytes:
        return bytes(await self._receive.receive_some(max_bytes))

    async def aclose(self) -> None:
        await self._send.aclose()
        await self._receive.aclose()


class Sent:
    """A request on its way; one that could not be sent has no number."""

    __slots__ = ("_command", "_link", "_seq", "done", "response")

    def __init__(self, link: Link, command: str, seq: int | None = None) -> None:
        self._link = link
        self._command = command
        self._seq = seq
        self.done = trio.Event()
        self.response: Response | None = None

    async def answer(self, timeout: float = math.inf) -> dict[str, Any]:
        """The body of the answer.

        Raises RequestFailed, RequestTimedOut (after `timeout` seconds) or LinkClosed.
        """
        if self._seq is None:
            raise LinkClosed(self._command)
        try:
            with trio.move_on_after(timeout):
                await self.done.wait()
        finally:
            if self.response is None:
                self._link.abandon(self._seq)
        if self.response is None:
            if self._link.closed.is_set():
                raise LinkClosed(self._command)
            raise RequestTimedOut(self._command)
        return _body(self.response)


class Link:
    """One conversation over one stream. `run()` owns the stream and closes it."""

    def __init__(
        self,
        stream: ByteStream,
        on_event: EventHandler,
        on_request: RequestHandler | None = None,
        seen: Callable[[bool, bytes], None] | None = None,
    ) -> None:
        """`seen` is given the body of each message, and whether it is the adapter's."""
        self._stream = stream
        self._on_event = on_event
        self._on_request = on_request
        self._conversation = Conversation(seen=seen)
        self._pending: dict[int, Sent] = {}
        self._outbox: deque[bytes] = deque()
        self._outgoing = trio.Event()
        self._writer_rests = False
        self.closed = trio.Event()
        self._has_parted = False  # no request follows the one that disconnects
        # Only `hang_up` ends a link: its owner may have a last word to say when cancelled.
        self._scope = trio.CancelScope(shield=True)
        self.violation: ProtocolViolation | None = None
        self.received = 0  # bytes so far: whether it still has something to say

    async def run(self) -> None:
        """Read and write until either side hangs up; returns normally, whatever the reason."""
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._write)
                    await self._read(nursery)
                    nursery.cancel_scope.cancel()
        finally:
            self._close()
            with trio.CancelScope(deadline=trio.current_time() + 1, shield=True):
                await self._stream.aclose()

    def hang_up(self) -> None:
        """End the conversation from our side; `run()` returns soon."""
        self._scope.cancel()

    def _close(self) -> None:
        self.closed.set()
        for pending in self._pending.values():
            pending.done.set()
        self._pending.clear()

    async def request(
        self, command: str, arguments: Mapping[str, Any] | None = None, *, timeout: float = math.inf
    ) -> dict[str, Any]:
        """Send one DAP request and return the body of its answer; raises as `Sent.answer` does."""
        return await self.send(command, arguments).answer(timeout)

    def send(self, command: str, arguments: Mapping[str, Any] | None = None) -> Sent:
        """Send one DAP request now. Its answer is for who asks what is returned.

        None is sent after `disconnect`: there are adapters that pass it on, cannot give back the
        answer, and then drop the program, to which nobody can attach any more.
        """
        if self.closed.is_set() or self._has_parted:
            return Sent(self, command)
        self._has_parted = command == "disconnect"
        seq, data = self._conversation.request(command, arguments)
        sent = self._pending[seq] = Sent(self, command, seq)
        self._send(data)
        return sent

    def abandon(self, seq: int) -> None:
        """Nobody waits for this answer any more."""
        if self._pending.pop(seq, None) is not None:
            self._conversation.forget(seq)

    def _send(self, data: bytes) -> None:
        if self._writer_rests and not self._outbox:
            data = data[self._stream.send_now(data) :]
        if data:
            self._outbox.append(data)
            self._outgoing.set()

    async def _write(self) -> None:
        with contextlib.suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            while True:
                while self._outbox:
                    data = b"".join(self._outbox)
                    self._outbox.clear()
                    await self._stream.send_all(data)
                self._outgoing = trio.Event()
                self._writer_rests = True
                await self._outgoing.wait()
                self._writer_rests = False

    async def _read(self, nursery: trio.Nursery) -> None:
        try:
            while data := await self._stream.receive_some(RECEIVE_SIZE):
                self.received += len(data)
                for message in self._conversation.receive(data):
                    self._dispatch(message, nursery)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        except BrokenStream as error:
            # What came whole before the fault still counts: it may be the program's exit.
            for message in self._conversation.salvage(error):
                self._dispatch(message, nursery)
            self._blame(error)
        except ProtocolViolation as error:
            self._blame(error)

    def _blame(self, error: ProtocolViolation) -> None:
        self.violation = error
        log.error("the adapter broke the protocol: %s", error)

    def _dispatch(
        self, message: Response | IncomingEvent | IncomingRequest, nursery: trio.Nursery
    ) -> None:
        if isinstance(message, IncomingEvent):
            self._on_event(message)
        elif isinstance(message, Response):
            self._settle(message)
        else:
            nursery.start_soon(self._answer, message)

    def _settle(self, response: Response) -> None:
        if pending := self._pending.pop(response.request_seq, None):
            pending.response = response
            pending.done.set()

    async def _answer(self, request: IncomingRequest) -> None:
        if self._on_request is None:
            self._send(self._conversation.respond(request, error="not supported by this client"))
            return
        if request.fault is not None:
            self._send(self._conversation.respond(request, error=request.fault))
            return
        try:
            body = await self._on_request(request)
        except Exception as error:  # noqa: BLE001 - the adapter must get an answer, or it waits for ever
            log.warning("reverse request %s failed: %s", request.command, error)
            self._send(self._conversation.respond(request, error=str(error)))
        else:
            self._send(self._conversation.respond(request, body=body))


def _why(response: Response) -> str:
    """The short message, or the long one that some adapters give besides or instead.

    With the reason that a structured error may name beside it.
    """
    short, long = response.message, response.error_text
    text = long if not short or short in long else short
    error = (response.body or {}).get("error")
    facts = error.get("variables") if isinstance(error, Mapping) else None
    reason = facts.get("reason") if isinstance(facts, Mapping) else None
    return f"{text}: {reason}" if isinstance(reason, str) and reason not in text else text


def _body(response: Response) -> dict[str, Any]:
    body = dict(response.body or {})
    if not response.success:
        raise RequestFailed(response.command, _why(response), body)
    return body
