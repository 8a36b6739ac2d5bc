"""Breakpoints: requests and results. Source: API section 3.4, contract section 3."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from relay.models.fields import PathText, StrictModel, Text
from relay.models.resource import Resource, SourceRef


class SourceSpec(StrictModel):
    path: PathText = Field(description="Absolute, or relative to project_root")


class BreakpointSpec(StrictModel):
    """One breakpoint as asked for: `source.path` or `file`, and a line."""

    source: SourceSpec | None = None
    file: PathText | None = Field(None, description="The same as source.path")
    line: int = Field(ge=1, le=2**31 - 1, description="Line, counted from 1")
    condition: Text | None = Field(None, description="Stop only when this expression is true")
    hit_condition: Text | None = Field(
        None, description="Stop by the count of hits: N, ==N, >N, >=N, <N, <=N, %N"
    )
    log_message: Text | None = Field(
        None, description="Log this instead of stopping; {expression} is filled in"
    )
    enabled: bool = True

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.source is None) == (self.file is None):
            raise ValueError("give either source.path or file, not both and not neither")
        return self

    @property
    def path(self) -> str:
        """The source file, as the client wrote it."""
        return self.source.path if self.source else self.file or ""


class SetBreakpoints(StrictModel):
    """A batch under `breakpoints`, or the fields of one breakpoint."""

    breakpoints: list[BreakpointSpec] | None = Field(None, min_length=1, max_length=10_000)
    source: SourceSpec | None = None
    file: PathText | None = Field(None, description="The same as source.path")
    line: int | None = Field(None, ge=1, le=2**31 - 1)
    condition: Text | None = None
    hit_condition: Text | None = None
    log_message: Text | None = None
    enabled: bool = True

    @model_validator(mode="after")
    def _batch_or_single(self) -> Self:
        single = self.model_fields_set - {"breakpoints"}
        if self.breakpoints is not None and single:
            raise ValueError(
                f"give either breakpoints or one breakpoint's fields, not {sorted(single)} too"
            )
        if self.breakpoints is None:
            if self.line is None:
                raise ValueError("give breakpoints, or source.path and line")
            if (self.source is None) == (self.file is None):
                raise ValueError("give either source.path or file, not both and not neither")
        return self

    @property
    def specs(self) -> list[BreakpointSpec]:
        """What was asked for, as a batch."""
        if self.breakpoints is not None:
            return self.breakpoints
        return [BreakpointSpec(**{name: getattr(self, name) for name in self.model_fields_set})]


class BreakpointView(Resource):
    id: str
    verified: bool
    source: SourceRef
    line: int
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    enabled: bool = True
    hit_count: int = Field(0, description="How often it stopped the program")
    message: str | None = Field(None, description="Why it is not verified")
    suggestion: str | None = Field(None, description="The nearest line with code")


class BreakpointBatch(Resource):
    breakpoints: list[BreakpointView]


class BreakpointList(Resource):
    breakpoints: list[BreakpointView]
    total: int


class BreakpointListQuery(StrictModel):
    file: PathText | None = Field(None, description="Only those of this file")
    verified: bool | None = Field(None, description="Only those (not) verified")


class DeletedBreakpoint(Resource):
    id: str
    deleted: Literal[True] = True
