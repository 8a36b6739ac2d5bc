"""The kernel's table of TCP sockets. Source: Linux, Documentation/networking/proc_net_tcp.rst."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

LISTENS = b"0A"
NOBODYS = b"0"
"""The inode of a socket that nobody has any more; its user is said to be 0."""


Family = Literal["tcp", "tcp6"]


class SocketRow(NamedTuple):
    """One socket; its ends are as they stand in the table: address, colon, port, as hexadecimal digits."""

    local: bytes
    remote: bytes
    state: bytes
    user: int
    inode: bytes


def rows(table: Family) -> Iterator[SocketRow]:
    """Each socket of one family; none where the system has no such table."""
    return map(_row, _text(table).splitlines()[1:])


def rows_between(table: Family, local: bytes, remote: bytes) -> Iterator[SocketRow]:
    """Those with just these ends. What has ended stays in the table for a minute: they may be many."""
    text, ends = _text(table), b": %b %b " % (local, remote)
    while (at := text.find(ends)) >= 0:
        text = text[text.rfind(b"\n", 0, at) + 1 :]
        line, _, text = text.partition(b"\n")
        yield _row(line)


def _text(table: Family) -> bytes:
    try:
        with open(f"/proc/net/{table}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _row(line: bytes) -> SocketRow:
    fields = line.split()
    return SocketRow(fields[1], fields[2], fields[3], int(fields[7]), fields[9])
