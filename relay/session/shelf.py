"""Shelf: things with rising numbers, added at one end, dropped at the other, found by number.

Knows order. Refuses to know what is on it, and when something has to go.

A list with a moving head rather than a deque: a page from the middle of a million
entries must not cost a walk to it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar


class Numbered(Protocol):
    """An item of a shelf: `seq` is its number, greater than that of the one before."""

    @property
    def seq(self) -> int: ...


T = TypeVar("T", bound=Numbered)

_seq = attrgetter("seq")
_COMPACT_FROM = 512


class Shelf(Generic[T]):
    """Items in the order of their `seq`."""

    # Invariant: _items[:_head] are None, _items[_head:] are items, seq rising.
    __slots__ = ("_head", "_items")

    def __init__(self) -> None:
        self._items: list[Any] = []
        self._head = 0

    def __len__(self) -> int:
        return len(self._items) - self._head

    def __iter__(self) -> Iterator[T]:
        return iter(self._items[self._head :])

    @property
    def first(self) -> T:
        """The oldest item; IndexError when empty."""
        item: T = self._items[self._head]
        return item

    def append(self, item: T) -> None:
        """Add the newest item."""
        self._items.append(item)

    def extend(self, items: Iterable[T]) -> None:
        """Add several, oldest first."""
        self._items.extend(items)

    def shift(self) -> T:
        """Take the oldest item away; IndexError when empty."""
        head = self._head
        item: T = self._items[head]
        self._items[head] = None
        self._head = head = head + 1
        self._compact()
        return item

    def drop_through(self, seq: int) -> int:
        """Take away everything numbered up to `seq`; returns how many that were."""
        head = bisect_right(self._items, seq, lo=self._head, key=_seq)
        gone = head - self._head
        self._items[self._head : head] = [None] * gone
        self._head = head
        self._compact()
        return gone

    def clear(self) -> None:
        """Take everything away."""
        self._items.clear()
        self._head = 0

    def after(self, seq: int, limit: int) -> list[T]:
        """Up to `limit` items numbered above `seq`, oldest first; O(log n + limit)."""
        start = bisect_right(self._items, seq, lo=self._head, key=_seq)
        return self._items[start : start + limit]

    def last(self, seq: int, limit: int) -> list[T]:
        """The newest `limit` (from 1) items numbered above `seq`, oldest first."""
        start = bisect_right(self._items, seq, lo=self._head, key=_seq)
        return self._items[max(start, len(self._items) - limit) :]

    def count(self, after: int, through: int) -> int:
        """How many are numbered above `after`, up to `through`; O(log n)."""
        start = bisect_right(self._items, after, lo=self._head, key=_seq)
        return bisect_right(self._items, through, lo=start, key=_seq) - start

    def _compact(self) -> None:
        if self._head >= _COMPACT_FROM and self._head * 2 >= len(self._items):
            del self._items[: self._head]
            self._head = 0
