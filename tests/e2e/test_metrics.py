"""`/metrics`: true numbers in the format of Prometheus, for each relay its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from prometheus_client.parser import text_string_to_metric_families

from relay import Settings
from relay.session.event_log import EventLog
from relay.session.output_log import OutputLog
from tests.e2e.api import Api, Refused
from tests.e2e.conftest import running_relay
from tests.programs import Program

Write = Callable[..., Program]
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


async def scrape(api: Api, path: str = "/metrics") -> Samples:
    """Every sample by name and labels, as a Prometheus server reads them."""
    root = str(api.client.base_url).partition("/api")[0]
    response = await api.client.get(root + path)
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(response.text)
        for sample in family.samples
    }


def value(samples: Samples, name: str, **labels: str) -> float:
    return samples.get((name, frozenset(labels.items())), 0)


async def test_sessions_stops_output_and_requests_are_counted(
    api: Api, settings: Settings, program: Write
) -> None:
    code = program("print('ä' * 10)\nprint('end')  # @end\n")
    session = await api.session()
    await session.breakpoint(code.text, code.line("end"))
    await session.launch(code.text)
    other = await api.session()
    await other.delete()
    with pytest.raises(Refused):
        await api.get("/sessions/sess_none")
    with pytest.raises(Refused):
        await api.get("/nowhere/at/all")
    for page in ("/docs", "/openapi.json"):
        assert (await api.client.get(page)).status_code == 200

    found = await scrape(api)
    assert value(found, "relay_sessions", status="paused") == 1
    assert value(found, "relay_sessions", status="created") == 0
    assert value(found, "relay_sessions_created_total") == 2
    assert value(found, "relay_sessions_expired_total") == 0
    assert value(found, "relay_sessions_limit") == settings.max_sessions
    assert value(found, "relay_stops_total", reason="breakpoint") == 1
    assert value(found, "relay_output_bytes_total", category="stdout") == 21
    assert value(found, "relay_dropped_entries_total", log="output") == 0

    route = {"method": "GET", "route": "/api/v1/sessions/{session_id}"}
    assert value(found, "relay_http_requests_total", status="404", **route) == 1
    assert value(found, "relay_http_request_seconds_count", **route) == 1
    nowhere = {"method": "GET", "route": "(none)"}
    assert value(found, "relay_http_requests_total", status="404", **nowhere) == 1
    for page in ("/api/v1/docs", "/api/v1/openapi.json"):
        at = {"method": "GET", "route": page}
        assert value(found, "relay_http_requests_total", status="200", **at) == 1
    created = {"method": "POST", "route": "/api/v1/sessions"}
    assert value(found, "relay_http_requests_total", status="201", **created) == 2
    assert value(found, "relay_http_request_seconds_bucket", le="+Inf", **created) == 2
    assert not any("sess_" in value for _, labels in found for _, value in labels)

    asked = value(found, "relay_dap_request_seconds_count", command="relayProbe")
    assert value(found, "relay_question_seconds_count", question="evaluate") == 0
    await session.evaluate("1")
    await session.delete()
    later = await scrape(api, "/api/v1/metrics")
    assert value(later, "relay_dap_request_seconds_count", command="relayProbe") > asked
    assert value(later, "relay_question_seconds_count", question="evaluate") == 1
    assert value(later, "relay_question_seconds_bucket", question="evaluate", le="+Inf") == 1
    assert 0 < value(later, "relay_question_seconds_sum", question="evaluate") < 30
    assert value(later, "relay_sessions", status="paused") == 0
    assert value(later, "relay_stops_total", reason="breakpoint") == 1
    assert (
        value(
            later, "relay_http_requests_total", status="200", method="GET", route="/api/v1/metrics"
        )
        == 1
    )


async def test_what_the_caps_took_stays_counted_after_the_session(api: Api, program: Write) -> None:
    await api.call("PATCH", "/config", json={"output_limit_bytes": 10_000})
    code = program("for n in range(1000):\n    print('line', n)\n")
    session = await api.session()
    await session.launch(code.text)
    await session.get("/events", types="terminated", timeout=30)
    live = await scrape(api)
    dropped = value(live, "relay_dropped_entries_total", log="output")
    assert dropped == (await session.get("/output", limit=1))["dropped"] > 0
    await session.delete()
    gone = await scrape(api)
    assert value(gone, "relay_dropped_entries_total", log="output") == dropped


def test_a_log_counts_what_its_caps_take() -> None:
    events, output = EventLog(limit_events=100), OutputLog(limit_bytes=10_000)
    for number in range(150):
        events.append("output", {"number": number})
        output.append("stdout", "line\n")
    assert events.dropped == events.read(0).dropped == 50
    assert output.dropped == output.read(0).dropped > 0
    events.set_limit(20)
    output.set_limit(1024)
    assert events.dropped == events.read(0).dropped == 130
    assert output.dropped == output.read(0).dropped == 150 - len(output)
    assert output.size <= 1024


async def test_each_relay_counts_for_itself_and_asks_for_its_token(
    api: Api, settings: Settings
) -> None:
    await api.session()
    guarded = settings.model_copy(
        update={"token": "a-long-secret", "state_dir": settings.state_dir / "other"}
    )
    async with running_relay(guarded) as other:
        refused = await other.client.get("/metrics")
        assert refused.status_code == 401
        other.client.headers["Authorization"] = "Bearer a-long-secret"
        found = await scrape(other)
        assert value(found, "relay_sessions_created_total") == 0
        nowhere = {"method": "GET", "route": "(none)"}
        assert value(found, "relay_http_requests_total", status="401", **nowhere) == 1
