"""The timeline: two logs as one listing, by the moments of their entries.

Knows how entries are merged, masked and numbered. The logs stay two: a program that prints much
drives no request out. Source: contract, section 12.
"""

from __future__ import annotations

import heapq
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import trio

from relay.errors import InvalidParameter
from relay.models.timeline import Author, TimelineEntry, TimelinePage, TimelineQuery
from relay.redaction.redaction import Redaction
from relay.session.event_log import LONGEST_CURSOR, Event, EventLog, EventSlice
from relay.session.request_log import REFUSAL, REQUEST
from relay.session.session import Session

LONGEST_ARGUMENTS = 500

LONGEST_ESCAPE = 6
MOST_TRIES = 20

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PLACE = re.compile(r"e([0-9]{1,15})r([0-9]{1,15})(?:l([0-9a-f]{1,15}))?", re.ASCII)


class TimelinePlace(NamedTuple):
    """How far a reader has come in each of the logs."""

    events: int
    requests: int
    log: str = ""
    """Which of the session's logs they are, see `Session.log_mark`."""

    @property
    def cursor(self) -> str:
        return f"e{self.events}r{self.requests}" + (f"l{self.log}" if self.log else "")


class Slice(NamedTuple):
    """What a reader gets: entries, and the place behind each of them."""

    entries: Sequence[tuple[TimelinePlace, TimelineEntry]]
    next_place: TimelinePlace
    has_more: bool
    dropped: int


async def get_timeline(session: Session, *, query: TimelineQuery) -> TimelinePage:
    """What clients asked of the session and what the program did, by the moment, from a cursor on.

    With `timeout`, it waits for the first entry. What only follows the session is no entry:
    its status, output, events, timeline and pings.
    """
    place = place_of("cursor", query.cursor)
    if query.timeout:
        await news(session, place, query.timeout)
    found = read(session, place, query.limit)
    return TimelinePage(
        entries=[entry for _, entry in found.entries],
        next_cursor=found.next_place.cursor,
        has_more=found.has_more,
        dropped=found.dropped,
        session_status=session.phase.value,
    )


def place_of(name: str, cursor: str | None) -> TimelinePlace:
    """Where a cursor points; the beginning without one. Raises InvalidParameter."""
    if cursor is None:
        return TimelinePlace(0, 0)
    found = _PLACE.fullmatch(cursor[:LONGEST_CURSOR])
    if found is None:
        text = f"{name}: the cursor is not one of this listing's"
        raise InvalidParameter.of_field(name, "not a cursor", cursor[:200], text=text)
    return TimelinePlace(int(found[1]), int(found[2]), found[3] or "")


def read(session: Session, after: TimelinePlace, limit: int) -> Slice:
    """Up to `limit` entries after a place."""
    after = _within(session, after)
    events = session.events.read(after.events, limit)
    requests = session.requests.read(after.requests, limit)
    merged = heapq.merge(
        ((False, event) for event in requests.events),  # of one moment, the request came first
        ((True, event) for event in events.events),
        key=lambda entry: entry[1].timestamp,
    )
    place = after
    entries: list[tuple[TimelinePlace, TimelineEntry]] = []
    for by_program, event in itertools.islice(merged, limit):
        seq = event.seq
        place = place._replace(events=seq) if by_program else place._replace(requests=seq)
        entries.append((place, _happened(event) if by_program else _asked(session, event)))
    events = _up_to(session.events, after.events, events, place.events)
    requests = _up_to(session.requests, after.requests, requests, place.requests)
    return Slice(
        entries,
        after._replace(events=events.next_seq, requests=requests.next_seq),
        events.has_more or requests.has_more,
        events.dropped + requests.dropped,
    )


def _up_to(log: EventLog, after: int, found: EventSlice, last: int) -> EventSlice:
    """Of what was read of a log, only what the page has: the rest is read again, with its losses."""
    shown = sum(event.seq <= last for event in found.events)
    if shown == len(found.events):
        return found
    return log.read(after, shown) if shown else EventSlice([], after, True, 0)


def _within(session: Session, place: TimelinePlace) -> TimelinePlace:
    """The place, or the end of what there is; the beginning, if it is of logs that an earlier relay had."""
    if place.log != session.log_mark:
        return TimelinePlace(0, 0, session.log_mark)
    return place._replace(
        events=min(place.events, session.events.last_seq),
        requests=min(place.requests, session.requests.last_seq),
    )


def _happened(event: Event) -> TimelineEntry:
    return TimelineEntry(
        id=f"e{event.seq}",
        kind="event",
        timestamp=event.timestamp,
        author=None,
        what=event.type,
        body=event.body,
    )


def _asked(session: Session, entry: Event) -> TimelineEntry:
    said = entry.body
    return TimelineEntry(
        id=f"r{entry.seq}",
        kind=REFUSAL if entry.type == REFUSAL else REQUEST,
        timestamp=entry.timestamp,
        author=Author(face=said["face"], client=said["client"]),
        what=said["verb"],
        body=dict(_shown(session, said)),
    )


def _shown(session: Session, said: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if "arguments" in said:
        yield "arguments", _masked(session.redaction, said["arguments"])[:LONGEST_ARGUMENTS]
    else:
        yield "request", f"r{said['request']}"
        yield "code", said["code"]
        yield "message", session.redaction.text(said["message"])


def _masked(redaction: Redaction, arguments: str) -> str:
    """Masked as what they become: a command line word by word, a value by the name that it goes to."""
    for end in _ends(arguments):
        with suppress(ValueError, RecursionError):
            given = json.loads(arguments[:end] + _closers(arguments[:end]))
            if isinstance(given, dict):
                shown = json.dumps(redaction.data(given), ensure_ascii=False)
                return shown.encode(errors="backslashreplace").decode()
    return redaction.text(arguments)


def _ends(text: str) -> list[int]:
    """Where to try to end a text whose rest was cut off: before a torn escape, and before a torn field."""
    commas = [match.start() for match in re.finditer(",", text)]
    return [*range(len(text), len(text) - LONGEST_ESCAPE, -1), *commas[: -MOST_TRIES - 1 : -1]]


def _closers(text: str) -> str:
    """What ends all strings, lists and objects that the beginning of a JSON text has begun."""
    outside = _STRING.sub("", text)
    is_within = '"' in outside
    begun: list[str] = []
    for char in outside.partition('"')[0]:
        if char in "[{":
            begun.append("]" if char == "[" else "}")
        elif char in "]}" and begun:
            begun.pop()
    return ('"' if is_within else "") + "".join(reversed(begun))


async def news(session: Session, after: TimelinePlace, timeout: float) -> bool:
    """Whether there is an entry after the place, now or within `timeout` seconds.

    False as well if the session ends meanwhile.
    """
    found = False
    after = _within(session, after)
    with trio.move_on_after(timeout):
        async with trio.open_nursery() as nursery:

            async def wait(log: Any, seq: int) -> None:
                nonlocal found
                found = await log.wait(seq) is not None
                nursery.cancel_scope.cancel()

            nursery.start_soon(wait, session.events, after.events)
            nursery.start_soon(wait, session.requests, after.requests)
    return found
