"""Three relays behind a real HAProxy: each request reaches the relay that has its session."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import httpx
import trio

from relay.faces.mcp.resources import address_of
from tests.deploy.fleet import IDS, SECONDS, TOKEN, Fleet, needs_haproxy, running_fleet
from tests.mcp.client import ACCEPTS, INITIALIZE, MODERN, over_http
from tests.mcp.wire import ALONE, mirrored, request
from tests.programs import Program

pytestmark = needs_haproxy

LOOP = """
    number = 0
    while number < 3:
        number += 1  # @add
    print("counted", number)
"""


def data(answer: httpx.Response) -> Any:
    assert answer.is_success, answer.text
    return answer.json()["data"]


def relay_of(session_id: str) -> str:
    """`sess_r0-1a2b3c4d` is of r0."""
    whole, _, own = session_id.partition("-")
    assert len(own) == 8
    return whole.removeprefix("sess_")


async def one_on_each(client: httpx.AsyncClient) -> dict[str, str]:
    """A session of each relay, made through the proxy."""
    found: dict[str, str] = {}
    with trio.fail_after(SECONDS):
        while len(found) < len(IDS):
            session_id = data(await client.post("/api/v1/sessions"))["session_id"]
            found.setdefault(relay_of(session_id), session_id)
    assert set(found) == set(IDS)
    return found


async def launched(client: httpx.AsyncClient, session_id: str, program: Program) -> str:
    """The program stands at its mark; the path of the session."""
    path = f"/api/v1/sessions/{session_id}"
    line = program.line("add")
    place = {"file": "main.py", "line": line}
    data(await client.post(f"{path}/breakpoints", json=place))
    body = {"script": "main.py", "wait": SECONDS}
    assert data(await client.post(f"{path}/launch", json=body))["status"] == "paused"
    return path


async def hear(client: httpx.AsyncClient, path: str, heard: trio.Event) -> None:
    """Waits for the end of the program; `heard` is set when it is there."""
    params: dict[str, str | int] = {"timeout": 60, "types": "terminated"}
    events = data(await client.get(f"{path}/events", params=params))["events"]
    assert [event["type"] for event in events] == ["terminated"]
    heard.set()


async def run_on(client: httpx.AsyncClient, path: str) -> None:
    """To the end, stop by stop."""
    for _ in range(3):
        answer = data(await client.post(f"{path}/continue", json={"wait": SECONDS}))
    assert answer["status"] == "terminated"


async def opened_mcp(client: httpx.AsyncClient) -> str:
    """A session of an MCP client; its id, which begins with that of the relay."""
    opened = await client.post("/mcp", json=INITIALIZE, headers=ACCEPTS)
    assert opened.is_success, opened.text
    session_id = opened.headers["mcp-session-id"]
    assert session_id.partition("-")[0] in IDS
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    headers = {**ACCEPTS, "Mcp-Session-Id": session_id}
    assert (await client.post("/mcp", json=ready, headers=headers)).status_code == 202
    return str(session_id)


async def tools(client: httpx.AsyncClient, mcp_session: str) -> set[str]:
    """The names of the tools, asked in an MCP session."""
    ask = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    headers = {**ACCEPTS, "Mcp-Session-Id": mcp_session}
    answer = await client.post("/mcp", json=ask, headers=headers)
    assert answer.is_success, answer.text
    (line,) = [one for one in answer.text.splitlines() if one.startswith("data: {")]
    return {tool["name"] for tool in json.loads(line.removeprefix("data: "))["result"]["tools"]}


async def test_sessions_find_their_relay_through_reloads_and_a_death(
    tmp_path: Path, program: Any
) -> None:
    main: Program = program(LOOP)
    async with running_fleet(tmp_path) as fleet, fleet.client() as client:
        sessions = await one_on_each(client)
        paths = {name: await launched(client, session, main) for name, session in sessions.items()}
        mcp_sessions: dict[str, str] = {}
        with trio.fail_after(SECONDS):
            while len(mcp_sessions) < len(IDS):
                mcp_session = await opened_mcp(client)
                mcp_sessions[mcp_session.partition("-")[0]] = mcp_session
        await agents_reach_the_session_that_they_name(fleet, sessions, main)
        await long_polls_and_streams_outlive_a_reload(fleet, client, paths)
        for mcp_session in mcp_sessions.values():
            assert "debug_run" in await tools(client, mcp_session)
        await mcp_by_the_debug_session(client, sessions["r2"])
        await a_dead_relay_takes_its_own_sessions_only(fleet, client, sessions, mcp_sessions)


async def agents_reach_the_session_that_they_name(
    fleet: Fleet, sessions: dict[str, str], main: Program
) -> None:
    """By a client without a session of MCP, whose every request goes where it belongs."""
    url, token = f"{fleet.url}/mcp", f"Bearer {TOKEN}"
    async with over_http(url, MODERN, Authorization=token) as agent:
        assert agent.mcp.protocol_version == ALONE
        assert "Always give `session`" in (agent.mcp.instructions or "")
        place = f"main.py:{main.line('add')}"
        started = await agent.call("debug_run", script="main.py", breakpoints=[place])
        own = started.split()[1]
        await fleet.reload()
        for session_id in [own, *sessions.values()]:
            value = await agent.call("debug_eval", session=session_id, expression="number")
            assert value == "int: 0"
            found = await agent.mcp.read_resource(address_of(session_id, "report"))
            assert place in found.contents[0].model_dump()["text"]
        assert "ended" in await agent.call("debug_end", session=own)


async def long_polls_and_streams_outlive_a_reload(
    fleet: Fleet, client: httpx.AsyncClient, paths: dict[str, str]
) -> None:
    async with (
        trio.open_nursery() as nursery,
        client.stream("GET", f"{paths['r1']}/output/stream") as stream,
    ):
        heard = {name: trio.Event() for name in paths}
        for name, path in paths.items():
            nursery.start_soon(hear, client, path, heard[name])
        for path in paths.values():
            await fleet.reload()
            assert data(await client.get(f"{path}/status"))["status"] == "paused"
            await run_on(client, path)
        with trio.fail_after(SECONDS):
            for event in heard.values():
                await event.wait()
            data(await client.delete(paths["r1"]))
            # To its end: a stream that is left early is httpx's to close, which trio minds.
            lines = [line async for line in stream.aiter_lines()]
    assert any("counted 3" in line for line in lines if line.startswith("data: "))


async def mcp_by_the_debug_session(client: httpx.AsyncClient, session_id: str) -> None:
    """A client without an MCP session names the debug session in a header."""
    headers = {**ACCEPTS, "Mcp-Param-Session": session_id}
    for _ in range(4):
        opened = await client.post("/mcp", json=INITIALIZE, headers=headers)
        assert opened.headers["mcp-session-id"].startswith("r2-")


async def a_dead_relay_takes_its_own_sessions_only(
    fleet: Fleet,
    client: httpx.AsyncClient,
    sessions: dict[str, str],
    mcp_sessions: dict[str, str],
) -> None:
    path = f"/api/v1/sessions/{(await one_on_each(client))['r1']}"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(is_cut_off, client, path)
        await runs(client, path)
        await fleet.relays["r1"].end(signal.SIGKILL)
    gone = await client.get(path)
    assert gone.status_code == 503
    has_the_envelope(gone)
    named = await client.get(path, headers={"X-Request-ID": 'by "me"'})
    assert has_the_envelope(named)["request_id"] == 'by "me"'
    error = gone.json()["error"]
    assert error["code"] == "RELAY_UNREACHABLE"
    call = request(1, ALONE, "tools/call", name="debug_end", arguments={"session": sessions["r1"]})
    headers = {**ACCEPTS, "MCP-Protocol-Version": ALONE, **mirrored(call)}
    assert (await client.post("/mcp", json=call, headers=headers)).status_code == 503
    assert "create a new one" in error["details"]["suggestion"]
    for name in ("r0", "r2"):
        assert data(await client.get(f"/api/v1/sessions/{sessions[name]}"))
        assert "debug_run" in await tools(client, mcp_sessions[name])
    for _ in range(6):
        session_id = data(await client.post("/api/v1/sessions"))["session_id"]
        assert relay_of(session_id) in ("r0", "r2")
    for unknown in ("sess_r9-00000000", "sess_00000000", "sess_r0-00000000"):
        answer = await client.get(f"/api/v1/sessions/{unknown}")
        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == "SESSION_NOT_FOUND"


async def is_cut_off(client: httpx.AsyncClient, path: str) -> None:
    """A request whose relay ends before there is an answer: the program says nothing and stops nowhere."""
    waiting = {"module": "http.server", "args": ["0"], "wait": SECONDS}
    answer = await client.post(f"{path}/launch", json=waiting)
    assert answer.status_code == 502
    has_the_envelope(answer)
    assert answer.json()["error"]["code"] == "RELAY_UNREACHABLE"


async def runs(client: httpx.AsyncClient, path: str) -> None:
    """Once its first thread is there, whoever launched the program waits for its first stop."""
    asked: dict[str, str | int] = {"timeout": SECONDS, "types": "thread"}
    data(await client.get(f"{path}/events", params=asked))


def has_the_envelope(answer: httpx.Response) -> dict[str, Any]:
    """Its `meta`: the id that the header has, too, and the time as the relay writes it."""
    assert answer.headers["content-type"] == "application/json"
    whole = answer.json()
    assert set(whole) == {"success", "data", "error", "meta"}
    meta: dict[str, Any] = whole["meta"]
    assert meta["request_id"] == answer.headers["x-request-id"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", meta["timestamp"])
    return meta


async def test_the_token_is_asked_for_behind_the_proxy(tmp_path: Path) -> None:
    async with running_fleet(tmp_path) as fleet, fleet.client() as client:
        client.headers.pop("Authorization")
        assert (await client.get("/api/v1/sessions")).status_code == 401
