"""The table of faces: who comes there, and how often."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from tests.faults.soak import other_users
from tests.faults.soak.requests_user import requests_user
from tests.faults.soak.visit import Visit

User = Callable[[Visit], Awaitable[None]]

FACES: Mapping[str, tuple[int, User]] = {
    "HTTP, long-polls, streams": (8, requests_user),
    "MCP over HTTP": (3, other_users.mcp_http_user),
    "MCP over stdio": (1, other_users.mcp_stdio_user),
    "session commands": (2, other_users.shell_user),
    "relay run": (2, other_users.run_user),
    "line protocol": (1, other_users.line_user),
    "editor": (2, other_users.editor_user),
    "in process": (1, other_users.embedding_user),
}
"""How many of twenty users come so. The first does most; others start a process or two each time."""
