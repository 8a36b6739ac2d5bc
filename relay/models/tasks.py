"""Tasks of asyncio and trio, and greenlets. Source: contract, section 5 (tasks are a capability of the probe)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from relay.models.fields import StrictModel
from relay.models.resource import Resource, left_out


class TasksQuery(StrictModel):
    offset: int = Field(0, ge=0, le=10_000_000, description="First task to show")
    limit: int = Field(50, ge=1, le=1000, description="Tasks to show")
    frames: int = Field(
        20, ge=0, le=200, description="Innermost frames of each task to show; 0 shows none"
    )


class TaskFrame(Resource):
    function: str = Field(description="Qualified name, on Python 3.10 and older of coroutines only")
    path: str
    line: int
    own: bool = Field(description="Whether it is the program's own code, and no library's")


class TaskPlace(TaskFrame):
    source: str | None = Field(description="The line as it is on disk now; null if unreadable")


class TaskReference(Resource):
    id: str
    name: str


class WaitsFor(Resource):
    kind: Literal["task", "gather", "future", "group", "nursery"]
    id: str
    type: str = Field(description="Class of what is waited for")
    tasks: list[TaskReference] = Field(description="Those whose end it waits for, at most 20")
    total_tasks: int
    on: str | None = left_out(
        "Of a future of asyncio: what the awaiting code calls it, where that is known"
    )
    note: str | None = left_out(
        "Of a future of asyncio, or members of a gather or `wait`: which thread or pool is to bring it to its end, "
        "where that is known"
    )
    futures: list[str] | None = left_out(
        "Of gather and `wait`: the classes of members that are no tasks and not over, at most 20"
    )


class TaskWait(Resource):
    """What a task awaits of asyncio's or trio's own, as far as it is known."""

    kind: Literal[
        "lock",
        "event",
        "condition",
        "semaphore",
        "queue",
        "sleep",
        "io",
        "thread",
        "child",
        "join",
        "future",
    ]
    """The last two only of greenlets; what tasks wait for so is in `waits_for`."""
    on: str = Field(description="What it is, by the name that the awaiting code has for it")
    id: str | None = Field(description="Its identity, the same for all who wait for it")
    held_by: TaskReference | None = Field(
        description="The task that has the lock, or of those with all permits of a semaphore the first"
    )
    known_from: str | None = Field(description="By what `held_by` is known")
    note: str | None = left_out(
        "Of a semaphore: who has its permits, as far as it is known; of a queue what is waited for, and "
        "of its end how many calls of task_done are missing"
    )


class NurseryView(Resource):
    id: str
    children: list[TaskReference] = Field(description="At most 20, oldest first")
    total_children: int


class TaskView(Resource):
    id: str = Field(description="Valid while the program stands")
    name: str
    kind: Literal["asyncio", "trio", "greenlet"]
    state: Literal["running", "ready", "waiting", "done", "failed", "cancelled"] = Field(
        description="ready: it goes on when its event loop comes to it"
    )
    current: bool = Field(description="Whether it is the task that stopped")
    coroutine: str = Field(description="Qualified name of its coroutine")
    thread_id: int | None = Field(description="Thread of its event loop; null if it does not run")
    run: str = Field(description="Id of its event loop or trio run, see `runs`")
    cancel_requested: bool
    suspended_at: TaskPlace | None = Field(
        description="The innermost frame of the program's own code, or else the coroutine's"
    )
    frames: list[TaskFrame] = Field(description="From the coroutine down to what is awaited")
    total_frames: int
    parent: TaskReference | None = Field(
        description="The task that opened its nursery or TaskGroup; null if there is none"
    )
    waits_for: WaitsFor | None
    blocked_on: TaskWait | None = left_out("The lock, event, queue or the like that it awaits")
    awaited_by: list[TaskReference] | None = left_out("asyncio: who waits for its end")
    exception: str | None = left_out("asyncio: class of the exception that ended it")
    nurseries: list[NurseryView] | None = left_out("trio: the nurseries that it has open")
    system: bool | None = left_out("trio: whether it is a task of trio's own")


class RunView(Resource):
    id: str
    kind: Literal["asyncio", "trio", "greenlet"]
    thread_id: int | None
    thread_name: str | None
    tasks: int
    stopped_here: bool = Field(description="Whether its thread is the one that stopped")


class TaskList(Resource):
    tasks: list[TaskView] = Field(
        description="The current one first; those that are over come last"
    )
    total: int
    offset: int
    has_more: bool
    current: str | None = Field(description="Id of the task that stopped")
    runs: list[RunView] = Field(description="Event loops and trio runs, at most 100")
    total_runs: int
