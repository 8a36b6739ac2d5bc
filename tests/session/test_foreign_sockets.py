"""Sockets of other processes that are told to send at once."""

from __future__ import annotations

import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from relay.debuggers.debugpy.processes import obstacle_to_tracing
from relay.process.foreign_sockets import hasten_behind

pytestmark = pytest.mark.skipif(
    obstacle_to_tracing() is not None, reason="this user may not trace other processes"
)

SERVER = """
    import socket
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    kept = [listener.accept() for _ in range(2)]
    input()
"""
CLIENT = """
    import socket, sys
    connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    print("connected", flush=True)
    while input() == "?":
        print(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), flush=True)
"""


class Peer:
    """A program that answers in lines."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.pid = process.pid
        self._process = process

    def line(self, said: str | None = None) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if said is not None:
            print(said, file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip()


@contextmanager
def peer(code: str, *arguments: str) -> Iterator[Peer]:
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield Peer(process)
        finally:
            process.kill()


def test_clients_of_the_process_that_is_meant_send_at_once_and_no_others() -> None:
    with ExitStack() as stack:
        meant, other = (stack.enter_context(peer(SERVER)) for _ in range(2))
        port, others = meant.line(), other.line()
        client, stranger = (stack.enter_context(peer(CLIENT, at)) for at in (port, others))
        own = stack.enter_context(socket.create_connection(("127.0.0.1", int(port))))
        assert client.line() == stranger.line() == "connected"

        assert hasten_behind(int(port), lambda pid: pid == other.pid) == 0
        assert client.line("?") == "0"
        assert hasten_behind(int(port), lambda pid: pid == meant.pid) == 1
        assert client.line("?") == "1"
        assert stranger.line("?") == "0"
        assert own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0
        assert hasten_behind(int(port), lambda pid: pid == meant.pid) == 1


def test_where_nothing_listens_nothing_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert hasten_behind(port, lambda pid: True) == 0
