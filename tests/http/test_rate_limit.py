"""How many requests a second a client may send: refused with the time to wait, or served in its turn."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import MockClock

from relay.config import ConfigurationError, load_settings
from relay.faces.http.gateway import TURN_SECONDS, Gateway
from relay.faces.http.rate_limit import CLIENTS, RateLimit
from relay.faces.http.security import Guard
from relay.faces.mcp.http import McpMount
from relay.faces.tool.http import tool_app
from relay.faces.ui.http import UiApp
from relay.metrics import Metrics
from tests.http.conftest import serving
from tests.http.fake import settings
from tests.http.test_routing import error_of


async def test_a_client_has_a_seconds_worth_at_once_and_then_its_rate(
    mock_clock: MockClock,
) -> None:
    limit = RateLimit(4)
    assert [limit.take("a") for _ in range(4)] == [0, 0, 0, 0]
    assert limit.take("a") == pytest.approx(0.25)
    assert limit.take("b") == 0, "another client has its own"
    mock_clock.jump(0.2)
    assert limit.take("a") == pytest.approx(0.05)
    mock_clock.jump(0.05)
    assert limit.take("a") == pytest.approx(0)
    assert limit.take("a") == pytest.approx(0.25), "what was refused has taken nothing"
    mock_clock.jump(100)
    assert [limit.take("a") for _ in range(4)] == [0, 0, 0, 0]
    assert limit.take("a") > 0, "no more than a second's worth is saved"


async def test_less_than_one_a_second_is_one_at_once(mock_clock: MockClock) -> None:
    limit = RateLimit(0.1)
    assert limit.take("a") == 0
    assert limit.take("a") == pytest.approx(10)
    mock_clock.jump(10)
    assert limit.take("a") == 0


async def test_those_who_wait_come_one_after_the_other(mock_clock: MockClock) -> None:
    limit = RateLimit(2)
    waits = [limit.take("a", patience=1) for _ in range(5)]
    assert waits == pytest.approx([0, 0, 0.5, 1, 1.5])
    assert limit.take("a", patience=1) == pytest.approx(1.5), "it took no turn"


async def test_only_so_many_clients_are_remembered(mock_clock: MockClock) -> None:
    limit = RateLimit(1)
    limit.take("first")
    for number in range(CLIENTS):
        limit.take(number)
    assert limit.take(CLIENTS - 1) > 0
    assert limit.take("first") == 0
    assert len(limit._full_at) == CLIENTS


async def test_one_too_many_is_refused_with_the_time_to_wait() -> None:
    async with serving(requests_per_second=0.001, mounts={"/tool": tool_app}) as served:
        me, other = {"Relay-Client": "me"}, {"Relay-Client": "other"}
        assert (await served.client.get("/health", headers=me)).status_code == 200
        refused = await served.client.post("/things", headers=me)
        error = error_of(refused, 429, "TOO_MANY_REQUESTS")
        wait = error["details"]["retry_after_seconds"]
        assert 0 < wait <= 1000
        assert wait <= int(refused.headers["retry-after"]) <= 1000
        assert "retry_after_seconds" in error["details"]["suggestion"]
        assert (await served.client.get("/health", headers=other)).status_code == 200
        tool = await served.client.get(f"{served.url}/tool/health", headers=other)
        assert tool.status_code == 429
        assert served.hub.metrics.requests["POST", "(none)", 429] == 1


async def test_without_a_limit_nobody_is_refused() -> None:
    async with serving() as served:
        for _ in range(50):
            assert (await served.client.get("/health")).status_code == 200


async def test_files_of_the_page_are_no_requests_of_a_client() -> None:
    async with serving(requests_per_second=0.001, mounts={"/ui": UiApp}) as served:
        for _ in range(3):
            assert (await served.client.get(f"{served.url}/ui/app.js")).status_code == 200


async def test_a_face_that_takes_turns_waits_and_is_not_refused(autojump_clock: MockClock) -> None:
    served_at: list[float] = []

    class Turns:
        takes_turns = McpMount.takes_turns

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            served_at.append(trio.current_time())
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    statuses: list[int] = []

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def receive() -> Any:
        raise AssertionError("there is no body")

    app = Turns()
    guard = Guard(settings(uds="x"))
    gateway = Gateway(app, guard, Metrics(), {"/mcp": app}, RateLimit(0.1))
    start = trio.current_time()
    async with trio.open_nursery() as nursery:
        for _ in range(5):
            scope: Any = {"type": "http", "method": "GET", "path": "/mcp", "headers": []}
            nursery.start_soon(gateway, scope, receive, send)
    assert [moment - start for moment in served_at] == pytest.approx([0, 10, 20, 30])
    assert TURN_SECONDS == 30
    assert sorted(statuses) == [204, 204, 204, 204, 429]


@pytest.mark.parametrize("value", ["0", "-1", "nan", "many"])
def test_a_limit_that_is_none_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_REQUESTS_PER_SECOND", value)
    with pytest.raises(ConfigurationError, match="requests_per_second, from RELAY_REQUESTS"):
        load_settings()
