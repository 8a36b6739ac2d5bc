"""OutputPipe and OutputLog: from a program's bytes to numbered lines, nothing lost.

Knows bytes, text and lines. Refuses to know what was printed, who reads it, and when a
program has ended other than by the end of its pipe.
Source: contract, section 6.
"""

from __future__ import annotations

import codecs
import errno
import io
import math
import os
import sys
from collections.abc import Callable
from datetime import datetime
from functools import partial
from itertools import repeat
from typing import NamedTuple

import trio

from relay.debuggers.debugpy.debuggee.probe.credentials import open_from
from relay.process.tap import Tap
from relay.session.clock import utc_now
from relay.session.output_mask import OutputMask
from relay.session.shelf import Shelf
from relay.session.waiters import Waiters

READ_BYTES = 65_536
DRAIN_BYTES = 1024 * 1024
LONGEST_PIECE = 65_536
"""Characters of one entry; longer lines come as several."""

ENTRY_OVERHEAD = 120
"""Bytes that an entry takes besides its text, about."""

TRIM_ENTRIES = 256
"""Entries that are looked at together when the oldest must go."""

HOLD_SECONDS = 0.01
"""How long the beginning of a line waits for its rest: programs with block-buffered
output write in blocks, which end anywhere."""

CREDENTIAL_SECONDS = 1.0
"""How long what may be the beginning of a credential waits for its rest."""

Sink = Callable[[str], None]


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
        self._mask: OutputMask | None = None

    def mask(self, mask: OutputMask) -> None:
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
        is_long = len(self._held) > LONGEST_PIECE * 2
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


class Entry(NamedTuple):
    """One line of output with its newline, or a part of one."""

    seq: int
    category: str
    output: str
    timestamp: datetime
    source: str | None
    line: int | None


_make_entry: Callable[[tuple[object, ...]], Entry] = partial(tuple.__new__, Entry)
"""Entry(*row), without a Python call for each: a flood has millions."""


class OutputPage(NamedTuple):
    """What a reader gets.

    `next_seq` is the `after` of the next read; `dropped` counts the entries, of any
    category, that the cap took between the reader's `after` and the first still there.
    """

    entries: list[Entry]
    next_seq: int
    has_more: bool
    dropped: int


class OutputLog:
    """What a session printed, in entries numbered from 1 without gaps.

    Holds at most `limit_bytes`, counting UTF-8 text and ENTRY_OVERHEAD an entry; the
    oldest go first, the newest entry is always kept.
    """

    # Invariant: every entry of _all is in the shelf of its category too, and _bytes is
    # the sum of their sizes.

    def __init__(self, limit_bytes: int = 16 * 1024 * 1024) -> None:
        self.limit_bytes = limit_bytes
        self.last_seq = 0
        self._all: Shelf[Entry] = Shelf()
        self._by_category: dict[str, Shelf[Entry]] = {}
        self._bytes = 0
        self._cleared = 0
        self.dropped = 0  # entries that the cap has taken
        self._waiters = Waiters()

    def append(
        self, category: str, text: str, source: str | None = None, line: int | None = None
    ) -> list[Entry]:
        """Add text, one entry a line; returns the entries."""
        seqs = range(self.last_seq + 1, sys.maxsize)
        rows = zip(
            seqs,
            repeat(category),
            split_lines(text),
            repeat(utc_now()),
            repeat(source),
            repeat(line),
            strict=False,
        )
        entries = list(map(_make_entry, rows))
        self.last_seq += len(entries)
        self._all.extend(entries)
        self._shelf(category).extend(entries)
        self._bytes += ENTRY_OVERHEAD * len(entries) + _size(text)
        if self._bytes > self.limit_bytes:
            self._trim()
        self._waiters.wake(category)
        return entries

    def read(self, after: int, limit: int = 100, category: str | None = None) -> OutputPage:
        """Up to `limit` (at least 1) entries numbered above `after`, of `category` if given."""
        after = min(max(after, 0), self.last_seq)
        limit = max(limit, 1)
        shelf = self._all if category is None else self._by_category.get(category)
        found = shelf.after(after, limit + 1) if shelf else []
        has_more = len(found) > limit
        del found[limit:]
        next_seq = found[-1].seq if has_more else self.last_seq
        return OutputPage(found, next_seq, has_more, self._dropped(after))

    def last(self, after: int, limit: int, category: str) -> list[Entry]:
        """The newest `limit` (from 1) entries of `category` numbered above `after`."""
        shelf = self._by_category.get(category)
        return shelf.last(after, limit) if shelf else []

    async def wait(self, after: int, *, category: str | None = None) -> None:
        """Until there is an entry above `after`, of `category` if given. A checkpoint."""
        await trio.lowlevel.checkpoint()
        kinds = None if category is None else frozenset({category})
        while not self.read(after, 1, category).entries:
            await self._waiters.wait(kinds)

    def clear(self) -> None:
        """Forget everything. Numbers go on; cleared entries do not count as dropped."""
        self._cleared = self.last_seq
        self._all.clear()
        self._by_category.clear()
        self._bytes = 0

    def set_limit(self, limit_bytes: int) -> None:
        """Hold at most so much from now on; what is too much goes at once."""
        self.limit_bytes = limit_bytes
        self._trim()

    @property
    def size(self) -> int:
        """Bytes held, as they count against `limit_bytes`."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._all)

    def _shelf(self, category: str) -> Shelf[Entry]:
        shelf = self._by_category.get(category)
        if shelf is None:
            shelf = self._by_category[category] = Shelf()
        return shelf

    def _trim(self) -> None:
        while self._bytes > self.limit_bytes and len(self._all) > 1:
            excess = self._bytes - self.limit_bytes
            enough = excess // ENTRY_OVERHEAD + 1
            self._drop(self._all.after(0, min(enough, TRIM_ENTRIES, len(self._all) - 1)))

    def _drop(self, oldest: list[Entry]) -> None:
        """Drop from `oldest` as many as must go, at least one."""
        excess = self._bytes - self.limit_bytes
        for last in oldest:
            excess -= ENTRY_OVERHEAD + _size(last.output)
            if excess <= 0:
                break
        self._bytes = self.limit_bytes + excess
        self.dropped += last.seq - oldest[0].seq + 1
        for shelf in (self._all, *self._by_category.values()):
            shelf.drop_through(last.seq)

    def _dropped(self, after: int) -> int:
        if not self._all:
            return 0
        return max(0, self._all.first.seq - 1 - max(after, self._cleared))


def split_lines(text: str) -> list[str]:
    """Lines with their newlines, none over LONGEST_PIECE characters.

    Only `\\n` ends a line: str.splitlines also splits at form feeds and the like.
    """
    if len(text) <= LONGEST_PIECE and text.find("\n") in (-1, len(text) - 1):
        return [text] if text else []
    pieces = io.StringIO(text, newline="\n").readlines()
    if len(text) <= LONGEST_PIECE:
        return pieces
    return [
        piece[start : start + LONGEST_PIECE]
        for piece in pieces
        for start in range(0, len(piece), LONGEST_PIECE)
    ]


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
