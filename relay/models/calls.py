"""The tree of own calls: the question, and the answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints

from relay.models.breakpoints import FunctionName
from relay.models.execution import ExecutionResult
from relay.models.fields import PATH_LENGTH, StrictModel, Text
from relay.models.resource import Resource
from relay.models.resource import left_out as absent
from relay.models.trace import DEFAULT_TEXT

Focus = Annotated[Text, StringConstraints(min_length=1, max_length=PATH_LENGTH + 1000)]

CallsState = Literal["none", "recording", "stopped", "ended", "replaced", "broken"]


class CallsView(StrictModel):
    """How a tree of calls is shown."""

    max_chars: int = Field(
        DEFAULT_TEXT, ge=200, le=100_000, description="Bound of `text`, in bytes of UTF-8"
    )
    tree: bool = Field(False, description="Send the calls in parts, too: `tree`")


class CallsRequest(CallsView):
    model_config = ConfigDict(
        validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )

    focus: Focus | list[Focus] = Field(
        [],
        description="Files, folders (relative to project_root) or modules whose functions count, "
        "or FILE:FUNCTION for one; default: the program's own code, below project_root and not installed there",
    )
    start: FunctionName | None = Field(
        None,
        alias="from",
        description="Only calls of this function, and what they call: `test_cart`, `Cart.total`, "
        "`cart.py:Cart.total`",
    )
    wait: float | None = Field(
        None, ge=0, le=300, description="Seconds to wait for the next stop or the end; default 10"
    )


class CallArgument(Resource):
    name: str
    value: str


class CallFunction(Resource):
    function: str
    count: int


class RecordedCall(Resource):
    """One call, or several equal ones: same function, arguments, outcome, and calls below."""

    depth: int = Field(description="0: called by nobody of the program's own")
    function: str
    path: str
    line: int = Field(description="Where the function begins")
    arguments: list[CallArgument]
    count: int = Field(description="How many equal calls the caller made")
    result: str | None = absent(
        "Absent if it is not over, an exception left it, or its end was not seen"
    )
    exception: str | None = absent("Type and message of the exception that left it")
    raised_at: int | None = absent("The line at which the exception left it")
    is_open: bool | None = absent("It is not over: on a stack, or suspended")
    yields: int | None = absent("Values that a generator gave")
    yielded: list[str] | None = absent("The first of them")
    left_out: list[CallFunction] | None = absent("Calls that it made and that are not here")
    thread: str | None = absent("Where the program has several: the thread that made the call")


class CallsResult(ExecutionResult):
    """Own functions called from one moment until the next stop or the end."""

    calls_state: CallsState = Field(
        description="`recording`; `stopped` by a stop, `ended` with the program, `replaced` by "
        "another question, `broken` off, `none`: not asked for"
    )
    complete: bool = Field(description="Whether it was recorded up to a stop or the end")
    reason: str | None = absent("Why it is not complete")
    text: str = Field(description="The tree as text, within `max_chars`")
    calls: int = Field(description="Calls that began, shown or not")
    functions: int = Field(description="Different functions that were called")
    left_out: int = Field(description="Calls that `text` does not show")
    tree: list[RecordedCall] | None = absent("The calls, each after the one that made it")
