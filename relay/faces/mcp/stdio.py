"""MCP on standard input and output: one client, one hub, and nothing left when it goes.

Knows descriptors and lines. The SDK's own transport cannot be cancelled while it reads,
so that a signal would have to wait for the client's next line.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

import anyio
import trio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp.types.jsonrpc import CONNECTION_CLOSED, PARSE_ERROR

from relay.config import Settings
from relay.faces.common.own_streams import own_streams
from relay.faces.mcp.messages import Fault, message_of
from relay.faces.mcp.server import make_server
from relay.faces.mcp.tools import Tool
from relay.hub import open_relay

LINE_BYTES = 10 * 1024 * 1024
"""The longest message that is read, as over HTTP."""

READ_BYTES = 64 * 1024

TOO_LONG = Fault(PARSE_ERROR, f"longer than {LINE_BYTES} bytes")

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
            message = TOO_LONG if line is None else message_of(line)
            if isinstance(message, Fault):
                await pipes.write(message.answer("a line"))
            else:
                await incoming.send(SessionMessage(message))


async def _write(pipes: Pipes, to_send: Outgoing, scope: trio.CancelScope) -> None:
    try:
        async with to_send:
            async for message in to_send:
                if not _says_that_it_ends(message.message):
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await pipes.write(text)
    except OSError:  # the client has gone
        scope.cancel()


def _says_that_it_ends(message: types.JSONRPCMessage) -> bool:
    """Whether it tells who has closed the input that it is closed, as an answer to what still waits.

    Some clients take a word after that for a failure of their own.
    """
    return isinstance(message, types.JSONRPCError) and message.error.code == CONNECTION_CLOSED
