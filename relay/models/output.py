"""Output, events and input. Source: API section 3.7, contract section 6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from relay.models.fields import StrictModel, Text
from relay.models.resource import Resource, Timestamp

EventType = Literal[
    "stopped",
    "continued",
    "terminated",
    "output",
    "breakpoint",
    "thread",
    "module",
    "subprocess",
    "warning",
    "input_requested",
]


class OutputQuery(StrictModel):
    cursor: Text | None = Field(None, description="next_cursor of an earlier answer")
    since: Text | None = Field(None, description="The same as cursor")
    limit: int = Field(100, ge=1, le=1000, description="Entries to return at most")
    category: Literal["stdout", "stderr", "console"] | None = None


class OutputEntry(Resource):
    category: str = Field(description="stdout, stderr or console")
    output: str
    timestamp: Timestamp
    source: str | None = None
    line: int | None = None


class OutputPage(Resource):
    entries: list[OutputEntry]
    next_cursor: str
    has_more: bool
    dropped: int = Field(0, description="Entries lost to the cap before the first one here")


class EventsQuery(StrictModel):
    cursor: Text | None = Field(None, description="next_cursor of an earlier answer")
    since: Text | None = Field(None, description="The same as cursor")
    limit: int = Field(100, ge=1, le=1000, description="Events to return at most")
    timeout: float = Field(0, ge=0, le=300, description="Seconds to wait for the first event")
    types: list[EventType] | None = Field(None, description="Only these types, separated by commas")


class EventView(Resource):
    seq: int
    type: str
    timestamp: Timestamp
    body: Mapping[str, Any]


class EventPage(Resource):
    events: list[EventView]
    next_cursor: str
    has_more: bool
    dropped: int = Field(
        0, description="Events lost to the cap from the given cursor up to `next_cursor`"
    )
    session_status: str


class InputRequest(StrictModel):
    input: Text | None = Field(None, description="Text for the program's standard input, as it is")
    eof: bool = Field(False, description="Close the standard input after the text")


class InputResult(Resource):
    written: int = Field(description="Bytes, written or queued until the program reads")


class ClearedOutput(Resource):
    cleared: int = Field(description="Entries that were there")
    next_cursor: str = Field(description="Only what is printed from now on")
