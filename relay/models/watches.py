"""Watches: expressions looked at again at each stop. Source: contract, sections 5 and 9."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from relay.models.execution import WatchValue
from relay.models.fields import StrictModel, Text
from relay.models.resource import Resource
from relay.models.variables import REVEAL


class WatchRequest(StrictModel):
    expression: Text = Field(
        min_length=1, max_length=100_000, description="An expression, no statement"
    )


class WatchView(Resource):
    id: str
    expression: str


class WatchesQuery(StrictModel):
    frame_id: int = Field(0, ge=0, description="Frame of the stopped thread, 0 on top")
    reveal: bool = Field(False, description=REVEAL)


class WatchList(Resource):
    watches: list[WatchValue] = Field(description="In the order in which they were set")


class DeletedWatch(Resource):
    id: str
    deleted: Literal[True] = True
