"""Output and events as they come, until the program or its session is over.

Knows pages, cursors and the end. Refuses to know how a face sends them: it takes what it
is given at its own pace, and between two things that it takes nothing is kept for it.
Source: contract, section 6.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import NamedTuple, TypeVar

from relay.models.output import EventView, OutputEntry
from relay.models.resource import Resource
from relay.models.streams import Dropped, EventsStreamQuery, OutputStreamQuery, StreamEnd
from relay.models.timeline import TimelineStreamQuery
from relay.operations.breakpoints.breakpoints import let_go
from relay.operations.output import timeline
from relay.operations.output.reading import after_cursor
from relay.session.event_log import encode_cursor
from relay.session.session import Session

HEARTBEAT_SECONDS = 15.0
"""After this long without anything to send, an empty batch says that the stream lives."""

BATCH = 100
"""Things in one batch, at most."""

BATCH_CHARACTERS = 256 * 1024
"""After so much text a batch ends early."""


class StreamItem(NamedTuple):
    """One thing: where it stands, what kind it is of, and itself.

    `cursor` continues a stream after it; None where there is nothing to continue from.
    """

    cursor: str | None
    kind: str
    data: Resource


Batches = AsyncGenerator[Sequence[StreamItem], None]


def follow_output(session: Session, *, query: OutputStreamQuery, last: str | None) -> Batches:
    """What the program prints, from a cursor on, in batches; an empty one is a heartbeat.

    The last thing is of the kind `end`. `last` is the cursor at which an earlier stream
    broke off. Raises InvalidParameter, before the first batch.
    """
    return _follow(session, _OutputSource(session, query), _start(session, "offset", query, last))


def follow_events(session: Session, *, query: EventsStreamQuery, last: str | None) -> Batches:
    """What happens in the session, as `follow_output` does.

    With an `owner`, what that one has set is let go when the stream is left before its end.
    """
    batches = _follow(session, _EventSource(session, query), _start(session, "seq", query, last))
    return batches if query.owner is None else _of_owner(session, query.owner, batches)


async def _of_owner(session: Session, owner: str, batches: Batches) -> Batches:
    has_ended = False
    try:
        async with contextlib.aclosing(batches):
            async for batch in batches:
                yield batch
        has_ended = True  # the program, which may be launched again
    finally:
        if not has_ended:
            session.start_soon(let_go, session, owner)


def follow_timeline(session: Session, *, query: TimelineStreamQuery, last: str | None) -> Batches:
    """The timeline, as `follow_output` does. It ends with the session, not with its program."""
    name, cursor = ("Last-Event-ID", last) if last else ("cursor", query.cursor)
    return _follow_timeline(session, timeline.place_of(name, cursor))


def _start(
    session: Session, kind: str, query: OutputStreamQuery | EventsStreamQuery, last: str | None
) -> int:
    if last:
        return after_cursor(session, kind, last, None, name="Last-Event-ID")
    return after_cursor(session, kind, query.cursor, query.since)


T = TypeVar("T")


class _Page(NamedTuple):
    items: Sequence[StreamItem]
    next_after: int
    dropped: int


class _OutputSource:
    def __init__(self, session: Session, query: OutputStreamQuery) -> None:
        self._session = session
        self._category = query.category

    def cursor(self, after: int) -> str:
        return encode_cursor("offset", after, self._session.log_mark)

    def read(self, after: int) -> _Page:
        page = self._session.output.read(after, BATCH, self._category)
        found = _fitting(page.entries, [len(entry.output) for entry in page.entries])
        whole = len(found) == len(page.entries)
        return _Page(
            [
                StreamItem(
                    self.cursor(entry.seq),
                    "output",
                    OutputEntry(
                        category=entry.category, output=entry.output, timestamp=entry.timestamp
                    ),
                )
                for entry in found
            ],
            page.next_seq if whole else found[-1].seq,
            page.dropped,
        )


class _EventSource:
    def __init__(self, session: Session, query: EventsStreamQuery) -> None:
        self._session = session
        self._types = frozenset(query.types) if query.types else None

    def cursor(self, after: int) -> str:
        return encode_cursor("seq", after, self._session.log_mark)

    def read(self, after: int) -> _Page:
        page = self._session.events.read(after, BATCH, self._types)
        sizes = [len(event.body.get("output") or "") for event in page.events]
        found = _fitting(page.events, sizes)
        if len(found) < len(page.events):
            page = self._session.events.read(after, len(found), self._types)
        return _Page(
            [
                StreamItem(
                    self.cursor(event.seq),
                    event.type,
                    EventView(
                        seq=event.seq, type=event.type, timestamp=event.timestamp, body=event.body
                    ),
                )
                for event in page.events
            ],
            page.next_seq,
            page.dropped,
        )


def _fitting(things: Sequence[T], sizes: Iterable[int]) -> Sequence[T]:
    """From the front, at least one, until BATCH_CHARACTERS are reached."""
    total = 0
    for number, size in enumerate(sizes, 1):
        total += size
        if total >= BATCH_CHARACTERS:
            return things[:number]
    return things


async def _follow(session: Session, source: _OutputSource | _EventSource, after: int) -> Batches:
    while True:
        # Taken before the log is read: what comes from here on is news.
        mark, over = session.events.last_seq, session.is_over or session.events.closed
        page = source.read(after)
        after = page.next_after
        if page.dropped:
            yield [StreamItem(None, "dropped", Dropped(dropped=page.dropped)), *page.items]
        elif page.items:
            yield page.items
        elif over:
            break
        elif await session.events.wait(mark, timeout=HEARTBEAT_SECONDS) is None:
            yield []
    yield [StreamItem(source.cursor(after), "end", _end(session))]


async def _follow_timeline(session: Session, place: timeline.TimelinePlace) -> Batches:
    while True:
        over = session.events.closed
        page = timeline.read(session, place, BATCH)
        sizes = [len(entry.body.get("output") or "") for _, entry in page.entries]
        found = _fitting(page.entries, sizes)
        place = found[-1][0] if found else page.next_place
        items = [StreamItem(at.cursor, entry.kind, entry) for at, entry in found]
        if page.dropped:
            yield [StreamItem(None, "dropped", Dropped(dropped=page.dropped)), *items]
        elif items:
            yield items
        elif over:
            break
        elif not await timeline.news(session, place, HEARTBEAT_SECONDS):
            yield []
    yield [StreamItem(place.cursor, "end", _end(session))]


def _end(session: Session) -> StreamEnd:
    return StreamEnd(
        session_status=session.phase.value, reason=session.reason, exit_code=session.exit_code
    )
