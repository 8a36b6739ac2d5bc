"""Which request reaches which operation, and what the others are told."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest

from tests.http.conftest import Served


def assert_envelope(response: httpx.Response) -> dict[str, Any]:
    """The envelope is whole; gives it."""
    assert response.headers["content-type"] == "application/json; charset=utf-8"
    envelope: dict[str, Any] = response.json()
    assert list(envelope) == ["success", "data", "error", "meta"]
    assert envelope["success"] is (response.status_code < 400)
    assert (envelope["error"] is None) is envelope["success"]
    assert envelope["meta"]["request_id"] == response.headers["x-request-id"]
    assert envelope["meta"]["timestamp"].endswith("Z")
    if not envelope["success"]:
        assert envelope["data"] is None
        assert envelope["error"]["details"]["suggestion"]
    return envelope


def error_of(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The error, which has that status and code."""
    envelope = assert_envelope(response)
    error: dict[str, Any] = envelope["error"]
    assert (response.status_code, error["code"]) == (status, code)
    return error


async def test_success(served: Served) -> None:
    response = await served.client.get("/health")
    assert assert_envelope(response)["data"] == {"seen": "healthy"}


async def test_status_of_success(served: Served) -> None:
    response = await served.client.post("/things")
    assert assert_envelope(response)
    assert response.status_code == 201


@pytest.mark.parametrize("path", ["/", "/api/v1", "/api/v1/"])
async def test_signpost(served: Served, path: str) -> None:
    response = await served.client.get(served.url + path)
    assert assert_envelope(response)["data"]["docs"] == "/api/v1/docs"


@pytest.mark.parametrize(
    "path", ["/nope", "/api/v1/nope", "/api/v2/health", "/api/v1//health", "/api/v1/health/x"]
)
async def test_unknown_route(served: Served, path: str) -> None:
    error = error_of(await served.client.get(served.url + path), 404, "ROUTE_NOT_FOUND")
    assert error["details"]["path"] == path


async def test_unknown_route_names_the_closest(served: Served) -> None:
    error = error_of(await served.client.get("/helth"), 404, "ROUTE_NOT_FOUND")
    assert "Did you mean /api/v1/health?" in error["details"]["suggestion"]
    error = error_of(await served.client.get("/sessions/sess_1/even"), 404, "ROUTE_NOT_FOUND")
    meant = "/api/v1/sessions/{session_id}/events"
    assert f"Did you mean {meant}?" in error["details"]["suggestion"]


async def test_trailing_slash_is_accepted(served: Served) -> None:
    response = await served.client.get("/health/")
    assert response.status_code == 200
    assert not response.history


@pytest.mark.parametrize("method", ["PUT", "DELETE", "TRACE", "BREW", "X" * 300])
async def test_other_methods(served: Served, method: str) -> None:
    response = await served.client.request(method, "/things")
    error = error_of(response, 405, "METHOD_NOT_ALLOWED")
    assert error["details"]["allowed"] == ["GET", "HEAD", "POST", "OPTIONS"]
    assert response.headers["allow"] == "GET, HEAD, POST, OPTIONS"


async def test_options(served: Served) -> None:
    response = await served.client.options("/things")
    assert assert_envelope(response)["data"] == {"allowed": ["GET", "HEAD", "POST"]}
    assert response.headers["allow"] == "GET, HEAD, POST, OPTIONS"


async def test_head(served: Served) -> None:
    response = await served.client.head("/health")
    assert response.status_code == 200
    assert response.content == b""
    assert int(response.headers["content-length"]) > 100
    assert (await served.client.get("/health")).status_code == 200


async def test_session_is_the_subject_and_in_use(served: Served) -> None:
    response = await served.client.get("/sessions/sess_1")
    assert response.json()["data"]["seen"] == {"id": "sess_1", "users": 1}
    assert served.hub.sessions["sess_1"].users == 0


async def test_hub_is_the_subject_of_an_operation_that_takes_the_id(served: Served) -> None:
    response = await served.client.delete("/sessions/anything")
    assert response.json()["data"]["seen"] == "anything"


async def test_unknown_and_expired_sessions(served: Served) -> None:
    error_of(await served.client.get("/sessions/nope"), 404, "SESSION_NOT_FOUND")
    error_of(await served.client.get("/sessions/sess_old"), 410, "SESSION_EXPIRED")


@pytest.mark.parametrize("escaped", ["%00", "%ff%fe", "..", "%2e%2e", "a%20b", "%F0%9F%90%9B", "%"])
async def test_escaped_ids_are_unknown_sessions(served: Served, escaped: str) -> None:
    answer = await served.send(
        f"GET /api/v1/sessions/{escaped} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    )
    assert answer.startswith(b"HTTP/1.1 404")
    assert b'"code":"SESSION_NOT_FOUND"' in answer


async def test_escaped_slash_is_another_route(served: Served) -> None:
    error_of(await served.client.get("/sessions/a%2fb"), 404, "ROUTE_NOT_FOUND")


async def test_path_parameters_are_typed(served: Served) -> None:
    response = await served.client.get("/sessions/sess_1/frames/-3/n%20m")
    assert response.json()["data"]["seen"] == [-3, "n m"]


@pytest.mark.parametrize("number", ["x", "1.5", "+1", "1_0", "٣", "9" * 30])
async def test_path_parameters_that_do_not_parse(served: Served, number: str) -> None:
    response = await served.client.get(f"/sessions/sess_1/frames/{number}/n")
    error = error_of(response, 400, "INVALID_PARAMETER")
    assert error["details"]["errors"] == [
        {"field": "frame_id", "message": "must be a whole number", "value": number}
    ]


async def test_long_url(served: Served) -> None:
    response = await served.client.get("/sessions/" + "x" * 30_000)
    error_of(response, 404, "SESSION_NOT_FOUND")


async def test_draining_refuses_new_work(served: Served) -> None:
    served.hub.drain()
    error_of(await served.client.get("/health"), 503, "SHUTTING_DOWN")
    error_of(await served.client.get("/sessions/sess_1"), 503, "SHUTTING_DOWN")


@pytest.mark.parametrize("path", ["/refuse", "/refuse-in-group"])
async def test_errors_of_operations(served: Served, path: str) -> None:
    error = error_of(await served.client.get(path), 409, "INVALID_SESSION_STATE")
    assert error["message"] == "not now"
    assert error["details"]["status"] == "running"


@pytest.mark.parametrize("path", ["/fail", "/fail-in-group"])
async def test_failures_are_logged_and_keep_their_secrets(
    served: Served, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "relay.http"):
        response = await served.client.get(path)
    error = error_of(response, 500, "INTERNAL_ERROR")
    assert error["details"]["exception"] == "LookupError"
    assert error["details"]["log_reference"] == response.headers["x-request-id"]
    assert "hunter2" not in response.text
    assert response.headers["x-request-id"] in caplog.text
    assert "Traceback" in caplog.text


async def test_texts_that_utf8_cannot_carry(served: Served) -> None:
    response = await served.client.get("/surrogates")
    assert assert_envelope(response)["data"]["seen"] == {"text": "a?b", "nan": None}


async def test_request_id_is_echoed_everywhere(served: Served) -> None:
    for path in ("/api/v1/health", "/nope", "/api/v1/fail", "/api/v1/docs"):
        response = await served.client.get(served.url + path, headers={"X-Request-ID": "a b~1"})
        assert response.headers["x-request-id"] == "a b~1"
