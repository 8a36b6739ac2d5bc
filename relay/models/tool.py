"""The run-to-breakpoint tool API: what its five calls take and give, field by field.

Names are those of its document: camelCase, `sessionId`, `isTruncated`. No envelope.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from relay.errors import RelayError
from relay.models.fields import PathText, StrictModel, Text
from relay.models.patterns import NO_NUL, VARIABLE_NAME
from relay.models.resource import Resource

PREFIX = "/tool/v0"
"""Where the calls are, over HTTP."""

LAST_LINE = 2**31 - 1

Argument = Annotated[str, StringConstraints(pattern=NO_NUL, max_length=512)]
VariableName = Annotated[str, StringConstraints(pattern=VARIABLE_NAME, max_length=64)]
VariableValue = Annotated[str, StringConstraints(pattern=NO_NUL, max_length=1024)]


class ToolRequest(StrictModel):
    """Base of what the calls take."""

    model_config = ConfigDict(alias_generator=to_camel)


class ToolResult(Resource):
    """Base of what the calls give; built by the Python names, shown by the others."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True
    )


# What is asked ----------------------------------------------------------------------------


class ToolSession(ToolRequest):
    """A program to debug; nothing runs yet."""

    entry: PathText = Field(description="Project-relative script path")
    args: list[Argument] = Field(
        [], max_length=20, description="Command-line arguments for the script"
    )
    env: dict[VariableName, VariableValue] = Field(
        {}, max_length=50, description="Environment variables, laid over the relay's own"
    )
    python_path: PathText | None = Field(
        None, description="Absolute path to the Python interpreter; default: the relay's setting"
    )


class ToolPlace(ToolRequest):
    """Where to run to."""

    file: PathText = Field(description="Project-relative file path")
    line: int = Field(ge=1, le=LAST_LINE, description="1-based line number; it must have code")


class ToolSessionCall(ToolRequest):
    """A call about one session."""

    session_id: Text = Field(min_length=1, max_length=255, description="From sessions_create")


class ToolPlaceCall(ToolPlace, ToolSessionCall):
    """Where to run to, and in which session."""


# What is answered ------------------------------------------------------------------------


class ToolCreated(ToolResult):
    session_id: str


class ToolFrame(ToolResult):
    file: str = Field(description="Absolute path")
    line: int


class ToolLocal(ToolResult):
    type: str
    repr: str = Field(description="At most 256 characters")
    is_truncated: bool


class ToolFailure(ToolResult):
    """What kept the program from the place."""

    type: str = Field(description="ValueError, TimeoutError, …")
    message: str
    traceback: str | None = None


class ToolRun(ToolResult):
    """Where a run ended."""

    hit: bool = Field(description="Whether the breakpoint was hit")
    frame_info: ToolFrame | None = Field(
        None, description="Where the program stands; null if it ended, failed or still runs"
    )
    locals: dict[str, ToolLocal] | None = Field(
        None, description="Local variables there, at most 100"
    )
    completed: bool = Field(description="Whether the program ended without hitting it")
    error: ToolFailure | None = None


class ToolLastBreakpoint(ToolResult):
    file: str = Field(description="Project-relative path")
    line: int
    hit_count: int = Field(description="How often the program stopped there in this run")


class ToolTimings(ToolResult):
    last_run_ms: float | None = Field(description="From the latest call to its stop or end")
    total_cpu_time_ms: float | None = Field(
        description="CPU time of the program's process, as of its latest stop"
    )


ToolStatus = Literal["idle", "running", "paused", "completed", "error"]


class ToolState(ToolResult):
    status: ToolStatus
    last_breakpoint: ToolLastBreakpoint | None
    timings: ToolTimings | None = Field(description="null until the program was run")


class ToolEnded(ToolResult):
    ended: Literal[True] = True


# What is refused -------------------------------------------------------------------------


class ToolRefusal(ToolResult):
    type: str = Field(description="The error's class, such as SessionNotFound")
    message: str = Field(description="What is wrong, and what to do about it")


class ToolError(ToolResult):
    """The body of every answer that is no success."""

    error: ToolRefusal


def refusal(error: RelayError, way_out: str | None) -> ToolError:
    """An error of the catalog in this API's shape; the way out becomes part of the message."""
    listed = error.details.get("errors") or []
    texts = [f"{item['field']}: {item['message']}" for item in listed]
    message = "; ".join(texts) if len(texts) > 1 else error.message
    if way_out is not None:
        message = f"{message.rstrip('.')}. {way_out}"
    return ToolError(error=ToolRefusal(type=type(error).__name__, message=message))
