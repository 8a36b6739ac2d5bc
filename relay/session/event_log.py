"""EventLog: what happened in a session, numbered from 1 without gaps, and waited for.

Knows order, bounds, cursors and who waits. Refuses to know what any event means, but for one
thing: a program can print without end, so output makes room for output. Appending is synchronous
and cheap; a reader that was too slow learns how many events it missed.
Source: contract, section 6.
"""

from __future__ import annotations

import base64
import binascii
import heapq
import itertools
import json
import math
from collections import deque
from collections.abc import Mapping, Set
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

import trio

from relay.session.clock import utc_now
from relay.session.shelf import Shelf
from relay.session.waiters import Waiters

EVENT_OVERHEAD = 200
"""Bytes that an event takes besides its body, about."""

LONGEST_CURSOR = 100
FAR = 2**62
"""A position behind all that any log has."""

OUTPUT = "output"
"""The type whose events have one half of the log when it is full. All others have the other."""

_seq = attrgetter("seq")


class Event(NamedTuple):
    """Something that happened. `body` belongs to the log: do not change it."""

    seq: int
    type: str
    timestamp: datetime
    body: Mapping[str, Any]


class EventSlice(NamedTuple):
    """What a reader gets.

    `next_seq` is the `after` of the next read; `dropped` counts the events, of any type, that are
    lost between the reader's `after` and that. For a reader who wants no output, output does
    not count that went while everything else stayed.
    """

    events: list[Event]
    next_seq: int
    has_more: bool
    dropped: int


class _Share:
    """The events that have one half of a full log: in their order, with what they weigh."""

    # Invariant: what is lost was older than what is there.

    def __init__(self) -> None:
        self.events: Shelf[Event] = Shelf()
        self.bytes = 0
        self.lost_through = 0
        """The number of the newest event that had to go; 0 if none had to."""
        self._weights: deque[int] = deque()  # of events, in the same order

    def append(self, event: Event) -> None:
        self.events.append(event)
        weight = EVENT_OVERHEAD + _weight(event.body)
        self._weights.append(weight)
        self.bytes += weight

    def drop_oldest(self) -> None:
        self.lost_through = self.events.shift().seq
        self.bytes -= self._weights.popleft()


class EventLog:
    """The events of one session: at most `limit_events` of them, and `limit_bytes` in all.

    Where that is too little, the share that has more loses its oldest. The newest event is always
    kept, however big.
    """

    def __init__(self, limit_events: int = 10_000, limit_bytes: int = 16 * 1024 * 1024) -> None:
        self.limit_events = limit_events
        self.limit_bytes = limit_bytes
        self.last_seq = 0
        self.closed = False
        self.dropped = 0  # events that the caps have taken
        self._output, self._others = _Share(), _Share()
        self._waiters = Waiters()

    def __len__(self) -> int:
        return len(self._output.events) + len(self._others.events)

    def append(self, type: str, body: Mapping[str, Any]) -> Event:
        """Add an event and wake who waits for its type. Also works after `close`."""
        self.last_seq += 1
        event = Event(self.last_seq, type, utc_now(), body)
        (self._output if type == OUTPUT else self._others).append(event)
        self._trim()
        self._waiters.wake(type)
        return event

    def read(self, after: int, limit: int = 100, types: Set[str] | None = None) -> EventSlice:
        """Up to `limit` (at least 1) events numbered above `after`, of `types` if given."""
        after = min(max(after, 0), self.last_seq)
        limit = max(min(limit, len(self)), 1)
        found = self._matching(after, limit + 1, types)
        has_more = len(found) > limit
        del found[limit:]
        next_seq = found[-1].seq if has_more else self.last_seq
        all_kinds = types is None or OUTPUT in types
        through = next_seq if all_kinds else min(next_seq, self._others.lost_through)
        return EventSlice(found, next_seq, has_more, self._lost(after, through))

    async def wait(
        self, after: int, *, types: Set[str] | None = None, timeout: float = math.inf
    ) -> Event | None:
        """The first event numbered above `after` that has one of `types` (None: any).

        Returns it at once if it is there. None when `timeout` seconds have passed, or
        when the log is closed and has no such event. Always a checkpoint.
        """
        if self._is_there(after, types) or timeout <= 0:
            await trio.lowlevel.checkpoint()
        elif timeout == math.inf:
            await self._until_there(after, types)
        else:
            with trio.move_on_after(timeout):
                await self._until_there(after, types)
        return self.first(after, types=types)

    async def _until_there(self, after: int, types: Set[str] | None) -> None:
        """There is none yet."""
        while True:
            await self._waiters.wait(types)
            if self._is_there(after, types):
                return

    def _is_there(self, after: int, types: Set[str] | None) -> bool:
        """Whether nobody has to wait for such an event: it is there, or will never be."""
        return self.closed or bool(self._matching(after, 1, types))

    def first(self, after: int, *, types: Set[str] | None = None) -> Event | None:
        """The first event numbered above `after` that has one of `types` (None: any), if it is there."""
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
        """Up to `limit`, across what was lost."""
        others = iter(self._others.events.after(after, limit if types is None else len(self)))
        if types is not None:
            others = (event for event in others if event.type in types)
        if types is None or OUTPUT in types:
            output = self._output.events.after(after, limit)
            others = heapq.merge(output, others, key=_seq)
        return list(itertools.islice(others, limit))

    def _lost(self, after: int, through: int) -> int:
        """How many events numbered above `after`, up to `through`, are gone."""
        newest = max(self._output.lost_through, self._others.lost_through)
        if after >= min(through, newest):
            return 0
        shares = (self._output, self._others)
        return through - after - sum(share.events.count(after, through) for share in shares)

    def _trim(self) -> None:
        while (many := len(self)) > 1 and (
            many > self.limit_events or self._output.bytes + self._others.bytes > self.limit_bytes
        ):
            self._bigger(by_count=many > self.limit_events).drop_oldest()
            self.dropped += 1

    def _bigger(self, *, by_count: bool) -> _Share:
        """The share that has more, unless that is the newest event."""
        output, others = self._output, self._others
        if by_count:
            is_output = len(output.events) > len(others.events)
        else:
            is_output = output.bytes > others.bytes
        bigger, smaller = (output, others) if is_output else (others, output)
        return smaller if bigger.events.first.seq == self.last_seq else bigger


def _weight(value: object) -> int:
    """Bytes that a JSON value takes, about; exact where it matters, in long texts."""
    if isinstance(value, str):
        return len(value) + 8
    if isinstance(value, dict):
        return 16 + 16 * len(value) + sum(map(_weight, value.values()))
    if isinstance(value, (list, tuple)):
        return 16 + sum(map(_weight, value))
    return 8


def encode_cursor(kind: str, seq: int, log: str = "") -> str:
    """The opaque, URL-safe text that stands for position `seq` of a `kind` of listing.

    log: which of the session's logs that is of, see `Session.log_mark`.
    """
    text = json.dumps({kind: seq, "log": log} if log else {kind: seq}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode()


def decode_cursor(kind: str, text: str, log: str = "") -> int:
    """The position that `encode_cursor(kind, …)` put into `text`; the `=` may be missing.

    0 if it is of another log of the session than `log`: all that there is came after it.
    Raises ValueError on anything that is not one of ours.
    """
    seq, of = parts_of_cursor(kind, text)
    return seq if of == log or seq >= FAR else 0


def parts_of_cursor(kind: str, text: str) -> tuple[int, str]:
    """The position, and the log that it is of. Raises ValueError as `decode_cursor` does."""
    found = _decoded(text)
    seq: Any = found.get(kind)
    log: Any = found.get("log", "")
    is_one = type(seq) is int and seq >= 0 and type(log) is str
    if not is_one or encode_cursor(kind, seq, log).rstrip("=") != text.rstrip("="):
        raise ValueError(f"not a cursor of this listing: {text[:LONGEST_CURSOR]!r}")
    return seq, log


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
