"""The newest entries of the relay's own log."""

from __future__ import annotations

from pydantic import Field

from relay.models.fields import StrictModel
from relay.models.resource import Resource, Timestamp


class LogQuery(StrictModel):
    limit: int = Field(200, ge=1, le=1000, description="The newest entries to return at most")


class LogEntry(Resource):
    """A request that was answered, a change of a session, or something that went wrong."""

    timestamp: Timestamp
    level: str = Field(description="debug, info, warning, error or critical")
    logger: str = Field(description="Which part of the relay says it, or of its libraries")
    message: str = Field(description="What happened")
    fields: dict[str, str | int | float | None] = Field(
        description="What is known of it, as `session_id`, `request_id`, `duration_ms`"
    )
    exception: str | None = Field(None, description="The end of the traceback, if there is one")


class LogPage(Resource):
    entries: list[LogEntry] = Field(description="The oldest first")
    dropped: int = Field(description="Entries before the first one here")
