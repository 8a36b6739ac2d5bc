"""The SDK's session manager in a nursery of ours: one MCP session a client.

Knows the manager and when it ends. Host, Origin, token and size are checked in front of it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import trio
from anyio import ClosedResourceError
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

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


def _is_news(record: logging.LogRecord) -> bool:
    """Not that a stream was closed under its writer: so it ends when its client leaves."""
    return record.exc_info is None or not isinstance(record.exc_info[1], ClosedResourceError)
