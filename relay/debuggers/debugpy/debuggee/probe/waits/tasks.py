"""The asyncio and trio tasks of the program, and its greenlets, as data: who stands where, and waits
for whom.

Knows the order of the listing and what a task shows; `asyncio.py`, `trio.py` and `greenlets.py` know
where they are. Fields are read where they are stored, and nothing of the program is called. A library
that keeps something elsewhere loses that field, not the answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import name_of
    from relay.debuggers.debugpy.debuggee.probe.waits.asyncio import (
        TaskRelations,
        asyncio_answer,
        asyncio_name,
        asyncio_state,
        asyncio_tasks,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        AwaitPlace,
        ThreadStacks,
        await_chain,
        clipped,
        coroutine_name,
        field_getters,
        is_running,
        stopped_frame,
        stored_field,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.greenlets import (
        greenlet_answer,
        greenlet_tasks,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.task_waits import TaskWaits
    from relay.debuggers.debugpy.debuggee.probe.waits.trio import (
        trio_answer,
        trio_state,
        trio_tasks,
    )

SHOWN_RELATIVES = 20
"""Children, awaiters and awaited tasks that one task shows; the rest is counted."""


class FoundTask:
    """A task of any library, and what the whole listing needs of it."""

    def __init__(self, kind: str, task: Any, coro: Any, run: int) -> None:
        self.kind = kind
        self.task = task
        self.coro = coro
        self.run = run
        self.running = is_running(coro)
        self.current = False
        self.parent: Any = None
        self.system = False

    @property
    def id(self) -> str:
        return hex(id(self.task))

    @property
    def name(self) -> str:
        if self.kind == "trio":
            return clipped(stored_field(self.task, "name"))
        return asyncio_name(self.task)

    @property
    def state(self) -> str:
        if self.running:
            return "running"
        return trio_state(self.task) if self.kind == "trio" else asyncio_state(self.task)

    @property
    def function(self) -> str:
        """The qualified name of the coroutine function, or function, that the task runs."""
        return coroutine_name(self.coro)

    def thread_of(self, stacks: ThreadStacks) -> int | None:
        """The thread that runs it now."""
        return stacks.thread_of(self.coro)

    def depth_in(self, stacks: ThreadStacks) -> int:
        """How far it is from the top of that thread's stack."""
        return stacks.depth_of(self.coro)

    def places(self, stacks: ThreadStacks) -> list[AwaitPlace]:
        """Where it stands, outermost first."""
        running = stacks.of_running(self.coro) if self.running else []
        return running or self.suspended_places()

    def suspended_places(self) -> list[AwaitPlace]:
        """Where it waits, outermost first."""
        return await_chain(self.coro)


def tasks(
    frame: int | None = None,
    offset: int = 0,
    limit: int = 50,
    frames: int = 20,
    max_chars: int = 500_000,
) -> dict[str, Any]:
    """A page of tasks. The stopped one comes first, those that are over come last."""
    try:
        return _tasks_page(frame, offset, limit, frames, max_chars)
    finally:
        field_getters.clear()


def _tasks_page(
    frame: int | None, offset: int, limit: int, frames: int, max_chars: int
) -> dict[str, Any]:
    stacks = ThreadStacks(stopped_frame(frame))
    runs: list[dict[str, Any]] = []
    found = every_task(stacks, runs)
    current = _mark_current(found, stacks)
    found.sort(key=_task_order(runs))
    relations, waits = TaskRelations(found), TaskWaits(found)
    shown: list[dict[str, Any]] = []
    for one in found[offset : offset + limit]:
        shown.append(_task_answer(one, stacks, relations, waits, runs, frames))
        max_chars -= 500 + sum(len(f["path"]) + len(f["function"]) for f in shown[-1]["frames"])
        if max_chars <= 0:
            break
    return {
        "tasks": shown,
        "total": len(found),
        "current": None if current is None else current.id,
        "runs": runs[:100],
        "total_runs": len(runs),
    }


def every_task(stacks: ThreadStacks, runs: list[dict[str, Any]]) -> list[FoundTask]:
    """All that can be found; each kind adds what runs it to `runs`."""
    kinds = (asyncio_tasks, trio_tasks, greenlet_tasks)
    return [one for kind in kinds for one in kind(stacks, runs)]


def _task_order(runs: list[dict[str, Any]]) -> Callable[[FoundTask], tuple[Any, ...]]:
    # The tasks of trio come in the order of their tree, which a stable sort keeps.
    def key(one: FoundTask) -> tuple[Any, ...]:
        over = one.kind == "asyncio" and one.state in ("done", "failed", "cancelled")
        name = _natural_order(one.name) if one.kind == "asyncio" else ()
        here = runs[one.run]["stopped_here"]
        return not one.current, over, not here, one.run, one.system, name

    return key


def _natural_order(name: str) -> tuple[Any, ...]:
    """Task-2 comes before Task-10."""
    parts = re.split("([0-9]+)", name[:100])
    return tuple((0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts if p)


def _mark_current(found: list[FoundTask], stacks: ThreadStacks) -> FoundTask | None:
    """The innermost task that runs in the stopped thread."""
    here = [
        one
        for one in found
        if one.running and stacks.stopped and one.thread_of(stacks) == stacks.stopped
    ]
    if not here:
        return None
    current = min(here, key=lambda one: one.depth_in(stacks))
    current.current = True
    return current


def new_run(
    kind: str, subject: Any, thread: int | None, stacks: ThreadStacks, runs: list[dict[str, Any]]
) -> int:
    unknown = {"thread_id": None, "thread_name": None}
    runs.append(
        dict(
            stacks.threads().get(thread or 0, unknown),
            kind=kind,
            id=hex(id(subject)),
            ident=thread,
            tasks=0,
            stopped_here=thread is not None and thread == stacks.stopped,
        )
    )
    return len(runs) - 1


# --------------------------------------------------------------------------- answers


def _task_answer(
    one: FoundTask,
    stacks: ThreadStacks,
    relations: TaskRelations,
    waits: TaskWaits,
    runs: list[Any],
    most: int,
) -> dict[str, Any]:
    places = one.places(stacks)
    run = runs[one.run]
    answer = {
        "id": one.id,
        "name": one.name,
        "kind": one.kind,
        "state": one.state,
        "current": one.current,
        "coroutine": one.function,
        "thread_id": run["thread_id"],
        "run": run["id"],
        "suspended_at": _suspended_at(places),
        "frames": [place.answer() for place in places[max(0, len(places) - most) :]],
        "total_frames": len(places),
        "blocked_on": attempt(waits.of, one, places),
    }
    answer.update(_ANSWERS[one.kind](one, relations))
    return answer


_ANSWERS = {
    "asyncio": lambda one, relations: asyncio_answer(one, relations),
    "trio": lambda one, relations: trio_answer(one, relations),
    "greenlet": lambda one, relations: greenlet_answer(one, relations),
}


def _suspended_at(places: list[AwaitPlace]) -> dict[str, Any] | None:
    """The innermost frame of the program's own, or the task's own."""
    own = (place for place in reversed(places) if place.is_own)
    place = next(own, places[0] if places else None)
    return None if place is None else place.answer()


def waits_for_answer(
    kind: str, subject: Any, awaited: list[FoundTask], futures: list[str] | None = None
) -> dict[str, Any]:
    """futures: the classes of those that are waited for and are no tasks."""
    return {
        "kind": kind,
        "id": hex(id(subject)),
        "type": clipped(name_of(type(subject))),
        "tasks": [task_reference(other) for other in awaited[:SHOWN_RELATIVES]],
        "total_tasks": len(awaited),
        "futures": futures or None,
    }


def task_reference(one: FoundTask) -> dict[str, str]:
    return {"id": one.id, "name": one.name}
