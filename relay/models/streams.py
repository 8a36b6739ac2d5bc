"""Streams of output and events: what is asked for, and what they say besides.

Source: contract, section 6; user story, section 5.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from pydantic import Field

from relay.models.breakpoints import OwnerName
from relay.models.fields import StrictModel, Text
from relay.models.output import EventType
from relay.models.resource import Resource

T = TypeVar("T")

CURSOR = "id of an entry, or next_cursor of a page; the header Last-Event-ID wins over it"


class OutputStreamQuery(StrictModel):
    cursor: Text | None = Field(None, description=CURSOR)
    since: Text | None = Field(None, description="The same as cursor")
    category: Literal["stdout", "stderr", "console"] | None = None


class EventsStreamQuery(StrictModel):
    cursor: Text | None = Field(None, description=CURSOR)
    since: Text | None = Field(None, description="The same as cursor")
    types: list[EventType] | None = Field(None, description="Only these types, separated by commas")
    owner: OwnerName | None = Field(
        None,
        description="When the client hangs up, the breakpoints that were set with this owner are "
        "let go",
    )


class Dropped(Resource):
    """Said in a stream in the place of what the cap took."""

    dropped: int = Field(description="Entries that were lost here")


class StreamEnd(Resource):
    """The last thing that a stream says."""

    session_status: str
    reason: str | None = Field(description="Why the session or its program has ended")
    exit_code: int | None


@dataclass(frozen=True)
class StreamEvent(Generic[T]):
    """One thing of a stream.

    `kind` is the event's type: `output`, `stopped`, …, or `dropped`, or at last `end`.
    `cursor` continues after it, in a later stream too; None with `dropped`.
    """

    cursor: str | None
    kind: str
    data: T | Dropped | StreamEnd
