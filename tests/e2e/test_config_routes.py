"""The configuration over HTTP, and the end on request: what is promised takes effect at once."""

from __future__ import annotations

import json
import logging
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
import trio.testing

from relay import Settings
from relay.config import SECRETS, load_settings
from relay.models.breakpoints import BreakpointSpec
from relay.models.server import ConfigPatch, Configuration
from tests.e2e.api import Api, Refused
from tests.e2e.conftest import running_relay
from tests.e2e.served import DEADLINE, alive, served
from tests.programs import Program

Write = Callable[..., Program]

SLEEPER = "import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.05)\n"


@pytest.fixture(autouse=True)
def loggers() -> Iterator[None]:
    """The levels of the test process stay as they are."""
    before = {name: logging.getLogger(name).level for name in ("relay", "relay.http")}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


async def patch(api: Api, **body: Any) -> Any:
    return await api.call("PATCH", "/config", json=body)


def kept(settings: Settings) -> Any:
    path = settings.state_dir / "config.json"
    return json.loads(path.read_text()) if path.exists() else None


def test_every_setting_is_shown_but_secrets() -> None:
    shown = set(Configuration.model_fields)
    assert set(Settings.model_fields) - SECRETS <= shown
    assert not SECRETS & shown


async def test_the_settings_in_force_are_shown_without_the_token(tmp_path: Path) -> None:
    secret = "a-very-long-secret"
    settings = Settings(port=0, state_dir=tmp_path / "state", project_root=tmp_path, token=secret)
    async with running_relay(settings) as api:
        api.client.headers["Authorization"] = f"Bearer {secret}"
        response = await api.client.get("/config")
        shown = response.json()["data"]
        assert secret not in response.text
        assert (shown["token_required"], shown["max_sessions"], shown["port"]) == (True, 10, 0)
        assert shown["state_dir"] == str(tmp_path / "state")
        assert shown["changeable"] == list(ConfigPatch.model_fields)
        refused = await api.client.patch("/config", json={"token": "another-secret"})
        assert refused.status_code == 400
        assert "another-secret" not in refused.text


async def test_limits_change_at_once_and_are_kept(api: Api, settings: Settings) -> None:
    shown = await patch(api, max_sessions=1, default_timeout_minutes=7, log_level="debug")
    assert (shown["max_sessions"], shown["default_timeout_minutes"]) == (1, 7)
    assert shown == await api.get("/config")
    assert shown["config_file"] == str(settings.state_dir / "config.json")
    assert kept(settings) == {"max_sessions": 1, "default_timeout_minutes": 7, "log_level": "debug"}
    assert logging.getLogger("relay.hub").getEffectiveLevel() == logging.DEBUG

    created = await api.post("/sessions")
    assert created["config"]["timeout_minutes"] == 7
    with pytest.raises(Refused) as refused:
        await api.post("/sessions")
    assert (refused.value.code, refused.value.details["limit"]) == ("SESSION_LIMIT_REACHED", 1)
    await patch(api, max_sessions=2)
    await api.post("/sessions")
    assert (await api.get("/info"))["capabilities"]["max_sessions"] == 2
    assert kept(settings)["max_sessions"] == 2
    assert kept(settings)["log_level"] == "debug"


async def test_a_live_session_gets_the_new_caps(api: Api, program: Write) -> None:
    code = program("for n in range(3000):\n    print('line', n)\nprint('end')  # @end\n")
    session = await api.session()
    await session.breakpoint(code.text, code.line("end"))
    await session.launch(code.text)
    before = await session.get("/output", limit=1)
    assert before["dropped"] == 0
    await patch(api, output_limit_bytes=10_000, event_limit=100)
    after = await session.get("/output", limit=1000)
    assert 0 < len(after["entries"]) < 100
    assert after["dropped"] + len(after["entries"]) >= 3000
    assert after["entries"][-1]["output"] == "line 2999\n"
    assert len(await session.events()) <= 100
    assert (await session.resume())["status"] == "terminated"
    await session.delete()


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"port": 5700}, {"port": "--port, RELAY_PORT"}),
        ({"token": "another-secret"}, {"token": "--token, RELAY_TOKEN"}),
        (
            {"state_dir": "/x", "allowed_hosts": []},
            {"state_dir": "", "allowed_hosts": "--allowed-host,"},
        ),
        ({"max_sessions": 0, "host": "::"}, {"max_sessions": "at least 1", "host": "restart"}),
        (
            {"max_sessions": "3", "event_limit": 99},
            {"max_sessions": "number", "event_limit": "100"},
        ),
        ({"log_level": "loud"}, {"log_level": "'debug'"}),
        ({"max_session": 3}, {"max_session": "did you mean 'max_sessions'"}),
    ],
)
async def test_what_cannot_change_is_refused_with_the_way_out(
    api: Api, settings: Settings, body: dict[str, Any], fields: dict[str, str]
) -> None:
    before = await api.get("/config")
    with pytest.raises(Refused) as refused:
        await patch(api, **body)
    assert refused.value.code == "INVALID_REQUEST"
    told = {item["field"]: item["message"] for item in refused.value.details["errors"]}
    assert set(told) == set(fields)
    for field, part in fields.items():
        assert part in told[field]
    assert await api.get("/config") == before
    assert kept(settings) is None


async def test_nothing_changes_when_it_cannot_be_kept(api: Api, settings: Settings) -> None:
    path = settings.state_dir / "config.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text("{damaged")
    with pytest.raises(Refused) as refused:
        await patch(api, max_sessions=3)
    assert (refused.value.status, refused.value.code) == (500, "INTERNAL_ERROR")
    assert str(path) in refused.value.details["suggestion"]
    assert (await api.get("/config"))["max_sessions"] == 10
    assert path.read_text() == "{damaged"
    path.write_text('{"port": 5701}')
    assert await patch(api) == await api.get("/config")  # nothing asked, nothing written
    assert kept(settings) == {"port": 5701}
    await patch(api, max_sessions=3)
    assert kept(settings) == {"port": 5701, "max_sessions": 3}


async def test_what_was_kept_is_in_force_at_the_next_start(
    api: Api, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await patch(api, max_sessions=3, event_limit=500)
    monkeypatch.setenv("RELAY_EVENT_LIMIT", "600")
    again = load_settings(state_dir=str(settings.state_dir))
    assert (again.max_sessions, again.event_limit) == (3, 600)


async def test_the_capabilities_are_those_of_the_routes(api: Api) -> None:
    info = await api.get("/info")
    shown, endpoints = info["capabilities"], info["endpoints"]
    session = "/api/v1/sessions/{session_id}"
    assert shown["supports_restart"] is (f"{session}/restart" in endpoints)
    assert shown["supports_attach"] is (f"{session}/attach" in endpoints)
    assert shown["supports_evaluate"] is (f"{session}/evaluate" in endpoints)
    assert shown["supports_exception_breakpoints"] is (
        f"{session}/exception-breakpoints" in endpoints
    )
    assert shown["supports_set_variable"] is any(
        "/variables/" in path and path.endswith("/set") for path in endpoints
    )
    assert shown["supports_function_breakpoints"] is ("function" in BreakpointSpec.model_fields)


# The end on request -----------------------------------------------------------------------


async def test_shutdown_is_answered_and_ends_everything(tmp_path: Path) -> None:
    code = Program.write(tmp_path / "main.py", SLEEPER)
    async with served(tmp_path) as relay:
        session = await relay.api.session()
        await session.launch(code.text, wait=0)
        await session.get("/events", types="output", timeout=30)
        below = relay.below()
        assert below
        answered: list[Any] = []

        async def poll() -> None:
            answered.append(await session.get("/events", types="terminated", timeout=60))

        with trio.fail_after(DEADLINE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(poll)
                await trio.testing.wait_all_tasks_blocked(0.05)
                answer = await relay.api.post("/shutdown")
                assert answer == {"status": "shutting_down", "sessions": 1}
            assert answered
            assert await relay.process.wait() == 0
        assert alive(below) == {}


async def test_new_work_is_refused_once_shutdown_began(settings: Settings) -> None:
    async with running_relay(settings) as api:
        port = api.client.base_url.port
        assert port is not None
        with trio.fail_after(DEADLINE):
            async with await trio.open_tcp_stream("127.0.0.1", port) as unfinished:
                head = b"POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\n"
                await unfinished.send_all(head + b"Content-Length: 2\r\n\r\n{")
                await api.get("/health")  # the unfinished request has been taken, too
                await api.post("/shutdown")
                with pytest.raises(Refused) as refused:
                    await api.post("/sessions")
                await unfinished.send_all(b"}")
    assert (refused.value.status, refused.value.code) == (503, "SHUTTING_DOWN")


# A Unix socket ----------------------------------------------------------------------------


async def test_a_relay_on_a_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "relay.sock"
    with socket.socket(socket.AF_UNIX) as left:  # a relay that was killed leaves this
        left.bind(str(path))
    settings = Settings(uds=path, state_dir=tmp_path / "state", project_root=tmp_path)
    async with running_relay(settings):
        assert path.stat().st_mode & 0o777 == 0o600
        transport = httpx.AsyncHTTPTransport(uds=str(path))
        async with httpx.AsyncClient(transport=transport, base_url="http://any.name") as client:
            healthy = await client.get("/api/v1/health")
            assert healthy.json()["data"]["status"] == "healthy"
            foreign = {"Origin": "http://evil.example"}
            refused = await client.get("/api/v1/health", headers=foreign)
            assert refused.status_code == 403
    assert not path.exists()


async def test_the_command_serves_a_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "relay.sock"
    command = ["relay", "serve", "--uds", str(path), "--state-dir", str(tmp_path / "state")]
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        with trio.fail_after(DEADLINE):
            assert process.stdout is not None
            said = b""
            while said.count(b"\n") < 2:
                piece = await process.stdout.receive_some()
                assert piece, said
                said += piece
            assert said.splitlines()[0].decode() == f"relay listens on unix:{path}"
            second = await trio.run_process(
                [sys.executable, "-m", *command], capture_stderr=True, check=False
            )
            assert second.returncode == 1
            assert b"somebody listens there already" in second.stderr
            assert path.exists()
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
        assert not await trio.Path(path).exists()
    finally:
        with trio.CancelScope(shield=True):
            process.kill()
            await process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    await stream.aclose()
