"""Where a program hangs: what each thread waits for. Source: contract, section 10."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from relay.dap.lifecycle import Phase
from relay.models.fields import StrictModel
from relay.models.resource import REDACTED, ProcessRef, Resource, left_out
from relay.models.tasks import TaskView

WaitKind = Literal["lock", "condition", "queue", "event", "join", "future", "io", "sleep", "child"]
ThreadActivity = Literal["running", "blocked", "stopped"]


class HangRequest(StrictModel):
    thread_id: int | None = Field(None, description="The only thread to show; default: all")
    frames: int = Field(30, ge=1, le=1000, description="Innermost frames of each thread to show")
    locals: bool = Field(True, description="Show the locals of the program's own frames")
    tasks: int = Field(50, ge=0, le=1000, description="Tasks to show at most")
    max_chars: int = Field(
        20_000, ge=200, le=1_000_000, description="Bound of the text in `report`"
    )
    reveal: bool = Field(False, description="Show what is masked by its name, too")


class WaitHolder(Resource):
    thread_id: int | None = Field(description="null: of a thread that the debugger has no id for")
    name: str


class ThreadWait(Resource):
    """What a thread waits for, as far as it can be known without running the program's code."""

    kind: WaitKind
    on: str = Field(description="What it is, by the name that the waiting code has for it")
    type: str | None = Field(description="Class of the object that is waited for")
    id: str | None = Field(description="Its identity, the same for all who wait for it")
    timeout_seconds: float | None = Field(description="null: it waits without end, or not known")
    held_by: WaitHolder | None = Field(description="The thread that has to act; null: not known")
    known_from: str | None = Field(description="By what `held_by` is known")
    note: str | None = left_out()


class QuietLocal(Resource):
    """A local by what is stored in it: no `__repr__` of the program is run."""

    name: str
    type: str
    value: str
    redacted: bool | None = left_out(REDACTED)


class HangFrame(Resource):
    function: str
    path: str
    line: int
    own: bool = Field(description="Whether it is the program's own code, and no library's")
    source: str | None = left_out("The line as it is on disk now")
    locals: list[QuietLocal] | None = left_out()


class HangThread(Resource):
    id: int | None
    name: str
    daemon: bool | None
    native_id: int | None = Field(description="The operating system's id of it")
    state: ThreadActivity = Field(
        description="blocked: it was given no processor between two looks, 30 ms apart, or naps in "
        "a call of sqlite3"
    )
    test: str | None = left_out(
        "The test that it runs, by the id that its runner has for it: of pytest, unittest and trial"
    )
    stack: list[HangFrame] = Field(description="Innermost first")
    total_frames: int
    waits_for: ThreadWait | None = Field(description="null: it runs, or it is not known")
    system_call: str | None = Field(description="The kernel's name of what it waits in")
    process: ProcessRef | None = left_out("Whose thread it is, where several are debugged")


class Deadlock(Resource):
    text: str = Field(description="`thread A waits for lock x held by B, which waits for …`")
    thread_ids: list[int | None] = Field(description="The threads in the circle")
    task_ids: list[str] | None = left_out("The tasks in the circle")


class HangReport(Resource):
    session_id: str
    status: Phase
    blocked: bool = Field(description="Whether no thread runs")
    deadlocks: list[Deadlock] = Field(
        description="Threads and tasks that wait for each other in a circle"
    )
    threads: list[HangThread] = Field(description="At most 100 of each process, the main first")
    total_threads: int
    tasks: list[TaskView] = Field(
        description="Tasks of asyncio and trio with their await chains, and greenlets"
    )
    total_tasks: int
    children: list[str] = Field(description="Child processes, at most 20")
    silent: list[str] = Field(
        description="Processes of the session that C code keeps from answering, or that are "
        "stopped, and what is known of their threads from outside"
    )
    report: str = Field(description="All of it as text; what was cut is marked by `…`")
