"""The client's side of the adapter: requests in, responses and events out, in order.

Knows the envelope of DAP and that a client may read slowly. Refuses to know commands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import trio

from relay.dap.framing import BrokenStream, Decoder, encode
from relay.perl.refusals import Refusal

MOST_QUEUED = 1024 * 1024
"""Bytes on their way to the client above which the program's output waits."""


@dataclass(frozen=True, slots=True)
class Request:
    """`problem` is set where the envelope is wrong; the request is refused with it."""

    seq: int
    command: str
    arguments: dict[str, Any]
    problem: str = ""


class DapClient:
    """One client, from the first byte to the end of its stream."""

    def __init__(self, source: trio.abc.ReceiveStream, sink: trio.abc.SendStream) -> None:
        self._source, self._sink = source, sink
        self._decoder = Decoder(instead=_Unreadable)
        self._queue: deque[bytes] = deque()
        self._queued = 0
        self._seq = 0
        self._news = trio.Event()
        self._sent = trio.Event()
        self.fault: str | None = None

    async def receive(self) -> list[Request] | None:
        """The next requests; None when the stream has ended or broken: `fault` says how."""
        if self.fault is not None:
            return None
        try:
            data = await self._source.receive_some(65536)
            messages = self._decoder.feed(data)
        except BrokenStream as broken:
            messages, self.fault = list(broken.whole), str(broken)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return None
        else:
            if not data:
                return None
        return [_request(message) for message in messages if message.get("type") != "response"]

    def event(self, name: str, body: Mapping[str, Any] | None = None) -> None:
        """Send the client an event."""
        self._say({"type": "event", "event": name}, body)

    def respond(self, request: Request, body: Mapping[str, Any] | None = None) -> None:
        """Answer a request with success, and `body` if it has one."""
        self._say({**_answer(request), "success": True}, body)

    def refuse(self, request: Request, why: Refusal) -> None:
        """Answer a request with a failure: its number, text and facts."""
        self._say({**_answer(request), "success": False, "message": why.message}, why.body)

    def _say(self, content: dict[str, Any], body: Mapping[str, Any] | None) -> None:
        self._seq += 1
        if body is not None:
            content["body"] = body
        data = encode({"seq": self._seq, **content})
        self._queue.append(data)
        self._queued += len(data)
        self._news.set()

    async def run_writer(self) -> None:
        """Sends what was said. Returns when the client has hung up."""
        while True:
            while self._queue:
                data = self._queue.popleft()
                try:
                    await self._sink.send_all(data)
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    return
                self._queued -= len(data)
                self._sent.set()
                self._sent = trio.Event()
            self._news = trio.Event()
            await self._news.wait()

    async def room(self) -> None:
        """Returns when not too much is on its way."""
        while self._queued > MOST_QUEUED:
            await self._sent.wait()

    async def flush(self) -> None:
        """Returns when everything is sent."""
        while self._queued:
            await self._sent.wait()


def _answer(request: Request) -> dict[str, Any]:
    return {"type": "response", "request_seq": request.seq, "command": request.command}


class _Unreadable(dict[str, Any]):
    """Stands where a message was that nobody can read: it gets an answer, too."""

    def __init__(self, why: str) -> None:
        super().__init__(seq=0, command="")
        self.why = why


def _request(message: dict[str, Any]) -> Request:
    seq, command, arguments = (message.get(key) for key in ("seq", "command", "arguments"))
    problem = ""
    if isinstance(message, _Unreadable):
        problem = message.why
    elif message.get("type") != "request":
        problem = f"type must be request, not {message.get('type')!r:.40}"
    elif isinstance(seq, bool) or not isinstance(seq, int):
        problem = f"seq must be a number, not {seq!r:.40}"
    elif not isinstance(command, str):
        problem = f"command must be a string, not {command!r:.40}"
    elif arguments is not None and not isinstance(arguments, dict):
        problem = f"arguments must be an object, not {arguments!r:.40}"
    return Request(
        seq if isinstance(seq, int) else 0,
        command if isinstance(command, str) else "",
        arguments if isinstance(arguments, dict) else {},
        problem,
    )
