"""Whose work a future of concurrent.futures is: of a thread that runs it, or of a pool's queue."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.scopes import items_of
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import namespace_of
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        clipped,
        module_globals,
        stored_field,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.holders import Holder

_BUSY = "all threads of the future's pool are busy"


def holder_of_future(
    future: Any, stacks: dict[int, list[Any]], names: dict[int, str]
) -> tuple[str, Holder] | None:
    """Who has to bring a future to its end, and in a few words how."""
    module = module_globals("concurrent.futures.thread")
    run = attempt(lambda: namespace_of(module["_WorkItem"])["run"].__code__)
    work = attempt(lambda: module["_worker"].__code__)
    pools: dict[int, tuple[Any, list[tuple[int, bool]]]] = {}
    for ident, frames in stacks.items():
        codes = [frame.f_code for frame in frames]
        if work is None or work not in codes:
            continue
        worker = frames[codes.index(work)]
        if run in codes:
            item = dict(items_of(frames[codes.index(run)].f_locals)).get("self")
            if stored_field(item, "future") is future:
                name = clipped(names.get(ident, "?"))
                return f"{name} is to bring to its end", Holder(
                    ident, "it runs the future's function"
                )
        queue = dict(items_of(worker.f_locals)).get("work_queue")
        pools.setdefault(id(queue), (queue, []))[1].append((ident, run in codes))
    for queue, workers in pools.values():
        ahead = _place_in(queue, future)
        busy = [ident for ident, is_busy in workers if is_busy]
        if ahead is not None and len(busy) == len(workers):
            named = ", ".join(clipped(names.get(ident, "?")) for ident in busy[:5])
            text = f"waits for one of a pool's {len(busy)} threads, all busy ({named})"
            if len(busy) == 1:
                text = f"waits for the only thread of a pool, {named}"
            return text, Holder(busy[0], _BUSY, tuple(busy[1:]))
    return None


def _place_in(queue: Any, future: Any) -> int | None:
    """How many items of work come before the future's in the queue of a pool."""
    held = gc.get_referents(queue)  # up to 3.12 it keeps them in a list
    items = next((one for one in held if type(one) is list), held)
    for place, item in enumerate(items):
        if stored_field(item, "future") is future:
            return place
    return None
