"""The timeline: what clients asked of a session, and what its program did. Contract, section 12."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from relay.models.fields import StrictModel, Text
from relay.models.resource import Resource, Timestamp

_CURSOR = "id of a streamed entry, or next_cursor of a page"


class TimelineQuery(StrictModel):
    cursor: Text | None = Field(None, description=_CURSOR)
    limit: int = Field(100, ge=1, le=1000, description="Entries to return at most")
    timeout: float = Field(0, ge=0, le=300, description="Seconds to wait for the first entry")


class TimelineStreamQuery(StrictModel):
    cursor: Text | None = Field(None, description=_CURSOR + "; the header Last-Event-ID wins")


class Author(Resource):
    """Who asked: a face of the relay, and the client's own name for itself."""

    face: str = Field(description="http, page, shell, editor, mcp, tool, embedded")
    client: str = Field(description="Header Relay-Client, or the first word of User-Agent")


class TimelineEntry(Resource):
    """A request, its refusal, or an event of the program."""

    id: str = Field(description="Its address: `e` and the event's seq, or `r` and a number")
    kind: Literal["request", "refusal", "event"]
    timestamp: Timestamp
    author: Author | None = Field(description="null: the program")
    what: str = Field(description="The verb that was asked for, or the event's type")
    body: Mapping[str, Any] = Field(
        description="`arguments` of a request as text, masked and cut; `request` (the id of the "
        "entry), `code` and `message` of a refusal; the body of an event"
    )


class TimelinePage(Resource):
    entries: list[TimelineEntry]
    next_cursor: str
    has_more: bool
    dropped: int = Field(0, description="Entries lost to the caps before the first one here")
    session_status: str
