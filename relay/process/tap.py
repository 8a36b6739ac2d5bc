"""Tap: what a program prints, byte for byte and as it comes, for one who passes it on.

Logs hold text, within a cap; who passes output on wants every byte, and the program to wait
while nobody takes them, as it would with a pipe of its own. Knows no program and no reader.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import trio

ROOM_BYTES = 1024 * 1024
"""As much may wait to be taken; then the program's pipes are not read until some of it is."""


class Piece(NamedTuple):
    """Some bytes of stdout or stderr."""

    category: str
    data: bytes


class Tap:
    """Bytes of several streams, in the order in which they were read. One taker."""

    # Invariant: _waiting is the number of bytes in _pieces; of _put bytes in all, _out
    # have been taken, and _dealt dealt with.

    def __init__(self) -> None:
        self._pieces: deque[Piece] = deque()
        self._waiting = 0
        self._put = self._out = self._dealt = 0
        self._closed = False
        self._news = trio.Event()
        self._taken = trio.Event()

    def put(self, category: str, data: bytes) -> None:
        """Add what was read. Never waits."""
        self._pieces.append(Piece(category, data))
        self._waiting += len(data)
        self._put += len(data)
        self._news.set()

    async def room(self) -> None:
        """Until little enough waits that more may be read."""
        while self._waiting > ROOM_BYTES and not self._closed:
            await self._taken.wait()

    async def take(self) -> Piece | None:
        """The next bytes, waiting for them; None once closed and empty.

        To ask again says that the piece before has been dealt with.
        """
        self._dealt = self._out
        self._stir()
        while not self._pieces:
            if self._closed:
                return None
            self._news = trio.Event()
            await self._news.wait()
        piece = self._next()
        self._waiting -= len(piece.data)
        self._out += len(piece.data)
        return piece

    def _next(self) -> Piece:
        """All that waits of one stream before the other's turn: a write of each dot is dear."""
        category, data = self._pieces.popleft()
        together = [data]
        while self._pieces and self._pieces[0].category == category:
            together.append(self._pieces.popleft().data)
        return Piece(category, b"".join(together))

    async def dealt_with(self) -> None:
        """Until everything that was put so far has been taken and dealt with, whatever comes meanwhile."""
        so_far = self._put
        while self._dealt < so_far:
            await self._taken.wait()

    def close(self) -> None:
        """Nothing more will be put; what is there can still be taken."""
        self._closed = True
        self._news.set()
        self._stir()

    def _stir(self) -> None:
        taken, self._taken = self._taken, trio.Event()
        taken.set()
