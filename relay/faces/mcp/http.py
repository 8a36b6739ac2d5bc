"""MCP over streamable HTTP: mounted beside the API, on the same hub and behind the same guard.

`/mcp` has the rich tools, `/mcp/v0` the run-to-breakpoint calls. The SDK is imported and its
session managers are started by the first request, in a nursery that lives as long as the server.
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING

import trio
from pydantic_core import from_json

from relay import __version__
from relay.errors import InvalidRequest, RouteNotFound
from relay.faces.common.asgi import (
    BODY,
    ROUTE,
    HubLike,
    Message,
    Receive,
    Scope,
    Send,
    json_headers,
)
from relay.faces.common.reading import check_extent
from relay.faces.mcp.tables import table_of

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
TABLES = {PATH: "default", f"{PATH}/v0": "v0"}


class McpMount:
    """The ASGI app for everything below `/mcp`."""

    # Its clients send one call after the other, and take a refusal for the end of the connection.
    takes_turns = True

    def __init__(self, hub: HubLike, nursery: trio.Nursery, ending: trio.Event) -> None:
        self._hub = hub
        self._nursery = nursery
        self._ending = ending
        self._managers: dict[str, StreamableHTTPSessionManager] = {}
        self._starting = trio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; raises RouteNotFound below other paths."""
        path = scope["path"].rstrip("/")
        if path not in TABLES:
            raise RouteNotFound(
                f"there is no {scope['path'][:200]}",
                suggestion=f"MCP is at {PATH}, and the tools of the tool API at {PATH}/v0",
                method=scope["method"],
                path=scope["path"][:200],
            )
        scope[ROUTE] = path
        self._hub.check_open()
        if (fault := _fault(scope)) is not None:
            await _refuse(scope, send, fault)
            return
        manager = await self._manager(TABLES[path])
        scope = _from_now_on(scope)
        whose = self._hub.settings.relay_id
        if whose is not None:
            scope, send = _unmarked(scope, whose), _marking(send, whose)
        from relay.faces.mcp.managers import answer  # with the SDK, which is there by now

        await answer(manager, scope, receive, send)

    async def _manager(self, table: str) -> StreamableHTTPSessionManager:
        async with self._starting:
            if table not in self._managers:
                # Takes half a second, in which other requests go on.
                await trio.to_thread.run_sync(import_module, "relay.faces.mcp.managers")
                from relay.faces.mcp.managers import run_manager

                tools = table_of(table)
                self._managers[table] = await self._nursery.start(
                    run_manager, self._hub, tools, __version__, self._ending
                )
            return self._managers[table]


SESSION_ID = b"mcp-session-id"
LAST_EVENT_ID = b"last-event-id"


def _from_now_on(scope: Scope) -> Scope:
    """The request of a stream without where it is to go on: nothing that was sent is kept.

    The SDK would leave it unanswered.
    """
    headers = [pair for pair in scope["headers"] if pair[0].lower() != LAST_EVENT_ID]
    return {**scope, "headers": headers}


def _unmarked(scope: Scope, relay_id: str) -> Scope:
    """The request with its session as the SDK knows it: without the relay's id before it."""
    mark = f"{relay_id}-".encode()
    headers = [
        (name, value.removeprefix(mark) if name.lower() == SESSION_ID else value)
        for name, value in scope["headers"]
    ]
    return {**scope, "headers": headers}


def _marking(send: Send, relay_id: str) -> Send:
    """Sends each answer with the relay's id before that of the session, for proxies to go by."""
    mark = f"{relay_id}-".encode()

    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [
                (name, mark + value if name.lower() == SESSION_ID else value)
                for name, value in message.get("headers", ())
            ]
            message = {**message, "headers": headers}
        await send(message)

    return marked


PARSE_ERROR = -32700


def _fault(scope: Scope) -> str | None:
    """Why the body is no JSON, or too much of it. The SDK takes numbers of thousands of digits, deep
    nesting, and bytes that are not UTF-8 for failures of its own."""
    try:
        body = scope.get(BODY) or b"null"
        check_extent(body)
        # The parser would keep 16,384 texts of requests that are over.
        from_json(body, cache_strings="none")
    except (ValueError, InvalidRequest) as error:
        return str(error)
    return None


async def _refuse(scope: Scope, send: Send, fault: str) -> None:
    error = {"code": PARSE_ERROR, "message": f"Parse error: {fault}"}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    await send({"type": "http.response.start", "status": 400, "headers": json_headers(scope, body)})
    await send({"type": "http.response.body", "body": body, "more_body": False})
