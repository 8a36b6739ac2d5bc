"""The sockets that Hypercorn has: the listener is not inherited, connections are read once there is
something, what fits is sent at once, they are gone when their clients are, and they can be cut.

Knows descriptors and Hypercorn's word that it listens. Knows no HTTP.

Waits for: Hypercorn to leave a listener as inheritable as it was given, to let a cancellation end a
send to a client that does not read, to set no timer for a read that has no timeout, and to end the
timer of an idle connection with it. The first is https://github.com/pgjones/hypercorn/issues/345. Of
the rest no issue is known; to be reported: a send of the trio worker is shielded, so that such a client
outlives `graceful_timeout`; each read opens a scope for a time without end, and is tried before the
request is served that came just now; and a client that leaves before its first request has been read
leaves its connection behind for `keep_alive_timeout`.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import hypercorn.trio.run
import trio
from hypercorn.events import Closed, RawData
from hypercorn.trio.tcp_server import TCPServer

from relay.faces.http.listener import Place, place_of
from relay.process.ready_reads import read_when_ready

PIECE_BYTES = 2**16
"""Read at once; as much as Hypercorn reads."""


class ListeningStatus:
    """A task status for Hypercorn, which gives the caller's own the URL once it listens."""

    def __init__(self, task_status: trio.TaskStatus[str], url: str, descriptor: int) -> None:
        self._task_status = task_status
        self._url = url
        self._descriptor = descriptor

    def started(self, binds: Sequence[str]) -> None:
        """Called by Hypercorn with what it believes to have bound."""
        del binds
        # Hypercorn makes the descriptor inheritable, for workers that there are none of;
        # a debuggee that inherited it would keep the port.
        os.set_inheritable(self._descriptor, False)
        self._task_status.started(self._url)


def send_now(send: Any, data: bytes) -> bytes:
    """Send what the connection takes without waiting; gives what is left to be sent in turn.

    `send` is Hypercorn's for this connection.
    """
    server = send.__self__
    if server.send_lock.locked() or not isinstance(server.stream, trio.SocketStream):
        return data
    try:
        return data[os.write(server.stream.socket.fileno(), data) :]
    except OSError:  # full, or broken: whoever sends it in turn learns of it
        return data


class Server(TCPServer):
    """A connection that is read in few steps; as Hypercorn reads it where that may take its time."""

    async def _read_data(self) -> None:
        stream: object = self.stream
        if self.config.read_timeout or not isinstance(stream, trio.SocketStream):
            await super()._read_data()
            return
        while data := await _read(stream):
            await self.protocol.handle(RawData(data))
        await self.protocol.handle(RawData(b""))
        await self.protocol.handle(Closed())
        await self.idle_task.stop()  # of a client that has asked nothing: it would keep the socket


async def _read(stream: trio.SocketStream) -> bytes:
    """What comes next; nothing when the connection has ended, however it did."""
    try:
        return await read_when_ready(stream.socket, PIECE_BYTES)
    except (OSError, trio.ClosedResourceError):
        return b""


def reader(send: Any) -> Callable[[], Awaitable[bytes]]:
    """Reads the connection of Hypercorn's `send`; gives nothing when it has ended, however it did."""

    async def read() -> bytes:
        return await _read(send.__self__.stream)

    return read


def install() -> None:
    """Have Hypercorn's servers read so."""
    hypercorn.trio.run.TCPServer = Server  # type: ignore[attr-defined]


def sever(place: Place) -> int:
    """Shut every connection that was accepted at `place`; gives their number.

    They belong to Hypercorn, which gives no access to them, so they are looked up among
    this process's descriptors.
    """
    return sum(_shut(int(name), place) for name in os.listdir("/dev/fd"))


def _shut(descriptor: int, place: Place) -> bool:
    # Most descriptors are no sockets, or not connected: each of these calls may say so.
    with suppress(OSError):
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return False
        with socket.socket(fileno=os.dup(descriptor)) as connection:
            if _accepted_on(connection, place):
                connection.shutdown(socket.SHUT_RDWR)
                return True
    return False


def _accepted_on(connection: socket.socket, place: Place) -> bool:
    if connection.family not in {socket.AF_INET, socket.AF_INET6, socket.AF_UNIX}:
        return False
    connection.getpeername()
    return place_of(connection) == place
