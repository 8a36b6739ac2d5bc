"""Who may call, at every path that the application serves: one table, walked from its own list."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import trio

from relay import Settings, open_relay
from relay.command_line import cli
from relay.faces.common.tool_calls import CALLS
from relay.faces.http.pages import PAGES
from relay.faces.http.routes import ROUTES
from relay.faces.http.server import serve
from relay.faces.mcp.http import TABLES
from relay.models.tool import PREFIX as TOOL
from relay.quick.server import PATH as SHELL
from relay.routes.endpoint import API
from relay.serving import all_mounts
from tests.http.conftest import DEADLINE, read_response

TOKEN = "correct-horse"
WEBSOCKET = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)


OPEN_TO_ALL = ("/ui", "/ui/below")
"""Paths that need no token."""


@dataclass(frozen=True)
class Row:
    """A kind of request, with `PORT` for the relay's own; `code` is None if it is let in."""

    code: str | None
    headers: tuple[str, ...] = ()
    host: str | None = "localhost:PORT"
    target: str = ""
    """In front of the path."""
    version: str = "1.1"
    token: str | None = TOKEN

    def request(self, method: str, path: str, port: int) -> bytes:
        lines = [f"{method} {self.target}{path} HTTP/{self.version}"]
        lines += [] if self.host is None else [f"Host: {self.host}"]
        lines += [] if self.token is None else [f"Authorization: Bearer {self.token}"]
        text = "\r\n".join([*lines, *self.headers, "", ""])
        return text.replace("PORT", str(port)).encode("latin-1")


def page(site: str, mode: str = "cors", dest: str = "empty") -> tuple[str, ...]:
    """What a browser says of the page that sends a request without an origin."""
    return f"Sec-Fetch-Site: {site}", f"Sec-Fetch-Mode: {mode}", f"Sec-Fetch-Dest: {dest}"


LET_IN = [
    Row(None),
    Row(None, host="LOCALHOST:PORT"),
    Row(None, host="localhost."),
    Row(None, host="127.0.0.1"),
    Row(None, host="[::1]:PORT"),
    Row(None, host=None, version="1.0"),
    Row(None, target="http://localhost:PORT"),
    Row(None, target="HTTP://LOCALHOST.:PORT"),
    Row(None, target="http://[::1]"),
    Row(None, ("Origin: http://localhost:PORT",)),
    Row(None, ("Origin: HTTP://LOCALHOST:PORT",)),
    Row(None, ("Origin: http://[::1]:PORT",)),
    Row(None, ("Origin: http://127.0.0.1:PORT", *page("same-origin"))),
    Row(None, ("Origin: http://127.0.0.1:PORT", *page("cross-site"))),  # a page at `localhost`
    Row(None, page("same-origin")),
    Row(None, page("none", "navigate", "document")),
    Row(None, page("cross-site", "navigate", "document")),
    Row(None, WEBSOCKET),  # answered as any other request: nothing here speaks it
]

REFUSED = [
    Row("FORBIDDEN", host=""),
    Row("FORBIDDEN", host="evil.example:PORT"),
    Row("FORBIDDEN", host="localhost.evil.example"),
    Row("FORBIDDEN", host="evil.example."),
    Row("FORBIDDEN", host="0.0.0.0:PORT"),
    Row("FORBIDDEN", host="[::ffff:1.2.3.4]:PORT"),
    Row("FORBIDDEN", host="[::2]"),
    Row("FORBIDDEN", target="http://evil.example"),
    Row("FORBIDDEN", target="HTTP://EVIL.EXAMPLE.:PORT"),
    Row("FORBIDDEN", target="http://localhost:PORT@evil.example"),
    Row("FORBIDDEN", host="evil.example", target="http://localhost"),
    Row("FORBIDDEN", ("Origin: null",)),
    Row("FORBIDDEN", ("Origin: http://evil.example",)),
    Row("FORBIDDEN", ("Origin: HTTP://EVIL.EXAMPLE.",)),
    Row("FORBIDDEN", ("Origin: http://localhost.evil.example:PORT",)),
    Row("FORBIDDEN", ("Origin: http://localhost:1",)),
    Row("FORBIDDEN", ("Origin: http://[::1]:1",)),
    Row("FORBIDDEN", ("Origin: http://localhost:PORT", "Origin: http://evil.example")),
    Row("FORBIDDEN", ("Origin: http://evil.example", *WEBSOCKET)),
    Row("FORBIDDEN", ("Origin: null", *page("none", "navigate", "document"))),
    Row("FORBIDDEN", (*page("cross-site", "websocket", "websocket"), *WEBSOCKET)),
    Row("FORBIDDEN", page("cross-site")),
    Row("FORBIDDEN", page("cross-site", "no-cors", "image")),
    Row("FORBIDDEN", page("cross-site", "navigate", "iframe")),
    Row("FORBIDDEN", page("same-site")),
    Row("FORBIDDEN", page("same-site", "no-cors", "script")),
    Row("FORBIDDEN", ("Sec-Fetch-Site: cross-site",)),
    Row("UNAUTHORIZED", token=None),
    Row("UNAUTHORIZED", token="correct-horsf"),
    Row("UNAUTHORIZED", WEBSOCKET, token=None),
    Row("UNAUTHORIZED", ("Authorization: Basic correct-horse",), token=None),
]


@asynccontextmanager
async def whole_relay(folder: Path) -> AsyncIterator[tuple[int, set[str]]]:
    """The application of `relay serve`: its port, and every path that it has."""
    settings = Settings(port=0, state_dir=folder / "state", project_root=folder, token=TOKEN)
    with trio.fail_after(DEADLINE):
        async with open_relay(settings) as hub, trio.open_nursery() as nursery:
            mounts = all_mounts(hub, cli)
            run = partial(serve, hub, settings, routes=ROUTES, mounts=mounts)
            url = await nursery.start(run)
            paths = {*mounts, *PAGES, *TABLES, *(f"{path}/below" for path in mounts), "/nowhere"}
            yield int(url.rpartition(":")[2]), paths
            nursery.cancel_scope.cancel()


def every_path(paths: set[str]) -> Iterator[str]:
    yield from paths
    for path in {route.full_path for route in ROUTES}:
        yield re.sub(r"\{\w+\}", "1", path)


async def answer(port: int, request: bytes) -> tuple[int, bytes]:
    """Status and content."""
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(request)
        head, _, body = (await read_response(stream)).partition(b"\r\n\r\n")
    return int(head.split()[1]), body


async def codes(port: int, requests: list[bytes]) -> list[str | None]:
    """The error code of each answer, on one connection; None if it is let in."""
    found = []
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        for request in requests:
            await stream.send_all(request)
            head, _, body = (await read_response(stream)).partition(b"\r\n\r\n")
            status = int(head.split()[1])
            found.append(_code(json.loads(body)) if status in (401, 403) else None)
    return found


def _code(answer: dict[str, dict[str, str]]) -> str:
    error = answer["error"]
    return error.get("code") or error["type"].upper()  # the tool API has types in its own shape


async def test_who_is_refused_is_so_everywhere(tmp_path: Path) -> None:
    async with whole_relay(tmp_path) as (port, paths):
        everywhere = sorted(every_path(paths))
        for row in REFUSED:
            for method in ("GET", "POST"):
                requests = [row.request(method, path, port) for path in everywhere]
                found = dict(zip(everywhere, await codes(port, requests), strict=True))
                if row.code == "UNAUTHORIZED":  # files that are the same for everybody
                    assert {found.pop(path) for path in OPEN_TO_ALL} == {None}
                assert set(found.values()) == {row.code}, f"{method} {row}: {found}"


async def test_a_body_that_is_not_said_to_be_json_is_refused_everywhere(tmp_path: Path) -> None:
    """What `curl -d` and the form of a web page send: no browser asks before it sends that."""
    form = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n\r\n{}"
    async with whole_relay(tmp_path) as (port, _):
        made = Row(None).request("POST", f"{API}/sessions", port)
        session = json.loads((await answer(port, made))[1])["data"]["session_id"]
        calls = [(call.method, TOOL + call.path) for call in CALLS.values() if call.body]
        routes = [(route.method, route.full_path) for route in ROUTES if route.signature.body]
        mcp = [("POST", path) for path in TABLES]
        assert len(routes) > 40
        for method, path in [*calls, *routes, *mcp, ("POST", SHELL)]:
            there = re.sub(r"\{\w+\}", "1", re.sub(r"\{session_?id\}", session, path, flags=re.I))
            request = Row(None).request(method, there, port).removesuffix(b"\r\n") + form
            status, shown = await answer(port, request)
            assert status in (400, 415), f"{method} {there}: {status} {shown!r}"
            assert b"content type" in shown.lower() or b"content-type" in shown.lower(), shown


async def test_who_may_call_may_do_so_at_every_mount(tmp_path: Path) -> None:
    async with whole_relay(tmp_path) as (port, paths):
        assert {"/tool/v0", "/mcp", "/mcp/v0", "/shell", "/", "/api/v1/docs"} < paths
        everywhere = sorted(paths)
        for row in LET_IN:
            for path in everywhere:
                found = await codes(port, [row.request("GET", path, port)])
                assert found == [None], f"{row} at {path}: {found}"
