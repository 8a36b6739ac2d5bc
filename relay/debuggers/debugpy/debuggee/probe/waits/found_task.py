"""FoundTask: a task of any library, as the listing of tasks finds it; and what its answer says of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.values.types import name_of
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        AwaitPlace,
        ThreadStacks,
        await_chain,
        clipped,
        coroutine_name,
        is_running,
    )

SHOWN_RELATIVES = 20
"""Children, awaiters and awaited tasks that one task shows; the rest is counted."""

_MOST_AWAITED = 1000


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
        raise NotImplementedError

    @property
    def state(self) -> str:
        return "running" if self.running else self.state_at_rest

    @property
    def state_at_rest(self) -> str:
        """What one is in that does not run now."""
        raise NotImplementedError

    def resting_place(self) -> tuple[Any, int] | None:
        """At what one waits that does not run: something else once it has gone on; None where it waits for nothing."""
        raise NotImplementedError

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
        "ids": [other.id for other in awaited[:_MOST_AWAITED]],
        "futures": futures or None,
    }


def task_reference(one: FoundTask) -> dict[str, str]:
    return {"id": one.id, "name": one.name}
