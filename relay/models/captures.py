"""Captured values as a table: requests and results. Source: contract, section 3."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from relay.models.fields import StrictModel
from relay.models.resource import REDACTED, Resource, left_out

DEFAULT_ROWS = 50
DEFAULT_CHARS = 8000
DEFAULT_PAGE = 100


class CapturesQuery(StrictModel):
    """A choice of rows within a budget; with `offset` or `limit`, all of them page by page."""

    max_rows: int | None = Field(
        None, ge=2, le=1000, description="Rows to choose at most: first, last, outliers; default 50"
    )
    max_chars: int | None = Field(
        None,
        ge=500,
        le=1_000_000,
        description="Bound of the rows' JSON; default 8000, of a page none",
    )
    offset: int | None = Field(None, ge=0, description="Kept rows to skip")
    limit: int | None = Field(
        None, ge=1, le=1000, description="Rows to return at most, one after another; default 100"
    )

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if self.max_rows is not None and (self.offset is not None or self.limit is not None):
            raise ValueError("give either max_rows, to choose, or offset and limit, to page")
        return self


class CapturedValue(Resource):
    """What one expression was worth at one hit."""

    type: str = Field(description="Its type; of an error, the exception's")
    value: str | None = left_out("Its repr, cut at 200 characters")
    number: int | float | None = left_out("The same as a number, where it is one and finite")
    error: str | None = left_out("The exception that the expression raised, instead of a value")
    truncated: bool | None = left_out()
    redacted: bool | None = left_out(REDACTED)


class CapturedRow(Resource):
    """One hit."""

    row: int = Field(description="Number of the hit, from 1")
    thread_id: int
    seconds: float = Field(description="Since the first row")
    values: list[CapturedValue] = Field(description="One for each expression, in their order")
    why: list[str] | None = left_out("What is remarkable about it")


class CaptureColumn(Resource):
    """One expression over all rows, also those that are not shown or no longer kept."""

    expression: str
    types: dict[str, int] = Field(
        description="How many rows had each type; `error X` where it raised X"
    )
    least: int | float | None = left_out()
    greatest: int | float | None = left_out()


class Captures(Resource):
    breakpoint_id: str
    columns: list[CaptureColumn]
    rows: list[CapturedRow] = Field(description="In the order in which they were recorded")
    total: int = Field(description="Rows recorded since the program was started, or cleared")
    dropped: int = Field(
        0, description="Of them, no longer kept: neither first nor last nor outliers"
    )
    not_shown: list[list[int]] = Field(
        [], description="Rows not in this answer, as [from, to], both included"
    )
    outliers_not_shown: int | None = left_out("Remarkable rows for which there was no room")
    offset: int | None = left_out()
    limit: int | None = left_out()
    has_more: bool | None = left_out("Of a page: whether rows follow")


class ClearedCaptures(Resource):
    breakpoint_id: str
    cleared: int = Field(description="Rows that were recorded, and are forgotten now")
