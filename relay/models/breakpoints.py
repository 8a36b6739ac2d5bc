"""Breakpoints: requests and results. Source: API section 3.4, contract section 3."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from relay.models.fields import PATH_LENGTH, PathText, StrictModel, Text
from relay.models.places import FUNCTION_NAME
from relay.models.resource import Resource, SourceRef, left_out

FunctionName = Annotated[
    str, StringConstraints(pattern=FUNCTION_NAME, max_length=PATH_LENGTH + 1000)
]
"""`total`, `Cart.total`, `shop.cart.Cart.total`, `cart.py:Cart.total`, a test's id, or `Cart::total`."""

MOST_CAPTURED = 20
"""Expressions that one breakpoint captures."""

Captured = Annotated[
    list[Annotated[Text, StringConstraints(min_length=1, max_length=1000)]],
    Field(min_length=1, max_length=MOST_CAPTURED),
]
"""Expressions whose values are recorded at each hit."""

CAPTURE = (
    "Record the values of these expressions (1 to 20) at each hit instead of stopping; "
    "read them under /breakpoints/{breakpoint_id}/captures"
)
CAPTURE_REVEAL = "Record what is masked, too; with capture"


class SourceSpec(StrictModel):
    path: PathText = Field(description="Absolute, or relative to project_root")


OwnerName = Annotated[Text, StringConstraints(min_length=1, max_length=200)]
"""Who wants a breakpoint, where not all clients of the session do."""


class BreakpointFields(StrictModel):
    """A place, `source.path` or `file` with `line`, or `function`; and when to stop there."""

    source: SourceSpec | None = None
    file: PathText | None = Field(None, description="The same as source.path")
    line: int | None = Field(None, ge=1, le=2**31 - 1, description="Line, counted from 1")
    function: FunctionName | None = Field(
        None,
        description="Stop where it is called: name, Class.name, module.Class.name, or that in one "
        "file, FILE:Class.name or FILE::Class::name; with :: for a dot in languages that write it so",
    )
    condition: Text | None = Field(None, description="Stop only when this expression is true")
    hit_condition: Text | None = Field(
        None, description="Stop by the count of hits: N, ==N, >N, >=N, <N, <=N, %N"
    )
    log_message: Text | None = Field(
        None, description="Log this instead of stopping; {expression} is filled in"
    )
    capture: Captured | None = Field(None, description=CAPTURE)
    reveal: bool = Field(False, description=CAPTURE_REVEAL)
    enabled: bool = Field(True, description="false keeps it without effect")
    pending: bool = Field(
        False, description="The file need not exist yet: the breakpoint waits for it"
    )

    @property
    def path(self) -> str:
        """The source file, as the client wrote it; empty for a function."""
        return self.source.path if self.source else self.file or ""

    @property
    def _given(self) -> set[str]:
        """Names of the fields that have a value: null is as good as absent."""
        return {name for name in self.model_fields_set if getattr(self, name) is not None}

    def _check_place(self) -> None:
        if self.reveal and self.capture is None:
            raise ValueError("reveal says how to capture: give capture, too")
        if self.function is not None:
            if {"source", "file", "line", "pending"} & self._given:
                raise ValueError("give either function or a file and a line, not both")
            return
        if self.line is None:
            raise ValueError("give source.path and line, or function")
        if (self.source is None) == (self.file is None):
            raise ValueError("give either source.path or file, not both and not neither")


class BreakpointSpec(BreakpointFields):
    """One breakpoint as asked for."""

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        self._check_place()
        return self


class SetBreakpoints(BreakpointFields):
    """A batch under `breakpoints`, or the fields of one breakpoint."""

    breakpoints: list[BreakpointSpec] | None = Field(None, min_length=1, max_length=10_000)
    owner: OwnerName | None = Field(
        None,
        description="A name of the client's own, for breakpoints that go when it lets them go: "
        "at a place where somebody else has one, that one stays as it is, and these wait",
    )

    @model_validator(mode="after")
    def _batch_or_single(self) -> Self:
        single = self._given - {"breakpoints", "owner"}
        if self.breakpoints is None:
            if not single:
                raise ValueError("give breakpoints, or source.path and line, or function")
            self._check_place()
        elif single:
            raise ValueError(
                f"give either breakpoints or one breakpoint's fields, not {sorted(single)} too"
            )
        return self

    @property
    def specs(self) -> list[BreakpointSpec]:
        """What was asked for, as a batch."""
        if self.breakpoints is not None:
            return self.breakpoints
        fields = self._given - {"owner"}
        return [BreakpointSpec(**{name: getattr(self, name) for name in fields})]


class ChangeBreakpoint(StrictModel):
    """What is given changes; null takes a condition, log message or capture away."""

    null_says = frozenset({"condition", "hit_condition", "log_message", "capture"})

    line: int | None = Field(
        None, ge=1, le=2**31 - 1, description="New line in the same file, counted from 1"
    )
    condition: Text | None = Field(None, description="Stop only when this expression is true")
    hit_condition: Text | None = Field(
        None, description="Stop by the count of hits, which starts anew"
    )
    log_message: Text | None = Field(None, description="Log this instead of stopping")
    capture: Captured | None = Field(None, description=CAPTURE)
    reveal: bool | None = Field(None, description=CAPTURE_REVEAL)
    enabled: bool | None = Field(None, description="false keeps it without effect")


class BreakpointView(Resource):
    id: str
    verified: bool
    source: SourceRef | None = Field(description="null while the place of a function is unknown")
    line: int | None = Field(description="null while the place of a function is unknown")
    function: str | None = left_out("The function, as asked for; its file with the whole path")
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    capture: list[str] | None = left_out("Recorded at each hit, without stopping")
    reveal: bool | None = left_out("true: what it captures is not masked")
    enabled: bool = True
    pending: bool | None = left_out("true while its file does not exist")
    hit_count: int = Field(
        0,
        description="How often it was hit in this run: its condition was true, or, with a hit "
        "condition, the program came by",
    )
    message: str | None = Field(None, description="Why it is not verified")
    suggestion: str | None = Field(None, description="The nearest line with code")
    warning: str | None = left_out(
        "Its file was changed after the program was started, or more is meant than was asked for"
    )


class BreakpointBatch(Resource):
    breakpoints: list[BreakpointView]
    warning: str | None = left_out("Files were changed after the program was started")


class BreakpointList(Resource):
    breakpoints: list[BreakpointView]
    total: int
    warning: str | None = left_out("Files were changed after the program was started")


class BreakpointListQuery(StrictModel):
    file: PathText | None = Field(None, description="Only those of this file")
    verified: bool | None = Field(None, description="Only those (not) verified")


class DeletedBreakpoint(Resource):
    id: str
    deleted: Literal[True] = True


class DeleteBreakpointsQuery(StrictModel):
    file: PathText | None = Field(None, description="Only those of this file")
    ids: list[Text] | None = Field(None, description="Only these, separated by commas")
    owner: OwnerName | None = Field(
        None,
        description="Only what was set with this owner; where others want one, too, theirs stays",
    )


class DeletedBreakpoints(Resource):
    deleted: list[str] = Field(description="Ids of the breakpoints that are gone")
    total: int
