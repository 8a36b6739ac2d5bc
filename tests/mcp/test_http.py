"""MCP at `/mcp` of the server: the same sessions as the API's, behind the same guard."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import PurePath

import httpx
import pytest
import trio

from relay import Settings, open_relay
from relay.faces.common import asgi
from relay.faces.mcp.http import McpMount
from relay.process.ports import free_port
from tests.e2e.api import Api
from tests.e2e.conftest import hub_and_api, running_relay
from tests.e2e.served import until
from tests.e2e.test_attach import LOOP, lives_on, target
from tests.mcp.client import ACCEPTS, INITIALIZE, LEGACY, MODERN, over_http
from tests.mcp.wire import ALONE, Message, request
from tests.programs import Program

COUNT = """
    import time

    total = 0
    for number in range(3):
        total += number  # @add
    while total == 3:  # @loop
        time.sleep(0.01)
    print("total", total)  # @print
"""
DEADLINE = 60

# The official client leaves its response streams to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")


def root(api: Api) -> str:
    return str(api.client.base_url).partition("/api")[0]


@pytest.mark.parametrize("generation", [LEGACY, MODERN])
async def test_mcp_and_the_api_drive_the_same_session(
    generation: str, api: Api, program: Callable[..., Program]
) -> None:
    count = program(COUNT)
    with trio.fail_after(DEADLINE):
        url = f"{root(api)}/mcp"
        async with over_http(url, generation) as client, over_http(url) as other:
            place = f"main.py:{count.line('add')}:number == 2"
            text = await client.call("debug_run", script="main.py", breakpoints=[place])
            assert "number = 2" in text
            (shown,) = (await api.get("/sessions"))["items"]
            assert shown["session_id"] in text
            assert await other.call("debug_eval", expression="total + number") == "int: 3"
            waits = trio.Event()

            async def told(progress: float, total: float | None, message: str | None) -> None:
                waits.set()

            async def call() -> None:
                arguments = {"wait": 300}
                await client.mcp.call_tool("debug_continue", arguments, progress_callback=told)

            async with trio.open_nursery() as nursery:
                nursery.start_soon(call)
                await waits.wait()
                # Progress may be shown ahead of the resume.
                path = f"/sessions/{shown['session_id']}/events"
                assert (await api.get(path, types="continued", timeout=30))["events"]
                nursery.cancel_scope.cancel()
            assert "pause" in await other.call("debug_continue", action="pause")
            await api.post(f"/sessions/{shown['session_id']}/evaluate", expression="total = 4")
            assert "exit code 0" in await client.call("debug_continue")
        # The clients are gone; the session is the relay's.
        assert (await api.get(f"/sessions/{shown['session_id']}"))["exit_code"] == 0


async def test_a_running_process_is_looked_at_and_runs_on(
    api: Api, program: Callable[..., Program]
) -> None:
    loop, port = program(LOOP, "loop.py"), free_port()
    listen = ("-X", "frozen_modules=off", "-m", "debugpy", "--listen", str(port))
    with trio.fail_after(DEADLINE), target(*listen, loop.text) as process:
        async with over_http(f"{root(api)}/mcp") as client:
            assert "ATTACH_REFUSED" in await client.refused("debug_attach", port=free_port())
            assert (await client.call("debug_sessions")).startswith("no sessions")
            assert "either pid or port" in await client.refused("debug_attach")
            place = f"loop.py:{loop.line('work')}"
            text = await client.call("debug_attach", port=port, breakpoints=[place], wait=30)
            assert f"{place} in work" in text
            assert "count = " in text
            ended = await client.call("debug_end")
            assert f"process {process.pid} runs on" in ended
        assert await lives_on(process)


PARENT = """
    import subprocess, sys

    child = subprocess.Popen([sys.executable, "-c", "input()", "--password", "hidden"], stdin=subprocess.PIPE)
    print("up", flush=True)
    input()  # @waits
    child.communicate(b"\\n")
    print("over", flush=True)
"""


async def test_what_a_process_has_started_is_named_as_not_debugged(
    api: Api, program: Callable[..., Program]
) -> None:
    parent = program(PARENT)
    with (
        trio.fail_after(DEADLINE),
        target("-Xfrozen_modules=off", parent.text, stdin=subprocess.PIPE) as process,
    ):
        session = await api.session()
        attached = await session.post("/attach", connect_timeout=30, pid=process.pid)
        (child,) = attached["child_processes"]
        assert child["command"][1:] == ["-c", "input()", "--password", "***"]
        await session.delete()
        async with over_http(f"{root(api)}/mcp") as client:
            text = await client.call("debug_attach", pid=process.pid, wait=0)
            name = PurePath(child["command"][0]).name
            named = f"its child process {child['pid']} ({name} -c input() --password ***)"
            assert f"not debugged: {named}; debug_attach pid={child['pid']} debugs it" in text
            await client.call("debug_end")
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert await trio.to_thread.run_sync(process.stdout.readline) == "over\n"


async def test_the_run_to_breakpoint_calls_are_tools_of_their_own_table(
    api: Api, program: Callable[..., Program]
) -> None:
    count = program(COUNT)
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp/v0") as client:
            tools = (await client.mcp.list_tools()).tools
            assert [tool.name.removeprefix("sessions_") for tool in tools] == [
                "create",
                "breakpoint",
                "continue",
                "state",
                "end",
            ]
            created = json.loads(await client.call("sessions_create", entry="main.py"))
            place = {
                "sessionId": created["sessionId"],
                "file": "main.py",
                "line": count.line("add"),
            }
            ran = json.loads(await client.call("sessions_breakpoint", **place))
            assert ran["hit"] is True
            assert ran["locals"]["number"] == {"type": "int", "repr": "0", "isTruncated": False}
            assert "INVALID_REQUEST" in await client.refused("sessions_continue", **place, count=1)
            ended = await client.call("sessions_end", sessionId=created["sessionId"])
            assert json.loads(ended) == {"ended": True}


@pytest.mark.parametrize("body", [b"[" * 100_000, b"1" + b"0" * 5000, b'"\xff"', b"{"])
async def test_a_body_that_is_no_json_is_the_clients_mistake(api: Api, body: bytes) -> None:
    headers = {**ACCEPTS, "Content-Type": "application/json"}
    answer = await api.client.post(f"{root(api)}/mcp", content=body, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32700


async def test_a_body_that_is_no_message_is_answered_with_its_id(api: Api) -> None:
    headers = {**ACCEPTS, "Content-Type": "application/json"}
    for body, number in ((b'{"jsonrpc": "2.0", "id": 7}', 7), (b"[]", None)):
        answer = await api.client.post(f"{root(api)}/mcp", content=body, headers=headers)
        error = answer.json()["error"]
        assert (answer.status_code, answer.json()["id"], error["code"]) == (400, number, -32600)
        assert "http" not in error["message"]


@pytest.mark.parametrize("generation", [LEGACY, MODERN])
async def test_a_call_that_waits_as_the_relay_ends_does_not_say_that_the_program_runs_on(
    generation: str, settings: Settings, program: Callable[..., Program]
) -> None:
    program(LOOP, "loop.py")
    told: list[str] = []
    with trio.fail_after(DEADLINE):
        async with (
            hub_and_api(settings) as (hub, api),
            over_http(f"{root(api)}/mcp", generation) as client,
        ):
            await client.call("debug_run", script="loop.py", wait=0)
            before = hub.sessions[0].requests.last_seq

            async def wait() -> None:
                told.append(await client.refused("debug_continue", action="wait", wait=300))

            async with trio.open_nursery() as nursery:
                nursery.start_soon(wait)
                await until(lambda: hub.sessions[0].requests.last_seq > before, "it waits")
                await api.client.post(f"{root(api)}/api/v1/shutdown")
    (text,) = told
    assert text.startswith("SHUTTING_DOWN: ")
    assert "Start the relay again" in text


async def test_no_text_is_kept_of_requests_that_stand_alone(api: Api) -> None:
    """The parser would remember thousands of short texts, for when they come again."""

    async def say(number: int) -> None:
        message = request(number, ALONE, "tools/call", name="debug_sessions", arguments={})
        message["params"]["_meta"] |= {f"x/{n}": f"text {number} {n}" for n in range(100)}
        answer = await api.client.post(f"{root(api)}/mcp", json=message, headers=headers)
        assert answer.status_code == 200

    headers = {**ACCEPTS, **ALONE_HEADERS, "Mcp-Method": "tools/call", "Mcp-Name": "debug_sessions"}
    for number in range(5):
        await say(number)
    gc.collect()
    before = sys.getallocatedblocks()
    for number in range(5, 25):
        await say(number)
    gc.collect()
    assert sys.getallocatedblocks() - before < 1000


ALONE_HEADERS = {"MCP-Protocol-Version": ALONE, "Mcp-Method": "tools/list"}


@pytest.mark.parametrize(
    ("first", "extra"),
    [(INITIALIZE, {}), (request(1, ALONE, "tools/list"), ALONE_HEADERS)],
    ids=["session", "alone"],
)
async def test_mcp_is_guarded_as_the_api_is(
    first: Message, extra: dict[str, str], settings: Settings
) -> None:
    with trio.fail_after(DEADLINE):
        guarded = settings.model_copy(update={"token": "let-me-in-please"})
        async with running_relay(guarded) as api, httpx.AsyncClient(trust_env=False) as client:
            url = f"{root(api)}/mcp"
            token = {**ACCEPTS, **extra, "Authorization": "Bearer let-me-in-please"}

            async def status(path: str = "", **headers: str) -> int:
                answer = await client.post(url + path, json=first, headers={**token, **headers})
                if answer.status_code >= 400:
                    assert answer.json()["error"]["details"]["suggestion"]
                return answer.status_code

            assert await status(Authorization="") == 401
            assert await status(Origin="http://evil.example") == 403
            assert await status(Host="evil.example") == 403
            assert await status("/v1") == 404
            assert await status() == 200


async def test_an_mcp_session_has_the_id_of_the_relay_before_its_own(settings: Settings) -> None:
    named = settings.model_copy(update={"relay_id": "r0"})
    with trio.fail_after(DEADLINE):
        async with running_relay(named) as api, over_http(f"{root(api)}/mcp") as client:
            assert "no sessions" in (await client.call("debug_sessions")).lower()
            url = f"{root(api)}/mcp"
            async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE) as plain:
                answer = await plain.post(url, json=INITIALIZE, headers=ACCEPTS)
                session_id = answer.headers["mcp-session-id"]
                assert session_id.startswith("r0-")
                headers = {**ACCEPTS, "Mcp-Session-Id": session_id}
                assert (await plain.delete(url, headers=headers)).status_code == 200
                unknown = {**ACCEPTS, "Mcp-Session-Id": "r0-nobody"}
                ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
                assert (await plain.post(url, json=ping, headers=unknown)).status_code == 404


async def test_a_notification_whose_session_of_mcp_ends_meanwhile_is_answered_once(
    settings: Settings,
) -> None:
    """A client that cancels a call and leaves at once. The SDK would answer a second time: 500."""
    note = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
    with trio.fail_after(DEADLINE):
        async with open_relay(settings) as hub, trio.open_nursery() as nursery:
            mount = McpMount(hub, nursery, trio.Event())

            async def answers(
                method: str, body: object, session: bytes, at_end: Callable[[], Awaitable[object]]
            ) -> list[asgi.Message]:
                """All that is answered; `at_end` comes before the one who answers knows it was."""
                data = json.dumps(body).encode()
                heard = [{"type": "http.request", "body": data, "more_body": False}]
                sent: list[asgi.Message] = []

                async def send(message: asgi.Message) -> None:
                    sent.append(message)
                    if message["type"] == "http.response.body" and not message.get("more_body"):
                        await at_end()

                async def receive() -> asgi.Message:
                    if not heard:
                        await trio.sleep_forever()
                    return heard.pop()

                headers = [
                    (b"accept", ACCEPTS["Accept"].encode()),
                    (b"content-type", b"application/json"),
                    *([(b"mcp-session-id", session)] if session else []),
                ]
                scope = {"type": "http", "method": method, "path": "/mcp", "headers": headers}
                await mount({**scope, "query_string": b"", asgi.BODY: data}, receive, send)
                return sent

            begun = await answers("POST", INITIALIZE, b"", trio.lowlevel.checkpoint)
            session = dict(begun[0]["headers"])[b"mcp-session-id"]

            async def leave() -> None:
                await answers("DELETE", None, session, trio.lowlevel.checkpoint)

            told = await answers("POST", note, session, leave)
            assert [message.get("status") for message in told] == [202, None]
            nursery.cancel_scope.cancel()


async def test_the_end_of_the_relay_answers_a_call_that_waits_and_ends_a_stream(
    settings: Settings, program: Callable[..., Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A busy machine needs longer for the last answer than a user waits for the end.
    monkeypatch.setattr("relay.faces.mcp.managers.GRACE_SECONDS", 3.0)
    for name in ("DRAIN_SECONDS", "CANCEL_SECONDS", "SEVER_SECONDS"):
        monkeypatch.setattr(f"relay.faces.http.server.{name}", 30.0)
    loop = program(LOOP, "loop.py")
    run = {"name": "debug_run", "arguments": {"script": loop.text, "wait": 300}}
    call = {"method": "tools/call", "params": {**run, "_meta": {"progressToken": "token"}}, "id": 2}
    with trio.fail_after(DEADLINE):
        async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
            async with running_relay(settings) as api:
                url = f"{root(api)}/mcp"
                answer = await client.post(url, json=INITIALIZE, headers=ACCEPTS)
                headers = {**ACCEPTS, "mcp-session-id": answer.headers["mcp-session-id"]}
                initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
                assert (await client.post(url, json=initialized, headers=headers)).is_success
                # As of a client that has lost a stream: there is nothing to send again.
                again = {**headers, "Last-Event-ID": "1"}
                request = client.build_request("GET", url, headers=again)
                listening = await client.send(request, stream=True)
                assert listening.status_code == 200
                body = {"jsonrpc": "2.0", **call}
                request = client.build_request("POST", url, headers=headers, json=body)
                calling = await client.send(request, stream=True)
                lines = aiter(calling.aiter_lines())
                while "notifications/progress" not in await anext(lines):
                    pass
            rest = "".join([line async for line in lines])
            assert '"id":2' in rest
            assert "terminated" in rest
            assert [piece async for piece in listening.aiter_raw()] == []
            await calling.aclose()
            await listening.aclose()
