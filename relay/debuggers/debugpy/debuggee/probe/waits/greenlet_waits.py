"""What a greenlet waits for: the lock, event or queue of gevent that will wake it, and who has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import present_call
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.frames.stored_expressions import (
        expression_text,
        stored_result,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import full_name, mro_of, plan_of
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        AwaitPlace,
        clipped,
        module_globals,
        stored_field,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.found_task import FoundTask, task_reference
    from relay.debuggers.debugpy.debuggee.probe.waits.greenlets import FoundGreenlet
    from relay.debuggers.debugpy.debuggee.probe.waits.holders import Holders, HoldingStack
    from relay.debuggers.debugpy.debuggee.probe.waits.known_waits import (
        known_task_waits,
        known_thread_waits,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.permits import permits_of, taken_by

_WAKERS = (
    # (the class's name, kind, what is waited for in a few words); the first that fits
    ("LockType", "lock", "a lock"),
    ("Semaphore", "semaphore", "a semaphore"),
    ("AsyncResult", "event", "a result that is not there yet"),
    ("Event", "event", "an event that is not set"),
    ("SimpleQueue", "queue", "an item of an empty queue"),
)
_LIBRARY_WAITS = {
    "condition": "notify of a condition",
    "event": "an event that is not set",
    "queue": "an item of a queue, or room in it",
    "lock": "a semaphore",
    "semaphore": "a semaphore",
    "join": "the end of a thread",
    "future": "a future",
    "child": "the end of a process",
}
"""What functions wait for that are Python: the standard library's under gevent, and eventlet's."""


class GreenletWaits:
    """What the greenlets of one listing wait for."""

    def __init__(self, found: list[FoundTask]) -> None:
        self._by_id = {id(one.task): one for one in found}
        self._known = {**known_task_waits(), **known_thread_waits()}
        greenlets = [one for one in found[:5000] if isinstance(one, FoundGreenlet)]
        self._holders = Holders([HoldingStack(id(one.task), "it", one.frames) for one in greenlets])

    def of(self, one: FoundGreenlet) -> dict[str, Any] | None:
        """None where nothing is known to wake it, or the end of others is."""
        if one.running:
            return None
        known = self._by_library(one.frames) or self._by_waker(one)
        if known is None:
            return None
        kind, words, subject, own = known
        called = attempt(_called, own) if own is not None else None
        if kind == "queue" and called is not None:
            waits = {
                "get": "an item of an empty queue",
                "put": "room in a full queue",
                "join": "task_done of a queue",
            }
            words = waits.get(called[1], words)
        if kind == "join":
            words = _words_of_thread(subject)
        elif (
            called is not None
            and subject is not None
            and attempt(stored_result, called[0], own) is subject
        ):
            name = expression_text(called[0])
            words = f"{name}, {words}" if kind == "queue" else str(name)
        answer: dict[str, Any] = {
            "kind": kind,
            "on": clipped(words, 1000),
            "id": None if subject is None else hex(id(subject)),
            "held_by": None,
            "others": [],
            "known_from": None,
            "note": None,
        }
        if kind in ("lock", "semaphore"):
            answer.update(self._holder(subject, is_lock=kind == "lock"))
        return answer

    def _by_library(self, frames: list[Any]) -> tuple[str, str, Any, Any] | None:
        """By the outermost function of a library that the program called, where it is Python."""
        found = None
        for position, frame in enumerate(frames):
            known = self._known.get(id(frame.f_code))
            if known is not None and known.code is frame.f_code:
                found = known, position
            elif AwaitPlace(frame, "").is_own:
                break
        if found is None or found[0].kind not in _LIBRARY_WAITS:
            return None
        known, position = found
        caller = frames[position + 1] if position + 1 < len(frames) else None
        kind = "semaphore" if known.kind == "lock" else known.kind
        subject = dict(items_of(frames[position].f_locals)).get("self")
        if kind == "semaphore":
            waker = subject
            subject, caller = _asked_for(frames[position:], waker)
            if subject is not waker or _is_lock_of_eventlet(waker):
                return "lock", "a lock", subject, caller
        return kind, _LIBRARY_WAITS[known.kind], subject, caller

    def _by_waker(self, one: FoundGreenlet) -> tuple[str, str, Any, Any] | None:
        if len(one.wakers) != 1:
            return None
        waker = one.wakers[0]
        names = [full_name(base).rpartition(".")[2] for base in mro_of(type(waker))]
        known = next((row for row in _WAKERS if row[0] in names), None)
        if known is None:
            return None
        _, kind, words = known
        subject, own = _asked_for(one.frames, waker)
        return "lock" if subject is not waker else kind, words, subject, own

    def _holder(self, lock: Any, *, is_lock: bool) -> dict[str, Any]:
        owner = stored_field(lock, "_owner")  # a greenlet, or its id, of a lock that knows it
        named = self._by_id.get(owner if type(owner) is int else id(owner))
        if owner is not None and named is not None:
            return {"held_by": task_reference(named), "known_from": "the lock names its owner"}
        holds = self._holders.inside(lock)
        are_all = len(holds) == permits_of(lock) and all(hold.is_entered for hold in holds)
        inside = {hold.ident: hold for hold in holds}
        takers = [(self._by_id[hold.ident].name, hold.known_from) for hold in inside.values()]
        note = taken_by(takers, are_all)
        if not inside or not (are_all or (is_lock and len(inside) == 1)):
            return {"note": note}
        first, *others = inside
        return {
            "held_by": task_reference(self._by_id[first]),
            "others": [self._by_id[one].id for one in others],
            "known_from": inside[first].known_from,
            "note": note if are_all else None,
        }


def _asked_for(frames: list[Any], waker: Any) -> tuple[Any, Any]:
    """The object that the program asked for, which may be built around the one that wakes, and the
    frame that asked for it: the first that is no method of either.
    """
    subject = waker
    for frame in frames:
        held = dict(items_of(frame.f_locals)).get("self")
        around = attempt(stored_field, held, "_block") is subject if held is not None else False
        if held is not subject and not around:
            return subject, frame
        subject = held
    return subject, None


def _words_of_thread(thread: Any) -> str:
    name = stored_field(thread, "_name")
    is_named = name is not None and plan_of(name).family == "text"
    return f"the end of thread {clipped(name)}" if is_named else "the end of a thread"


def _is_lock_of_eventlet(semaphore: Any) -> bool:
    """One of a single permit, which the patched `threading` has for its locks."""
    kind = module_globals("eventlet.lock").get("Lock")
    return any(base is kind for base in mro_of(type(semaphore)))


def _called(frame: Any) -> tuple[Any, str] | None:
    """The expression whose method the frame is in, and the method's name."""
    function, _ = present_call(frame)
    return (function[1], function[2]) if function[0] == "attribute" else None
