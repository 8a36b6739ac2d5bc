"""Messages of MCP as they are on the wire, in each protocol and over each transport.

What the official client hides: envelopes, headers, and what is not answered.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, Protocol, Self

import httpx
import trio

Message = dict[str, Any]

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Protocols whose clients open a session by `initialize`."""

ALONE = "2026-07-28"
"""The one whose requests stand alone: each says version and client itself."""

CLIENT = {"name": "bare client", "version": "7"}
ACCEPTS = {"Accept": "application/json, text/event-stream"}
DEADLINE = 60

_KEY = "io.modelcontextprotocol/"
ENVELOPE = {
    f"{_KEY}protocolVersion": ALONE,
    f"{_KEY}clientInfo": CLIENT,
    f"{_KEY}clientCapabilities": {},
}


def initialize(version: str) -> Message:
    """The parameters of the first request of a session."""
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT}


def request(number: int, version: str, method: str, **params: Any) -> Message:
    """A request, in the envelope that its protocol wants."""
    if version == ALONE:
        params["_meta"] = {**ENVELOPE, **params.get("_meta", {})}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


class Peer(Protocol):
    """A client of one protocol over one transport."""

    version: str

    async def tell(self, method: str, **params: Any) -> None:
        """A notification."""

    def asking(
        self, method: str, **params: Any
    ) -> AbstractAsyncContextManager[AsyncIterator[Message]]:
        """Notifications about the request, and its answer; who leaves before that cancels it."""


async def ask(peer: Peer, method: str, **params: Any) -> Message:
    """The answer to a request."""
    with trio.fail_after(DEADLINE):
        async with peer.asking(method, **params) as messages:
            async for message in messages:
                if "id" in message:
                    return message
    raise AssertionError(f"{method} was not answered")


class StdioPeer:
    """Speaks to `relay mcp`."""

    def __init__(self, process: trio.Process, version: str) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.version = version
        self._input = process.stdin
        self._lines = Lines(process.stdout)
        self._numbers = count(1)
        self._answered: set[int] = set()
        self._cancelled: set[int] = set()

    async def tell(self, method: str, **params: Any) -> None:
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    @asynccontextmanager
    async def asking(self, method: str, **params: Any) -> AsyncIterator[AsyncIterator[Message]]:
        number = next(self._numbers)
        await self._send(request(number, self.version, method, **params))
        async with aclosing(self._until(number)) as messages:
            yield messages
            if number not in self._answered:
                self._cancelled.add(number)
                await self.tell("notifications/cancelled", requestId=number)

    async def _until(self, number: int) -> AsyncGenerator[Message]:
        async for message in self._lines:
            # A cancelled request is not answered, neither at once nor later.
            assert message.get("id") not in self._cancelled
            if message.get("id") == number:
                self._answered.add(number)
                yield message
                return
            yield message

    async def _send(self, message: Message) -> None:
        await self._input.send_all(json.dumps(message).encode() + b"\n")


@asynccontextmanager
async def relay_mcp(folder: Path) -> AsyncIterator[trio.Process]:
    """`relay mcp` with pipes, and without a client."""
    command = [sys.executable, "-m", "relay", "mcp", "--state-dir", str(folder / "state")]
    process = await trio.lowlevel.open_process(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder
    )
    try:
        yield process
    finally:
        with trio.CancelScope(shield=True):
            process.kill()
            await process.wait()
            for stream in (process.stdin, process.stdout):
                assert stream is not None
                await stream.aclose()


class Lines:
    """Every line of a stream as JSON, until its end; what is none would raise."""

    def __init__(self, stream: trio.abc.ReceiveStream) -> None:
        self._stream = stream
        self._held = b""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Message:
        while b"\n" not in self._held:
            with trio.fail_after(DEADLINE):
                data = await self._stream.receive_some()
            if not data:
                assert not self._held
                raise StopAsyncIteration
            self._held += data
        line, _, self._held = self._held.partition(b"\n")
        found: Message = json.loads(line)
        return found


class HttpPeer:
    """Speaks to `/mcp`; the session of MCP, if there is one, begins with `initialize`."""

    def __init__(self, client: httpx.AsyncClient, url: str, version: str) -> None:
        self.version = version
        self.session: str | None = None
        self._client = client
        self._url = url
        self._numbers = count(1)

    async def tell(self, method: str, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        answer = await self._client.post(self._url, json=message, headers=self._headers())
        assert answer.status_code == 202, answer.text

    @asynccontextmanager
    async def asking(self, method: str, **params: Any) -> AsyncIterator[AsyncIterator[Message]]:
        number = next(self._numbers)
        message = request(number, self.version, method, **params)
        headers = self._headers() if method != "initialize" else ACCEPTS
        if self.version == ALONE:
            headers = headers | mirrored(message)
        sent = self._client.stream("POST", self._url, json=message, headers=headers)
        async with sent as response, aclosing(messages_of(response)) as messages:
            if method == "initialize":
                self.session = response.headers["mcp-session-id"]
            assert self.version != ALONE or "mcp-session-id" not in response.headers
            answered = False

            async def noted() -> AsyncGenerator[Message]:
                nonlocal answered
                async for one in messages:
                    answered = answered or one.get("id") == number
                    yield one

            async with aclosing(noted()) as shown:
                yield shown
            # Who hangs up has cancelled, where requests stand alone. In a session it must be said,
            # and ends the stream: by an error, since only an answer can.
            if not answered and self.version != ALONE:
                await self.tell("notifications/cancelled", requestId=number)
                rest = [one async for one in messages if "id" in one]
                assert [(one["id"], one["error"]["code"]) for one in rest] == [(number, -32800)]

    def _headers(self) -> dict[str, str]:
        if self.version == ALONE:
            return {**ACCEPTS, "MCP-Protocol-Version": ALONE}
        session = {} if self.session is None else {"Mcp-Session-Id": self.session}
        return {**ACCEPTS, "MCP-Protocol-Version": self.version, **session}


def mirrored(message: Message) -> dict[str, str]:
    """The headers that repeat what the body says, since 2026-07-28."""
    params = message["params"]
    name = params.get("name", params.get("uri"))
    session = params.get("arguments", {}).get("session")
    found = {"Mcp-Method": message["method"], "Mcp-Name": name, "Mcp-Param-Session": session}
    return {key: value for key, value in found.items() if value is not None}


async def messages_of(response: httpx.Response) -> AsyncGenerator[Message]:
    """Of an answer of either kind: one message, or a stream of them."""
    if response.headers["content-type"].startswith("application/json"):
        yield json.loads(await response.aread())
        return
    async with aclosing(response.aiter_lines()) as found:  # type: ignore[type-var]
        async for line in found:
            if line.startswith("data: {"):
                yield json.loads(line.removeprefix("data: "))
