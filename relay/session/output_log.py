"""OutputLog: what the programs of a session printed, as numbered lines, nothing lost.

Knows text and lines. Refuses to know who prints them, and who reads them.
Source: contract, section 6.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from datetime import datetime
from functools import partial
from itertools import repeat
from typing import NamedTuple

import trio

from relay.session.clock import utc_now
from relay.session.shelf import Shelf
from relay.session.waiters import Waiters

LONGEST_PIECE = 65_536
"""Characters of one entry; longer lines come as several."""

ENTRY_OVERHEAD = 120
"""Bytes that an entry takes besides its text, about."""

TRIM_ENTRIES = 256
"""Entries that are looked at together when the oldest must go."""


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


class OutputSlice(NamedTuple):
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
        self._dropped_of: dict[str, int] = {}
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

    def read(self, after: int, limit: int = 100, category: str | None = None) -> OutputSlice:
        """Up to `limit` (at least 1) entries numbered above `after`, of `category` if given."""
        after = min(max(after, 0), self.last_seq)
        limit = max(limit, 1)
        shelf = self._all if category is None else self._by_category.get(category)
        found = shelf.after(after, limit + 1) if shelf else []
        has_more = len(found) > limit
        del found[limit:]
        next_seq = found[-1].seq if has_more else self.last_seq
        return OutputSlice(found, next_seq, has_more, self._dropped(after))

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

    def dropped_of(self, category: str) -> int:
        """How many entries of one category the cap has taken, from the first on."""
        return self._dropped_of.get(category, 0)

    def is_whole(self, after: int) -> bool:
        """Whether all entries above `after` are still there."""
        return self._cleared <= after and not self._dropped(after)

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
        self._all.drop_through(last.seq)
        for category, shelf in self._by_category.items():
            gone = shelf.drop_through(last.seq)
            self._dropped_of[category] = self.dropped_of(category) + gone

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
