"""Data breakpoints: requests and results. Contract, section 11."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from relay.models.fields import StrictModel, Text
from relay.models.resource import REDACTED, Location, Resource, left_out


class SetDataBreakpoint(StrictModel):
    expression: Text = Field(
        min_length=1,
        max_length=10_000,
        description="A variable, an attribute, or an item of a dict or list: `cart.total`. What it "
        "names in the frame now is watched, whatever the name means later",
    )
    frame_id: int = Field(0, ge=0, description="Frame of the stopped thread, 0 on top")
    condition: Text | None = Field(
        None,
        max_length=10_000,
        description="Stop only at changes that make this true; it sees `old`, `new`, and the "
        "variables of the frame that wrote",
    )


class DataBreakpointView(Resource):
    id: str
    verified: bool = Field(description="Whether it watches; false once what it watched is gone")
    expression: str
    condition: str | None = left_out()
    how: Literal["dict", "lines", "debugger"] = Field(
        description="By the interpreter's report of each write; by comparing at the lines that can "
        "write it; or as the session's other debugger does"
    )
    pid: int | None = left_out("The process that it was set in, where several are debugged")
    message: str | None = Field(None, description="Why it does not watch, or what it costs")


class DataBreakpointList(Resource):
    data_breakpoints: list[DataBreakpointView] = Field(
        description="In the order in which they were set"
    )


class DeletedDataBreakpoint(Resource):
    id: str
    deleted: Literal[True] = True


class DataChange(Resource):
    """What a stop at a data breakpoint is about."""

    id: str = Field(description="The data breakpoint")
    expression: str
    old: str | None = Field(description="null: there was none")
    new: str | None = Field(description="null: there is none any more")
    location: Location = Field(description="The line that wrote")
    function: str = Field(description="The function that wrote")
    ended: Literal[True] | None = left_out("The frame has returned: the watch is over")
    inexact: Literal[True] | None = left_out(
        "What wrote is not known, such as C code, or one of two threads: the change was found at this line"
    )
    merged: Literal[True] | None = left_out(
        "One statement has made more than a thousand changes: the last of them are told as one"
    )
    condition_error: str | None = left_out("What the condition has raised")
    redacted: bool | None = left_out(REDACTED)
