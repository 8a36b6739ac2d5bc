"""Running and stopping: requests and results. Source: API section 3.5, contract section 4."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from relay.dap.lifecycle import Phase
from relay.models.data_breakpoints import DataChange
from relay.models.failure import OfFailure
from relay.models.fields import StrictModel
from relay.models.hangs import Deadlock, HangFrame, ThreadActivity, ThreadWait
from relay.models.resource import (
    INNER,
    MOVED_ON,
    REDACTED,
    Location,
    ProcessRef,
    Resource,
    left_out,
)
from relay.models.tasks import TaskView

Include = Literal[
    "location", "source", "locals", "stack", "output", "watches", "exception", "report"
]

DEFAULT_MAX_CHARS = 20_000


class Waiting(StrictModel):
    """How long to wait for the next stop, and what to bring along with it."""

    wait: float | None = Field(
        None, ge=0, le=300, description="Seconds to wait for the next stop or exit"
    )
    include: list[Include] = Field([], max_length=16, description="What to send along under `stop`")
    reveal: bool = Field(False, description="Show what is masked, too")
    max_chars: int = Field(
        DEFAULT_MAX_CHARS,
        ge=200,
        le=1_000_000,
        description="Bound of the whole answer; but where the program stands, and what it is, is "
        "never cut: some 650 characters, more where paths or arguments are long",
    )


class ContinueRequest(Waiting):
    thread_id: int | None = Field(None, description="Accepted; any resume resumes all threads")


class PauseRequest(ContinueRequest):
    thread_id: int | None = Field(None, description="Thread to stop at; default: any")


class StepRequest(Waiting):
    thread_id: int | None = Field(None, description="Thread to step; default: the stopped one")
    granularity: Literal["line", "statement"] = "line"


class StepIntoRequest(StepRequest):
    target_id: int | None = Field(
        None,
        description="The call to step into: one that `step-in-targets` has listed at this stop; "
        "default: the first that is made",
    )


class StepInTarget(Resource):
    """A call that a step may go into."""

    id: int = Field(description="For `target_id` of `step-into`, at this stop")
    label: str
    line: int | None = left_out("Where it is, if the debugger says it")
    column: int | None = left_out()
    end_line: int | None = left_out()
    end_column: int | None = left_out()


class StepInTargets(Resource):
    thread_id: int
    targets: list[StepInTarget]


class StepOutRequest(Waiting):
    thread_id: int | None = Field(None, description="Thread to step; default: the stopped one")


class RestartFrameRequest(Waiting):
    frame_id: int = Field(0, ge=0, description="Frame of the stopped thread; 0: the innermost")


class ReturnValue(Resource):
    """What the call that just returned gave back."""

    type: str
    value: str
    function: str | None = left_out()
    variables_reference: int = 0
    truncated: bool | None = left_out()
    redacted: bool | None = left_out(REDACTED)


class SourceLine(Resource):
    line: int
    text: str
    spans: list[tuple[int, int, str]] | None = left_out(
        "With `highlight`: start and end in the line, and Pygments' short name of what is there"
    )


class FrameLine(Resource):
    """One frame of a stop report, in short."""

    id: int
    name: str
    path: str | None
    line: int
    moved_on: Literal[True] | None = left_out(MOVED_ON)
    inner: Literal[True] | None = left_out(INNER)


class LocalVariable(Resource):
    name: str
    value: str
    type: str
    variables_reference: int = 0
    truncated: bool | None = left_out()
    redacted: bool | None = left_out(REDACTED)


class WatchValue(Resource):
    id: str
    expression: str
    result: str | None = Field(None, description="null while the program is not paused")
    type: str | None = None
    error: str | None = Field(None, description="Why there is no result")
    variables_reference: int = 0
    truncated: bool | None = left_out()
    redacted: bool | None = left_out(REDACTED)


class StopException(Resource):
    type: str
    message: str
    traceback: str | None = None


class StopReport(Resource):
    """What a client would ask next, in the same answer. Cut parts are named in `truncated`."""

    location: Location | None = left_out()
    source: list[SourceLine] | None = left_out()
    locals: list[LocalVariable] | None = left_out()
    stack: list[FrameLine] | None = left_out()
    output: str | None = left_out("What the program printed since it was resumed")
    watches: list[WatchValue] | None = left_out()
    exception: StopException | None = left_out()
    report: str | None = left_out("All of it as a few lines of text; also of a running program")
    truncated: list[str] = Field([], description="Parts that max_chars cut; ask for them by route")


class ExecutionResult(OfFailure):
    """Where the program stands after an execution request."""

    session_id: str
    status: Phase
    stop_reason: str | None = None
    current_location: Location | None = None
    thread_id: int | None = left_out()
    return_value: ReturnValue | None = left_out()
    change: DataChange | None = left_out("What a data breakpoint has stopped for")
    message: str | None = left_out("What should be known of this stop")
    exit_code: int | None = left_out()
    stop: StopReport | None = left_out()


class BlockedThread(Resource):
    """A thread that has not stopped, and the line of Python that it is at."""

    thread_id: int
    name: str
    location: Location | None
    state: ThreadActivity | None = left_out()
    waits_for: ThreadWait | None = left_out("What it waits for, where that can be known")
    stack: list[HangFrame] | None = left_out("Innermost frame first, with locals")


class PauseResult(ExecutionResult):
    message: str | None = left_out("Why nothing has stopped yet")
    blocked: list[BlockedThread] | None = left_out("The threads that have not stopped, and where")
    deadlocks: list[Deadlock] | None = left_out(
        "Threads and tasks that wait for each other in a circle"
    )
    tasks: list[TaskView] | None = left_out(
        "Tasks of asyncio and trio with their await chains, and greenlets"
    )
    report: str | None = left_out("What the threads wait for, as text")
    running: list[ProcessRef] | None = left_out(
        "With child processes in the session: those that have not stopped, the first 20. A pause is "
        "of the program itself, or of the process that has `thread_id`"
    )


class ContinueResult(ExecutionResult):
    continued: Literal[True] = True
