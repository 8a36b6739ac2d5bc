"""The short report of where a program stands: what it is made of. Source: contract, section 4."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from relay.dap.lifecycle import Phase
from relay.models.execution import SourceLine
from relay.models.failure import OfFailure
from relay.models.fields import StrictModel
from relay.models.resource import Resource

REPORT_BYTES = 700
"""What a report takes at most, unless asked otherwise: bytes of UTF-8."""

LEAST_REPORT = 100
"""Less would not hold a reason and a place."""


class ReportQuery(StrictModel):
    max_chars: int = Field(
        REPORT_BYTES,
        ge=LEAST_REPORT,
        le=100_000,
        description="Bound of the report, in bytes of UTF-8",
    )
    reveal: bool = Field(False, description="Show what is masked, too")
    output: bool = Field(
        True, description="Show the end of what the program printed, if it runs or has ended"
    )


class ReportView(Resource):
    session_id: str
    status: Phase
    report: str = Field(description="A few lines of text; every cut is marked by …")


class ReportFrame(Resource):
    """One frame. `path` is as short as it is clear; `own` sets it apart from library code.

    `elsewhere`: it was in another process or thread, which has sent its place and nothing else.
    """

    name: str
    path: str | None
    line: int
    own: bool = True
    shown: bool = False
    moved_on: bool = False
    elsewhere: bool = False
    inner: bool = False
    left_out: int = Field(0, description="Frames between the one before and this, of any code")


class ReportLocal(Resource):
    """A local, its value as text. `before`: its text at the last report of this function."""

    name: str
    value: str
    cut: bool = False
    named: bool = False
    news: Literal["new", "changed"] | None = None
    before: str | None = None


class ReportCause(Resource):
    """An exception that led to the one that is shown."""

    relation: str
    type: str
    message: str
    place: ReportFrame | None = None


class ReportException(Resource):
    type: str
    message: str
    raised: ReportFrame | None = Field(None, description="Where, if not in the frame that is shown")
    template: ReportFrame | None = Field(
        None, description="On its way from there, a template that is a text of the program's"
    )
    ended: str | None = Field(None, description="What it has ended, in words")
    chain: list[ReportCause] = Field([], description="Causes and contexts, nearest first")
    notes: str = Field("", description="What was added to its message, as by `add_note`")


class ReportChange(Resource):
    """What a data breakpoint has stopped for; null is none."""

    expression: str
    old: str | None
    new: str | None
    place: ReportFrame
    exact: bool = Field(True, description="Whether what wrote is known, or only where it was found")
    merged: bool = Field(False, description="Whether there were other values in between")
    ended: bool = False
    condition_error: str | None = None


class Report(Resource):
    """Everything that a report may say, before it is fitted into its bound."""

    status: Phase
    reason: str | None = None
    breakpoints: list[str] = Field([])
    hits: int = 0
    thread_id: int | None = None
    process_id: int | None = None
    returned: str | None = None
    change: ReportChange | None = None
    exception: ReportException | None = None
    failure: OfFailure | None = None
    remark: str | None = Field(None, description="What should be known of where it stands")
    lost: str | None = Field(None, description="How a process was killed since the last resume")
    source: list[SourceLine] = Field([])
    locals: list[ReportLocal] | None = None
    more_locals: int = 0
    trouble: str | None = Field(None, description="Why there are no locals")
    stack: list[ReportFrame] = Field([])
    end: str | None = Field(None, description="How the program ended, in words")
    printed: dict[str, str] = Field(
        {}, description="The last of what this run printed, by stream; the newest stream last"
    )
    failed: bool = Field(False, description="Whether it has ended with another exit code than 0")
    stopped_before: str | None = Field(None, description="Its latest stop that is over, in words")
    prompt: str | None = Field(None, description="What it asked, if it waits for input")
    never_hit: list[str] = Field([])
    misspelt: list[str] = Field([], description="What functions that no source has may mean")
    not_known: str | None = Field(None, description="Of which nobody knows whether it was hit")
    without_stop: list[str] = Field(
        [], description="Tests that failed though nothing was raised, where failures stop"
    )
    unwatched: str | None = Field(None, description="Which processes had no debugger")
