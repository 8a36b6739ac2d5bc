"""Run to a line, set the next line: requests and results. Source: contract section 9."""

from __future__ import annotations

from pydantic import Field

from relay.models.execution import ExecutionResult, Waiting
from relay.models.fields import PathText

LAST_LINE = 2**31 - 1


class RunToRequest(Waiting):
    file: PathText = Field(description="Source file; relative paths start from project_root")
    line: int = Field(ge=1, le=LAST_LINE, description="Line to run to; it must have code")
    thread_id: int | None = Field(None, description="Thread that must come there; default: any")


class RunToResult(ExecutionResult):
    reached: bool | None = Field(
        description="Whether it stopped there; null while it still runs, false if something else "
        "stopped or ended it first"
    )


class GotoRequest(Waiting):
    line: int = Field(ge=1, le=LAST_LINE, description="Line of the same function to run next")
    file: PathText | None = Field(None, description="If given, it must be where the thread stands")
    thread_id: int | None = Field(None, description="Default: the stopped thread")
