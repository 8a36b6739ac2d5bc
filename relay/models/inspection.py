"""Threads, frames, scopes, variables, evaluation. Source: API section 3.6, contract section 5."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from relay.models.fields import StrictModel, Text
from relay.models.resource import (
    INNER,
    MOVED_ON,
    REDACTED,
    ProcessRef,
    Resource,
    SourceRef,
    left_out,
)


class ThreadView(Resource):
    id: int
    name: str
    status: Literal["running", "paused"]
    is_current: bool
    process: ProcessRef | None = left_out("Whose thread it is, where several are debugged")


class ThreadList(Resource):
    threads: list[ThreadView]
    stopped_thread_id: int | None


class StackQuery(StrictModel):
    thread_id: int | None = Field(None, description="Default: the stopped thread")
    start_frame: int = Field(0, ge=0, description="First frame to show")
    levels: int = Field(20, ge=0, le=10_000, description="Frames to show; 0 shows all")


class FrameView(Resource):
    id: int = Field(description="Index in the stack, 0 on top")
    name: str
    source: SourceRef | None
    line: int
    column: int
    module_name: str | None = None
    presentation_hint: Literal["normal", "label", "subtle"] = "normal"
    moved_on: Literal[True] | None = left_out(MOVED_ON)
    inner: Literal[True] | None = left_out(INNER)


class StackTrace(Resource):
    thread_id: int
    frames: list[FrameView]
    total_frames: int


class ScopesQuery(StrictModel):
    frame_id: int = Field(0, ge=0, description="Frame of the stopped thread, 0 on top")


class ScopeView(Resource):
    name: str
    presentation_hint: Literal["locals", "globals", "registers"]
    variables_reference: int
    named_variables: int
    indexed_variables: int
    expensive: bool


class ScopeList(Resource):
    frame_id: int
    scopes: list[ScopeView]


class VariablesQuery(StrictModel):
    variables_reference: int = Field(description="From a scope, a variable or an evaluation")
    start: int = Field(0, ge=0, description="First child to show")
    count: int | None = Field(None, ge=0, le=10_000, description="Children to show; default 100")
    filter: Literal["indexed", "named"] | None = None
    reveal: bool = Field(False, description="Show what is masked, too")


class VariableView(Resource):
    name: str
    value: str
    type: str
    variables_reference: int = 0
    named_variables: int = 0
    indexed_variables: int = 0
    length: int | None = left_out()
    expandable: bool | None = left_out("true: variables_reference leads to children")
    truncated: bool | None = left_out()
    circular: bool | None = left_out()
    redacted: bool | None = left_out(REDACTED)
    base64: str | None = left_out("Content of a bytes value, cut like value")
    evaluate_name: str | None = left_out()
    presentation_hint: dict[str, Any] | None = left_out()


class VariableList(Resource):
    variables_reference: int
    variables: list[VariableView]
    total: int
    has_more: bool


class EvaluateRequest(StrictModel):
    expression: Text = Field(min_length=1, max_length=1_000_000)
    frame_id: int = Field(0, ge=0, description="Frame of the stopped thread, 0 on top")
    context: Literal["watch", "repl", "hover"] = Field(
        "repl", description="repl may run statements; watch and hover take expressions only"
    )
    max_value: int = Field(
        1000, ge=1, le=1_000_000, description="Characters of the result before it is cut"
    )
    reveal: bool = Field(False, description="Show what is masked, too")


class Evaluation(Resource):
    result: str | None
    type: str | None
    variables_reference: int = 0
    named_variables: int = 0
    indexed_variables: int = 0
    length: int | None = left_out()
    truncated: bool | None = left_out()
    circular: bool | None = left_out()
    redacted: bool | None = left_out(REDACTED)
    base64: str | None = left_out()
    presentation_hint: dict[str, Any] | None = None
    error: str | None = left_out("The exception that the expression raised")
    output: str | None = left_out("What it printed, on both streams")
