"""The asyncio and trio tasks of the program, and its greenlets, as data: who stands where, and waits
for whom.

Knows the order of the listing and what a task shows; `asyncio.py`, `trio.py` and `greenlets.py` know
where they are. Fields are read where they are stored, and nothing of the program is called. A library
that keeps something elsewhere loses that field, not the answer.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import awaited_value
    from relay.debuggers.debugpy.debuggee.probe.frames.kept_locals import let_go_of_locals
    from relay.debuggers.debugpy.debuggee.probe.frames.stored_expressions import (
        expression_text,
        stored_result,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.stops.threads import state_of
    from relay.debuggers.debugpy.debuggee.probe.waits.asyncio import (
        TaskRelations,
        asyncio_answer,
        asyncio_awaited,
        asyncio_tasks,
        members_of,
        needs_all,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        AwaitPlace,
        ThreadStacks,
        field_getters,
        stopped_frame,
        stored_field,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.found_task import FoundTask
    from relay.debuggers.debugpy.debuggee.probe.waits.greenlets import (
        greenlet_answer,
        greenlet_awaited,
        greenlet_tasks,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.task_limits import TaskLimits
    from relay.debuggers.debugpy.debuggee.probe.waits.task_waits import TaskWaits
    from relay.debuggers.debugpy.debuggee.probe.waits.thread_work import (
        ThreadWork,
        worker_answer,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.trio import (
        trio_answer,
        trio_awaited,
        trio_tasks,
    )

_MOST_LET_GO = 5000


def tasks(
    frame: int | None = None,
    offset: int = 0,
    limit: int = 50,
    frames: int = 20,
    max_chars: int = 500_000,
    numbers_from: int = 0,
    beyond: int = 0,
) -> dict[str, Any]:
    """A page of tasks. The stopped one comes first, those that are over come last.

    numbers_from: what clients add to the numbers of this process's threads.
    beyond: of so many others it is said for whom they wait, if that is known.
    """
    try:
        stacks = ThreadStacks(stopped_frame(frame), numbers_from)
        return _tasks_page(stacks, offset, limit, frames, max_chars, beyond)
    finally:
        field_getters.clear()


def _tasks_page(
    stacks: ThreadStacks, offset: int, limit: int, frames: int, max_chars: int, beyond: int
) -> dict[str, Any]:
    runs: list[dict[str, Any]] = []
    found = every_task(stacks, runs)
    try:
        return _page_of(found, stacks, runs, offset, limit, frames, max_chars, beyond)
    finally:
        _let_go_of_tasks(found, stacks)


def _let_go_of_tasks(found: list[FoundTask], stacks: ThreadStacks) -> None:
    """What their frames have is not to live longer for having been looked at."""
    known = dict(getattr(threading, "_active", {}))
    for ident, frames in stacks.of.items():
        if attempt(state_of, known.get(ident)) != "stopped":  # else that is done as it runs on
            for frame in frames:
                attempt(let_go_of_locals, frame)
    for one in found[:_MOST_LET_GO]:
        for place in () if one.running else attempt(one.suspended_places, default=()):
            attempt(let_go_of_locals, place.frame)


def _page_of(
    found: list[FoundTask],
    stacks: ThreadStacks,
    runs: list[dict[str, Any]],
    offset: int,
    limit: int,
    frames: int,
    max_chars: int,
    beyond: int,
) -> dict[str, Any]:
    current = _mark_current(found, stacks)
    found.sort(key=_task_order(runs))
    work = ThreadWork(stacks)
    relations, waits, limits = TaskRelations(found), TaskWaits(found, work), TaskLimits(found)
    shown: list[dict[str, Any]] = []

    def answer(one: FoundTask, most: int) -> dict[str, Any]:
        whole = _task_answer(one, stacks, relations, waits, work, runs, most)
        return dict(whole, is_limited=attempt(limits.has, one, default=False))

    def bond(one: FoundTask) -> dict[str, Any] | None:
        found = _for_whom_it_waits(one, stacks, relations, waits, work)
        return found and dict(found, is_limited=attempt(limits.has, one, default=False))

    for one in found[offset : offset + limit]:
        shown.append(answer(one, frames))
        max_chars -= 500 + sum(len(f["path"]) + len(f["function"]) for f in shown[-1]["frames"])
        if max_chars <= 0:
            break
    return {
        "tasks": shown,
        "total": len(found),
        "current": None if current is None else current.id,
        "runs": runs[:100],
        "total_runs": len(runs),
        "beyond": [
            found_bond
            for one in [*found[:offset], *found[offset + len(shown) :]][:beyond]
            if one.state == "waiting" and (found_bond := bond(one))
        ],
    }


def _for_whom_it_waits(
    one: FoundTask,
    stacks: ThreadStacks,
    relations: TaskRelations,
    waits: TaskWaits,
    work: ThreadWork,
) -> dict[str, Any] | None:
    """What is needed to tell who waits for whom, of one that waits for somebody; no more is looked for, since there
    may be thousands of them.
    """
    places = one.places(stacks)
    lock = attempt(waits.of, one, places, True) or {}
    other = _waits_for(one, places, relations, work) or {}
    lock = {name: value for name, value in lock.items() if name not in ("note", "known_from")}
    other = {name: value for name, value in other.items() if name != "tasks"}
    is_bound = any(map(lock.get, ("held_by", "worker"))) or any(
        map(other.get, ("ids", "worker", "workers"))
    )
    if not is_bound:
        return None
    return {
        "id": one.id,
        "name": one.name,
        "blocked_on": lock or None,
        "waits_for": other or None,
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


# --------------------------------------------------------------------------- answers


def _task_answer(
    one: FoundTask,
    stacks: ThreadStacks,
    relations: TaskRelations,
    waits: TaskWaits,
    work: ThreadWork,
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
    awaited = answer["waits_for"] = _waits_for(one, places, relations, work)
    answer.update(_ANSWERS[one.kind](one, relations))
    if one.kind == "asyncio" and awaited is not None and awaited["kind"] == "future":
        future = stored_field(one.task, "_fut_waiter")
        awaited["on"] = attempt(_name_of_future, places, future)
    return answer


def _waits_for(
    one: FoundTask, places: list[AwaitPlace], relations: TaskRelations, work: ThreadWork
) -> dict[str, Any] | None:
    """For whose end it waits, and who is to bring a future."""
    future = stored_field(one.task, "_fut_waiter") if one.kind == "asyncio" else None
    members = None if future is None else attempt(members_of, future, places)
    awaited: dict[str, Any] | None = _AWAITED[one.kind](one, relations, members)
    if one.kind == "asyncio" and awaited is not None and awaited["kind"] in ("future", "gather"):
        awaited["note"], workers = attempt(work.of_future, future, members) or (None, [])
        awaited["needs_all"] = attempt(needs_all, future, places, default=False)
        if members is None:
            awaited["worker"] = worker_answer(workers[0] if workers else None)
        else:  # any one that has to act, and cannot, keeps it from its end
            awaited["workers"] = [one.ident for one in workers if not one.others and not one.task]
    return awaited


def _name_of_future(places: list[AwaitPlace], future: Any) -> str | None:
    """What the innermost frame of the program's own calls the future, if it is that which awaits it."""
    frame = next(place.frame for place in reversed(places) if place.is_own)
    expression = awaited_value(frame)
    return expression_text(expression) if stored_result(expression, frame) is future else None


_ANSWERS = {"asyncio": asyncio_answer, "trio": trio_answer, "greenlet": greenlet_answer}
_AWAITED: dict[str, Any] = {
    "asyncio": lambda one, relations, members: asyncio_awaited(one, relations, members or []),
    "trio": lambda one, relations, members: trio_awaited(one, relations),
    "greenlet": lambda one, relations, members: greenlet_awaited(one, relations),
}


def _suspended_at(places: list[AwaitPlace]) -> dict[str, Any] | None:
    """The innermost frame of the program's own, or the task's own."""
    own = (place for place in reversed(places) if place.is_own)
    place = next(own, places[0] if places else None)
    return None if place is None else place.answer()
