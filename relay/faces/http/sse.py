"""Streams of operations as Server-Sent Events.

Knows the text form: https://html.spec.whatwg.org/multipage/server-sent-events.html
Knows nothing of what the events mean.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from relay.faces.http.streams import Stream
from relay.models.streams import EventsStreamQuery, OutputStreamQuery
from relay.models.timeline import TimelineStreamQuery
from relay.operations.output import streaming

OPENING = b"retry: 1000\n\n"
"""Milliseconds that a browser waits before it comes back."""

HEARTBEAT = b": still here\n\n"


async def stream_output(
    session: Any, *, query: OutputStreamQuery, last_event_id: str | None
) -> Stream:
    """Follow what the program prints, as Server-Sent Events.

    Each entry is an event `output` with its cursor as `id`. `dropped` says how many entries the
    cap took. The last event is `end`: the program or its session is over.
    """
    return Stream(_pieces(streaming.follow_output(session, query=query, last=last_event_id)))


async def stream_events(
    session: Any, *, query: EventsStreamQuery, last_event_id: str | None
) -> Stream:
    """Follow what happens in the session, as Server-Sent Events.

    Each event goes under its own type with its cursor as `id`. `dropped` says how many events
    the cap took. The last event is `end`: the program or its session is over.
    """
    return Stream(_pieces(streaming.follow_events(session, query=query, last=last_event_id)))


async def stream_timeline(
    session: Any, *, query: TimelineStreamQuery, last_event_id: str | None
) -> Stream:
    """Follow what clients ask and what the program does, as Server-Sent Events.

    Each entry goes under its kind with its cursor as `id`. `dropped` says how many entries the
    caps took. The last event is `end`, when the session ends; its program may start again.
    """
    return Stream(_pieces(streaming.follow_timeline(session, query=query, last=last_event_id)))


async def _pieces(batches: streaming.Batches) -> AsyncGenerator[bytes, None]:
    try:
        yield OPENING
        async for batch in batches:
            yield encode(batch)
    finally:
        await batches.aclose()


def encode(batch: Sequence[streaming.StreamItem]) -> bytes:
    """A batch as text; an empty one as a comment."""
    return b"".join(map(_event, batch)) or HEARTBEAT


def _event(item: streaming.StreamItem) -> bytes:
    cursor = "" if item.cursor is None else f"id: {item.cursor}\n"
    # JSON has no line breaks of its own, so one line holds it.
    return f"{cursor}event: {item.kind}\ndata: {item.data.model_dump_json()}\n\n".encode()
