"""Whose work a future of concurrent.futures is: of a thread that runs it, of a pool's queue, or of
an event loop that was given a coroutine for it.
"""

from __future__ import annotations

import gc
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import namespace_of
    from relay.debuggers.debugpy.debuggee.probe.waits.asyncio import (
        held_by_callback,
        loop_run_by,
        source_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        clipped,
        module_globals,
        stored_field,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.child_processes import process_name
    from relay.debuggers.debugpy.debuggee.probe.waits.holders import Holder

_MOST_READY = 1000
"""Calls that a loop has before it: how many are looked at."""


def holder_of_future(
    future: Any, stacks: dict[int, list[Any]], names: dict[int, str]
) -> tuple[str, Holder | None] | None:
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
            return all_busy(busy, names)
    return _loop_of_future(future, stacks, names) or _processes_of_future(future, stacks)


def all_busy(threads: list[int], names: dict[int, str]) -> tuple[str, Holder]:
    """Who has to act for work that waits until one of a pool's threads is free, and that in words."""
    named = ", ".join(clipped(names.get(ident, "?")) for ident in threads[:5])
    text = f"waits for one of a pool's {len(threads)} threads, all busy ({named})"
    if len(threads) == 1:
        text = f"waits for the only thread of a pool, {named}"
    return text, Holder(threads[0], "all threads of its pool are busy", tuple(threads[1:]))


def _loop_of_future(
    future: Any, stacks: dict[int, list[Any]], names: dict[int, str]
) -> tuple[str, Holder] | None:
    """The thread whose loop `asyncio.run_coroutine_threadsafe` gave the coroutine to."""
    _, chained = source_of(list(stored_field(future, "_done_callbacks") or ()))
    for ident, frames in stacks.items():
        for loop in filter(None, map(loop_run_by, frames)):
            if loop is chained or _is_to_begin(loop, future):
                name = clipped(names.get(ident, "?"))
                return f"the event loop of {name} is to bring to its end", Holder(
                    ident, "its event loop was given the future's coroutine"
                )
    return None


def _processes_of_future(future: Any, stacks: dict[int, list[Any]]) -> tuple[str, None] | None:
    """Those of a pool, any of which may have its work."""
    manager = module_globals("concurrent.futures.process").get("_ExecutorManagerThread")
    run = attempt(lambda: namespace_of(manager)["run"].__code__)  # since 3.9
    managers = [frame for frames in stacks.values() for frame in frames if frame.f_code is run]
    for frame in managers:
        pool = dict(items_of(frame.f_locals)).get("self")
        items = list((stored_field(pool, "pending_work_items") or {}).values())
        if any(stored_field(item, "future") is future for item in items):
            pids = sorted(stored_field(pool, "processes") or ())
            named = ", ".join(process_name(pid) for pid in pids[:5])
            one = "the only process" if len(pids) == 1 else f"one of {len(pids)} processes"
            return f"{one} of a pool is to bring to its end ({named})", None
    return None


def _is_to_begin(loop: Any, future: Any) -> bool:
    """Whether the loop has the coroutine among what it will call next."""
    ready = list(stored_field(loop, "_ready") or ())[:_MOST_READY]
    callbacks = [stored_field(handle, "_callback") for handle in ready]
    # Whatever else has it may do anything with it.
    begins = [one for one in callbacks if attempt(_begins_coroutine, one)]
    return any(held is future for one in begins for held in held_by_callback(one))


def _begins_coroutine(callback: Any) -> bool:
    """Whether it is what `asyncio.run_coroutine_threadsafe` has its loop call."""
    return (
        type(callback) is types.FunctionType
        and callback.__module__ == "asyncio.tasks"
        and callback.__qualname__ == "run_coroutine_threadsafe.<locals>.callback"
    )


def _place_in(queue: Any, future: Any) -> int | None:
    """How many items of work come before the future's in the queue of a pool."""
    for place, item in enumerate(queued_in(queue)):
        if stored_field(item, "future") is future:
            return place
    return None


def queued_in(queue: Any) -> list[Any]:
    """The items of a SimpleQueue of C."""
    held = gc.get_referents(queue)  # up to 3.12 it keeps them in a list
    return next((one for one in held if type(one) is list), held)
