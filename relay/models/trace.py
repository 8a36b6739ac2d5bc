"""Traces of calls: requests and results. A call's lifetime as one tree, and as text."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from relay.models.breakpoints import FunctionName
from relay.models.execution import ExecutionResult
from relay.models.fields import PathText, StrictModel, Text
from relay.models.places import parameter_of
from relay.models.resource import REDACTED, Resource, left_out
from relay.models.run_to import LAST_LINE

DEFAULT_TEXT = 2000
"""Bytes of UTF-8 of the text form, unless asked otherwise."""

TraceState = Literal["none", "waiting", "recording", "complete", "interrupted", "ended", "replaced"]


class TraceView(StrictModel):
    """How a trace is shown."""

    max_chars: int = Field(
        DEFAULT_TEXT, ge=200, le=100_000, description="Bound of `text`, in bytes of UTF-8"
    )
    tree: bool = Field(False, description="Send the recorded call as a tree, too: `tree`")


class TraceRequest(TraceView):
    function: FunctionName | None = Field(
        None,
        description="As in function breakpoints: `total`, `Cart.total`, `shop.Cart.total`, "
        "`cart.py:Cart.total`",
    )
    file: PathText | None = Field(
        None, description="With `line`, in place of `function`; relative to project_root"
    )
    line: int | None = Field(
        None, ge=1, le=LAST_LINE, description="A line with code inside the function, or its `def`"
    )
    call: int = Field(
        1,
        ge=1,
        le=1_000_000_000,
        description="Which call from now on, of those that count; 1: the next",
    )
    depth: int = Field(
        1, ge=1, le=10, description="Levels of calls that are shown line by line; 1: only this one"
    )
    condition: Text | None = Field(
        None, max_length=10_000, description="Count only calls whose arguments make this true"
    )
    until_result: Text | None = Field(
        None,
        max_length=10_000,
        description="Let calls go by until one whose end makes this true; it sees `result` or "
        "`exception` (else None) and the arguments",
    )
    wait: float | None = Field(
        None, ge=0, le=300, description="Seconds to wait for the end of the call; default 10"
    )
    reveal: bool = Field(False, description="Show what is masked, too")

    @property
    def parameter(self) -> str | None:
        """That of the test which `function` names."""
        return parameter_of(self.function or "")

    @model_validator(mode="after")
    def _one_target(self) -> TraceRequest:
        by_line = self.file is not None and self.line is not None
        if (self.function is not None) == by_line or (self.file is None) != (self.line is None):
            raise ValueError("give either `function`, or `file` and `line`")
        return self


class TraceValue(Resource):
    value: str
    truncated: bool | None = left_out()
    redacted: bool | None = left_out(REDACTED)


class TraceVariable(TraceValue):
    name: str
    old: str | None = left_out("What it was before")
    length: int | None = left_out("Items of a list, dict or set that is not shown whole")
    added: str | None = left_out("What a list has at its end since, behind what it had")
    unshown: bool | None = left_out("It changed beyond what is shown of it")
    changed_at: int | None = left_out("Where so: the first item or character that differs")
    deleted: bool | None = left_out("The variable is gone")


class TraceError(Resource):
    type: str
    text: str = Field(description="As the last line of a traceback")
    line: int | None = left_out("The line at which it left the function")


class TraceSuspension(Resource):
    """A generator gave a value, or a coroutine waited; the call goes on when it is resumed."""

    awaits: bool | None = left_out("It waited; what it waited for gave no value to show")
    value: str | None = left_out("What was yielded")
    truncated: bool | None = left_out()
    redacted: bool | None = left_out(REDACTED)


class SkippedLines(Resource):
    """Lines that were counted only: too many came before."""

    lines: dict[int, int] = Field(description="How often each line ran")
    calls: int = Field(0, description="Calls that these lines made")
    changed: list[TraceVariable] = Field([], description="All that they changed, as one change")


class TraceStep(Resource):
    """One line that ran."""

    line: int
    text: str = Field("", description="The source of the line")
    changed: list[TraceVariable] = Field(description="What it changed")
    calls: list[TraceCall] = Field(description="The calls of Python functions that it made")
    more_calls: int | None = left_out("Calls of this line beyond those shown")
    raised: TraceError | None = left_out("An exception that came up at this line")
    suspended: TraceSuspension | None = left_out()
    skipped: SkippedLines | None = left_out("What ran after this line and was counted only")


class TraceLoop(Resource):
    """A line that came again and again: its first rounds, the last, and a sum of the others."""

    line: int = Field(description="The line with which each round begins")
    rounds: int = Field(description="How often, without the last time if that ended the loop")
    first: list[list[TraceItem]]
    left_out: int = Field(description="Rounds between the first and the last that are not shown")
    changed: list[TraceVariable] = Field(description="What those changed, as one change")
    last: list[list[TraceItem]]


TraceItem = TraceStep | TraceLoop


class TracePlace(Resource):
    """A line of a function that was running."""

    function: str
    path: str | None
    line: int


class TraceCaller(TracePlace):
    """Who made a call: the innermost frame of own code, or of a library's where there is none."""

    through: TracePlace | None = left_out("The library's function between, which made the call")


class TraceCall(Resource):
    """One call: its arguments, its lines if they are shown, and how it ended."""

    function: str
    path: str | None
    line: int = Field(description="Where the function begins")
    arguments: list[TraceVariable]
    caller: TraceCaller | None = left_out(
        "Of the call that was asked for: who made it; of a generator or coroutine, who first ran it"
    )
    steps: list[TraceItem] | None = left_out("Its lines; absent for calls beyond `depth`")
    result: TraceValue | None = left_out()
    exception: TraceError | None = left_out("The exception that left the function")
    yielded: list[TraceValue] | None = left_out("The first values that a generator gave")
    suspensions: int | None = left_out("How often it yielded or waited")
    awaits: bool | None = left_out("A coroutine: it waited, and yielded nothing")


class TraceResult(ExecutionResult):
    """The lifetime of one call, or as much of it as there was."""

    complete: bool = Field(description="Whether the call was recorded from beginning to end")
    trace_state: TraceState = Field(
        description="`waiting` for the call, `recording`, `complete`; `interrupted` by another "
        "stop, `ended` with the program, `replaced`: could not begin, `none`: not asked for"
    )
    reason: str | None = left_out("Why it is not complete")
    called: int = Field(description="Calls that counted so far")
    thread_name: str | None = left_out("The thread that made the call")
    lines: int = Field(0, description="Lines that ran, in the calls that are shown line by line")
    calls: int = Field(0, description="Calls that they made of Python functions")
    exceptions: int = Field(0, description="Exceptions that came up in them")
    condition_error: str | None = left_out("What the condition raised; such a call counts")
    call: int | None = left_out("With `until_result`: which call it was, of those that counted")
    passed: int | None = left_out("With `until_result`: calls that went by")
    raised: int | None = left_out("With `until_result`: how many of these ended by an `exception`")
    until_error: str | None = left_out(
        "What `until_result` raised first, and if so, that it did only in calls that ended by an "
        "exception, whose `result` is None; such a call goes by"
    )
    unknown: str | None = left_out(
        "Of which processes it is not known what they called: they ended without a word, or do not answer"
    )
    text: str = Field(description="The call as text, within `max_chars`; `…` marks cuts")
    truncated: bool = Field(description="Whether anything was left out, of the text or the record")
    whole_text: int | None = left_out(
        "Where `max_chars` has left out something: the bytes of the text with all of it"
    )
    tree: TraceCall | None = left_out("The call as a tree")


TraceStep.model_rebuild()
TraceLoop.model_rebuild()
TraceCall.model_rebuild()
