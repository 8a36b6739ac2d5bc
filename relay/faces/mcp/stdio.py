"""MCP on standard input and output: one client, one hub, and nothing left when it goes.

Knows descriptors and lines. The SDK's own transport cannot be cancelled while it reads,
so that a signal would have to wait for the client's next line.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import anyio
import trio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp.types.jsonrpc import INVALID_REQUEST, PARSE_ERROR
from pydantic import ValidationError
from pydantic_core import ErrorDetails, from_json

from relay.config import Settings
from relay.faces.common.own_streams import own_streams
from relay.faces.mcp.server import make_server
from relay.faces.mcp.tools import Tool
from relay.hub import open_relay

LINE_BYTES = 10 * 1024 * 1024
"""The longest message that is read, as over HTTP."""

READ_BYTES = 64 * 1024

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]


async def serve_stdio(settings: Settings, tools: Sequence[Tool], version: str) -> None:
    """Serve until the client closes standard input, or until SIGINT or SIGTERM."""
    pipes = Pipes()
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with open_relay(settings, standby=True) as hub, trio.open_nursery() as nursery:
            nursery.start_soon(_cancel_at, signals, nursery.cancel_scope)
            nursery.start_soon(hub.give_memory_back)
            await serve_pipes(pipes, make_server(hub, tools, version))
            nursery.cancel_scope.cancel()


async def _cancel_at(signals: AsyncIterator[int], scope: trio.CancelScope) -> None:
    async for _ in signals:
        scope.cancel()


class Pipes:
    """Standard input and output, taken away from everything else in this process.

    What is printed by mistake goes to standard error, and no program inherits the input.
    """

    def __init__(self) -> None:
        self._input, self._output = own_streams()
        for descriptor in (self._input, self._output):
            os.set_blocking(descriptor, True)  # a client may have left it otherwise
        self._writing = trio.Lock()

    async def lines(self) -> AsyncIterator[bytes | None]:
        """Every line that is not blank, until the end of the input; None for one that is too long."""
        pieces: list[bytes] = []
        size = 0  # of the line so far; beyond the bound its pieces are not kept
        while data := await self._read():
            *ends, rest = data.split(b"\n")
            for end in ends:
                line = b"".join([*pieces, end])
                if size + len(end) > LINE_BYTES:
                    yield None
                elif line.strip():
                    yield line
                pieces, size = [], 0
            size += len(rest)
            pieces = [*pieces, rest] if size <= LINE_BYTES else []
        if pieces and (line := b"".join(pieces)).strip():
            yield line

    async def _read(self) -> bytes:
        # In a thread that may be left behind: any kind of file will do, and a read can wait
        # for ever.
        read = partial(os.read, self._input, READ_BYTES)
        return await trio.to_thread.run_sync(read, abandon_on_cancel=True)

    async def write(self, text: str) -> None:
        """One line, whole; raises OSError if nobody reads any more."""
        data = text.encode() + b"\n"
        async with self._writing:
            await trio.to_thread.run_sync(self._write, data, abandon_on_cancel=True)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._output, rest) :]


async def serve_pipes(pipes: Pipes, server: Server[Any]) -> None:
    """Carry messages between the pipes and the server until the input ends."""
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, to_send = anyio.create_memory_object_stream[SessionMessage](0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_read, pipes, incoming)
        nursery.start_soon(_write, pipes, to_send, nursery.cancel_scope)
        await server.run(received, outgoing, server.create_initialization_options())
        nursery.cancel_scope.cancel()


async def _read(pipes: Pipes, incoming: Incoming) -> None:
    async with incoming:
        async for line in pipes.lines():
            message = _message(line)
            if isinstance(message, _Fault):
                await pipes.write(message.answer())
            else:
                await incoming.send(SessionMessage(message))


class _Fault(NamedTuple):
    """Why a line is no message."""

    code: int
    reason: str
    request_id: int | str | None = None
    """Of the request that it was meant to be, whose sender waits for an answer."""

    def answer(self) -> str:
        what = "Parse error" if self.code == PARSE_ERROR else "Invalid request"
        message = f"{what}: a line must be one JSON-RPC message ({self.reason})"
        error = {"code": self.code, "message": message}
        return json.dumps({"jsonrpc": "2.0", "id": self.request_id, "error": error})


def _message(line: bytes | None) -> types.JSONRPCMessage | _Fault:
    """The message, or what is wrong with the line."""
    if line is None:
        return _Fault(PARSE_ERROR, f"longer than {LINE_BYTES} bytes")
    try:
        message = types.jsonrpc_message_adapter.validate_json(line)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        if fault["type"] == "json_invalid":
            return _Fault(PARSE_ERROR, str(fault["msg"]), _id_of_request(_read_anyhow(line)))
        return _Fault(INVALID_REQUEST, _spelled(fault), _id_of_request(from_json(line)))
    # The SDK takes a request for a notification if its id is none, and does not answer.
    if isinstance(message, types.JSONRPCNotification) and "id" in from_json(line):
        return _Fault(INVALID_REQUEST, "id: must be a string or a whole number")
    return message


def _read_anyhow(line: bytes) -> Any:
    """What Python reads, which takes half a character for text; None if it cannot either."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _spelled(fault: ErrorDetails) -> str:
    # The first part of the place is the kind of message that it was taken for.
    place = ".".join(str(part) for part in fault["loc"][1:])
    return f"{place}: {fault['msg']}" if place else fault["msg"]


def _id_of_request(found: Any) -> int | str | None:
    if not isinstance(found, dict) or "method" not in found:
        return None
    given = found.get("id")
    return given if type(given) in (int, str) else None


async def _write(pipes: Pipes, to_send: Outgoing, scope: trio.CancelScope) -> None:
    try:
        async with to_send:
            async for message in to_send:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await pipes.write(text)
    except OSError:  # the client has gone
        scope.cancel()
