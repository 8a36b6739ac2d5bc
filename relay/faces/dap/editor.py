"""One editor: requests in, responses and events out, in the order in which they are said.

Knows the envelope of DAP and that an editor may read slowly. Refuses to know commands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import trio

from relay.dap.conversation import Conversation, IncomingRequest
from relay.errors import ProtocolViolation

MOST_WAITING = 1000
"""Messages on their way to the editor above which events wait."""


class Editor:
    """An editor at the other end of two streams. Use it in a nursery that runs `write`."""

    def __init__(
        self, source: trio.abc.ReceiveStream, sink: trio.abc.SendStream, first: bytes = b""
    ) -> None:
        self._source, self._sink, self._first = source, sink, first
        self._conversation = Conversation()
        self._queue, self._unsent = trio.open_memory_channel[bytes](float("inf"))
        self._sent = trio.Event()
        self._waiting = 0
        self._is_gone = False
        self.fault: str | None = None
        """What was wrong with the last bytes, if the conversation broke off."""

    async def receive(self) -> Sequence[IncomingRequest] | None:
        """The next requests; None when the editor has hung up, or broken the protocol."""
        try:
            first, self._first = self._first, b""
            data = first or await self._source.receive_some(65536)
            messages = self._conversation.receive(data) if data else None
        except ProtocolViolation as error:
            self.fault = str(error)
            return None
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return None
        if messages is None:
            return None
        return [message for message in messages if isinstance(message, IncomingRequest)]

    def event(self, name: str, body: Mapping[str, Any] | None = None) -> None:
        """Send an event of the session or of the program to the editor."""
        self._say(self._conversation.event(name, body))

    def answer(self, request: IncomingRequest, body: Mapping[str, Any] | None = None) -> None:
        """Answer a request with success, and `body` if it has one."""
        self._say(self._conversation.respond(request, body))

    def refuse(self, request: IncomingRequest, why: str) -> None:
        """Answer a request with a failure, in words that the editor shows."""
        self._say(self._conversation.respond(request, error=why))

    def _say(self, data: bytes) -> None:
        if self._is_gone:
            return
        self._waiting += 1
        self._queue.send_nowait(data)

    async def write(self) -> None:
        """Send what was said, until the editor hangs up."""
        try:
            async for data in self._unsent:
                await self._sink.send_all(data)
                self._took(1)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:  # nobody is to wait for what will not be sent
            self._is_gone = True
            self._took(self._waiting)

    def _took(self, count: int) -> None:
        self._waiting -= count
        self._sent.set()
        self._sent = trio.Event()

    async def room(self, most: int = MOST_WAITING) -> None:
        """Until at most so many messages are on their way."""
        while self._waiting > most:
            await self._sent.wait()
