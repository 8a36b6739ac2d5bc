"""Which thread does what a task waits for: the function that the task has handed to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import mro_of
    from relay.debuggers.debugpy.debuggee.probe.waits.asyncio import (
        callbacks_of_task,
        shielded_by,
        source_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        ThreadStacks,
        module_globals,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.holders import Holder
    from relay.debuggers.debugpy.debuggee.probe.waits.pools import FutureWork, is_pending

_SHARED_LOCALS = ("future", "task_register")
"""What anyio's function and trio's, which hand a function to a thread, have in common with the one that
runs it there."""

_MOST_MEMBERS = 100
_SHOWN_MEMBERS = 3


class ThreadWork:
    """The work that the threads of one moment do."""

    def __init__(self, stacks: ThreadStacks) -> None:
        threads = sorted(stacks.threads().items(), key=lambda one: one[1]["thread_id"] or 1 << 62)
        self._stacks = {ident: stacks.of[ident] for ident, _ in threads}
        self._names = {
            ident: f"thread {one['thread_id'] or ident} {one['thread_name'] or ''}".rstrip()
            for ident, one in threads
        }
        self._futures = FutureWork(self._stacks, self._names)

    def of_future(self, future: Any, members: list[Any] | None) -> tuple[str | None, list[Holder]]:
        """Who is to bring a future of asyncio to its end, and that as a clause; of one that is for several
        members those of each of the first, and the clauses of some.
        """
        if members is None:
            text, holder = self._of_single(future)
            return None if text is None else f"which {text}", [] if holder is None else [holder]
        found = [self._of_single(one) for one in members[:_MOST_MEMBERS]]
        which = "which" if len(members) == 1 else "one of which"
        clauses = sorted({f"{which} {text}" for text, _ in found if text is not None})
        holders = [holder for _, holder in found if holder is not None]
        return ", ".join(clauses[:_SHOWN_MEMBERS]) or None, holders

    def _of_single(self, future: Any) -> tuple[str | None, Holder | None]:
        kind: Any = module_globals("concurrent.futures._base").get("Future")
        source, _ = source_of(callbacks_of_task(shielded_by(future)))
        if not any(base is kind for base in mro_of(type(source))) or not is_pending(source):
            return None, None
        return attempt(self._futures.holder_of, source) or (None, None)

    def handed_over_by(self, frame: Any) -> tuple[str | None, Holder | None]:
        """Which thread runs the function that a frame of anyio or trio waits for, and that in words."""
        for ident, frames in self._stacks.items():
            if any(_have_in_common(frame, one) for one in frames):
                return f"it runs in {self._names[ident]}", Holder(ident, "it runs the function")
        return None, None


def _have_in_common(frame: Any, other: Any) -> bool:
    code = other.f_code
    if code.co_filename != frame.f_code.co_filename:
        return False
    for name in _SHARED_LOCALS:
        if name in code.co_varnames or name in code.co_freevars:
            here, there = (dict(items_of(one.f_locals)).get(name) for one in (frame, other))
            if here is not None and here is there:
                return True
    return False


def worker_answer(holder: Holder | None) -> dict[str, Any] | None:
    """The threads, of which any could do the work, and the task if it is one's of another event loop."""
    if holder is None:
        return None
    return {"ident": holder.ident, "others": list(holder.others), "task": holder.task}
