"""What a task waits for: the lock, event, queue or channel that its innermost own frame awaits.

Known are the primitives of asyncio and trio. A lock of trio names its owner. One of asyncio does not,
and no semaphore does: then the tasks are searched for one that stands inside an `async with` on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import awaited_call
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.frames.stored_expressions import (
        expression_text,
        stored_result,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.with_blocks import with_blocks
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        AwaitPlace,
        clipped,
        module_globals,
        stored_field,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.connection_pools import (
        ConnectionWait,
        StackOfOne,
        wait_for_connection,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.found_task import FoundTask, task_reference
    from relay.debuggers.debugpy.debuggee.probe.waits.greenlet_waits import GreenletWaits
    from relay.debuggers.debugpy.debuggee.probe.waits.greenlets import FoundGreenlet
    from relay.debuggers.debugpy.debuggee.probe.waits.holders import has_ops, let_go_by, place_text
    from relay.debuggers.debugpy.debuggee.probe.waits.known_waits import (
        KnownWait,
        known_task_waits,
        note_of_join,
        plain_length,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.permits import permits_of, taken_by
    from relay.debuggers.debugpy.debuggee.probe.waits.thread_work import (
        ThreadWork,
        worker_answer,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.tornado_waits import TornadoWaits

_HELD_BY_SOMEBODY = ("lock", "semaphore", "thread")
"""Kinds of what a task may wait for that some task or thread has to end."""
# What anyio has within a lock or a limiter: another one of its own, or trio's.
_INNER = ("_internal_lock", "_Lock__original", "_internal_limiter", "_CapacityLimiter__original")
_ASYNC_WITH_NAMES = ("SETUP_ASYNC_WITH", "BEFORE_ASYNC_WITH", "LOAD_SPECIAL")


class TaskHold(NamedTuple):
    """A task that has a lock, or a permit of a semaphore."""

    task: FoundTask
    known_from: str
    name_there: str | None = None
    """What its own code calls it, where that is known."""


class TaskWaits:
    """What the tasks of one listing wait for."""

    def __init__(self, found: list[FoundTask], work: ThreadWork) -> None:
        self._found = found
        self._work = work
        self._by_task = {id(one.task): one for one in found}
        self._known = known_task_waits()
        self._greenlets = GreenletWaits(found)
        self._tornado = TornadoWaits()
        self._held: dict[int, list[tuple[Any, TaskHold]]] | None = None
        """Who has what, by the ids of that."""
        self._stacks: list[StackOfOne] | None = None

    def of(
        self, one: FoundTask, places: list[AwaitPlace], for_whom: bool = False
    ) -> dict[str, Any] | None:
        """Of a task that waits at these places, outermost first. for_whom: only if it waits for somebody who is known."""
        if one.running or one.state == "ready":  # a lock of trio has it before it goes on
            return None
        if isinstance(one, FoundGreenlet) and (wait := self._greenlets.of(one)):
            return wait
        below = len(places)
        while below and (
            not places[below - 1].is_own or self._known_wait(places[below - 1].frame) is not None
        ):
            below -= 1  # the library may be the program's own tree
        caller = places[below - 1].frame if below else None
        found = None
        for index in range(below, len(places)):
            frame = places[index].frame
            known = self._known_wait(frame)
            if known is not None:
                found = self._answer(one, known, frame, caller, for_whom)
                if known.kind != "thread":  # which may wait for a limiter yet, to get one
                    break
        return found or attempt(self._by_future, one, caller, for_whom)

    def _known_wait(self, frame: Any) -> KnownWait | None:
        known = self._known.get(id(frame.f_code))
        return known if known is not None and known.code is frame.f_code else None

    def _by_future(self, one: FoundTask, caller: Any, for_whom: bool) -> dict[str, Any] | None:
        """Of Tornado's locks and queues, which give a future to who asks them."""
        future = stored_field(one.task, "_fut_waiter") if one.kind == "asyncio" else None
        kept = None if future is None else self._tornado.of(future)
        if kept is None or (for_whom and kept.kind not in _HELD_BY_SOMEBODY):
            return None
        is_join = kept.is_join
        return self._described(one, kept.kind, kept.what, kept.subject, caller, is_join=is_join)

    def _for_connection(self, queue: Any, one: FoundTask) -> ConnectionWait | None:
        if not module_globals("sqlalchemy.pool.impl"):
            return None
        if self._stacks is None:
            self._stacks = [
                StackOfOne(each.id, each.name, [place.frame for place in each.suspended_places()])
                for each in self._found[:5000]
                if not each.running
            ]
        return wait_for_connection(queue, self._stacks, one.id)

    def _answer(
        self, one: FoundTask, known: KnownWait, frame: Any, caller: Any, for_whom: bool
    ) -> dict[str, Any] | None:
        if for_whom and known.kind not in _HELD_BY_SOMEBODY:
            return None
        subject = dict(items_of(frame.f_locals)).get("self")
        is_join = known.function == "Queue.join"
        answer = self._described(
            one, known.kind, known.what or "", subject, caller, is_join=is_join
        )
        if known.kind == "thread":
            note, thread = attempt(self._work.handed_over_by, frame) or (None, None)
            answer.update(note=note, worker=worker_answer(thread))
        return answer

    def _described(
        self,
        one: FoundTask,
        kind: str,
        words: str,
        subject: Any,
        caller: Any,
        *,
        is_join: bool,
    ) -> dict[str, Any]:
        name = None if subject is None else attempt(_awaited_name, caller, subject)
        holders: list[TaskHold] = []
        note = None
        if kind == "lock" and subject is not None:
            holders = self._holder_of(subject)
        elif kind == "semaphore" and subject is not None:
            holders, are_all = self._takers_of(subject)
            note = taken_by([(one.task.name, one.known_from) for one in holders], are_all)
            holders = holders if are_all else []
        elif is_join:
            note = attempt(_note_of_join, subject)
        elif kind == "queue" and (found := attempt(self._for_connection, subject, one)):
            (words, note), name = found, None
        elif kind == "queue" and name is not None:
            note = words  # by the name alone it is not known whether it is empty, or full
        return {
            "kind": kind,
            "on": clipped(words if name is None else name, 1000),
            "id": None if subject is None else hex(id(subject)),
            "held_by": task_reference(holders[0].task) if holders else None,
            "others": list(dict.fromkeys(one.task.id for one in holders[1:])),
            "known_from": holders[0].known_from if holders else None,
            "name_there": holders[0].name_there if holders else None,
            "note": note,
            "worker": None,
        }

    def _holder_of(self, lock: Any) -> list[TaskHold]:
        inner = _without_hulls(lock)
        named = stored_field(inner, "_owner") or stored_field(inner, "_owner_task")
        owner = self._by_task.get(id(named))
        if owner is None and named is not None:  # anyio until 4.4 keeps a `TaskInfo`
            owner = self._by_task.get(stored_field(named, "id"))
        inside = {id(one.task): one for one in self._inside(lock)}
        if owner is not None:
            entered = inside.get(id(owner))
            return [TaskHold(owner, "the lock names its owner", entered and entered.name_there)]
        return list(inside.values()) if len(inside) == 1 else []

    def _takers_of(self, semaphore: Any) -> tuple[list[TaskHold], bool]:
        """Who has its permits, once for each, and whether these are all of them."""
        borrowers = stored_field(_without_hulls(semaphore), "_borrowers")  # of a CapacityLimiter
        if type(borrowers) is set:
            known = [self._by_task.get(id(one)) for one in list(borrowers)]
            named = [TaskHold(one, "the limiter names it") for one in known if one is not None]
            return named, len(named) == len(borrowers)
        found = self._inside(semaphore)
        return found, len(found) == permits_of(semaphore)

    def _inside(self, subject: Any) -> list[TaskHold]:
        if self._held is None:
            self._held = {}
            for one in self._found[:5000]:
                for held in attempt(_held_by, one, default=()):
                    self._held.setdefault(id(held[0]), []).append(held)
        return [hold for value, hold in self._held.get(id(subject), ()) if value is subject]


def _without_hulls(subject: Any) -> Any:
    for name in _INNER:
        inner = stored_field(subject, name)
        subject = subject if inner is None else inner
    return subject


def _held_by(one: FoundTask) -> list[tuple[Any, TaskHold]]:
    """What a task that is suspended has entered by `async with`."""
    found = []
    places = [] if one.running else one.suspended_places()
    let_go = let_go_by([place.frame for place in places])
    for place in places:
        frame = place.frame
        if has_ops(frame.f_code, _ASYNC_WITH_NAMES):
            for expression, line in with_blocks(frame):
                value = attempt(stored_result, expression, frame)
                if value is not None and id(value) not in let_go:
                    name, where = expression_text(expression), place_text(frame, line)
                    inside = f"it stands inside `async with {name}` at {where}"
                    found.append((value, TaskHold(one, inside, name)))
    return found


def _note_of_join(queue: Any) -> str | None:
    left, items = stored_field(queue, "_unfinished_tasks"), stored_field(queue, "_queue")
    return note_of_join(left, plain_length(items)) if type(left) is int else None


def _awaited_name(caller: Any, subject: Any) -> str | None:
    """What the awaiting code calls the object."""
    called = awaited_call(caller)
    if called[0] == "attribute" and stored_result(called[1], caller) is subject:
        return expression_text(called[1])
    return None
