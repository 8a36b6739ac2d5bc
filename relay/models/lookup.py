"""Hover, completions, the exception of a stop, modules, source. Contract, sections 5 and 9."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from relay.models.execution import LocalVariable, SourceLine
from relay.models.failure import OfFailure
from relay.models.fields import PathText, StrictModel, Text
from relay.models.resource import MOVED_ON, REDACTED, Location, Resource, left_out
from relay.models.variables import REVEAL

MOST_LINES = 10_000
"""Lines of source in one answer."""


class HoverRequest(StrictModel):
    expression: Text | None = Field(
        None, min_length=1, max_length=100_000, description="Give this, or a place"
    )
    file: PathText | None = Field(None, description="With line and column: the name that is there")
    line: int | None = Field(None, ge=1, le=2**31 - 1, description="From 1")
    column: int | None = Field(None, ge=1, le=2**31 - 1, description="In characters, from 1")
    frame_id: int = Field(0, ge=0, description="Frame of the stopped thread, 0 on top")
    reveal: bool = Field(False, description=REVEAL)

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        place = (self.file, self.line, self.column)
        if self.expression is None and None in place:
            raise ValueError("give an expression, or file, line and column")
        if self.expression is not None and place != (None, None, None):
            raise ValueError("give either an expression or a place, not both")
        return self


class CompletionsRequest(StrictModel):
    text: Text = Field(max_length=100_000, description="What has been typed; may have lines")
    column: int | None = Field(
        None, ge=1, le=100_001, description="Where to complete, in characters, from 1; default end"
    )
    frame_id: int = Field(0, ge=0, description="Frame of the stopped thread, 0 on top")


class CompletionItem(Resource):
    label: str
    text: str = Field(description="What to put in the place of `length` characters at `start`")
    type: str = Field(description="variable, field, method, function, class, module, keyword, …")
    start: int = Field(description="Column in `text` of the request, from 1")
    length: int = Field(description="Characters that are typed already")


class Completions(Resource):
    items: list[CompletionItem]


def usual_name(full_type: str) -> str:
    """A type's full name as Python itself shows it: without `builtins` and `__main__`."""
    return full_type.removeprefix("builtins.").removeprefix("__main__.")


class ChainedException(Resource):
    type: str
    full_type: str
    message: str
    relation: Literal["cause", "context", "earlier"] = Field(
        description="cause: raised `from` it; earlier: what a request of the same test ended with"
    )
    ends: str | None = left_out("Of an earlier one: what it has ended")
    location: Location | None = Field(
        None, description="The program's innermost frame on its way, at the line that raised"
    )
    locals: list[LocalVariable] = Field([], description="Of that frame, as it was left")
    moved_on: bool = Field(False, description=MOVED_ON)
    truncated: bool | None = left_out()
    redacted: bool | None = left_out(REDACTED)


class ExceptionDetails(OfFailure):
    type: str
    full_type: str
    message: str
    traceback: str = Field(description="As plain Python would print it")
    break_mode: str
    line: int | None = Field(None, description="Where it was raised")
    chain: list[ChainedException] = Field([], description="Causes and contexts, nearest first")
    variables_reference: int = Field(0, description="Leads to its args and attributes")
    truncated: bool | None = left_out()
    redacted: bool | None = left_out(REDACTED)


class CurrentException(Resource):
    thread_id: int
    exception: ExceptionDetails | None = Field(description="null: the stop is about none")


class ModulesQuery(StrictModel):
    offset: int = Field(0, ge=0, description="Items to skip")
    limit: int = Field(100, ge=1, le=10_000, description="Items to return at most")
    user_code: bool | None = Field(
        None, description="true: only modules of the project, false: only the others"
    )


class ModuleView(Resource):
    name: str
    path: str | None
    is_user_code: bool = Field(description="Below project_root or cwd, and not installed there")
    version: str | None = left_out()


class ModulePage(Resource):
    items: list[ModuleView]
    total: int
    offset: int
    limit: int
    has_more: bool


class FrameSourceQuery(StrictModel):
    start: int | None = Field(None, ge=1, le=2**31 - 1, description="First line; default 1")
    end: int | None = Field(None, ge=1, le=2**31 - 1, description="Last line; default the last")
    highlight: bool = Field(
        False, description="Say what is a keyword, a string, …; not of very long files"
    )


class SourceQuery(FrameSourceQuery):
    path: PathText = Field(description="Relative ones start at project_root")


class SourceText(Resource):
    path: str
    start: int = Field(description="First line here; 0 of a file without lines")
    end: int = Field(description="Last line here; ask again from end + 1 if total_lines is more")
    total_lines: int
    lines: list[SourceLine]
    current_line: int | None = Field(description="Where the frame stands; null without a frame")
    truncated: bool | None = left_out("Not everything that was asked for is here")
    warning: str | None = left_out("The file was changed after the program was started")
