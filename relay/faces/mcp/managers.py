"""The SDK's session manager in a nursery of ours: one MCP session a client.

Knows the manager and when it ends. Host, Origin, token and size are checked in front of it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import trio
from anyio import BrokenResourceError, ClosedResourceError
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from relay.faces.common.asgi import Message, Receive, Scope, Send
from relay.faces.mcp.server import make_server
from relay.faces.mcp.tools import Tool
from relay.hub import Hub

GRACE_SECONDS = 0.3
"""From `ending` on, for the answers of calls that waited: the drained hub lets them go at once."""


async def run_manager(
    hub: Hub,
    tools: Sequence[Tool],
    version: str,
    ending: trio.Event,
    task_status: trio.TaskStatus[StreamableHTTPSessionManager],
) -> None:
    """Serve until `ending`, which ends the streams that clients listen to."""
    logging.getLogger("sse_starlette").setLevel(logging.WARNING)
    logging.getLogger("mcp.server.streamable_http").addFilter(_is_news)
    manager = StreamableHTTPSessionManager(make_server(hub, tools, version))
    async with manager.run():
        task_status.started(manager)
        await ending.wait()
        await trio.sleep(GRACE_SECONDS)


async def answer(
    manager: StreamableHTTPSessionManager, scope: Scope, receive: Receive, send: Send
) -> None:
    """One request, answered once.

    The SDK answers a notification before it takes it. If the session of MCP ends in between, it
    would answer again, by a 500, and raise.
    """
    is_answered = False

    async def send_once(message: Message) -> None:
        nonlocal is_answered
        if not is_answered:
            ends = message["type"] == "http.response.body"
            is_answered = ends and not message.get("more_body", False)
            await send(message)

    try:
        await manager.handle_request(scope, receive, send_once)
    except (ClosedResourceError, BrokenResourceError):
        if not is_answered:
            raise


def _is_news(record: logging.LogRecord) -> bool:
    """Not that a stream was closed under its writer: so it ends when its client leaves."""
    found = record.exc_info[1] if record.exc_info is not None else None
    return not isinstance(found, (ClosedResourceError, BrokenResourceError))
