"""Each protocol of MCP, message by message, on standard streams and over HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from relay.faces.mcp.prompts import PROMPTS
from relay.faces.mcp.resources import KINDS, address_of
from relay.faces.mcp.tables import table_of
from relay.faces.mcp.tools import HEADERS, TOOLS, with_header
from tests.e2e.api import Api
from tests.mcp.wire import (
    ACCEPTS,
    ALONE,
    CLIENT,
    DEADLINE,
    HANDSHAKES,
    HttpPeer,
    Message,
    Peer,
    StdioPeer,
    ask,
    initialize,
    mirrored,
    relay_mcp,
    request,
)
from tests.programs import Program

LOOP = """
    import time

    count = 1
    print("begun")  # @here
    while count:
        time.sleep(0.01)
"""
# httpx leaves the streams of an answer that nobody reads to its end to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")

LONGEST_LISTING = 4500
"""Bytes: an agent pays for them in each conversation."""
VERSION = 20
"""Bytes by which the name of a version, which stands in an answer, may be longer elsewhere."""


@asynccontextmanager
async def http_client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
        yield client


def mcp_url(api: Api, path: str = "/mcp") -> str:
    return str(api.client.base_url).partition("/api")[0] + path


@pytest.mark.parametrize("version", ["2025-03-26", "2025-11-25", ALONE])
async def test_a_conversation_on_standard_streams(
    version: str, program: Callable[..., Program], tmp_path: Path
) -> None:
    loop = program(LOOP)
    async with relay_mcp(tmp_path) as process:
        await converse(StdioPeer(process, version), loop)


@pytest.mark.parametrize("version", [*HANDSHAKES, ALONE])
async def test_a_conversation_over_http(
    version: str, api: Api, program: Callable[..., Program]
) -> None:
    loop = program(LOOP)
    async with http_client() as client:
        session = await converse(HttpPeer(client, mcp_url(api), version), loop, end=False)
    # Who asked is known from the handshake, or from the request itself.
    entries = (await api.get(f"/sessions/{session}/timeline"))["entries"]
    authors = [one["author"] for one in entries if one["kind"] == "request"]
    assert {"face": "mcp", "client": CLIENT["name"]} in authors
    assert {author["client"] for author in authors} == {CLIENT["name"]}


async def converse(peer: Peer, loop: Program, *, end: bool = True) -> str:
    """A whole debugging; the id of its session."""
    await hello(peer)
    await tools(peer)
    place = f"main.py:{loop.line('here')}"
    run = {"script": "main.py", "breakpoints": [place]}
    text, progress = await called_with_progress(peer, "debug_run", run)
    assert f"{place} in <module>" in text
    assert progress[0]["progressToken"] == "how far"
    assert progress[0]["message"].startswith("debug_run: ")
    found = re.match(r"session (sess_[\w-]+)\n", text)
    assert found is not None, text
    session = found[1]
    assert await called(peer, "debug_eval", session=session, expression="count + 1") == "int: 2"
    await a_wait_is_cancelled(peer, session)
    await texts_to_attach(peer, session)
    await tasks_by_name(peer)
    await mistakes(peer)
    if end:
        assert "nothing of it runs" in await called(peer, "debug_end", session=session)
    return session


async def hello(peer: Peer) -> None:
    if peer.version == ALONE:
        found = (await ask(peer, "server/discover"))["result"]
        assert found["supportedVersions"] == [ALONE]
        server = found["_meta"]["io.modelcontextprotocol/serverInfo"]
    else:
        found = (await ask(peer, "initialize", **initialize(peer.version)))["result"]
        assert found["protocolVersion"] == peer.version
        server = found["serverInfo"]
        await peer.tell("notifications/initialized")
    assert server["name"] == "debug-relay"
    assert {"tools", "resources", "prompts"} <= set(found["capabilities"])
    assert "debug_run" in found["instructions"]


async def tools(peer: Peer) -> None:
    found = (await ask(peer, "tools/list"))["result"]
    assert [tool["name"] for tool in found["tools"]] == [tool.name for tool in TOOLS]
    written = json.dumps(found, separators=(",", ":"), ensure_ascii=False).encode()
    assert len(written) + VERSION <= LONGEST_LISTING
    headers = {
        field.get("x-mcp-header")
        for tool in found["tools"]
        for name, field in tool["inputSchema"]["properties"].items()
        if name == "session"
    }
    assert headers == {"Session" if peer.version == ALONE else None}


async def called(peer: Peer, name: str, **arguments: Any) -> str:
    found = (await ask(peer, "tools/call", name=name, arguments=arguments))["result"]
    assert not found.get("isError"), found
    return str(found["content"][0]["text"])


async def called_with_progress(
    peer: Peer, name: str, arguments: dict[str, Any]
) -> tuple[str, list[Message]]:
    meta = {"progressToken": "how far"}
    async with peer.asking("tools/call", name=name, arguments=arguments, _meta=meta) as messages:
        *notes, answer = [message async for message in messages]
    assert {note["method"] for note in notes} == {"notifications/progress"}
    return answer["result"]["content"][0]["text"], [note["params"] for note in notes]


async def a_wait_is_cancelled(peer: Peer, session: str) -> None:
    """The program runs on, and the next call finds it."""
    await called(peer, "debug_continue", session=session, wait=0)
    waiting = {"session": session, "action": "wait", "wait": 300}
    call = {"name": "debug_continue", "arguments": waiting, "_meta": {"progressToken": 9}}
    with trio.fail_after(DEADLINE):
        async with peer.asking("tools/call", **call) as messages:
            first = await anext(messages)
    assert first["params"]["progressToken"] == 9
    assert first["params"]["total"] == 300
    assert "pause" in await called(peer, "debug_continue", session=session, action="pause")


async def texts_to_attach(peer: Peer, session: str) -> None:
    found = (await ask(peer, "resources/list"))["result"]["resources"]
    assert [one["uri"] for one in found] == [address_of(session, kind) for kind in KINDS]
    templates = (await ask(peer, "resources/templates/list"))["result"]["resourceTemplates"]
    assert [one["uriTemplate"] for one in templates] == [
        address_of("{session}", kind) for kind in KINDS
    ]
    read = (await ask(peer, "resources/read", uri=address_of(session, "output")))["result"]
    (content,) = read["contents"]
    assert content["text"].endswith("begun")
    assert content["mimeType"] == "text/plain"
    error = (await ask(peer, "resources/read", uri=address_of("sess_00000000", "report")))["error"]
    assert error["code"] == (-32602 if peer.version == ALONE else -32002)
    assert "\nsuggestion: debug_sessions" in error["message"]


async def tasks_by_name(peer: Peer) -> None:
    found = (await ask(peer, "prompts/list"))["result"]["prompts"]
    assert [one["name"] for one in found] == list(PROMPTS)
    task = (await ask(peer, "prompts/get", name="hang", arguments={"pid": "77"}))["result"]
    (message,) = task["messages"]
    assert "process 77 hangs" in message["content"]["text"]
    error = (await ask(peer, "prompts/get", name="hang"))["error"]
    assert (error["code"], "pid: required" in error["message"]) == (-32602, True)


async def mistakes(peer: Peer) -> None:
    """Of a tool's caller they are texts that an agent reads; of a client, errors."""
    calls: tuple[dict[str, Any], ...] = (
        {"name": "debug_look"},
        {"name": "debug_eval", "arguments": {"expr": "1"}},
        {"name": "debug_continue", "arguments": {"wait": 10**400}},
    )
    for call in calls:
        found = (await ask(peer, "tools/call", **call))["result"]
        assert found["isError"] is True
        assert "INVALID_REQUEST" in found["content"][0]["text"]
    assert (await ask(peer, "no/such"))["error"]["code"] == -32601
    wrong = (await ask(peer, "tools/call", arguments={}))["error"]
    assert wrong["code"] == -32602
    assert wrong["message"] == "Invalid request parameters: params.name: Field required"


async def test_a_request_that_stands_alone_says_the_same_in_headers_and_body(api: Api) -> None:
    call = request(1, ALONE, "tools/call", name="debug_end", arguments={"session": "sess_0"})
    headers = {**ACCEPTS, "MCP-Protocol-Version": ALONE, **mirrored(call)}
    async with http_client() as client:

        async def refusal(url: str = mcp_url(api), body: Any = call, **changed: str | None) -> Any:
            given = {**headers, **{name.replace("_", "-"): v for name, v in changed.items()}}
            kept = {name: value for name, value in given.items() if value is not None}
            answer = await client.post(url, json=body, headers=kept)
            found = answer.json()
            return (answer.status_code, found["error"]["code"]) if "error" in found else found

        found = await refusal()
        assert "SESSION_NOT_FOUND" in found["result"]["content"][0]["text"]
        assert await refusal(Mcp_Param_Session=None) == (400, -32020)
        assert await refusal(Mcp_Param_Session="sess_1") == (400, -32020)
        assert await refusal(Mcp_Name="debug_run") == (400, -32020)
        assert await refusal(Mcp_Method="tools/list") == (400, -32020)
        later = json.loads(json.dumps(call).replace(ALONE, "2999-01-01"))
        assert await refusal(body=later, MCP_Protocol_Version="2999-01-01") == (400, -32022)
        old = request(7, "2025-06-18", "tools/list")
        answer = await client.post(
            mcp_url(api), json=old, headers={**ACCEPTS, "MCP-Protocol-Version": "1999-01-01"}
        )
        error = answer.json()["error"]
        assert (answer.status_code, answer.json()["id"], error["code"]) == (400, 7, -32022)
        assert {"2024-11-05", ALONE} < set(error["data"]["supported"])
        v0 = request(1, ALONE, "tools/call", name="sessions_end", arguments={"sessionId": "x"})
        v0_url = mcp_url(api, "/mcp/v0")
        assert await refusal(v0_url, v0, Mcp_Name="sessions_end", Mcp_Param_Session="y") == (
            (400, -32020)
        )
        # A client need not say who it is.
        nameless = request(1, ALONE, "tools/call", name="debug_sessions")
        del nameless["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]
        found = await refusal(body=nameless, Mcp_Name="debug_sessions", Mcp_Param_Session=None)
        assert found["result"]["content"][0]["text"].startswith("no sessions")
        # A web page may send a form to anybody, unasked; it would not be served.
        form = {**headers, "Content-Type": "text/plain"}
        answer = await client.post(mcp_url(api), content=json.dumps(call), headers=form)
        assert (answer.status_code, answer.text) == (400, "Invalid Content-Type header")
        # There is no session, so there is nothing to listen to, and nothing to end.
        for method in ("GET", "DELETE"):
            answer = await client.request(method, mcp_url(api), headers=headers)
            assert answer.status_code == 405


def test_every_tool_that_names_a_session_has_its_header() -> None:
    for tool in [*table_of("default"), *table_of("v0")]:
        fields = with_header(tool.schema)["properties"]
        named = [name for name in fields if "session" in name.lower()]
        assert [name for name in fields if "x-mcp-header" in fields[name]] == named
        assert set(named) <= set(HEADERS)
