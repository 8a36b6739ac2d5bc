"""The last messages between a session and its debugger, masked."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from relay.models.fields import StrictModel
from relay.models.resource import Resource, Timestamp


class DapLogQuery(StrictModel):
    limit: int = Field(200, ge=1, le=1000, description="The newest messages to return at most")


class DapLogEntry(Resource):
    """A message of the Debug Adapter Protocol, in either direction."""

    seq: int = Field(description="Counts the session's messages from 1")
    timestamp: Timestamp
    connection: int = Field(description="Which of the session's connections: each process has one")
    sender: Literal["relay", "debugger"]
    size: int = Field(description="Bytes of the message as it was sent")
    message: Any = Field(
        None, description="The message with its secrets masked; null if `text` is set"
    )
    text: str | None = Field(None, description="The beginning of a long one, as text, masked too")


class DapLogPage(Resource):
    messages: list[DapLogEntry] = Field(description="The oldest first")
    dropped: int = Field(0, description="Messages before the first one here")
