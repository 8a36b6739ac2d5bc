"""What an exception has ended, beside where the program stands. Source: contract, section 10."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from relay.models.resource import Resource, left_out


class GroupMembership(Resource):
    """Of an exception group each leaf is a stop of its own."""

    message: str = Field(description="The group's own")
    number: int = Field(description="Which of its leaves this is, from 1")
    of: int


class OfFailure(Resource):
    """Fields that are there at a stop at what has ended something, and only there."""

    post_mortem: Literal[True] | None = left_out(
        "The program has left these frames: they are shown as the exception left them"
    )
    ends: str | None = left_out(
        "What the exception has ended: test, thread, task, process, request, command, job, future"
    )
    ends_name: str | None = left_out("Which: a thread's name, a request's path, a test's phase")
    test: str | None = left_out("The test that failed, by the id that its runner has for it")
    explanation: str | None = left_out("The runner's own words, as pytest's of an assertion")
    group: GroupMembership | None = left_out("Where it is one leaf of an exception group")
