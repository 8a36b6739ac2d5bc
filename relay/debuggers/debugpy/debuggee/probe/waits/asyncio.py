"""The tasks of asyncio: where it keeps them, and which of them waits for which.

They are in weak sets of the module `asyncio.tasks` (one up to 3.11, two from 3.12 on); from 3.14 on
only the collector knows those that are over.
"""

from __future__ import annotations

import functools
import itertools
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import (
        and_subclasses,
        objects_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import mro_of, name_of
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        AwaitPlace,
        ThreadStacks,
        clipped,
        module_globals,
        run_coroutine,
        stored_field,
        weak_members,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.found_task import (
        SHOWN_RELATIVES,
        FoundTask,
        new_run,
        task_reference,
        waits_for_answer,
    )


class AsyncioTask(FoundTask):
    """A task of asyncio, or one that is over and still there."""

    @property
    def name(self) -> str:
        return name_of_task(self.task)

    @property
    def state_at_rest(self) -> str:
        state = stored_field(self.task, "_state")
        if state == "CANCELLED":
            return "cancelled"
        if state == "FINISHED":
            return "done" if stored_field(self.task, "_exception") is None else "failed"
        waiter = stored_field(self.task, "_fut_waiter")
        return "waiting" if waiter is not None and _is_pending_future(waiter) else "ready"

    def resting_place(self) -> tuple[Any, int] | None:
        future = stored_field(self.task, "_fut_waiter")
        return (future, 0) if future is not None and _is_pending_future(future) else None


def asyncio_tasks(stacks: ThreadStacks, runs: list[dict[str, Any]]) -> list[FoundTask]:
    found: list[FoundTask] = []
    numbers: dict[int, int] = {}
    for task in every_asyncio_task():
        loop = stored_field(task, "_loop")
        if id(loop) not in numbers:
            thread = stored_field(loop, "_thread_id")
            thread = thread if type(thread) is int else _thread_that_runs(loop, stacks)
            numbers[id(loop)] = new_run("asyncio", loop, thread, stacks, runs)
        run = numbers[id(loop)]
        runs[run]["tasks"] += 1
        coro = run_coroutine(stored_field(task, "_coro"))
        found.append(AsyncioTask("asyncio", task, coro, run))
    return found


def every_asyncio_task() -> list[Any]:
    module = module_globals("asyncio.tasks")
    known: dict[int, Any] = {}
    for name in ("_all_tasks", "_scheduled_tasks", "_eager_tasks"):
        for task in weak_members(module.get(name)):
            known[id(task)] = task
    for task in tasks_of_collector(module.get("Task")):
        known[id(task)] = task
    return list(known.values())


def tasks_of_collector(kind: Any) -> list[Any]:
    """Objects of asyncio's type for tasks, from Python 3.14 on; before, they are in weak sets."""
    if sys.version_info >= (3, 14) and kind is not None:
        return objects_of(*and_subclasses(kind))
    return []


def loop_run_by(frame: Any) -> Any:
    """The loop that this very frame runs, or None."""
    code = frame.f_code
    if code.co_name == "run_forever" and "asyncio" in code.co_filename:
        return dict(items_of(frame.f_locals)).get("self")
    if code.co_name == "run" and code.co_filename == module_globals("asyncio.runners").get(
        "__file__"
    ):
        found = dict(items_of(frame.f_locals))  # of another's loop, as uvloop's, which has no frame
        return stored_field(found.get("self"), "_loop") or found.get("loop")
    return None


def _thread_that_runs(loop: Any, stacks: ThreadStacks) -> int | None:
    """Of a loop that says it nowhere, as uvloop's: the thread with the frame that runs it."""
    for ident, frames in stacks.of.items():
        if any(attempt(loop_run_by, frame) is loop for frame in frames):
            return ident
    return None


def name_of_task(task: Any) -> str:
    """What a task of asyncio is called."""
    kind: Any = module_globals("_asyncio").get("Task")
    if any(base is kind for base in mro_of(type(task))):
        return clipped(attempt(kind.get_name, task))  # of C: it runs nothing of a subclass
    name = stored_field(task, "_name", "")
    return clipped(name if type(name) is not int else f"Task-{name}")


def is_task(value: Any) -> bool:
    """Whether it is a task of asyncio's own kinds."""
    module = module_globals("asyncio.tasks")
    kinds = [kind for kind in (module.get("Task"), module.get("_PyTask")) if kind is not None]
    return any(base is kind for base in mro_of(type(value)) for kind in kinds)


def _is_pending_future(future: Any) -> bool:
    return bool(stored_field(future, "_state", "PENDING") == "PENDING")


def _asyncio_cancel(task: Any) -> bool:
    if stored_field(task, "_must_cancel") is True:
        return True
    kind: Any = module_globals("_asyncio").get("Task")
    if any(base is kind for base in mro_of(type(task))):
        count = attempt(lambda: kind.cancelling(task), default=0)  # since 3.11
    else:
        count = stored_field(task, "_num_cancels_requested", 0)
    return bool(type(count) is int and count > 0)


class TaskRelations:
    """Which asyncio task waits for which, straight or through a future such as gather's."""

    def __init__(self, found: list[FoundTask]) -> None:
        self._found = {id(one.task): one for one in found}
        self._waiting: dict[int, list[FoundTask]] = {}  # by the future that is waited for
        self._ending: dict[int, list[FoundTask]] | None = None
        for one in found:
            waiter = stored_field(one.task, "_fut_waiter") if one.kind == "asyncio" else None
            if waiter is not None:
                self._waiting.setdefault(id(waiter), []).append(one)

    def get(self, task: Any) -> FoundTask | None:
        return self._found.get(id(task))

    def awaiters(self, one: FoundTask) -> list[FoundTask]:
        """Who goes on when the task is over."""
        keys = [id(one.task), *(id(future) for future in _futures_after(one.task))]
        keys += [id(f) for f in weak_members(stored_field(one.task, "_asyncio_awaited_by"))]
        found = [waiting for key in keys for waiting in self._waiting.get(key, ())]
        found += [self._found[key] for key in keys[1:] if key in self._found]
        return list({id(waiting): waiting for waiting in found}.values())

    def awaited(self, future: Any) -> list[FoundTask]:
        """The tasks whose end the future waits for."""
        own = self.get(future)
        if own is not None:
            return [own]
        children = stored_field(future, "_children")  # of gather
        if type(children) is list:
            known = [self._found[id(c)] for c in children if id(c) in self._found]
            return [one for one in known if _is_pending_future(one.task)]
        if self._ending is None:
            self._ending = self._by_future()
        return self._ending.get(id(future), [])

    def futures_of(self, members: list[Any]) -> list[str]:
        """The classes of those that are no tasks, and not over."""
        open_ = (one for one in members if id(one) not in self._found and _is_pending_future(one))
        return [clipped(name_of(type(one))) for one in itertools.islice(open_, SHOWN_RELATIVES)]

    def _by_future(self) -> dict[int, list[FoundTask]]:
        by_future: dict[int, list[FoundTask]] = {}
        for one in self._found.values():
            if one.kind == "asyncio" and _is_pending_future(one.task):
                for future in _futures_after(one.task):
                    by_future.setdefault(id(future), []).append(one)
        return by_future


def _futures_after(task: Any) -> list[Any]:
    """Futures that the task's callbacks have to do with: gather, wait, wait_for, TaskGroup."""
    found = []
    for callback in callbacks_of_task(task):
        found += [
            held
            for held in [*held_by_callback(callback), _end_of_group(callback)]
            if _is_asyncio_future(held) and held is not task
        ]
    return found


def callbacks_of_task(task: Any) -> list[Any]:
    """Of a future, too."""
    callbacks = stored_field(task, "_callbacks")
    if type(callbacks) is not list:
        return []
    return [item[0] if type(item) is tuple and item else item for item in callbacks]


def source_of(callbacks: list[Any]) -> tuple[Any, Any]:
    """The future, and its loop, whose end ends one with these callbacks: `asyncio.futures` has chained the two
    to each other, of which one may be of concurrent.futures; (None, None) where there is none.
    """
    for callback in callbacks:
        if type(callback) is types.FunctionType and callback.__module__ == "asyncio.futures":
            held = dict(zip(callback.__code__.co_freevars, held_by_callback(callback)))  # noqa: B905
            if "source" in held:  # it is to be cancelled with the other, whose callback this is
                return held["source"], held.get("source_loop")
    return None, None


def shielded_by(future: Any) -> Any:
    """What `asyncio.shield` keeps from being cancelled with a future, and which ends it; else the future itself."""
    for callback in callbacks_of_task(future):
        if type(callback) is types.FunctionType and callback.__qualname__ == _OF_SHIELD:
            held = dict(zip(callback.__code__.co_freevars, held_by_callback(callback)))  # noqa: B905
            return held.get("inner", future)
    return future


_OF_SHIELD = "shield.<locals>._outer_done_callback"


def held_by_callback(callback: Any) -> list[Any]:
    if type(callback) is functools.partial:
        return list(callback.args)
    if type(callback) is types.FunctionType:
        cells = callback.__closure__ or ()
        return [attempt(lambda c=cell: c.cell_contents) for cell in cells]
    return []


def _end_of_group(callback: Any) -> Any:
    """The future that is done when all tasks of the TaskGroup are whose callback it is; of asyncio,
    and of anyio, which has a function within a method of the group.
    """
    owners = held_by_callback(callback) if type(callback) is types.FunctionType else []
    if type(callback) is types.MethodType:
        owners = [callback.__self__]
    ends = [stored_field(one, "_on_completed_fut") for one in owners]
    return next((end for end in ends if end is not None), None)


def _is_asyncio_future(value: Any) -> bool:
    futures = module_globals("asyncio.futures")
    kinds = (futures.get("Future"), futures.get("_PyFuture"))
    return any(base is kind for base in mro_of(type(value)) for kind in kinds)


def _task_group_of(task: Any) -> Any:
    """The task that opened the TaskGroup which the task belongs to."""
    for callback in callbacks_of_task(task):
        if type(callback) is types.MethodType and callback.__func__.__name__ == "_on_task_done":
            return stored_field(callback.__self__, "_parent_task")
    return None


_AWAITS_OTHERS = (("_wait", "fs"), ("wait_for", "fut"))
"""Functions of asyncio that await a future of their own, their `waiter`, and where they have whom it is for;
the second one up to Python 3.11.
"""


def members_of(future: Any, places: list[AwaitPlace]) -> list[Any] | None:
    """The futures for whose ends the one is that a task awaits, at these places, if it is made for others:
    by `gather`, `wait`, and up to Python 3.11 `wait_for`.
    """
    children = stored_field(future, "_children")
    if type(children) is list:
        return children
    module = module_globals("asyncio.tasks")
    for place in reversed(places):
        for function, name in _AWAITS_OTHERS:
            if place.frame.f_code is attempt(lambda f=function: module[f].__code__):
                found = dict(items_of(place.frame.f_locals))
                if found.get("waiter") is future:
                    others: Any = found.get(name)
                    return list(others) if type(others) in (set, list, tuple) else [others]
    return None


def needs_all(future: Any, places: list[AwaitPlace]) -> bool:
    """Whether the future that a task awaits, at these places, is over with the last of its members only, without a limit:
    of `gather` (but for an error), of `shield`, which has one, and of `wait` for all.
    """
    if type(stored_field(future, "_children")) is list or shielded_by(future) is not future:
        return True
    code = attempt(lambda: module_globals("asyncio.tasks")["_wait"].__code__)
    for place in reversed(places):
        if place.frame.f_code is code:
            found = dict(items_of(place.frame.f_locals))
            return found.get("timeout") is None and found.get("return_when") == "ALL_COMPLETED"
    return False


def asyncio_awaited(
    one: FoundTask, relations: TaskRelations, members: list[Any]
) -> dict[str, Any] | None:
    """For whose end it waits. members: those for whose ends the future is that it awaits, see `members_of`."""
    future = stored_field(one.task, "_fut_waiter")
    if one.state != "waiting":
        return None
    awaited = relations.awaited(future)
    kind = "future"
    if relations.get(future) is not None:
        kind = "task"
    elif type(stored_field(future, "_children")) is list:
        kind = "gather"
    elif any(
        _end_of_group(c) is future for one in awaited[:1] for c in callbacks_of_task(one.task)
    ):
        kind = "group"
    return waits_for_answer(kind, future, awaited, relations.futures_of(members))


def asyncio_answer(one: FoundTask, relations: TaskRelations) -> dict[str, Any]:
    task = one.task
    parent = relations.get(_task_group_of(task))
    error = stored_field(task, "_exception")
    return {
        "cancel_requested": _asyncio_cancel(task),
        "awaited_by": [
            task_reference(other) for other in relations.awaiters(one)[:SHOWN_RELATIVES]
        ],
        "parent": None if parent is None else task_reference(parent),
        "exception": None if error is None else clipped(name_of(type(error))),
    }
