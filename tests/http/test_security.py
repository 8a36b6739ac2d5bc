"""Who may call, and what the others get."""

from __future__ import annotations

import pytest

from relay.errors import Forbidden, Unauthorized
from relay.faces.common.asgi import Scope
from relay.faces.http.security import Guard
from tests.http.conftest import Served, serving
from tests.http.fake import settings
from tests.http.test_routing import error_of


def scope(**headers: str) -> Scope:
    named = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    request = {"type": "http", "method": "GET", "path": "/api/v1"}
    return {**request, "headers": named, "server": ("127.0.0.1", 5679)}


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:5679",
        "LOCALHOST:1",
        "localhost.",
        "127.0.0.1",
        "127.1.2.3:80",
        "[::1]",
        "[::1]:5679",
    ],
)
def test_loopback_hosts(host: str) -> None:
    Guard(settings()).check(scope(host=host))


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:5679",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "128.0.0.1",
        "0.0.0.0",
        "[::2]",
        "[::1",
        "[::1]x",
        "::1]",
        "localhost:x",
        "localhost:80@evil.example",
        "user@localhost",
        "127.0.0.1 evil.example",
        "2130706433",
        "127.1",
        "\xff",
        "*",
    ],
)
def test_foreign_hosts(host: str) -> None:
    with pytest.raises(Forbidden):
        Guard(settings()).check(scope(host=host))


def test_configured_hosts() -> None:
    guard = Guard(settings(host="192.168.1.5", allowed_hosts=("Box.example:80", "fe80::1")))
    for host in ("box.example", "box.example:9999", "192.168.1.5:5679", "[fe80::1]:1"):
        guard.check(scope(host=host))
    with pytest.raises(Forbidden):
        guard.check(scope(host="other.example"))


def test_any_host() -> None:
    Guard(settings(allowed_hosts=("*",))).check(scope(host="whatever.example"))


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:5679",
        "http://127.0.0.1:5679",
        "http://[::1]:5679",
        "HTTP://LOCALHOST:5679",
    ],
)
def test_own_origins(origin: str) -> None:
    Guard(settings()).check(scope(host="localhost", origin=origin))


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "http://localhost",
        "http://localhost:5680",
        "http://evil.example",
        "http://evil.example:5679",
        "file://",
        "http://localhost:5679/path",
        "http://localhost:x",
        "http://[::1",
        "chrome-extension://abc",
        "\xff",
    ],
)
def test_foreign_origins(origin: str) -> None:
    with pytest.raises(Forbidden):
        Guard(settings()).check(scope(host="localhost", origin=origin))


def test_configured_origins() -> None:
    guard = Guard(settings(allowed_hosts=("box.example",)))
    guard.check(scope(host="localhost", origin="https://box.example"))


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer ", "Bearer secret-tokem", "Basic secret-token"]
)
def test_wrong_tokens(authorization: str | None) -> None:
    headers = {} if authorization is None else {"authorization": authorization}
    with pytest.raises(Unauthorized):
        Guard(settings(token="secret-token")).check(scope(host="localhost", **headers))


@pytest.mark.parametrize("authorization", ["Bearer secret-token", "bearer  secret-token"])
def test_right_token(authorization: str) -> None:
    guard = Guard(settings(token="secret-token"))
    guard.check(scope(host="localhost", authorization=authorization))


@pytest.mark.parametrize("path", ["/health", "/docs", "/openapi.json", "/nope"])
async def test_everything_is_guarded(path: str) -> None:
    async with serving(token="secret-token") as served:
        response = await served.client.get(path)
        error_of(response, 401, "UNAUTHORIZED")
        assert response.headers["www-authenticate"].startswith("Bearer")
        assert "secret-token" not in response.text
        known = {"Authorization": "Bearer secret-token"}
        assert (await served.client.get(path, headers=known)).status_code in {200, 404}


async def test_foreign_host_and_origin(served: Served) -> None:
    foreign = {"Host": "evil.example"}
    error = error_of(await served.client.get("/health", headers=foreign), 403, "FORBIDDEN")
    assert error["details"]["host"] == "evil.example"
    foreign = {"Origin": "http://evil.example"}
    error = error_of(await served.client.post("/things", headers=foreign), 403, "FORBIDDEN")
    assert error["details"]["origin"] == "http://evil.example"
    own = {"Origin": f"http://localhost:{served.port}"}
    assert (await served.client.post("/things", headers=own)).status_code == 201
