"""The table of tools as a server of the MCP SDK.

Knows requests and results of MCP, in the protocols of both generations, progress and cancellation.
Knows no transport.
"""

from __future__ import annotations

import contextlib
import json
import logging
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import trio
from mcp import MCPError, types
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

from relay.asker import Asker, ask_for
from relay.errors import InvalidRequest, RelayError, SessionNotFound
from relay.faces.common.client_name import LONGEST_ARGUMENTS, LONGEST_NAME
from relay.faces.common.failures import as_relay_error
from relay.faces.mcp import resources
from relay.faces.mcp.actions import TOOL_WORDS
from relay.faces.mcp.arguments import LONGEST_WAIT, MAX_CHARS
from relay.faces.mcp.failures import error_text, in_arguments
from relay.faces.mcp.prompts import PROMPTS, Prompt, text_of
from relay.faces.mcp.tools import TOOLS, Tool, instructions, with_header
from relay.hub import Hub
from relay.logs.records import note
from relay.models.complaints import complaints, summary, unknown

log = logging.getLogger("relay.requests")

Context = ServerRequestContext[Any, Any]
Page = types.PaginatedRequestParams | None

NAME = "debug-relay"
TEXT = "text/plain"
RESOURCE_NOT_FOUND = -32002
"""Until 2025-11-25; from 2026-07-28 on it is what wrong parameters are."""

LISTS = CacheHint(ttl_ms=300_000, scope="public")
"""What does not change while the server runs, and is the same for everybody."""

READS_ONLY = types.ToolAnnotations(read_only_hint=True)
"""Of the others nothing is said: whatever runs a program, or on, may do anything."""

UNKNOWN = "(none)"
"""What a tool is counted as that there is not."""

WRONG = "Invalid request parameters"
"""All that the SDK says of wrong parameters, and of a request that comes before `initialize`."""

MOST_WRONG = 5

PROGRESS_SECONDS = 1.0
"""Time between two notifications of progress."""


def make_server(hub: Hub, tools: Sequence[Tool], version: str) -> Server[Any]:
    """A server that calls the tools on the hub. It may serve several clients, of any protocol."""
    # What the SDK notes of each request is no news of the relay's.
    logging.getLogger("mcp").setLevel(logging.WARNING)
    table = _Table(hub, tools)
    server: Server[Any] = Server(
        NAME,
        version=version,
        instructions=instructions(hub.settings.relay_id),
        cache_hints={"tools/list": LISTS, "prompts/list": LISTS, "resources/templates/list": LISTS},
        get_tool_input_schema=table.schemas_with_headers.get,
        on_list_tools=table.listed,
        on_call_tool=table.call,
    )
    server.middleware.append(_name_what_is_wrong)
    if tools is TOOLS:
        _add_resources(server, hub)
        _add_prompts(server)
    return server


async def _name_what_is_wrong(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Parameters that are none of the method's: the SDK's answer says neither which nor why."""
    try:
        return await call_next(ctx)
    except ValidationError as error:
        wrong = (
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}"
            for one in error.errors(include_url=False, include_input=False)[:MOST_WRONG]
        )
        raise MCPError(types.INVALID_PARAMS, f"{WRONG}: {'; '.join(wrong)}", "") from None
    except MCPError as error:
        if error.error.message != WRONG:
            raise
        words = f"{ctx.method} before initialize: send that request first"
        raise MCPError(types.INVALID_PARAMS, f"{WRONG}: {words}", "") from None


class _Table:
    """The tools, as requests of MCP ask for them."""

    def __init__(self, hub: Hub, tools: Sequence[Tool]) -> None:
        self._hub = hub
        self._known = {tool.name: tool for tool in tools}
        schemas = {tool.name: tool.schema for tool in tools}
        self.schemas_with_headers = {name: with_header(one) for name, one in schemas.items()}
        """Over HTTP from 2026-07-28 on, arguments that it names are in headers, too."""

        self._listed = _listing(tools, schemas)
        self._listed_with_headers = _listing(tools, self.schemas_with_headers)

    async def listed(self, context: Context, _: Page) -> types.ListToolsResult:
        return self._listed_with_headers if _stands_alone(context) else self._listed

    async def call(
        self, context: Context, asked: types.CallToolRequestParams
    ) -> types.CallToolResult:
        # The SDK checks no arguments: the models do, in the words of the other faces.
        call = _Call(context, self._hub, self._known)
        return await call.answer(asked.name, asked.arguments or {})


def _listing(tools: Sequence[Tool], schemas: dict[str, dict[str, Any]]) -> types.ListToolsResult:
    shown = [
        types.Tool(
            name=tool.name,
            description=tool.description,
            input_schema=schemas[tool.name],
            annotations=READS_ONLY if tool.reads_only else None,
        )
        for tool in tools
    ]
    return types.ListToolsResult(tools=shown)


def _stands_alone(context: Context) -> bool:
    """Whether the request belongs to no session of MCP: so it is from 2026-07-28 on."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def _add_resources(server: Server[Any], hub: Hub) -> None:
    async def listed(_: Context, __: Page) -> types.ListResourcesResult:
        found = [
            types.Resource(
                uri=one.address, name=one.name, description=one.description, mime_type=TEXT
            )
            for one in resources.resources(hub)
        ]
        return types.ListResourcesResult(resources=found)

    async def templates(_: Context, __: Page) -> types.ListResourceTemplatesResult:
        kinds = [types.ResourceTemplate(**resources.as_template(kind)) for kind in resources.KINDS]
        return types.ListResourceTemplatesResult(resource_templates=kinds)

    async def read(
        context: Context, asked: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = asked.uri
        with _refusing(types.INVALID_PARAMS if _stands_alone(context) else RESOURCE_NOT_FOUND):
            hub.check_open()
            client = _client_of(context)
            ask_for(Asker("mcp", client, "resources/read", uri[:LONGEST_ARGUMENTS]))
            text = await resources.read(hub, uri)
        contents = types.TextResourceContents(uri=uri, mime_type=TEXT, text=text)
        return types.ReadResourceResult(contents=[contents])

    paged = types.PaginatedRequestParams
    server.add_request_handler("resources/list", paged, listed)
    server.add_request_handler("resources/templates/list", paged, templates)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, read)


def _add_prompts(server: Server[Any]) -> None:
    async def listed(_: Context, __: Page) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_shown_prompt(*item) for item in PROMPTS.items()])

    async def get(_: Context, asked: types.GetPromptRequestParams) -> types.GetPromptResult:
        with _refusing(types.INVALID_PARAMS):
            text = text_of(asked.name, asked.arguments or {})
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        description = PROMPTS[asked.name].description
        return types.GetPromptResult(description=description, messages=[message])

    server.add_request_handler("prompts/list", types.PaginatedRequestParams, listed)
    server.add_request_handler("prompts/get", types.GetPromptRequestParams, get)


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
        raise MCPError(code, text) from None


def _client_of(context: Context) -> str:
    """What the client has said of itself: as it connected, or from 2026-07-28 on in the request."""
    said = context.session.client_params
    return said.client_info.name[:LONGEST_NAME] if said is not None else ""


class _Call:
    """One call of a tool."""

    def __init__(self, context: Context, hub: Hub, tools: dict[str, Tool]) -> None:
        self._context = context
        self._hub = hub
        self._tools = tools

    async def answer(self, name: str, given: dict[str, Any]) -> types.CallToolResult:
        """The tool's text, or its error; progress is reported meanwhile, if the client wants it."""
        started = trio.current_time()
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._report_progress, name, _seconds(given))
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
            is_error=result.is_error,
            duration_ms=round(seconds * 1000, 1),
            client=_client_of(self._context),
            face="mcp",
        )

    async def _result(self, name: str, given: dict[str, Any]) -> types.CallToolResult:
        try:
            self._hub.check_open()
            tool = self._tool(name)
            asked = read_arguments(tool.model, given)
            client = _client_of(self._context)
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
            given = {**dict.fromkeys(tool.names), **asked.model_dump()}
            raise in_arguments(_refusal(error, tool.model, given), tool.names) from None
        except InvalidRequest as error:
            raise in_arguments(error, tool.names) from None
        except SessionNotFound:
            self._hub.check_open()  # it ends with the relay: that is the reason
            raise

    def _tool(self, name: str) -> Tool:
        if name not in self._tools:
            raise _no_tool(name, list(self._tools))
        return self._tools[name]

    async def _report_progress(self, name: str, total: float | None) -> None:
        start = trio.current_time()
        while True:
            passed = trio.current_time() - start
            # Sends nothing to who has not asked for it, or does not listen any more.
            await self._context.session.report_progress(passed, total, f"{name}: {passed:.0f} s")
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


def _seconds(given: dict[str, Any]) -> float | None:
    """How long the call may wait, as its progress tells it; None for what the tool will refuse."""
    wait = given.get("wait")
    if isinstance(wait, (int, float)) and 0 <= wait <= LONGEST_WAIT:
        return float(wait)
    return None


def _bound(given: dict[str, Any]) -> int:
    asked = given.get("max_chars")
    return asked if type(asked) is int and 200 <= asked <= 100_000 else MAX_CHARS


def _text(text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=is_error)
