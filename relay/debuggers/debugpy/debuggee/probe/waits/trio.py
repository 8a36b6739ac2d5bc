"""The tasks of trio, as the tree that their nurseries make.

The state of a run belongs to its thread. It is found in the stopped thread's own context, in the
frames of the others, and otherwise (guest mode) by the garbage collector. What a version of trio
keeps elsewhere is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import objects_of
    from relay.debuggers.debugpy.debuggee.probe.waits.asyncio import TaskRelations
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        ThreadStacks,
        clipped,
        module_globals,
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

_TRIO_LOOPS = ("run", "unrolled_run", "run_impl")  # waiting, working, and before 0.19


class TrioTask(FoundTask):
    """A task of trio, of a program or of trio's own."""

    @property
    def name(self) -> str:
        return clipped(stored_field(self.task, "name"))

    @property
    def state_at_rest(self) -> str:
        return "ready" if stored_field(self.task, "_abort_func") is None else "waiting"

    def resting_place(self) -> tuple[Any, int] | None:
        abort = stored_field(self.task, "_abort_func")  # of each wait its own
        return None if abort is None else (abort, 0)


def trio_tasks(stacks: ThreadStacks, runs: list[dict[str, Any]]) -> list[FoundTask]:
    found: list[FoundTask] = []
    for runner, thread in _trio_runners(stacks):
        run = new_run("trio", runner, thread, stacks, runs)
        tree = list(_trio_tree(runner, run))
        runs[run]["tasks"] = len(tree)
        if thread is None:
            _find_run_thread(runs[run], tree, stacks)
        found += tree
    return found


def _find_run_thread(run: dict[str, Any], tree: list[FoundTask], stacks: ThreadStacks) -> None:
    thread = next((t for t in map(stacks.thread_of, (one.coro for one in tree)) if t), None)
    run.update(
        stacks.threads().get(thread or 0, {}),
        ident=thread,
        stopped_here=thread is not None and thread == stacks.stopped,
    )


def _trio_runners(stacks: ThreadStacks) -> list[tuple[Any, int | None]]:
    module = module_globals("trio._core._run")
    kind = module.get("Runner")
    if kind is None:
        return []
    found: dict[int, tuple[Any, int | None]] = {}
    own = attempt(lambda: module["GLOBAL_RUN_CONTEXT"].runner)  # of this thread
    if type(own) is kind:
        found[id(own)] = own, stacks.stopped
    for ident, frames in stacks.of.items():
        for frame in frames:
            code = frame.f_code
            if code.co_name in _TRIO_LOOPS and code.co_filename == module.get("__file__"):
                runner = attempt(lambda f=frame: f.f_locals.get("runner"))
                if type(runner) is kind:
                    found[id(runner)] = runner, ident
    if not found:
        held = objects_of(kind)
        found = {id(one): (one, None) for one in held if stored_field(one, "tasks")}
    return list(found.values())


def _trio_tree(runner: Any, run: int) -> Iterator[FoundTask]:
    """The main task with all below it, depth first; then trio's own tasks."""
    main, init = stored_field(runner, "main_task"), stored_field(runner, "init_task")
    rest = sorted(weak_members(stored_field(runner, "tasks")), key=_trio_age)
    todo: list[tuple[Any, Any]] = [(task, None) for task in reversed(rest) if task is not main]
    todo += [] if main is None else [(main, None)]
    seen = set()
    while todo:
        task, parent = todo.pop()
        if id(task) in seen:
            continue
        seen.add(id(task))
        one = TrioTask("trio", task, stored_field(task, "coro"), run)
        one.parent = parent
        one.system = main is not None and parent is None and task is not main
        yield one
        if task is not init:
            children = [
                child for nursery in _trio_nurseries(task) for child in _nursery_children(nursery)
            ]
            todo += [(child, task) for child in reversed(children)]


def _trio_age(task: Any) -> int:
    age = stored_field(task, "_counter", 0)
    return age if type(age) is int else 0


def _trio_nurseries(task: Any) -> list[Any]:
    nurseries = stored_field(task, "_child_nurseries")
    return list(nurseries) if type(nurseries) is list else []


def _nursery_children(nursery: Any) -> list[Any]:
    return sorted(weak_members(stored_field(nursery, "_children")), key=_trio_age)


def _trio_cancel(task: Any) -> bool:
    return stored_field(stored_field(task, "_cancel_status"), "effectively_cancelled") is True


def trio_awaited(one: FoundTask, relations: TaskRelations) -> dict[str, Any] | None:
    waits_for = None
    for nursery in _trio_nurseries(one.task):
        if not one.running and stored_field(nursery, "_parent_waiting_in_aexit") is True:
            waits_for = waits_for_answer("nursery", nursery, _known_children(nursery, relations))
    return waits_for


def trio_answer(one: FoundTask, relations: TaskRelations) -> dict[str, Any]:
    nurseries = _trio_nurseries(one.task)
    parent = relations.get(one.parent)
    return {
        "cancel_requested": _trio_cancel(one.task),
        "parent": None if parent is None else task_reference(parent),
        "nurseries": [_nursery_answer(n, relations) for n in nurseries[:SHOWN_RELATIVES]],
        "system": one.system,
    }


def _known_children(nursery: Any, relations: TaskRelations) -> list[FoundTask]:
    found = (relations.get(child) for child in _nursery_children(nursery))
    return [one for one in found if one is not None]


def _nursery_answer(nursery: Any, relations: TaskRelations) -> dict[str, Any]:
    children = _known_children(nursery, relations)
    return {
        "id": hex(id(nursery)),
        "children": [task_reference(child) for child in children[:SHOWN_RELATIVES]],
        "total_children": len(children),
    }
