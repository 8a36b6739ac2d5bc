"""The other table: the run-to-breakpoint calls of the tool API, each answered by its JSON."""

from __future__ import annotations

import inspect
from typing import Any

from relay.faces.common.tool_actions import TOOL_WORDS
from relay.faces.common.tool_calls import CALLS, ToolCall
from relay.faces.mcp.tools import Tool
from relay.hub import Hub


def _tool(name: str, call: ToolCall) -> Tool:
    async def made(hub: Hub, asked: Any) -> str:
        return (await call.operation(hub, asked)).model_dump_json()

    description = (inspect.getdoc(call.operation) or name).partition("\n")[0]
    return Tool(name, description, call.model, made, hints="description", words=TOOL_WORDS)


TOOLS_V0: tuple[Tool, ...] = tuple(_tool(name, call) for name, call in CALLS.items())
