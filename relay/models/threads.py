"""One thread at a time: requests and results. Source: contract section 4, user story section 4.3."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from relay.models.execution import PauseResult, Waiting
from relay.models.fields import StrictModel
from relay.models.resource import Location, Resource

ThreadStatus = Literal["running", "paused", "ended"]


class ThreadRequest(Waiting):
    """What a request for one thread may say besides the thread, which the path names."""


class ThreadStackQuery(StrictModel):
    start_frame: int = Field(0, ge=0, description="First frame to show")
    levels: int = Field(20, ge=0, le=10_000, description="Frames to show; 0 shows all")


class ThreadState(Resource):
    """One thread after the request."""

    id: int
    name: str
    status: ThreadStatus
    location: Location | None = Field(description="Where it stands, if it is paused")


class ThreadResult(PauseResult):
    """Where the program stands, and this thread of it.

    `status` is that of the session: `paused` as long as any thread is stopped.
    """

    thread: ThreadState
    stopped_threads: list[int] = Field(description="Ids of the threads that are stopped now")
