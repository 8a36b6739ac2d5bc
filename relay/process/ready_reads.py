"""Reads of a socket once there is something to read.

trio tries to read first, and waits if that fails. Who waits for the next message has just handed
on the one before: trying is in vain then, and comes before what was handed on is looked at.
"""

from __future__ import annotations

import contextlib
import os

import trio


async def read_when_ready(sock: trio.socket.SocketType, max_bytes: int) -> bytes:
    """What comes next, at most so much; nothing at the end, or where this side has closed it.

    Raises OSError for a broken connection, and trio.ClosedResourceError if it is closed meanwhile.
    """
    while (descriptor := sock.fileno()) >= 0:
        await trio.lowlevel.wait_readable(descriptor)
        if sock.fileno() != descriptor:  # closed since it was ready: the number may be another's
            break
        with contextlib.suppress(BlockingIOError):
            return os.read(descriptor, max_bytes)
    return b""
