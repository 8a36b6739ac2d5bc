"""The listening socket, and the connections accepted from it.

Knows socket options and descriptors. Knows no HTTP.
"""

from __future__ import annotations

import errno
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import trio

from relay.faces.common.local_url import local_url

BACKLOG = 1024

SOCKET_MODE = 0o600

Place: TypeAlias = int | str
"""A TCP port, or the path of a Unix socket."""

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


def bind_unix(path: Path) -> socket.socket:
    """A listening Unix socket that its owner alone may connect to.

    One that was left behind is replaced, if nobody listens on it. Raises CannotListenError.
    """
    path = path.expanduser().absolute()
    try:
        _make_way(path)
        return _listen_unix(path)
    except OSError as error:
        why = error.strerror or str(error)
        raise CannotListenError(error.errno, f"cannot listen on {path}: {why}") from error


def _make_way(path: Path) -> None:
    """Remove the socket of a relay that is gone; raises OSError if something else is there."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise OSError(errno.EEXIST, "there is a file of that name, which is no socket")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
        except BlockingIOError:  # its queue is full: somebody is there
            pass
    raise OSError(errno.EADDRINUSE, "somebody listens there already; is it another relay?")


def _listen_unix(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(str(path))
        # Nobody can connect before `listen`, so nobody slips in before the mode is set.
        path.chmod(SOCKET_MODE)
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


@contextmanager
def owned(listener: socket.socket) -> Iterator[None]:
    """While open, the listener's file is ours; it is removed at the end, unless replaced."""
    if listener.family != socket.AF_UNIX:
        yield
        return
    path = Path(listener.getsockname())
    ours = _identity(path)
    try:
        yield
    finally:
        with suppress(OSError):
            if _identity(path) == ours:
                path.unlink()


def _identity(path: Path) -> tuple[int, int]:
    found = path.lstat()
    return found.st_dev, found.st_ino


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
    if listener.family == socket.AF_UNIX:
        return f"unix:{listener.getsockname()}"
    host, port = listener.getsockname()[:2]
    return local_url(host, port)


def place_of(listener: socket.socket) -> Place:
    """What connections accepted from the listener have as their own address: port or path."""
    address = listener.getsockname()
    return str(address) if listener.family == socket.AF_UNIX else int(address[1])
