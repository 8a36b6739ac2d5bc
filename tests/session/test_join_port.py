"""Where children come to be debugged: it stays open while there is any way, and closes in peace."""

from __future__ import annotations

import resource
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

import pytest
import trio
import trio.testing

from relay.session.children.join_port import JoinPort
from tests.e2e.served import until


@pytest.fixture
async def port() -> AsyncIterator[JoinPort]:
    port = JoinPort()
    await port.open()
    yield port
    port.close()


def closes(peers: list[int]) -> Callable[[trio.socket.SocketType, int], None]:
    def come_in(peer: trio.socket.SocketType, pid: int) -> None:
        peer.close()
        peers.append(pid)

    return come_in


async def test_who_waits_there_is_let_go_as_it_closes(port: JoinPort) -> None:
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(port.admit, closes([]))
            await trio.testing.wait_all_tasks_blocked()
            port.close()


@contextmanager
def no_descriptors_left() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_child_that_no_descriptor_is_left_for_comes_in_when_there_is_one(
    port: JoinPort, nursery: trio.Nursery, caplog: pytest.LogCaptureFixture
) -> None:
    came: list[int] = []
    nursery.start_soon(port.admit, closes(came))
    with trio.socket.socket(trio.socket.AF_UNIX) as child:
        with no_descriptors_left():
            await child.connect(port.path)
            await until(lambda: "Too many open files" in caplog.text, "nobody says why")
        await until(lambda: bool(came), "it does not come in")
    port.close()
