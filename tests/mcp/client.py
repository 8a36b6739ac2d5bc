"""The official MCP client, and what tests ask of it most."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TextIO

import httpx2
import mcp
from mcp import StdioServerParameters, types
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


SECONDS = 60

LEGACY = "legacy"
"""The mode of a client that opens a session of MCP by `initialize`, as all did until 2025-11-25."""

MODERN = "auto"
"""That of one whose requests stand alone, if the server knows that: as since 2026-07-28."""


class Client:
    """A client that is connected to a relay."""

    def __init__(self, client: mcp.Client) -> None:
        self.mcp = client

    async def call(self, name: str, **arguments: Any) -> str:
        """The text of a success."""
        result = await self.mcp.call_tool(name, arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    async def refused(self, name: str, **arguments: Any) -> str:
        """The text of an error of the tool, which names a way out."""
        result = await self.mcp.call_tool(name, arguments)
        assert result.is_error, text_of(result)
        assert "\nsuggestion: " in text_of(result)
        return text_of(result)


def text_of(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@asynccontextmanager
async def over_stdio(
    folder: Path, *options: str, mode: str = MODERN, log: TextIO = sys.stderr
) -> AsyncIterator[Client]:
    """`relay mcp` as a process of its own, started in `folder`; it logs to `log`."""
    command = ["-m", "relay", "mcp", *options]
    server = StdioServerParameters(
        command=sys.executable, args=command, cwd=folder, env=environment(folder / "state")
    )
    async with mcp.Client(stdio_client(server, log), mode=mode) as client:
        yield Client(client)


@asynccontextmanager
async def over_http(url: str, mode: str = MODERN, **headers: str) -> AsyncIterator[Client]:
    """A client of `url`, such as http://127.0.0.1:5679/mcp."""
    async with (
        httpx2.AsyncClient(headers=headers, timeout=SECONDS, trust_env=False) as http_client,
        mcp.Client(streamable_http_client(url, http_client=http_client), mode=mode) as client,
    ):
        yield Client(client)
