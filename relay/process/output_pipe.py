"""OutputPipe: the bytes that a program prints, as text in whole lines as far as that goes.

Knows bytes and text. Refuses to know what was printed, who reads it, and when a program has
ended other than by the end of its pipe.
Source: contract, section 6.
"""

from __future__ import annotations

import codecs
import errno
import math
import os
from collections.abc import Callable

import trio

from relay.process.tap import Tap
from relay.redaction.rules import open_from

READ_BYTES = 65_536
DRAIN_BYTES = 1024 * 1024
LONGEST_HELD = 131_072
"""Characters of a line that are held back until its end has come."""

HOLD_SECONDS = 0.01
"""How long the beginning of a line waits for its rest: programs with block-buffered
output write in blocks, which end anywhere."""

BREATH_SECONDS = 0.002
"""Between two reads, unless there was much: a program that writes each dot by itself is read in
pieces, and does not have to wake a reader for each."""

CREDENTIAL_SECONDS = 1.0
"""How long what may be the beginning of a credential waits for its rest."""

Sink = Callable[[str], None]
Mask = Callable[[str], str]
"""Takes each piece of a stream in order, and gives what may be shown of it."""


class OutputPipe:
    """The reading end of a program's stdout or stderr, or the master of its terminal.

    Owns `fd`, which becomes non-blocking. Text is UTF-8; bytes that are not are shown as
    `\\xNN`, and a character that is split between two reads comes whole. Use it either
    for text (`pump`, `drain_now`) or for bytes (`receive_some`), not for both.
    """

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._held = ""
        self._sink: Sink | None = None
        self._tap: tuple[str, Tap] | None = None
        self._mask: Mask | None = None

    def mask(self, mask: Mask) -> None:
        """Give the sinks text without credentials."""
        self._mask = mask

    def tap(self, category: str, tap: Tap) -> None:
        """Give every byte to `tap` as well, and read on only while it has room."""
        self._tap = category, tap

    @property
    def closed(self) -> bool:
        """Whether `close` was called, or `pump` has come to the end."""
        return self._fd < 0

    def fileno(self) -> int:
        """The descriptor; trio.ClosedResourceError when closed."""
        if self._fd < 0:
            raise trio.ClosedResourceError("this output is closed")
        return self._fd

    async def receive_some(self, max_bytes: int = READ_BYTES) -> bytes:
        """The next bytes, waiting for them; empty at the end of the output.

        Raises trio.ClosedResourceError when closed, also by another task meanwhile, and
        trio.BusyResourceError when another task is reading.
        """
        await trio.lowlevel.checkpoint()
        while (data := self._read(max_bytes)) is None:
            await trio.lowlevel.wait_readable(self.fileno())
        return data

    async def pump(self, sink: Sink) -> None:
        """Give the sink all text to the end, then close. Returns early when closed.

        The sink gets whole lines, unless a line is long, or its rest does not come.
        """
        self._sink = sink
        try:
            while data := await self._next_data(sink):
                self._take(data, sink)
                if len(data) < READ_BYTES:
                    await trio.sleep(BREATH_SECONDS)
            self._finish(sink)
        except trio.ClosedResourceError:
            pass
        self.close()

    def drain_now(self, sink: Sink | None = None) -> int:
        """Give the sink what is in the pipe right now, at most 1 MiB; returns the bytes read.

        Also what `pump` has held back. Without a sink, that of the last `pump` is used.
        Never waits; does nothing when closed.
        """
        sink = sink or self._sink
        if self._fd < 0 or sink is None:
            return 0
        total = 0
        while total < DRAIN_BYTES and (data := self._read(READ_BYTES)):
            total += len(data)
            self._take(data, sink)
        if data == b"":
            self._finish(sink)
        self._release(sink)
        return total

    def close(self) -> None:
        """Close the descriptor; a program that writes on gets SIGPIPE. Idempotent."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            trio.lowlevel.notify_closing(fd)
            os.close(fd)

    async def aclose(self) -> None:
        """`close`, as a checkpoint."""
        self.close()
        await trio.lowlevel.checkpoint()

    def _read(self, max_bytes: int) -> bytes | None:
        """None when there is nothing yet."""
        try:
            data = os.read(self.fileno(), max_bytes)
        except BlockingIOError:
            return None
        except OSError as error:
            if error.errno == errno.EIO:  # a terminal whose last user has gone
                return b""
            raise
        if self._tap is not None and data:
            category, tap = self._tap
            tap.put(category, data)
        return data

    async def _next_data(self, sink: Sink) -> bytes:
        if self._tap is not None:
            await self._tap[1].room()
        patience = HOLD_SECONDS
        while True:
            with trio.move_on_after(patience if self._held else math.inf) as holding:
                data = await self.receive_some()
            if not holding.cancelled_caught:
                return data
            if patience == HOLD_SECONDS:
                self._give(self._open_from(self._held), sink)
                patience = CREDENTIAL_SECONDS
            else:
                self._release(sink)

    def _take(self, data: bytes, sink: Sink) -> None:
        self._held += self._decoder.decode(data)
        is_long = len(self._held) > LONGEST_HELD
        self._give(self._open_from(self._held) if is_long else self._held.rfind("\n") + 1, sink)

    def _open_from(self, text: str) -> int:
        return len(text) if self._mask is None else open_from(text)

    def _finish(self, sink: Sink) -> None:
        self._held += self._decoder.decode(b"", final=True)
        self._release(sink)

    def _release(self, sink: Sink) -> None:
        self._give(len(self._held), sink)

    def _give(self, count: int, sink: Sink) -> None:
        """So many characters of what is held, if they are any."""
        text, self._held = self._held[:count], self._held[count:]
        if text and self._mask is not None:
            text = self._mask(text)
        if text:
            sink(text)
