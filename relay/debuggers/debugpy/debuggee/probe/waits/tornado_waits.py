"""What a task waits for that awaits a future of Tornado's locks and queues: these have no frame, but keep whom they wake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import (
        and_subclasses,
        objects_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import mro_of
    from relay.debuggers.debugpy.debuggee.probe.waits.asyncio import (
        callbacks_of_task,
        held_by_callback,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import module_globals, stored_field

_KEPT_FUTURES = (
    # (module, class, the field with its futures, kind, what is waited for in a few words)
    ("tornado.locks", "Event", "_waiters", "event", "an event that is not set"),
    ("tornado.locks", "Condition", "_waiters", "condition", "notify of a condition"),
    ("tornado.locks", "Semaphore", "_waiters", "semaphore", "a semaphore"),
    ("tornado.queues", "Queue", "_getters", "queue", "an item of an empty queue"),
    ("tornado.queues", "Queue", "_putters", "queue", "room in a full queue"),
)
_BUILT_AROUND = (
    # (module, class, its field with one of those above, kind, what is waited for)
    ("tornado.locks", "Lock", "_block", "lock", "a lock"),
    ("tornado.queues", "Queue", "_finished", "queue", "task_done of a queue"),
)
_MOST_KEPT_FUTURES = 20_000


class KeptFuture(NamedTuple):
    """A future that is kept to wake who awaits it."""

    kind: str
    what: str
    subject: Any
    """What the program asked for: the lock, and not the semaphore in it."""
    is_join: bool = False


class TornadoWaits:
    """Of one listing. What there is of Tornado's is looked for at the first question."""

    def __init__(self) -> None:
        self._kept: dict[int, KeptFuture] | None = None

    def of(self, future: Any) -> KeptFuture | None:
        """By the future that a task awaits; None if it is none of Tornado's."""
        if self._kept is None:
            self._kept = attempt(_futures_kept, default={})
        return self._kept.get(id(future))


def _futures_kept() -> dict[int, KeptFuture]:
    kinds = {
        id(kind): kind
        for module, name, *_ in (*_KEPT_FUTURES, *_BUILT_AROUND)
        for kind in (module_globals(module).get(name),)
        if isinstance(kind, type)
    }
    every = {one for kind in kinds.values() for one in and_subclasses(kind)}
    owners = objects_of(*every) if every else []
    around = {
        id(inner): KeptFuture(kind, what, owner, kind == "queue")
        for owner, field, kind, what in _of_their_kinds(owners, _BUILT_AROUND)
        if (inner := stored_field(owner, field)) is not None
    }
    found: dict[int, KeptFuture] = {}
    for owner, field, kind, what in _of_their_kinds(owners, _KEPT_FUTURES):
        for kept in list(stored_field(owner, field) or ())[:_MOST_KEPT_FUTURES]:
            future = kept[1] if type(kept) is tuple else kept  # with the item that is put
            known = around.get(id(owner)) or KeptFuture(kind, what, owner)
            for one in (future, *_limited_in_time(future)):
                found[id(one)] = known
    return found


def _of_their_kinds(owners: list[Any], table: Any) -> Iterator[tuple[Any, str, str, str]]:
    for module, name, field, kind, what in table:
        cls = module_globals(module).get(name)
        for owner in owners:
            if any(base is cls for base in mro_of(type(owner))):
                yield owner, field, kind, what


def _limited_in_time(future: Any) -> list[Any]:
    """Those that `gen.with_timeout` has chained to it, which a task awaits in its place."""
    return [
        held
        for callback in callbacks_of_task(future)
        if getattr(callback, "__module__", None) == "tornado.concurrent"
        for held in held_by_callback(callback)
        if held is not future and stored_field(held, "_state") is not None
    ]
