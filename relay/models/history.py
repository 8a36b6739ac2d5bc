"""Who wrote a value: requests and results."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from relay.models.fields import StrictModel, Text
from relay.models.resource import Location, Resource, left_out

DEFAULT_WRITES = 10
MOST_WRITES = 100
DEFAULT_SECONDS, MOST_SECONDS = 60.0, 300
SLOWER = 4
"""Times that a second run may take what the first did: it is watched."""

NOT_DETERMINISTIC = "not deterministic"
"""The reason where a second run did not come to an equal stop."""

LATE = "the second run did not come to this stop within "
"""How the reason begins where the seconds were not enough."""


class HistoryRequest(StrictModel):
    expression: Text = Field(
        min_length=1,
        max_length=10_000,
        description="A variable, an attribute or an item of a dict, as the frame sees it",
    )
    frame_id: int = Field(0, ge=0, description="Frame of the stopped thread; 0: the innermost")
    limit: int = Field(DEFAULT_WRITES, ge=1, le=MOST_WRITES, description="Writes to answer with")
    wait: float = Field(
        DEFAULT_SECONDS,
        ge=1,
        le=MOST_SECONDS,
        description="Seconds that the second run may take, with the turns of who asked before",
    )


def second_run_seconds(first: float) -> float:
    """How long to wait for a second run where the first took so many seconds to its stop."""
    return min(max(DEFAULT_SECONDS, SLOWER * first), MOST_SECONDS)


class WriteFrame(Resource):
    """One frame of the stack of a write."""

    function: str
    path: str
    line: int
    source: str | None = left_out(
        "Where a library wrote: the line of the innermost frame that is of none, which had it written"
    )


class HistoryWrite(Resource):
    """One write that changed the value. Texts are as they were when it was written."""

    old: str | None = Field(description="null: there was no value")
    new: str | None = Field(description="null: it was deleted")
    location: Location
    function: str
    source: str | None = left_out("The line of source that wrote it")
    stack: list[WriteFrame] = Field(description="The writer first, then its callers")


class History(Resource):
    """The last writes of the state of one object, newest first."""

    expression: str
    value: str | None = Field(description="What it is now; null if there is no value")
    writes: list[HistoryWrite]
    complete: bool = Field(description="Whether these are all, from the first on")
    how: Literal["recorded", "rerun"] = Field(
        description="recorded: by this run, from its launch on; rerun: the program was started "
        "again, out of sight, up to an equal stop"
    )
    runs: int = Field(description="Runs of the program that it took, this one included")
    reason: str | None = left_out("Why it is not complete; `not deterministic`: no equal stop")
    difference: str | None = left_out("Where the second run was not equal")
