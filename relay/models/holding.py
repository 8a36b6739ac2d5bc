"""Holds: what takes a session, and who has it. Source: contract, section 12."""

from __future__ import annotations

from pydantic import Field

from relay.models.fields import StrictModel, Text
from relay.models.resource import Resource, Timestamp


class HoldRequest(StrictModel):
    by: Text = Field(
        min_length=1,
        max_length=100,
        description="The holder's name: requests whose header Relay-Client says it run the program",
    )


class HoldView(Resource):
    """Who holds a session."""

    by: str
    since: Timestamp


class HoldResult(Resource):
    session_id: str
    hold: HoldView | None = Field(description="null: nobody holds the session")
