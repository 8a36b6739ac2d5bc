"""The listener, and an end that is sure."""

from __future__ import annotations

import fcntl
import os
import socket
from functools import partial

import pytest
import trio
import trio.testing

from relay.faces.http import server
from relay.faces.http.listener import CannotListenError, bind, url_of
from relay.faces.http.server import serve
from tests.http.conftest import Served, read_response, serving
from tests.http.fake import ROUTES, FakeHub, settings
from tests.http.test_hostile import GET, POLL, status_and_code


class Running:
    """A server in a nursery, and when it ended."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.hub, self.shutdown, self.done = FakeHub(), trio.Event(), trio.Event()
        self.port = 0
        self._nursery = nursery

    async def start(self) -> None:
        url = await self._nursery.start(self._serve)
        self.port = int(url.rpartition(":")[2])

    async def _serve(self, task_status: trio.TaskStatus[str]) -> None:
        await serve(
            self.hub,
            settings(),
            routes=ROUTES,
            shutdown=self.shutdown,
            task_status=task_status,
        )
        self.done.set()

    async def open(self) -> trio.SocketStream:
        return await trio.open_tcp_stream("127.0.0.1", self.port)

    async def ends(self) -> None:
        with trio.fail_after(30):
            await self.done.wait()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose end does come, but not by running out of time."""
    for name in ("DRAIN_SECONDS", "CANCEL_SECONDS", "SEVER_SECONDS"):
        monkeypatch.setattr(server, name, 600)


async def test_idle_connections_do_not_delay_the_end(nursery: trio.Nursery, patient: None) -> None:
    running = Running(nursery)
    await running.start()
    async with await running.open() as used, await running.open():
        await used.send_all(GET + b"\r\n")
        assert b"200" in await read_response(used)
        running.hub.drain()
        running.shutdown.set()
        await running.ends()
        assert await used.receive_some() == b""


async def test_polls_are_answered_at_the_end(nursery: trio.Nursery, patient: None) -> None:
    running = Running(nursery)
    await running.start()
    async with await running.open() as poll:
        await poll.send_all(POLL)
        await running.hub.sessions["sess_1"].waiting.wait()
        running.hub.drain()
        running.shutdown.set()
        assert b'"seen":"woken"' in await read_response(poll)
        await running.ends()


async def test_new_work_is_refused_while_old_work_ends(
    nursery: trio.Nursery, patient: None
) -> None:
    running = Running(nursery)
    await running.start()
    async with await running.open() as poll:
        await poll.send_all(POLL)
        await running.hub.sessions["sess_1"].waiting.wait()
        running.hub.draining = True
        running.shutdown.set()
        async with await running.open() as late:
            await late.send_all(GET + b"\r\n")
            assert status_and_code(await read_response(late)) == (503, "SHUTTING_DOWN")
        running.hub.drain()
        assert b'"seen":"woken"' in await read_response(poll)
        await running.ends()


async def test_work_that_does_not_end_is_cancelled(nursery: trio.Nursery) -> None:
    running = Running(nursery)
    await running.start()
    async with await running.open() as poll:
        await poll.send_all(POLL)
        await running.hub.sessions["sess_1"].waiting.wait()
        running.shutdown.set()
        await running.ends()
        assert running.hub.sessions["sess_1"].cancelled.is_set()


async def stall(running: Running, stream: trio.SocketStream) -> None:
    """Ask for more than the buffers hold, and read only the first of it."""
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    await stream.send_all(GET.replace(b"/health", b"/much") + b"\r\n")
    assert (await stream.receive_some(100)).startswith(b"HTTP/1.1 200")


async def test_stalled_client_does_not_prevent_the_end(nursery: trio.Nursery) -> None:
    running = Running(nursery)
    await running.start()
    async with await running.open() as stream:
        await stall(running, stream)
        running.shutdown.set()
        await running.ends()


async def test_stalled_client_does_not_prevent_cancellation() -> None:
    stream: trio.SocketStream | None = None
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            running = Running(nursery)
            await running.start()
            stream = await running.open()
            await stall(running, stream)
            nursery.cancel_scope.cancel()
    await stream.aclose()


async def test_half_a_request_does_not_delay_the_end(nursery: trio.Nursery, patient: None) -> None:
    running = Running(nursery)
    await running.start()
    async with await running.open() as stream:
        await stream.send_all(b"GET / HTT")
        await trio.testing.wait_all_tasks_blocked()
        running.shutdown.set()
        await running.ends()


async def test_address_in_use() -> None:
    async with serving() as served:
        with pytest.raises(CannotListenError, match="already in use"):
            await serve(FakeHub(), settings(port=served.port), routes=ROUTES)


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1", "x" * 300])
async def test_addresses_that_cannot_be_bound(host: str) -> None:
    with pytest.raises(CannotListenError, match="cannot listen on"):
        await bind(host, 0)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:"),
        ("localhost", "http://127.0.0.1:"),
        ("0.0.0.0", "http://127.0.0.1:"),
        ("::1", "http://[::1]:"),
    ],
)
async def test_urls(host: str, url: str) -> None:
    if host == "::1" and not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    with await bind(host, 0) as listener:
        assert url_of(listener) == f"{url}{listener.getsockname()[1]}"


async def test_ipv6() -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("no IPv6 here")
    async with serving(host="::1") as served:
        assert (await served.client.get("/health")).status_code == 200


async def test_no_descriptor_is_inheritable(served: Served) -> None:
    """A debuggee that inherited the listener would keep the port."""
    async with await served.open() as stream:
        await stream.send_all(GET + b"\r\n")
        await read_response(stream)
        for name in os.listdir("/dev/fd"):
            if int(name) > 2 and _is_socket(int(name)):
                assert fcntl.fcntl(int(name), fcntl.F_GETFD) & fcntl.FD_CLOEXEC


def _is_socket(descriptor: int) -> bool:
    try:
        return os.readlink(f"/dev/fd/{descriptor}").startswith("socket:")
    except OSError:
        return False


async def test_two_servers_in_one_program(nursery: trio.Nursery, patient: None) -> None:
    first, second = Running(nursery), Running(nursery)
    await first.start()
    await second.start()
    async with await second.open() as stream:
        first.shutdown.set()
        await first.ends()
        await stream.send_all(GET + b"\r\n")
        assert b"200" in await read_response(stream)
    second.shutdown.set()
    await second.ends()


async def test_partial_arguments_are_enough_to_start() -> None:
    async with trio.open_nursery() as nursery:
        url = await nursery.start(partial(serve, FakeHub(), settings(), routes=ROUTES))
        assert url.startswith("http://127.0.0.1:")
        nursery.cancel_scope.cancel()
