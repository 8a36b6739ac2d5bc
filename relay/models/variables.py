"""Variables of frames and scopes, children a page at a time, and setting one.

Source: API section 3.6, contract section 5.
"""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from relay.models.fields import StrictModel, Text
from relay.models.inspection import VariableView
from relay.models.resource import REDACTED, Resource, left_out

REVEAL = "Show what is masked, too"


class FrameVariablesQuery(StrictModel):
    thread_id: int | None = Field(
        None,
        description="Whose frame; default: the stopped thread, of a program that runs the main one",
    )
    summary: bool = Field(False, description="Names, types and sizes only; runs no `__repr__`")
    offset: int = Field(0, ge=0, description="Variables to skip")
    limit: int = Field(100, ge=1, le=10_000, description="Variables to return at most")
    reveal: bool = Field(False, description=REVEAL)


class ChildrenQuery(StrictModel):
    offset: int | None = Field(None, ge=0, description="Children to skip; default 0")
    limit: int | None = Field(None, ge=1, le=10_000, description="Children at most; default 100")
    start: int | None = Field(None, ge=0, description="Another name of offset")
    count: int | None = Field(None, ge=1, le=10_000, description="Another name of limit")
    reveal: bool = Field(False, description=REVEAL)

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        if self.offset is not None and self.start is not None:
            raise ValueError("give either offset or start: they mean the same")
        if self.limit is not None and self.count is not None:
            raise ValueError("give either limit or count: they mean the same")
        return self


class VariableSummary(Resource):
    """A variable without its value."""

    name: str
    type: str
    length: int | None = left_out("Items or characters")
    variables_reference: int = 0
    expandable: bool | None = left_out("true: variables_reference leads to children")
    redacted: bool | None = left_out(REDACTED)


class FrameVariables(Resource):
    frame_id: int
    variables_reference: int = Field(description="The scope's: where to set one of them")
    variables: list[VariableView] | list[VariableSummary]
    total: int
    offset: int
    limit: int
    has_more: bool


class ChildView(VariableView):
    """A child: an item, an entry or an attribute."""

    index: int | None = left_out("Position of an item in a sequence")


class ChildPage(Resource):
    variables_reference: int
    items: list[ChildView]
    total: int
    offset: int
    limit: int
    has_more: bool


class SetExpressionRequest(StrictModel):
    expression: Text = Field(
        min_length=1, max_length=10_000, description="A variable, an attribute or an item"
    )
    value: Text = Field(
        min_length=1, max_length=1_000_000, description="An expression, evaluated in the frame"
    )
    frame_id: int = Field(0, ge=0, description="Frame of the stopped thread; 0: the innermost")
    reveal: bool = Field(False, description=REVEAL)


class SetVariableRequest(StrictModel):
    name: Text = Field(
        min_length=1, max_length=10_000, description="Of the child, as its parent lists it"
    )
    value: Text = Field(
        min_length=1, max_length=1_000_000, description="An expression, evaluated in the frame"
    )
    reveal: bool = Field(False, description=REVEAL)


class RevealQuery(StrictModel):
    reveal: bool = Field(False, description=REVEAL)


def shown(facts: dict[str, Any]) -> VariableView:
    """A variable as the debuggee describes it."""
    return VariableView.pick(facts, **expandable(facts))


def expandable(facts: dict[str, Any]) -> dict[str, bool]:
    """The mark of what has children, else nothing."""
    return {"expandable": True} if facts.get("variables_reference") else {}
