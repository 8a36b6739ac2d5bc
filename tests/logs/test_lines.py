"""What `relay serve` says: one line for each request and each change of a session, with ids."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import trio

from relay.logs.records import fields_of
from tests.http.conftest import Served, serving
from tests.mcp.client import over_stdio
from tests.test_cli import SECONDS, Command

SECRET = "hunter2-and-more"
ME = {"Relay-Client": f"{quote('me' + chr(10) + '2026')}; face=robot", "X-Request-ID": "mine"}


def requests_of(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    found = [one for one in caplog.records if one.name == "relay.requests"]
    return [{"message": one.getMessage(), **fields_of(one)} for one in found]


async def test_a_request_is_one_line(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "relay.requests")
    answer = await served.client.get("/sessions/sess_1", headers=ME)
    (line,) = requests_of(caplog)
    assert line.pop("duration_ms") >= 0
    assert line == {
        "message": "answered",
        "method": "GET",
        "route": "/api/v1/sessions/{session_id}",
        "status": 200,
        "request_id": "mine",
        "session_id": "sess_1",
        "client": "me2026",
        "face": "robot",
        "bytes": len(answer.content),
    }


async def test_so_is_one_that_is_refused_or_has_no_route(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "relay.requests")
    await served.client.get("/sessions/sess_1/" + "x" * 5000)
    await served.client.request("M" * 300, "/sessions/" + "y" * 5000)
    await served.client.get("/health", headers={"Host": "evil.example"})
    await served.client.get("/sessions/" + "z" * 5000)
    lines = requests_of(caplog)
    assert [(line["status"], line["route"]) for line in lines] == [
        (404, "(none)"),
        (405, "(none)"),
        (403, "(none)"),
        (404, "/api/v1/sessions/{session_id}"),
    ]
    assert all(len(json.dumps(line)) < 500 for line in lines)


async def test_a_client_that_left_got_no_status(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "relay.requests")
    session = served.hub.sessions["sess_1"]
    async with await served.open() as stream:
        await stream.send_all(
            b"GET /api/v1/sessions/sess_1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
        await session.waiting.wait()
    await session.cancelled.wait()
    await session.idle.wait()
    await served.client.get("/health")  # the other request's scope is closed by then
    left, _ = requests_of(caplog)
    assert (left["message"], left["status"], left["session_id"]) == ("left", None, "sess_1")


async def test_mounted_faces_have_their_names(caplog: pytest.LogCaptureFixture) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    caplog.set_level(logging.INFO, "relay.requests")
    async with serving(mounts={"/mcp": lambda *_: app}) as served:
        await served.client.post(served.url + "/mcp", headers={"User-Agent": "agent/1 (x)"})
    (line,) = requests_of(caplog)
    assert (line["face"], line["client"], line["bytes"]) == ("mcp", "agent/1", 0)


async def test_a_face_that_speaks_on_standard_output_logs_beside_it(
    tmp_path: Path,
) -> None:
    # The SDK's client would stumble over a line in between.
    options = ("--log-level", "debug", "--log-format", "json")
    log = tmp_path / "log"
    (tmp_path / "program.py").write_text("print(1)\n")
    with trio.fail_after(SECONDS):
        with log.open("w") as written:
            async with over_stdio(tmp_path, *options, log=written) as client:
                await client.call("debug_run", script="program.py")
                await client.refused("debug_" + "x" * 1000)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    said = [line for line in lines if line["message"] == "tool answered"]
    assert [(line["tool"], line["is_error"]) for line in said] == [
        ("debug_run", False),
        ("(none)", True),
    ]
    assert "program started" in {line["message"] for line in lines}


@pytest.fixture
def relay(tmp_path: Path) -> Command:
    return Command(tmp_path)


def debugged(url: str, script: Path) -> str:
    """A session in which a program stopped, went on and ended; its id."""
    with httpx.Client(base_url=url, trust_env=False, timeout=SECONDS, headers=ME) as client:
        launch = {"script": str(script), "args": [SECRET], "stop_on_entry": True, "wait": 60}
        made = client.post("/sessions", json={"launch": launch}).json()["data"]
        session = f"/sessions/{made['session_id']}"
        assert client.post(f"{session}/evaluate", json={"expression": "1 + 1"}).status_code == 200
        ended = client.post(f"{session}/continue", json={"wait": 60}).json()["data"]
        assert ended["status"] == "terminated"
        client.delete(session)
    return str(made["session_id"])


def test_a_session_as_json_lines(relay: Command, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(f"value = {SECRET!r}\nprint(value)\nraise SystemExit(3)\n")
    options = ("--log-format", "json", "--log-level", "debug")
    with relay.serving("--port", "0", *options) as served:
        session_id = debugged(served.url, script)
        page = served.get("/log?limit=1000").json()["data"]
        code, logged = served.end()
    assert code == 0
    assert len(served.lines) == 2, "standard output has nothing but where it listens"
    assert SECRET not in logged + json.dumps(page)
    lines = [json.loads(line) for line in logged.splitlines()]
    changes = [line for line in lines if line["logger"] in ("relay.session", "relay.hub")]
    # A first stop may be known before the debugger says that the start is over.
    started = changes.pop([change["message"] for change in changes].index("program started"))
    assert [change["message"] for change in changes] == [
        *("session created", "program stopped", "program resumed", "program ended"),
        "session ended",
    ]
    assert {change["session_id"] for change in [started, *changes]} == {session_id}
    created, stopped, _, over, ended = changes
    assert (created["client"], created["face"]) == ("me2026", "robot")
    assert isinstance(started["pid"], int)
    assert stopped["reason"] == "entry"
    assert (over["exit_code"], ended["reason"]) == (3, "deleted")
    requests = [line for line in lines if line["logger"] == "relay.requests"]
    assert [line["status"] for line in requests] == [201, 200, 200, 200, 200]
    assert [line["session_id"] for line in requests] == [None, *[session_id] * 3, None]
    # What is kept is what was written, as far as the last request.
    assert [one["message"] for one in page["entries"]] == [one["message"] for one in lines[:-2]]
    fields = [one["fields"] for one in page["entries"] if one["message"] == "session created"]
    assert [one["session_id"] for one in fields] == [session_id]


def test_a_quiet_relay_keeps_what_it_does_not_write(relay: Command) -> None:
    with relay.serving("--port", "0", "--log-level", "warning") as served:
        served.get()
        (entry,) = served.get("/log").json()["data"]["entries"]
        assert entry["fields"]["route"] == "/api/v1/health"
        assert served.end() == (0, "")


def test_nobody_has_to_read_the_log(relay: Command) -> None:
    with (
        relay.serving("--port", "0") as served,
        httpx.Client(base_url=served.url, trust_env=False, timeout=SECONDS) as client,
    ):
        for _ in range(500):  # some 120 KB of lines: a pipe holds 64
            assert client.get("/health").status_code == 200
        code, logged = served.end()
    assert code == 0
    assert logged.count("route=/api/v1/health") < 500
