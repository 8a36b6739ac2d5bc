"""The greenlets of a program, as gevent, eventlet and others make them: which there are, and where.

One that waits lies on no stack, and nothing lists them: the collector knows them. Left out are those
that have not begun or are over, the hubs of gevent, main greenlets that run, and whatever runs in a
thread that cannot be told.
"""

from __future__ import annotations

import collections
import gc
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import present_call
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.frames.stored_expressions import stored_result
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import (
        and_subclasses,
        objects_but_tuples,
        objects_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import full_name, mro_of, plan_of
    from relay.debuggers.debugpy.debuggee.probe.waits.asyncio import TaskRelations
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        AwaitPlace,
        ThreadStacks,
        clipped,
        function_name,
        module_globals,
        stored_field,
        without_debugger,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.found_task import (
        FoundTask,
        new_run,
        waits_for_answer,
    )

_MOST_LINKS = 10_000


def greenlet_tasks(stacks: ThreadStacks, runs: list[dict[str, Any]]) -> list[FoundTask]:
    kind: Any = module_globals("greenlet").get("greenlet")
    if kind is None or type(kind) is not type:
        return []
    return _greenlets_of(kind, stacks, runs)


def _greenlets_of(kind: Any, stacks: ThreadStacks, runs: list[dict[str, Any]]) -> list[FoundTask]:
    greenlets = objects_of(*and_subclasses(kind))
    hubs = [one for one in greenlets if _is_hub(one)]
    threads = {id(_main_of(kind, hub)): stored_field(hub, "thread_ident") for hub in hubs}
    if stacks.stopped is not None:
        threads[id(_main_of(kind, module_globals("greenlet")["getcurrent"]()))] = stacks.stopped
    found: list[FoundGreenlet] = []
    numbers: dict[int, int] = {}
    for one in greenlets:
        if not kind.__bool__(one) or _is_hub(one):  # the method of C: subclasses have others
            continue
        main, frame = _main_of(kind, one), kind.gr_frame.__get__(one)
        thread = threads.get(id(main))
        thread = thread if type(thread) is int else None
        if frame is None and (main is one or thread is None):
            continue
        if id(main) not in numbers:
            numbers[id(main)] = new_run("greenlet", main, thread, stacks, runs)
        run = numbers[id(main)]
        runs[run]["tasks"] += 1
        found.append(FoundGreenlet(one, run, frame, runs[run]["ident"], is_main=main is one))
    _mark_namesakes(found)
    _find_wakers(objects_but_tuples(), {id(one.task): one for one in found if not one.running})
    return list(found)


def _is_hub(greenlet: Any) -> bool:
    return any(full_name(base) == "gevent.hub.Hub" for base in mro_of(type(greenlet)))


def _main_of(kind: Any, greenlet: Any) -> Any:
    """The first of its thread, of which all others descend."""
    seen = set()
    while (parent := kind.parent.__get__(greenlet)) is not None and id(parent) not in seen:
        seen.add(id(parent))
        greenlet = parent
    return greenlet


class FoundGreenlet(FoundTask):
    """A greenlet that has begun and is not over."""

    def __init__(
        self, greenlet: Any, run: int, frame: Any, thread: int | None, *, is_main: bool
    ) -> None:
        super().__init__("greenlet", greenlet, None, run)
        self.running = frame is None
        self.thread = thread
        self.frames: list[Any] = []
        """Innermost first, of one that waits."""
        while frame is not None:
            if not is_debugger_file(frame.f_code.co_filename):
                self.frames.append(frame)
            frame = frame.f_back
        own = [one for one in self.frames if AwaitPlace(one, "").is_own] or self.frames
        self._function = clipped(function_name(own[-1].f_code)) if own else None
        self._name = "main greenlet" if is_main else self._own_name()
        self.has_namesake = False
        self.wakers: list[Any] = []
        """What keeps it among those that it will wake."""

    def _own_name(self) -> str:
        # Of a thread that is a greenlet; one that `threading` made up has no name of its own.
        thread = module_globals("threading").get("_active", {}).get(id(self.task))
        if thread is not None and type(thread).__name__ != "_DummyThread":
            return clipped(stored_field(thread, "_name"))
        name = stored_field(self.task, "name")
        if name is not None and plan_of(name).family == "text":
            return clipped(name)
        return self._function or clipped(full_name(type(self.task)))

    @property
    def name(self) -> str:
        return f"{self._name} {self.id}" if self.has_namesake else self._name

    @property
    def state_at_rest(self) -> str:
        return "waiting"

    def resting_place(self) -> tuple[Any, int] | None:
        frame = module_globals("greenlet")["greenlet"].gr_frame.__get__(self.task)
        return None if frame is None else (frame, frame.f_lasti)

    @property
    def function(self) -> str:
        return self._function or clipped(full_name(type(self.task)))

    def thread_of(self, stacks: ThreadStacks) -> int | None:
        return self.thread

    def depth_in(self, stacks: ThreadStacks) -> int:
        return len(stacks.of.get(self.thread or 0, ()))

    def places(self, stacks: ThreadStacks) -> list[AwaitPlace]:
        frames = self.frames
        if self.running:
            frames = without_debugger(stacks.of.get(self.thread or 0, []))
        return [AwaitPlace(frame, function_name(frame.f_code)) for frame in reversed(frames)]

    def suspended_places(self) -> list[AwaitPlace]:
        return [AwaitPlace(frame, function_name(frame.f_code)) for frame in reversed(self.frames)]


def _mark_namesakes(found: list[FoundGreenlet]) -> None:
    counts = collections.Counter(one.name for one in found)
    for one in found:
        one.has_namesake = counts[one._name] > 1


def _find_wakers(objects: list[Any], waiting: dict[int, FoundGreenlet]) -> None:
    """What gevent waits in is written in C and has no frame; but it keeps who waits, to wake it."""
    known: dict[int, bool] = {}
    for owner in objects:
        kind = type(owner)
        keeps = known.get(id(kind))
        if keeps is None:
            keeps = known[id(kind)] = _keeps_links(kind)
        if keeps:
            for one in attempt(_woken_by, owner, waiting, default=()):
                one.wakers.append(owner)


def _keeps_links(kind: Any) -> bool:
    names = (full_name(base).rpartition(".") for base in mro_of(kind))
    return any(
        module.startswith("gevent.") and name in ("AbstractLinkable", "SimpleQueue")
        for module, _, name in names
    )


def _woken_by(owner: Any, waiting: dict[int, FoundGreenlet]) -> list[FoundGreenlet]:
    kept = [held for held in gc.get_referents(owner) if type(held) in (list, collections.deque)]
    found = {}
    for link in [link for held in kept for link in list(held)[:_MOST_LINKS]]:
        woken = link
        if type(link) in (types.BuiltinMethodType, types.MethodType):
            woken = link.__self__
        for one in gc.get_referents(woken) if _is_waiter(woken) else [woken]:
            if id(one) in waiting:
                found[id(one)] = waiting[id(one)]
    return list(found.values())


def _is_waiter(value: Any) -> bool:
    names = (full_name(base).rpartition(".") for base in mro_of(type(value)))
    return any(module.startswith("gevent.") and name == "Waiter" for module, _, name in names)


def greenlet_awaited(one: FoundTask, relations: TaskRelations) -> dict[str, Any] | None:
    joined = attempt(_joined, one, relations)
    return None if joined is None else waits_for_answer("task", joined.task, [joined])


def greenlet_answer(one: FoundTask, relations: TaskRelations) -> dict[str, Any]:
    return {"cancel_requested": False, "parent": None}


def _joined(one: FoundGreenlet, relations: TaskRelations) -> FoundTask | None:
    """The greenlet whose end it waits for, where the code calls that by a name."""
    if one.running or not one.frames:
        return None
    function, _ = present_call(one.frames[0])
    if function[0] != "attribute" or function[2] not in ("join", "get"):
        return None
    return relations.get(stored_result(function[1], one.frames[0]))
