"""The short answer to "where is it now?". Source: user story, sections 3.1, 3.6, 3.8, 4.3, 4.6."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from relay.models.failure import OfFailure
from relay.models.resource import ProcessRef, Resource, left_out

StatusWord = Literal[
    "created", "launching", "running", "waiting_for_input", "paused", "terminated", "failed"
]


class StatusLocation(Resource):
    """Where a thread stands. Lines count from 1."""

    file: str | None = Field(description="Absolute path of the source file")
    path: str | None = Field(description="The same as file")
    line: int
    function: str = Field(description="Name of the function, or <module>")


class StoppedThread(Resource):
    """A thread that stopped of itself; all others were stopped with it."""

    thread_id: int
    name: str
    breakpoint_id: str | None = Field(description="The breakpoint that it stands at")
    location: StatusLocation | None
    process: ProcessRef | None = left_out("Whose thread it is, where several are debugged")


class ThreadStanding(Resource):
    thread_id: int
    name: str
    status: Literal["paused", "running"]
    process: ProcessRef | None = left_out("Whose thread it is, where several are debugged")


class StatusException(Resource):
    type: str
    full_type: str
    message: str
    location: StatusLocation | None = Field(description="Where it was raised")


class StatusView(OfFailure):
    """The session at a glance, made for polling."""

    session_id: str
    status: StatusWord
    reason: str | None = Field(description="Why it is paused, or why it has ended")
    location: StatusLocation | None = Field(description="Where the stopped thread stands")
    message: str | None = left_out("What should be known of this stop")
    stopped_threads: list[StoppedThread] = Field(description="Empty unless paused")
    all_threads: list[ThreadStanding] = Field(description="Empty unless paused")
    exception: StatusException | None
    exit_code: int | None = Field(description="Negative: ended by that signal")
    warning: str | None = Field(description="The session is about to expire")
    prompt: str | None = Field(description="What the program printed before it waited for input")
