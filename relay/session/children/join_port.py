"""JoinPort: where the children of one program come to be debugged, and which process each of them is.

A Unix socket in a directory that only the relay's user can enter: nobody else can connect, and
the kernel says who did. Nothing of it is left once it is closed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import struct
from collections.abc import Callable

import trio

from relay.process.accepting import accept_peer
from relay.process.private_directory import private_directory

_CREDENTIALS = struct.Struct("3i")


class JoinPort:
    """Listens from the start until `close`."""

    def __init__(self) -> None:
        self._directory = private_directory()
        self.path = str(self._directory / "join")
        self._listener = trio.socket.socket(socket.AF_UNIX)

    async def open(self) -> None:
        """Make the socket; who connects from now on is not refused. Raises OSError."""
        await self._listener.bind(self.path)
        self._listener.listen(socket.SOMAXCONN)

    async def admit(self, come_in: Callable[[trio.socket.SocketType, int], None]) -> None:
        """Call `come_in` with socket and process id of each who connects, until it is closed."""
        with contextlib.suppress(trio.ClosedResourceError):
            while True:
                peer = await accept_peer(self._listener)
                pid, uid, _ = _CREDENTIALS.unpack(
                    peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
                )
                if uid in (os.geteuid(), 0):
                    come_in(peer, pid)
                else:
                    peer.close()

    def close(self) -> None:
        """Take the socket away. Idempotent."""
        self._listener.close()
        shutil.rmtree(self._directory, ignore_errors=True)
