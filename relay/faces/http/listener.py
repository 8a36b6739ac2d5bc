"""The listening socket, and the connections accepted from it.

Knows socket options and descriptors. Knows no HTTP.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
from contextlib import suppress

import trio

BACKLOG = 1024

STALLED_MILLISECONDS = 30_000
"""A client that acknowledges nothing for so long is taken for dead."""


class CannotListenError(OSError):
    """The address cannot be bound; the text says why, and what to do."""


async def bind(host: str, port: int) -> socket.socket:
    """A listening TCP socket; connections accepted from it inherit its options.

    A name is resolved, IPv4 first. Raises CannotListenError.
    """
    try:
        found = await trio.socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, _, _, _, address = min(found, key=lambda item: item[0] != socket.AF_INET)
        return _listen(socket.AddressFamily(family), address)
    except (OSError, UnicodeError) as error:
        raise _explain(host, port, error) from error


def _listen(family: socket.AddressFamily, address: tuple[object, ...]) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_MILLISECONDS)
        listener.bind(address)
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def _explain(host: str, port: int, error: Exception) -> CannotListenError:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    number = getattr(error, "errno", None)
    return CannotListenError(number, f"cannot listen on {host}:{port}: {why}; {_way_out(number)}")


def _way_out(number: int | None) -> str:
    if number == errno.EADDRINUSE:
        return "is another relay running there? Choose another port, or 0 for a free one"
    if number == errno.EACCES:
        return "ports below 1024 may be reserved: choose another port, or 0 for a free one"
    return "choose an address of this machine, such as 127.0.0.1"


def url_of(listener: socket.socket) -> str:
    """The URL under which a client on this machine reaches the listener."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def sever(port: int) -> int:
    """Shut every connection that was accepted on `port`; gives their number.

    They belong to Hypercorn, which gives no access to them, so they are looked up among
    this process's descriptors.
    """
    return sum(_shut(int(name), port) for name in os.listdir("/dev/fd"))


def _shut(descriptor: int, port: int) -> bool:
    # Most descriptors are no sockets, or not connected: each of these calls may say so.
    with suppress(OSError):
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return False
        with socket.socket(fileno=os.dup(descriptor)) as connection:
            if _accepted_on(connection, port):
                connection.shutdown(socket.SHUT_RDWR)
                return True
    return False


def _accepted_on(connection: socket.socket, port: int) -> bool:
    if connection.family not in {socket.AF_INET, socket.AF_INET6}:
        return False
    connection.getpeername()
    return bool(connection.getsockname()[1] == port)
