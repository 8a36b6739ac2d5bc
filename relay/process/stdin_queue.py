"""StdinQueue: what the program is to read, held until it reads it, within a bound.

Knows bytes, their order and the end of them. Refuses to know who asks for them (see
`stdin_watch.py`). Offering never waits: a program that does not read holds up nobody.
Source: contract, section 6.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import trio

from relay.process.streams import ProgramInput

QUEUE_BYTES = 16 * 1024 * 1024
"""Bytes that may wait for a program that does not read: any one request fits."""

ITEM_OVERHEAD = 64
"""Bytes that each offer counts besides its data, so that tiny ones are bounded, too."""

PIECE = 65_536

MOST_REMEMBERED = 1024 * 1024
"""Bytes that are kept of what was given, so that another run can be given them, too."""


class QueueFull(Exception):
    """More would wait than QUEUE_BYTES. `waiting` bytes have not been read."""

    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting} bytes wait already")
        self.waiting = waiting


class StdinQueue:
    """The way into one program's standard input.

    `on_written` gets what has gone into the pipe, the moment it has; `on_end` is called
    when the end of the input has; `on_lost` gets the number of bytes that can not be
    written any more, because the program has closed its end.
    """

    # Invariant: _waiting is the number of bytes in _pieces.

    def __init__(
        self,
        pipe: ProgramInput,
        on_written: Callable[[bytes], None],
        on_end: Callable[[], None],
        on_lost: Callable[[int], None],
    ) -> None:
        self._pipe = pipe
        self._on_written = on_written
        self._on_end = on_end
        self._on_lost = on_lost
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._ending = False
        self._broken = False
        self._news = trio.Event()
        self._less = trio.Event()
        self._given: bytearray | None = bytearray()

    @property
    def given(self) -> bytes | None:
        """Everything that was offered; None if it was more than MOST_REMEMBERED."""
        return None if self._given is None else bytes(self._given)

    @property
    def is_ended(self) -> bool:
        """Whether the end of the input was offered, too."""
        return self._ending

    @property
    def waiting(self) -> int:
        """Bytes that have not gone into the pipe yet."""
        return self._waiting

    def offer(self, data: bytes, *, end: bool = False) -> None:
        """Write `data` as soon as the program takes it, and then, if asked, end of file.

        Raises trio.ClosedResourceError when the input was ended or let go, and
        trio.BrokenResourceError when nobody can read it any more; QueueFull, and
        nothing is taken, when too much waits.
        """
        if self._broken:
            raise trio.BrokenResourceError("nobody reads this input")
        if self._ending or self._pipe.closed:
            raise trio.ClosedResourceError("this input has ended")
        taken = self._waiting + ITEM_OVERHEAD * len(self._pieces)
        if taken + len(data) + ITEM_OVERHEAD > QUEUE_BYTES:
            raise QueueFull(self._waiting)
        self._remember(data)
        rest = data if self._pieces else self._write_now(data)
        self._pieces.extend(rest[start : start + PIECE] for start in range(0, len(rest), PIECE))
        self._waiting += len(rest)
        self._ending = end
        if end and not self._pieces:
            self._end()
        self._news.set()

    def _remember(self, data: bytes) -> None:
        if self._given is not None:
            self._given += data
            if len(self._given) > MOST_REMEMBERED:
                self._given = None

    async def room(self) -> None:
        """Until nothing waits, or nobody can read it any more."""
        while self._pieces and not self._pipe.closed:
            await self._less.wait()

    async def run(self) -> None:
        """Write what waits, until the end of the input. One task only."""
        try:
            while not self._pipe.closed:
                if self._pieces:
                    await self._write_first()
                elif self._ending:
                    self._end()
                else:
                    self._news = trio.Event()
                    await self._news.wait()
        except trio.BrokenResourceError:
            self._break()
        except trio.ClosedResourceError:
            self._pieces.clear()
            self._waiting = 0
            self._stir()

    def _stir(self) -> None:
        """Some has gone: who waits for room looks again."""
        less, self._less = self._less, trio.Event()
        less.set()

    def _write_now(self, data: bytes) -> bytes:
        """What does not fit into the pipe just now."""
        written = 0
        try:
            while written < len(data):
                count = self._pipe.send_now(memoryview(data)[written:])
                if not count:
                    break
                written += count
        except trio.BrokenResourceError:
            self._broken = True
            raise
        if written:
            self._on_written(data[:written])
        return data[written:]

    async def _write_first(self) -> None:
        piece = self._pieces[0]
        await self._pipe.send_all(piece)
        self._pieces.popleft()
        self._waiting -= len(piece)
        self._on_written(piece)
        self._stir()

    def _end(self) -> None:
        self._pipe.close()
        self._on_end()

    def _break(self) -> None:
        self._broken = True
        lost, self._waiting = self._waiting, 0
        self._pieces.clear()
        self._stir()
        self._on_lost(lost)
