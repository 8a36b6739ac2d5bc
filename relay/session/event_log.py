"""EventLog: what happened in a session, numbered from 1 without gaps, and waited for.

Knows order, bounds, cursors and who waits. Refuses to know what any event means: types
are words and bodies are data. Appending is synchronous and cheap; a reader that was
too slow learns how many events it missed.
Source: contract, section 6.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections import deque
from collections.abc import Mapping, Set
from datetime import datetime
from typing import Any, NamedTuple

import trio

from relay.session.clock import utc_now
from relay.session.shelf import Shelf
from relay.session.waiters import Waiters

EVENT_OVERHEAD = 200
"""Bytes that an event takes besides its body, about."""

LONGEST_CURSOR = 100


class Event(NamedTuple):
    """Something that happened. `body` belongs to the log: do not change it."""

    seq: int
    type: str
    timestamp: datetime
    body: Mapping[str, Any]


class EventSlice(NamedTuple):
    """What a reader gets.

    `next_seq` is the `after` of the next read; `dropped` counts the events, of any type,
    that were lost between the reader's `after` and the first one still there.
    """

    events: list[Event]
    next_seq: int
    has_more: bool
    dropped: int


class EventLog:
    """The events of one session: at most `limit_events` of them, and `limit_bytes` in all.

    The newest event is always kept, however big.
    """

    def __init__(self, limit_events: int = 10_000, limit_bytes: int = 16 * 1024 * 1024) -> None:
        self.limit_events = limit_events
        self.limit_bytes = limit_bytes
        self.last_seq = 0
        self.closed = False
        self.dropped = 0  # events that the caps have taken
        self._events: Shelf[Event] = Shelf()
        self._weights: deque[int] = deque()  # of _events, in the same order
        self._bytes = 0
        self._waiters = Waiters()

    def append(self, type: str, body: Mapping[str, Any]) -> Event:
        """Add an event and wake who waits for its type. Also works after `close`."""
        self.last_seq += 1
        event = Event(self.last_seq, type, utc_now(), body)
        self._events.append(event)
        weight = EVENT_OVERHEAD + _weight(body)
        self._weights.append(weight)
        self._bytes += weight
        self._trim()
        self._waiters.wake(type)
        return event

    def read(self, after: int, limit: int = 100, types: Set[str] | None = None) -> EventSlice:
        """Up to `limit` (at least 1) events numbered above `after`, of `types` if given."""
        after = min(max(after, 0), self.last_seq)
        limit = max(limit, 1)
        found = self._matching(after, limit + 1, types)
        has_more = len(found) > limit
        del found[limit:]
        next_seq = found[-1].seq if has_more else self.last_seq
        return EventSlice(found, next_seq, has_more, self._dropped(after))

    async def wait(
        self, after: int, *, types: Set[str] | None = None, timeout: float = math.inf
    ) -> Event | None:
        """The first event numbered above `after` that has one of `types` (None: any).

        Returns it at once if it is there. None when `timeout` seconds have passed, or
        when the log is closed and has no such event. Always a checkpoint.
        """
        with trio.move_on_after(max(timeout, 0)):
            await trio.lowlevel.checkpoint()
            while not self.closed and not self._matching(after, 1, types):
                await self._waiters.wait(types)
        return next(iter(self._matching(after, 1, types)), None)

    def close(self) -> None:
        """Wake everyone who waits, now and for ever after. What is there can still be read."""
        self.closed = True
        self._waiters.wake_all()

    def set_limit(self, limit_events: int) -> None:
        """Hold at most so many from now on; the oldest that are too many go at once."""
        self.limit_events = limit_events
        self._trim()

    @property
    def waiting(self) -> int:
        """How many tasks wait."""
        return len(self._waiters)

    def _matching(self, after: int, limit: int, types: Set[str] | None) -> list[Event]:
        if types is None:
            return self._events.after(after, limit)
        found = []
        for event in self._events.after(after, self.limit_events + 1):
            if event.type in types:
                found.append(event)
                if len(found) == limit:
                    break
        return found

    def _trim(self) -> None:
        events = self._events
        while len(events) > 1 and (
            len(events) > self.limit_events or self._bytes > self.limit_bytes
        ):
            events.shift()
            self.dropped += 1
            self._bytes -= self._weights.popleft()

    def _dropped(self, after: int) -> int:
        return max(0, self._events.first.seq - 1 - after) if self._events else 0


def _weight(value: object) -> int:
    """Bytes that a JSON value takes, about; exact where it matters, in long texts."""
    if isinstance(value, str):
        return len(value) + 8
    if isinstance(value, dict):
        return 16 + 16 * len(value) + sum(map(_weight, value.values()))
    if isinstance(value, (list, tuple)):
        return 16 + sum(map(_weight, value))
    return 8


def encode_cursor(kind: str, seq: int) -> str:
    """The opaque, URL-safe text that stands for position `seq` of a `kind` of listing."""
    text = json.dumps({kind: seq}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode()


def decode_cursor(kind: str, text: str) -> int:
    """The position that `encode_cursor(kind, …)` put into `text`; the `=` may be missing.

    Raises ValueError on anything that is not one of ours.
    """
    seq = _decoded(text).get(kind)
    if type(seq) is not int or seq < 0 or encode_cursor(kind, seq).rstrip("=") != text.rstrip("="):
        raise ValueError(f"not a cursor of this listing: {text[:LONGEST_CURSOR]!r}")
    return seq


def _decoded(text: str) -> dict[str, Any]:
    if len(text) > LONGEST_CURSOR:
        raise ValueError("too long for a cursor")
    try:
        value = json.loads(
            base64.urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))
        )
    except (binascii.Error, ValueError, RecursionError):
        raise ValueError(f"not a cursor: {text!r}") from None
    return value if isinstance(value, dict) else {}
