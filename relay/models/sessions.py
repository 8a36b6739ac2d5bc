"""Sessions: what creates one, and what is shown of it. Source: API section 3.2."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from relay.dap.lifecycle import Phase
from relay.models.data_breakpoints import DataChange
from relay.models.failure import OfFailure
from relay.models.fields import AdapterName, PathText, StrictModel, Text
from relay.models.holding import HoldView
from relay.models.launch import Program
from relay.models.resource import Location, Resource, Timestamp, left_out

STOP_REASONS = (
    "breakpoint",
    "step",
    "exception",
    "pause",
    "entry",
    "goto",
    "function breakpoint",
    "data_breakpoint",
)


class SessionSettings(StrictModel):
    """What a session is created with, whether or not it starts a program."""

    name: Text | None = Field(None, min_length=1, max_length=255, description="For people")
    project_root: PathText | None = Field(
        None, description="Directory that relative paths start from; default: the relay's own"
    )
    python_path: PathText | None = Field(
        None,
        description="Interpreter of the debuggee: a path, or a name in the relay's PATH; default: "
        "the relay's own",
    )
    adapter: AdapterName = Field(
        "python", description="Which debugger drives the session; `/info` says what each can do"
    )
    timeout_minutes: int | None = Field(
        None, ge=1, le=1440, description="Idle time after which the session ends; default 60"
    )
    stop_on_entry: bool = Field(False, description="Default of launch's field of that name")


class PatchSession(StrictModel):
    """What is absent or null stays as it is."""

    name: Text | None = Field(None, min_length=1, max_length=255, description="For people")
    timeout_minutes: int | None = Field(
        None, ge=1, le=1440, description="Idle time after which the session ends; counts anew"
    )
    stop_on_entry: bool | None = Field(None, description="Default of launch's field of that name")
    project_root: PathText | None = Field(
        None, description="Where relative paths start; only while no program lives"
    )
    python_path: PathText | None = Field(
        None, description="Interpreter of the next launch; only while no program lives"
    )


class CloneSession(StrictModel):
    name: Text | None = Field(
        None, min_length=1, max_length=255, description="Default: the original's, as a copy of it"
    )


class Ping(Resource):
    session_id: str
    status: Phase
    timeout_minutes: int
    expires_at: Timestamp = Field(description="When it ends if nobody asks for it from now on")
    warning: str | None = Field(None, description="What this request has averted")


class SessionConfig(Resource):
    project_root: str
    python_path: str
    stop_on_entry: bool
    timeout_minutes: int


class ExceptionView(Resource):
    """An exception as the program raised it."""

    type: str
    message: str
    traceback: str | None = Field(None, description="As plain Python would print it")
    full_type: str | None = None


class DebuggerView(Resource):
    """The debugger in the program: the interpreter's own, or else the relay's."""

    name: str
    version: str | None
    limitations: list[str] = Field(description="What the relay cannot do with this one")


class SessionView(OfFailure):
    """A session and where its program stands."""

    session_id: str
    name: str
    adapter: str
    status: Phase
    stop_reason: str | None = Field(None, description=", ".join(STOP_REASONS))
    stop_id: int = Field(
        description="Rises with every stop and every resume: as long as it is the same, so is the stop"
    )
    reason: str | None = Field(None, description="Why the session is in a final status")
    created_at: Timestamp
    expires_at: Timestamp | None = Field(
        description="When it ends if nobody asks for it; null while a request is open"
    )
    config: SessionConfig
    program: Program | None = None
    launch_mode: str | None = Field(None, description="Rung that the program was started on")
    debugger: DebuggerView | None = Field(None, description="Null before the first launch")
    extras: list[str] | None = left_out(
        "What its debugger can that few can, while there is a program: step_back, restart_frame, "
        "set_expression, step_in_targets"
    )
    hold: HoldView | None = left_out("Who has taken it: others do not run its program")
    pid: int | None = None
    current_location: Location | None = None
    stopped_thread_id: int | None = None
    breakpoint_count: int = 0
    exception: ExceptionView | None = None
    change: DataChange | None = left_out("What a data breakpoint has stopped for")
    exit_code: int | None = Field(None, description="Negative: ended by that signal")
    warning: str | None = Field(
        None, description="From half of the idle timeout on: when the session will expire"
    )
    waiting_for_input: str | None = Field(
        None, description="The prompt, while the program waits for its standard input"
    )


class SessionListQuery(StrictModel):
    offset: int = Field(0, ge=0, description="Items to skip")
    limit: int = Field(100, ge=1, le=1000, description="Items to return at most")
    status: Phase | None = Field(None, description="Only sessions in this status")


class SessionItem(Resource):
    session_id: str
    name: str
    status: Phase
    created_at: Timestamp
    program: str | None = Field(
        description="Script or module, once launched; else `process PID: COMMAND` or `HOST:PORT`"
    )
    warning: str | None = left_out("When the session will expire, from half-time on")
    hold: HoldView | None = left_out("Who has taken it")


class SessionPage(Resource):
    items: list[SessionItem]
    total: int
    offset: int
    limit: int
    has_more: bool


class DeleteQuery(StrictModel):
    force: bool = Field(False, description="Accepted; a debuggee is always ended surely")


class DeletedSession(Resource):
    session_id: str
    deleted: Literal[True] = True
    final_status: Phase
    exit_code: int | None
    runtime_seconds: float = Field(description="How long the program ran; 0 if never launched")
