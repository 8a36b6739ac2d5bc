"""The table of tools as a server of the MCP SDK.

Knows requests and results of MCP, progress and cancellation. Knows no transport.
"""

from __future__ import annotations

import contextlib
import json
import logging
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import anyio
import trio
from mcp import McpError, types
from mcp.server.lowlevel import Server
from pydantic import AnyUrl, BaseModel, ValidationError

from relay.asker import Asker, ask_for
from relay.errors import InvalidRequest, RelayError
from relay.faces.common.client_name import LONGEST_ARGUMENTS, LONGEST_NAME
from relay.faces.common.complaints import complaints, summary, unknown
from relay.faces.common.failures import as_relay_error
from relay.faces.mcp import resources
from relay.faces.mcp.actions import TOOL_WORDS
from relay.faces.mcp.arguments import MAX_CHARS
from relay.faces.mcp.failures import error_text
from relay.faces.mcp.prompts import PROMPTS, Prompt, text_of
from relay.faces.mcp.tools import INSTRUCTIONS, TOOLS, Tool
from relay.hub import Hub
from relay.logs.records import note

log = logging.getLogger("relay.requests")

NAME = "debug-relay"
TEXT = "text/plain"
RESOURCE_NOT_FOUND = -32002
UNKNOWN = "(none)"
"""What a tool is counted as that there is not."""

PROGRESS_SECONDS = 1.0
"""Time between two notifications of progress."""


def make_server(hub: Hub, tools: Sequence[Tool], version: str) -> Server[Any, Any]:
    """A server that calls the tools on the hub. It may serve several clients."""
    # What the SDK notes of each request is no news of the relay's.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    server: Server[Any, Any] = Server(NAME, version=version, instructions=INSTRUCTIONS)
    known = {tool.name: tool for tool in tools}
    listed = [_shown(tool) for tool in tools]

    async def list_tools() -> list[types.Tool]:
        return listed

    async def call_tool(request: types.CallToolRequest) -> types.ServerResult:
        asked = request.params
        answer = await _Call(server, hub, known).answer(asked.name, asked.arguments or {})
        return types.ServerResult(answer)

    server.list_tools()(list_tools)  # type: ignore[no-untyped-call]
    # Not by the decorator: the models check the arguments, in the words of the other faces.
    server.request_handlers[types.CallToolRequest] = call_tool
    if tools is TOOLS:
        _add_resources(server, hub)
        _add_prompts(server)
    return server


def _add_resources(server: Server[Any, Any], hub: Hub) -> None:
    async def listed(_: types.ListResourcesRequest) -> types.ServerResult:
        found = [
            types.Resource(
                uri=AnyUrl(one.address),
                name=one.name,
                description=one.description,
                mimeType=TEXT,
            )
            for one in resources.resources(hub)
        ]
        return types.ServerResult(types.ListResourcesResult(resources=found))

    async def templates(_: types.ListResourceTemplatesRequest) -> types.ServerResult:
        kinds = [types.ResourceTemplate(**resources.as_template(kind)) for kind in resources.KINDS]
        return types.ServerResult(types.ListResourceTemplatesResult(resourceTemplates=kinds))

    async def read(request: types.ReadResourceRequest) -> types.ServerResult:
        uri = request.params.uri
        with _refusing(RESOURCE_NOT_FOUND):
            hub.check_open()
            ask_for(
                Asker("mcp", _client_of(server), "resources/read", str(uri)[:LONGEST_ARGUMENTS])
            )
            text = await resources.read(hub, str(uri))
        contents = types.TextResourceContents(uri=uri, mimeType=TEXT, text=text)
        return types.ServerResult(types.ReadResourceResult(contents=[contents]))

    server.request_handlers[types.ListResourcesRequest] = listed
    server.request_handlers[types.ListResourceTemplatesRequest] = templates
    server.request_handlers[types.ReadResourceRequest] = read


def _add_prompts(server: Server[Any, Any]) -> None:
    async def listed(_: types.ListPromptsRequest) -> types.ServerResult:
        found = [_shown_prompt(name, prompt) for name, prompt in PROMPTS.items()]
        return types.ServerResult(types.ListPromptsResult(prompts=found))

    async def get(request: types.GetPromptRequest) -> types.ServerResult:
        name = request.params.name
        with _refusing(types.INVALID_PARAMS):
            text = text_of(name, request.params.arguments or {})
        message = types.PromptMessage(
            role="user", content=types.TextContent(type="text", text=text)
        )
        answer = types.GetPromptResult(description=PROMPTS[name].description, messages=[message])
        return types.ServerResult(answer)

    server.request_handlers[types.ListPromptsRequest] = listed
    server.request_handlers[types.GetPromptRequest] = get


def _shown_prompt(name: str, prompt: Prompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=one.name, description=one.description, required=True)
        for one in prompt.arguments
    ]
    return types.Prompt(
        name=name, title=prompt.title, description=prompt.description, arguments=arguments
    )


@contextlib.contextmanager
def _refusing(code: int) -> Iterator[None]:
    """Errors as MCP has them for what is no tool: a code of JSON-RPC, and the same text."""
    try:
        yield
    except (Exception, BaseExceptionGroup) as error:  # the client gets an answer, the log the rest
        if isinstance(error, BaseExceptionGroup) and error.split(trio.Cancelled)[0] is not None:
            raise
        shown = as_relay_error(error, uuid.uuid4().hex, "an MCP request")
        text = error_text(shown, MAX_CHARS, TOOL_WORDS)
        raise McpError(types.ErrorData(code=code, message=text)) from None


def _client_of(server: Server[Any, Any]) -> str:
    """What the client has said of itself."""
    said = server.request_context.session.client_params
    return said.clientInfo.name[:LONGEST_NAME] if said is not None else ""


def _shown(tool: Tool) -> types.Tool:
    return types.Tool(name=tool.name, description=tool.description, inputSchema=tool.schema)


class _Call:
    """One call of a tool."""

    def __init__(self, server: Server[Any, Any], hub: Hub, tools: dict[str, Tool]) -> None:
        self._server = server
        self._context = server.request_context
        self._hub = hub
        self._tools = tools

    async def answer(self, name: str, given: dict[str, Any]) -> types.CallToolResult:
        """The tool's text, or its error; progress is reported meanwhile, if the client wants it."""
        started = trio.current_time()
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._report_progress, name, given)
                result = await self._result(name, given)
                nursery.cancel_scope.cancel()
            self._note(name, result, trio.current_time() - started)
        except BaseExceptionGroup:
            # A cancelled nursery raises a group, and the SDK knows a bare Cancelled only: the
            # whole connection would end with it.
            await trio.lowlevel.checkpoint()
            raise
        return result

    def _note(self, name: str, result: types.CallToolResult, seconds: float) -> None:
        known = name if name in self._tools else UNKNOWN
        self._hub.metrics.note_tool(known, seconds)
        note(
            log,
            "tool answered",
            tool=known,
            is_error=result.isError,
            duration_ms=round(seconds * 1000, 1),
            client=_client_of(self._server),
            face="mcp",
        )

    async def _result(self, name: str, given: dict[str, Any]) -> types.CallToolResult:
        try:
            self._hub.check_open()
            tool = self._tool(name)
            asked = read_arguments(tool.model, given)
            client = _client_of(self._server)
            ask_for(Asker("mcp", client, name, json.dumps(given)[:LONGEST_ARGUMENTS]))
            return _text(await self._made(tool, asked))
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001  the agent gets an answer, the log the rest
            shown = as_relay_error(error, uuid.uuid4().hex, f"the tool {name[:100]}")
            words = self._tools[name].words if name in self._tools else TOOL_WORDS
            return _text(error_text(shown, _bound(given), words), is_error=True)

    async def _made(self, tool: Tool, asked: BaseModel) -> str:
        try:
            return await tool.call(self._hub, asked)
        except ValidationError as error:  # a bound that only the operation's own model has
            raise _refusal(error, tool.model, asked.model_dump()) from None

    def _tool(self, name: str) -> Tool:
        if name not in self._tools:
            raise _no_tool(name, list(self._tools))
        return self._tools[name]

    async def _report_progress(self, name: str, given: dict[str, Any]) -> None:
        meta = self._context.meta
        token = meta.progressToken if meta is not None else None
        if token is None:
            return
        total = given.get("wait")
        # Who does not listen any more gets no report; the call goes on.
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self._count(token, name, total if isinstance(total, (int, float)) else None)

    async def _count(self, token: str | int, name: str, total: float | None) -> None:
        start = trio.current_time()
        while True:
            passed = trio.current_time() - start
            await self._context.session.send_progress_notification(
                token,
                passed,
                total=total,
                message=f"{name}: {passed:.0f} s",
                related_request_id=str(self._context.request_id),
            )
            await trio.sleep(PROGRESS_SECONDS)


def read_arguments(model: type[BaseModel], given: dict[str, Any]) -> BaseModel:
    """The arguments as a model; raises InvalidRequest with everything that is wrong with them."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise _refusal(error, model, given) from None


def _refusal(error: ValidationError, model: type[BaseModel], given: Any) -> InvalidRequest:
    found = complaints(error, model, given)
    return InvalidRequest(summary(found), errors=found)


def _no_tool(name: str, known: list[str]) -> RelayError:
    message = unknown(name[:100], known)
    return InvalidRequest.of_field(
        "name",
        message,
        name[:100],
        text=f"the tool {name[:100]!r} {message}",
        suggestion="Call one of the tools of tools/list",
    )


def _bound(given: dict[str, Any]) -> int:
    asked = given.get("max_chars")
    return asked if type(asked) is int and 200 <= asked <= 100_000 else MAX_CHARS


def _text(text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], isError=is_error
    )
