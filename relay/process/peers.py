"""Whose process is at the other end of a loopback connection, as the kernel's table says.

A port of 127.0.0.1 is open to every user of the machine, and TCP has no SO_PEERCRED.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Any, Protocol

from relay.process.tcp_table import LISTENS, NOBODYS, Family, rows, rows_between

ROOT = 0

_LOOKS = 3
"""At the table, which is read in pieces: an end that moves meanwhile from one to another is missed."""


class ConnectedSocket(Protocol):
    """A socket that is connected; trio's or the standard library's."""

    def getpeername(self) -> Any:
        """Address and port of the other end."""

    def getsockname(self) -> Any:
        """Those of this end."""


def is_own_peer(connection: ConnectedSocket) -> bool:
    """Whether the peer is a process of this user, or of root; also False where nobody says it."""
    return user_of_peer(connection) in (os.geteuid(), ROOT)


def user_of_peer(connection: ConnectedSocket) -> int | None:
    """The user id of who has made the other end of an IPv4 connection within this machine.

    None if that is not known: the peer is elsewhere or has left, or the system has no such table.
    """
    try:
        return user_between(connection.getpeername(), connection.getsockname())
    except OSError:
        return None


def user_between(peer: tuple[str, int], own: tuple[str, int]) -> int | None:
    """The same of a connection from address and port `peer` to `own`."""
    try:
        ends = [_as_in_table(peer), _as_in_table(own)]
    except OSError:
        return None
    looks = (_user_in_table(*ends) for _ in range(_LOOKS))
    return next((user for user in looks if user is not None), None)


def lists_listener(listener: socket.socket) -> bool:
    """Whether the table has this listening IPv4 socket as this user's: else it is not to be asked."""
    try:
        own = _as_in_table(listener.getsockname())
    except OSError:
        return False
    wanted = own, LISTENS, os.geteuid()
    return any((row.local, row.state, row.user) == wanted for row in rows("tcp"))


def _user_in_table(*ends: bytes) -> int | None:
    # A socket of both families that speaks IPv4 is in the second.
    tables: list[tuple[Family, bytes]] = [("tcp", b""), ("tcp6", _mapped())]
    for table, prefix in tables:
        local, remote = (prefix + end for end in ends)
        for row in rows_between(table, local, remote):
            if row.inode != NOBODYS:
                return row.user
    return None


def _as_in_table(address: tuple[str, int]) -> bytes:
    """The four bytes as the machine's own number, then the port."""
    number = int.from_bytes(socket.inet_aton(address[0]), sys.byteorder)
    return b"%08X:%04X" % (number, address[1])


def _mapped() -> bytes:
    """What stands before an IPv4 address in the table of IPv6."""
    return b"%016X%08X" % (0, int.from_bytes(b"\0\0\xff\xff", sys.byteorder))
