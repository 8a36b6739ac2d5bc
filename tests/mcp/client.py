"""The official MCP client, and what tests ask of it most."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TextIO

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.relays import environment

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
"""The first message over HTTP, for tests that send it by hand, with the headers ACCEPTS."""

ACCEPTS = {"Accept": "application/json, text/event-stream"}


class Client:
    """An initialized MCP session with a relay."""

    def __init__(self, session: ClientSession, told: types.InitializeResult) -> None:
        self.session = session
        self.told = told

    async def call(self, name: str, **arguments: Any) -> str:
        """The text of a success."""
        result = await self.session.call_tool(name, arguments)
        assert not result.isError, text_of(result)
        return text_of(result)

    async def refused(self, name: str, **arguments: Any) -> str:
        """The text of an error of the tool, which names a way out."""
        result = await self.session.call_tool(name, arguments)
        assert result.isError, text_of(result)
        assert "\nsuggestion: " in text_of(result)
        return text_of(result)


def text_of(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@asynccontextmanager
async def over_stdio(
    folder: Path, *options: str, log: TextIO = sys.stderr
) -> AsyncIterator[Client]:
    """`relay mcp` as a process of its own, started in `folder`; it logs to `log`."""
    command = ["-m", "relay", "mcp", *options]
    server = StdioServerParameters(
        command=sys.executable, args=command, cwd=folder, env=environment(folder / "state")
    )
    async with stdio_client(server, log) as (read, write), ClientSession(read, write) as session:
        yield Client(session, await session.initialize())


@asynccontextmanager
async def over_http(url: str) -> AsyncIterator[Client]:
    """An MCP session at `url`, such as http://127.0.0.1:5679/mcp."""
    async with (
        streamable_http_client(url) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        yield Client(session, await session.initialize())
