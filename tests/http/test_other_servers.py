"""The app is plain ASGI: any server may carry it, and callers of their own may leave the gateway out."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio

from relay.faces.common.asgi import App, Message, Scope
from relay.faces.http.app import make_api, make_app
from relay.faces.http.body_limit import BODY_BYTES
from tests.http.conftest import DEADLINE
from tests.http.fake import ROUTES, FakeHub, settings


@pytest.fixture
def hub() -> FakeHub:
    return FakeHub()


@pytest.fixture(params=["behind the gateway", "by itself"])
def app(hub: FakeHub, request: pytest.FixtureRequest) -> App:
    whole = request.param == "behind the gateway"
    return make_app(hub, settings(), ROUTES) if whole else make_api(hub, ROUTES)


class Client:
    """What a server that knows nothing of the relay has of one request."""

    def __init__(self, method: str, path: str, *body: bytes) -> None:
        self.left = trio.Event()
        self.sent: list[Message] = []
        self._pieces = [*body, b""]
        length = str(sum(map(len, body))).encode()
        self.scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": f"/api/v1{path}",
            "raw_path": f"/api/v1{path}".encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [
                (b"host", b"localhost"),
                (b"content-type", b"application/json"),
                (b"content-length", length),
            ],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 80),
        }

    async def receive(self) -> Message:
        if self._pieces:
            piece = self._pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(self._pieces)}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    async def ask(self, app: App) -> tuple[int, bytes]:
        """Status and body of the answer."""
        with trio.fail_after(DEADLINE):
            await app(self.scope, self.receive, self.send)
        return self.sent[0]["status"], b"".join(one["body"] for one in self.sent[1:])


async def seen(app: App, *request: Any) -> Any:
    """What the operation has seen."""
    status, body = await Client(*request).ask(app)
    assert status < 300, body
    return json.loads(body)["data"]["seen"]


async def test_requests_are_answered(hub: FakeHub, app: App) -> None:
    assert await seen(app, "GET", "/health") == "healthy"
    assert await seen(app, "POST", "/needed", b'{"expression":', b'"x"}') == "x"
    assert (await Client("GET", "/nope").ask(app))[0] == 404
    hub.sessions["sess_1"].woken.set()
    followed = await Client("GET", "/sessions/sess_1/stream").ask(app)
    assert followed == (200, b"data: 1\n\ndata: 2\n\n")


async def test_a_body_that_is_too_large_is_refused(app: App) -> None:
    client = Client("POST", "/things", b"x" * (BODY_BYTES + 1))
    client.left.set()
    status, body = await client.ask(app)
    assert status == 413
    assert json.loads(body)["error"]["code"] == "PAYLOAD_TOO_LARGE"


@pytest.mark.parametrize("path", ["events", "stream"])
async def test_a_client_that_leaves_ends_what_waits_for_it(
    hub: FakeHub, app: App, path: str
) -> None:
    session, client = hub.sessions["sess_1"], Client("GET", f"/sessions/sess_1/{path}")
    with trio.fail_after(DEADLINE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(app, client.scope, client.receive, client.send)
            await session.waiting.wait()
            assert session.users == 1
            client.left.set()
    assert session.users == 0
