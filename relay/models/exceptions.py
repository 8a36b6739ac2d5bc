"""Exception breakpoints: request and result. Source: contract, section 9."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from relay.models.fields import StrictModel, Text
from relay.models.patterns import DOTTED_NAME
from relay.models.resource import Resource, left_out

ExceptionFilter = Literal["raised", "uncaught", "user_unhandled"]
TypeName = Annotated[str, StringConstraints(pattern=DOTTED_NAME, max_length=1000)]


class SetExceptionBreakpoints(StrictModel):
    """Replaces the earlier setting; no filters never stop."""

    filters: list[ExceptionFilter] = Field(
        max_length=10, description="raised: where it is raised; uncaught: where nothing catches it"
    )
    types: list[TypeName] = Field(
        [],
        max_length=100,
        description="Only these classes and their subclasses: ValueError, pkg.Error",
    )
    condition: Text | None = Field(
        None, min_length=1, description="Only when true in the frame; `exception` is there"
    )
    only_for: list[ExceptionFilter] = Field(
        [],
        max_length=10,
        description="The filters that types and condition narrow; empty: all of them",
    )


class ExceptionBreakpointsView(Resource):
    filters: list[ExceptionFilter]
    types: list[str]
    condition: str | None = None
    only_for: list[ExceptionFilter] | None = left_out(
        "The filters that types and condition narrow; absent: all of them"
    )
    unknown_types: list[str] | None = left_out(
        "Names that lead to no class of the program yet; they match once they do"
    )
