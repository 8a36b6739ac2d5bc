"""The SDK's session manager in a nursery of ours: one MCP session a client.

Knows the manager and when it ends. Host, Origin, token and size are checked in front of it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence

import trio
from anyio import BrokenResourceError, ClosedResourceError
from mcp import types
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.types.jsonrpc import UNSUPPORTED_PROTOCOL_VERSION
from mcp.types.version import KNOWN_PROTOCOL_VERSIONS

from relay.faces.common.asgi import BODY, Message, Receive, Scope, Send, json_headers
from relay.faces.mcp.messages import Fault, message_of
from relay.faces.mcp.server import make_server
from relay.faces.mcp.tools import Tool
from relay.hub import Hub

PROTOCOL_VERSION = b"mcp-protocol-version"

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
    if scope["method"] == "POST" and (refusal := _refusal(scope)) is not None:
        body = refusal.encode()
        headers = json_headers(scope, body)
        await send({"type": "http.response.start", "status": 400, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})
        return
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


def _refusal(scope: Scope) -> str | None:
    """The error for a body that is no message, or for a protocol that there is not.

    The SDK names neither the id nor the protocols: it takes any version that it does not know for
    one of a request that stands alone, and misses the envelope of that.
    """
    headers = dict(scope["headers"])
    if not headers.get(b"content-type", b"").lower().startswith(b"application/json"):
        return None  # the SDK's to refuse
    message = message_of(scope.get(BODY) or b"")
    if isinstance(message, Fault):
        return message.answer("the body")
    asked = headers.get(PROTOCOL_VERSION)
    if not isinstance(message, types.JSONRPCRequest) or message.method == "initialize":
        return None
    if asked is None or (version := asked.decode("latin-1")) in KNOWN_PROTOCOL_VERSIONS:
        return None
    data = {"supported": list(KNOWN_PROTOCOL_VERSIONS), "requested": version[:100]}
    words = f"Unsupported protocol version; supported: {', '.join(KNOWN_PROTOCOL_VERSIONS)}"
    error = {"code": UNSUPPORTED_PROTOCOL_VERSION, "message": words, "data": data}
    return json.dumps({"jsonrpc": "2.0", "id": message.id, "error": error})


def _is_news(record: logging.LogRecord) -> bool:
    """Not that a stream was closed under its writer: so it ends when its client leaves."""
    found = record.exc_info[1] if record.exc_info is not None else None
    return not isinstance(found, (ClosedResourceError, BrokenResourceError))
