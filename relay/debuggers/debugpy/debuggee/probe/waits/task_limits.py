"""Which tasks wait for a limited time: a timer of asyncio's loop is set to end the wait, or a scope of trio's has a deadline."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.waits.asyncio import is_task
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import stored_field
    from relay.debuggers.debugpy.debuggee.probe.waits.found_task import FoundTask

_MOST_TIMERS = 20_000
_MOST_SCOPES = 1000
_FIELDS_OF_TASK = ("_task", "_host_task")
"""Where an object keeps the task that it cancels: `asyncio.timeout` and `async_timeout`, a scope of anyio's."""


class TaskLimits:
    """Of the tasks of one listing. The timers are looked through at the first question."""

    def __init__(self, found: list[FoundTask]) -> None:
        self._found = found
        self._ended: set[int] | None = None
        """Ids of tasks, and of futures that are awaited, that timers have to do with."""

    def has(self, one: FoundTask) -> bool:
        """Whether it is known that the task does not wait for ever."""
        if one.kind == "trio":
            return bool(attempt(_has_deadline, one.task, default=False))
        if one.kind != "asyncio":
            return False
        if self._ended is None:
            self._ended = self._ended_by_timers()
        awaited = stored_field(one.task, "_fut_waiter")
        # What awaits a task with a limit has none itself.
        return id(one.task) in self._ended or (id(awaited) in self._ended and not is_task(awaited))

    def _ended_by_timers(self) -> set[int]:
        loops = {}
        for one in self._found:
            if one.kind == "asyncio":
                loop = stored_field(one.task, "_loop")
                loops[id(loop)] = loop
        ended: set[int] = set()
        for loop in loops.values():
            for timer in list(stored_field(loop, "_scheduled") or ())[:_MOST_TIMERS]:
                if stored_field(timer, "_cancelled") is not True:
                    ended.update(map(id, attempt(_has_to_do_with, timer, default=())))
        return ended


def _has_to_do_with(timer: Any) -> list[Any]:
    """The owner of its callback, the arguments, and the tasks that these keep to cancel them."""
    callback = stored_field(timer, "_callback")
    given = [getattr(callback, "__self__", None), *(stored_field(timer, "_args") or ())]
    kept = [stored_field(one, name) for one in given for name in _FIELDS_OF_TASK]
    return [one for one in (*given, *kept) if one is not None]


def _has_deadline(task: Any) -> bool:
    status = stored_field(task, "_cancel_status")
    for _ in range(_MOST_SCOPES):
        if status is None:
            break
        scope = stored_field(status, "_scope")
        if stored_field(scope, "_deadline", math.inf) != math.inf:
            return True
        if stored_field(scope, "_shield") is True:
            break
        status = stored_field(status, "_parent")
    return False
