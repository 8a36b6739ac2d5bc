"""Sockets of another process on this machine, told to send at once.

Who writes the head and the body of a message apart, and has not set TCP_NODELAY, sends the second when
the first is acknowledged: on loopback 40 ms later. The kernel lends a descriptor of another process to
whoever may trace it; a socket's options are those of the socket, whoever sets them. Nothing the
process can tell is changed by this one. Source: pidfd_getfd(2), tcp(7), from Linux 5.6 on.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
from collections.abc import Callable, Iterator, Set

from relay.process.tcp_table import LISTENS, rows

_PIDFD_GETFD = 438  # the same on every architecture that is younger than the call

_libc = ctypes.CDLL(None, use_errno=True)


def hasten_behind(port: int, is_meant: Callable[[int], bool]) -> int:
    """Have those who are connected to the process that listens on `port` here send at once.

    `is_meant` is asked for that process's id: others keep their clients as they are. Returns how many sockets were told so. Those of processes that this one may not trace are left as
    they are. Looks through the descriptors of all processes: not to be waited for in the event loop.
    """
    if not hasattr(os, "pidfd_open"):
        return 0
    sockets = [*rows("tcp"), *rows("tcp6")]
    holders = _holders({row.inode for row in sockets})
    servers = {
        pid
        for row in sockets
        if row.state == LISTENS and row.local.endswith(b":%04X" % port)
        for pid, _ in holders.get(row.inode, ())
        if is_meant(pid)
    }
    far_ends = {
        (row.remote, row.local)
        for row in sockets
        if any(pid in servers for pid, _ in holders.get(row.inode, ()))
    }
    others = [
        (pid, descriptor)
        for row in sockets
        if (row.local, row.remote) in far_ends
        for pid, descriptor in holders.get(row.inode, ())
        if pid not in servers and pid != os.getpid()
    ]
    return sum(_hasten(*other) for other in others)


def _holders(inodes: Set[bytes]) -> dict[bytes, list[tuple[int, int]]]:
    """Who has each of these sockets: process id and descriptor."""
    found: dict[bytes, list[tuple[int, int]]] = {}
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has gone, or is not to be looked into
            for descriptor in os.listdir(f"/proc/{pid}/fd"):
                target = os.readlink(f"/proc/{pid}/fd/{descriptor}".encode())
                if target.startswith(b"socket:[") and target[8:-1] in inodes:
                    found.setdefault(target[8:-1], []).append((int(pid), int(descriptor)))
    return found


def _hasten(pid: int, descriptor: int) -> bool:
    try:
        with _borrowed(pid, descriptor) as borrowed:
            borrowed.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:  # it has gone, or its descriptor has; or this process has no right to it
        return False
    return True


@contextlib.contextmanager
def _borrowed(pid: int, descriptor: int) -> Iterator[socket.socket]:
    process = os.pidfd_open(pid)
    try:
        ours = _libc.syscall(_PIDFD_GETFD, process, descriptor, 0)
    finally:
        os.close(process)
    if ours < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    with socket.socket(fileno=ours) as borrowed:  # closes the copy, and not the connection
        yield borrowed
