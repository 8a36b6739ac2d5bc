"""A real server on a real port, once a test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import trio

from relay.faces.common.asgi import Mount
from relay.faces.http.server import serve
from tests.http.fake import ROUTES, FakeHub, settings

DEADLINE = 60.0


@dataclass
class Served:
    """A running server and the hub behind it."""

    url: str
    hub: FakeHub
    client: httpx.AsyncClient
    shutdown: trio.Event
    ended: trio.Event = field(default_factory=trio.Event)

    @property
    def port(self) -> int:
        port = urlsplit(self.url).port
        assert port is not None
        return port

    async def open(self) -> trio.SocketStream:
        """A raw connection."""
        return await trio.open_tcp_stream("127.0.0.1", self.port)

    async def send(self, data: bytes) -> bytes:
        """What the server says to these bytes until it hangs up, or has said one response."""
        async with await self.open() as stream:
            await stream.send_all(data)
            return await read_response(stream)


async def read_response(stream: trio.SocketStream) -> bytes:
    """One response with Content-Length, or whatever came before the end."""
    received = b""
    while not _is_whole(received):
        piece = await stream.receive_some()
        if not piece:
            break
        received += piece
    return received


def _is_whole(received: bytes) -> bool:
    head, separator, body = received.partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100"):
        return _is_whole(body)
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if separator and name.lower() == b"content-length":
            return len(body) >= int(value)
    return False


@asynccontextmanager
async def serving(
    *, mounts: Mapping[str, Mount] | None = None, **changed: Any
) -> AsyncIterator[Served]:
    """A server with these settings and mounts; must end by itself within the deadline."""
    hub, shutdown = FakeHub(), trio.Event()
    with trio.fail_after(DEADLINE):
        async with trio.open_nursery() as nursery:
            run = partial(
                serve, hub, settings(**changed), routes=ROUTES, mounts=mounts, shutdown=shutdown
            )
            url = await nursery.start(run)
            async with httpx.AsyncClient(
                base_url=url + "/api/v1", timeout=DEADLINE, verify=False
            ) as client:
                served = Served(url, hub, client, shutdown)
                yield served
            nursery.cancel_scope.cancel()


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    async with serving() as running:
        yield running


Serving = Callable[..., AbstractAsyncContextManager[Served]]
