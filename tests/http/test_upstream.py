"""Hypercorn and quart-trio as they come still do what `relay/faces/http/upstream/` is there for.

A test that fails here says that a library has changed: the file that it is about may go.
"""

from __future__ import annotations

import math
import select
import socket
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import h11
import pytest
import trio
import trio.testing
from hypercorn.config import Config
from hypercorn.events import RawData, Updated
from hypercorn.protocol.events import Body, Request, StreamClosed
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.trio import serve
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ConnectionState, LifespanState
from quart_trio import QuartTrio
from quart_trio.asgi import TrioASGIHTTPConnection

from relay.faces.common.asgi import ON_HANG_UP, Message, Receive, Scope, Send
from relay.faces.http import upstream
from tests.http.conftest import read_response


async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that starts and ends when it is told to, and answers nothing else."""
    if scope["type"] == "lifespan":
        for _ in range(2):
            happening = (await receive())["type"]
            await send({"type": f"{happening}.complete"})


@pytest.fixture
async def stock(nursery: trio.Nursery) -> AsyncIterator[trio.SocketStream]:
    """A connection to a server with settings that are not ours."""
    config = Config()
    config.bind = ["127.0.0.1:0"]
    config.errorlog = None
    (bound,) = await nursery.start(partial(serve, nothing, config, mode="asgi"))  # type: ignore[arg-type]
    stream = await trio.open_tcp_stream("127.0.0.1", int(bound.rpartition(":")[2]))
    async with stream:
        yield stream
    nursery.cancel_scope.cancel()


# hypercorn_http1 ------------------------------------------------------------------------


async def test_bytes_that_are_no_request_are_answered_without_a_body(
    stock: trio.SocketStream,
) -> None:
    await stock.send_all(b"this is no request\r\n\r\n")
    answer = await read_response(stock)
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"content-length: 0\r\n" in answer


async def test_a_request_may_change_the_protocol(stock: trio.SocketStream) -> None:
    await stock.send_all(
        b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\n"
        b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"
    )
    assert (await stock.receive_some()).startswith(b"HTTP/1.1 101")


def protocol_of(send: Any, group: Any) -> H11Protocol:
    """That of a connection whose answers `send` takes."""
    return H11Protocol(
        nothing,  # type: ignore[arg-type]
        Config(),
        WorkerContext(None),
        group,
        ConnectionState(LifespanState({})),
        False,
        None,
        None,
        send,
    )


async def test_a_head_is_sent_apart_from_its_body() -> None:
    sent: list[bytes] = []

    async def send(event: Any) -> None:
        sent.append(event.data)

    protocol = protocol_of(send, TaskGroup())
    protocol.connection.receive_data(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    protocol.connection.next_event()
    head = h11.Response(status_code=200, headers=[(b"content-length", b"2")])
    await protocol._send_h11_event(head)
    await protocol._send_h11_event(h11.Data(data=b"{}"))
    assert sent[1:] == [b"{}"]


CLIENTS = 5


async def order_of_answers(config: Config) -> list[str]:
    """Some requests wake together: when each is looked at, and who is answered after its answer."""
    order: list[str] = []
    clients: list[trio.SocketStream] = []
    woken, all_wait, all_sent = trio.Event(), trio.Event(), trio.Event()
    answer = [(b"content-length", b"2")]

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await nothing(scope, receive, send)
            return
        if woken.statistics().tasks_waiting == CLIENTS - 1:
            all_wait.set()
        await woken.wait()
        order.append("woken")
        await send({"type": "http.response.start", "status": 200, "headers": answer})
        await send({"type": "http.response.body", "body": b"{}", "more_body": False})
        sockets = [client.socket.fileno() for client in clients]
        order.append(f"{len(select.select(sockets, [], [], 0)[0])} answered")
        if len(order) == 2 * CLIENTS:
            all_sent.set()

    config.bind, config.errorlog = ["127.0.0.1:0"], None
    async with trio.open_nursery() as nursery:
        (bound,) = await nursery.start(partial(serve, app, config, mode="asgi"))  # type: ignore[arg-type]
        port = int(bound.rpartition(":")[2])
        clients += [await trio.open_tcp_stream("127.0.0.1", port) for _ in range(CLIENTS)]
        for client in clients:
            await client.send_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        with trio.fail_after(30):
            await all_wait.wait()
            woken.set()
            await all_sent.wait()
            for client in clients:
                assert (await read_response(client)).endswith(b"{}")
                await client.aclose()
        nursery.cancel_scope.cancel()
    return order


async def test_those_that_wake_together_are_all_looked_at_before_the_first_is_answered() -> None:
    assert (await order_of_answers(Config()))[:CLIENTS] == ["woken"] * CLIENTS


async def test_ours_are_answered_as_they_wake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream.hypercorn_http1, "WAIT_SECONDS", math.inf)
    upstream.hypercorn_http1.install()
    order = await order_of_answers(upstream.hypercorn_http1.RelayConfig())
    assert order[::2] == ["woken"] * CLIENTS
    assert order[1::2] == [f"{n + 1} answered" for n in range(CLIENTS)]


async def test_what_follows_an_answer_that_was_waited_for_comes_after_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(upstream.hypercorn_http1, "WAIT_SECONDS", 0)
    upstream.hypercorn_http1.install()
    order = await order_of_answers(upstream.hypercorn_http1.RelayConfig())
    assert order == ["woken"] * CLIENTS + [f"{CLIENTS} answered"] * CLIENTS


# hypercorn_plain ------------------------------------------------------------------------


def test_every_request_is_read_by_h11() -> None:
    assert type(protocol_of(None, None).connection) is h11.Connection


# hypercorn_turn -------------------------------------------------------------------------


async def test_nothing_is_read_after_a_second_request_until_the_first_is_answered() -> None:
    handled = 0

    async def send(event: Any) -> None:
        pass

    async def handle(data: bytes) -> None:
        nonlocal handled
        await protocol.handle(RawData(data))
        handled += 1

    request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    protocol = protocol_of(send, Spawned())
    async with trio.open_nursery() as nursery:
        await handle(request)
        nursery.start_soon(handle, request)
        await trio.testing.wait_all_tasks_blocked()
        assert handled == 1
        nursery.cancel_scope.cancel()


# hypercorn_stream -----------------------------------------------------------------------


class Spawned:
    """A task group that keeps what it is given, and starts nothing."""

    def __init__(self) -> None:
        self.tasks = 0
        self.received: list[Message] = []

    def spawn(self, *task: Any) -> None:
        self.tasks += 1

    async def spawn_app(self, app: Any, config: Any, scope: Scope, send: Any) -> Any:
        self.scope = scope
        return self.put

    async def put(self, message: Message) -> None:
        self.received.append(message)


async def test_the_pieces_of_a_body_go_through_a_channel() -> None:
    received: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send, *threads: Any) -> None:
        received.append(await receive())

    async def send(message: Any) -> None:
        pass

    async with TaskGroup() as group:
        put: Any = await group.spawn_app(app, Config(), {}, send)  # type: ignore[arg-type]
        assert isinstance(put.__self__, trio.MemorySendChannel)
        await put({"type": "http.request", "body": b"x", "more_body": False})
    assert [message["body"] for message in received] == [b"x"]


async def test_a_hang_up_is_one_more_message_for_an_app_that_listens() -> None:
    group, sent = Spawned(), []

    async def send(event: Any) -> None:
        sent.append(event)

    stream = HTTPStream(None, Config(), None, group, False, None, None, send, 1)  # type: ignore[arg-type]
    request = Request(
        stream_id=1,
        headers=[(b"host", b"localhost")],
        http_version="1.1",
        method="POST",
        raw_path=b"/",
        state=ConnectionState(LifespanState({})),
    )
    await stream.handle(request)
    await stream.handle(Body(stream_id=1, data=b"x"))
    await stream.handle(StreamClosed(stream_id=1))
    assert [message["type"] for message in group.received] == ["http.request", "http.disconnect"]
    assert ON_HANG_UP not in group.scope
    assert not group.scope["extensions"]


# hypercorn_idle -------------------------------------------------------------------------


async def test_each_pause_between_two_requests_starts_a_task() -> None:
    parts: Any = (nothing, Config(), WorkerContext(None), LifespanState({}), None)
    server = TCPServer(*parts)
    started = 0

    async def idle_timeout() -> None:
        nonlocal started
        started += 1
        await trio.sleep_forever()

    server._idle_timeout = idle_timeout  # type: ignore[method-assign]
    async with TaskGroup() as group:
        server._task_group = group
        for _ in range(3):
            await server.protocol_send(Updated(idle=True))
            await trio.testing.wait_all_tasks_blocked()
            await server.protocol_send(Updated(idle=False))
    assert started == 3


# hypercorn_sockets ----------------------------------------------------------------------


def test_a_listener_becomes_inheritable() -> None:
    with socket.socket() as ours:
        ours.bind(("127.0.0.1", 0))
        ours.set_inheritable(False)
        config = Config()
        config.bind = [f"fd://{ours.fileno()}"]
        (theirs,) = config.create_sockets().insecure_sockets
        theirs.detach()
        assert ours.get_inheritable()


async def test_a_send_outlives_its_cancellation() -> None:
    class Stream:
        async def send_all(self, data: bytes) -> None:
            await trio.lowlevel.checkpoint()
            sent.append(data)

    sent: list[bytes] = []
    parts: Any = (nothing, Config(), WorkerContext(None), LifespanState({}), Stream())
    server = TCPServer(*parts)
    server.send_lock = _Free()  # type: ignore[assignment]
    with trio.CancelScope() as scope:
        scope.cancel()
        await server.protocol_send(RawData(b"x"))
    assert sent == [b"x"]


class _Free:
    """A lock that nobody else wants: taking it is no checkpoint."""

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, *exc_info: object) -> None:
        pass


async def test_each_read_has_a_timer_and_is_tried_before_there_is_anything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Stream:
        async def receive_some(self, most: int) -> bytes:
            scopes.append(trio.current_effective_deadline())
            return b""

    class Protocol:
        async def handle(self, event: Any) -> None:
            pass

    scopes: list[float] = []
    opened = 0
    fail_after = trio.fail_after

    def count(seconds: float) -> Any:
        nonlocal opened
        opened += 1
        return fail_after(seconds)

    monkeypatch.setattr(trio, "fail_after", count)
    parts: Any = (nothing, Config(), WorkerContext(None), LifespanState({}), Stream())
    server = TCPServer(*parts)
    server.protocol = Protocol()  # type: ignore[assignment]
    await server._read_data()
    assert (opened, scopes) == (1, [math.inf])


# hypercorn_disconnect and quart_connection ----------------------------------------------


class Connection:
    """One GET through quart-trio's own class, whose client is gone after the answer."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.listened = 0
        self.recycled = False
        self._answered = trio.Event()

    async def receive(self) -> Message:
        self.listened += 1
        if self.listened == 1:
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._answered.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        if message["type"] == "http.response.body" and not message["more_body"]:
            self._answered.set()
            await trio.testing.wait_all_tasks_blocked()  # here Hypercorn recycles the connection
            self.recycled = True

    async def run(self) -> None:
        app = QuartTrio("stock", static_folder=None)
        app.add_url_rule("/", view_func=self._view)
        scope: Any = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": "/",
            "query_string": b"",
            "root_path": "",
            "headers": [(b"host", b"localhost")],
        }
        await TrioASGIHTTPConnection(app, scope)(self.receive, self.send)  # type: ignore[arg-type]

    async def _view(self) -> str:
        return "{}"


async def test_a_disconnect_after_the_answer_cancels_who_recycles_the_connection() -> None:
    connection = Connection()
    await connection.run()
    assert not connection.recycled


async def test_a_finished_body_is_sent_in_two_messages_and_a_task_listens() -> None:
    connection = Connection()
    await connection.run()
    bodies = [m for m in connection.sent if m["type"] == "http.response.body"]
    assert [(m["body"], m["more_body"]) for m in bodies] == [(b"{}", True), (b"", False)]
    assert connection.listened == 2


def test_every_file_says_what_it_waits_for_and_is_in_the_map() -> None:
    (folder,) = map(Path, upstream.__path__)
    files = {path.stem: path.read_text() for path in folder.glob("[!_]*.py")}
    assert files
    for name, text in files.items():
        awaited = " ".join(text.partition("Waits for: ")[2].partition('"""')[0].split())
        assert awaited, name
        assert (
            "https://github.com/" in awaited or "o issue is known; to be reported: " in awaited
        ), name
        assert f"`{name}`" in str(upstream.__doc__)
