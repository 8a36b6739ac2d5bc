"""Whose work a future of concurrent.futures is: of a thread that runs it, of a pool's queue, or of
an event loop that was given a coroutine for it, by asyncio or by asgiref (Django).
"""

from __future__ import annotations

import gc
import sys
import types
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import namespace_of
    from relay.debuggers.debugpy.debuggee.probe.waits.asyncio import (
        every_asyncio_task,
        held_by_callback,
        is_task,
        loop_run_by,
        name_of_task,
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


class FutureWork:
    """Whose work the futures are, by the stacks of one moment, which are looked through once."""

    def __init__(self, stacks: dict[int, list[Any]], names: dict[int, str]) -> None:
        self._stacks = stacks
        self._names = names
        self._known: _KnownWork | None = None

    def holder_of(self, future: Any) -> tuple[str, Holder | None] | None:
        """Who has to bring a future to its end, and in a few words how."""
        if self._known is None:
            self._known = _KnownWork(self._stacks)
        known = self._known
        thread = known.threads.get(future)
        if thread is not None:
            text = f"{self._name(thread)} is to bring to its end"
            return text, Holder(thread, "it runs the future's function")
        busy = known.busy.get(future)
        if busy is not None:
            return all_busy(busy, self._names)
        thread, task = self._thread_of_loop(future, known)
        if thread is not None:
            who = f"the event loop of {self._name(thread)}"
            if task is not None:
                who = f"task {name_of_task(task)} of {who}"
            number = None if task is None else hex(id(task))
            known_from = "its event loop was given the future's coroutine"
            return f"{who} is to bring to its end", Holder(thread, known_from, task=number)
        pids = known.processes.get(future)
        if pids is None:
            return None
        named = ", ".join(process_name(pid) for pid in pids[:5])
        one = "the only process" if len(pids) == 1 else f"one of {len(pids)} processes"
        return f"{one} of a pool is to bring to its end ({named})", None

    def _name(self, thread: int) -> str:
        return clipped(self._names.get(thread, "?"))

    def _thread_of_loop(self, future: Any, known: _KnownWork) -> tuple[int | None, Any]:
        """Whose loop `asyncio.run_coroutine_threadsafe` gave the coroutine to, and the task that it is, once there is one."""
        task, chained = source_of(list(stored_field(future, "_done_callbacks") or ()))
        if chained is None:
            task = known.tasks.get(future)
            chained = None if task is None else stored_field(task, "_loop")
        for ident, loop in known.loops:
            if loop is chained:
                return ident, task if is_task(task) else None
        return known.to_begin.get(future), None


class _ByFuture:
    """A dict that neither keeps its futures alive nor asks them for a hash."""

    def __init__(self) -> None:
        self._values: dict[int, tuple[Any, Any]] = {}

    def add(self, future: Any, value: Any) -> None:
        reference = attempt(weakref.ref, future)
        if reference is not None:
            self._values[id(future)] = reference, value

    def get(self, future: Any) -> Any:
        """None of one that is not there, as of one that has got the number of another."""
        reference, value = self._values.get(id(future), (None, None))
        return value if reference is not None and reference() is future else None


class _KnownWork:
    """What is found on the stacks, by the futures."""

    def __init__(self, stacks: dict[int, list[Any]]) -> None:
        self.threads = _ByFuture()
        """Which thread runs the function."""
        self.busy = _ByFuture()
        """Which threads have all something else to do, of the pool in whose queue it is."""
        self.processes = _ByFuture()
        """Those of the pool, any of which may have it."""
        self.loops: list[tuple[int, Any]] = []
        self.to_begin = _ByFuture()
        """Which thread's loop has the coroutine among what it will call next."""
        self.tasks = _ByFuture()
        """In which task `async_to_sync` of asgiref has a loop run a coroutine, at whose end it sets the future."""
        self._look_for_threads(stacks)
        attempt(self._look_for_tasks)
        for ident, frames in stacks.items():
            for frame in frames:
                attempt(self._look_for_loop, ident, frame)
                attempt(self._look_for_processes, frame)

    def _look_for_threads(self, stacks: dict[int, list[Any]]) -> None:
        module = module_globals("concurrent.futures.thread")
        run = attempt(lambda: namespace_of(module["_WorkItem"])["run"].__code__)
        work = attempt(lambda: module["_worker"].__code__)
        pools: dict[int, tuple[Any, Any, list[tuple[int, bool]]]] = {}
        for ident, frames in stacks.items():
            codes = [frame.f_code for frame in frames]
            if work is None or work not in codes:
                continue
            if run in codes:
                item = dict(items_of(frames[codes.index(run)].f_locals)).get("self")
                self.threads.add(stored_field(item, "future"), ident)
            found = dict(items_of(frames[codes.index(work)].f_locals))
            queue, of_pool = found.get("work_queue"), found.get("executor_reference")
            pools.setdefault(id(queue), (queue, of_pool, []))[2].append((ident, run in codes))
        for queue, of_pool, workers in pools.values():
            busy = [ident for ident, is_busy in workers if is_busy]
            if len(busy) == len(workers) and not _gets_threads(of_pool, busy, stacks):
                for item in queued_in(queue):
                    self.busy.add(stored_field(item, "future"), busy)

    def _look_for_tasks(self) -> None:
        kind = module_globals("asgiref.sync").get("AsyncToSync")
        code = attempt(lambda: namespace_of(kind)["main_wrap"].__code__)
        for task in () if code is None else every_asyncio_task():
            coro = stored_field(task, "_coro")
            frame = coro.cr_frame if type(coro) is types.CoroutineType else None
            if frame is not None and frame.f_code is code:
                self.tasks.add(dict(items_of(frame.f_locals)).get("call_result"), task)

    def _look_for_loop(self, ident: int, frame: Any) -> None:
        loop = loop_run_by(frame)
        if loop is None:
            return
        self.loops.append((ident, loop))
        ready = list(stored_field(loop, "_ready") or ())[:_MOST_READY]
        for callback in [stored_field(handle, "_callback") for handle in ready]:
            if attempt(_begins_coroutine, callback):  # whatever else has it may do anything with it
                for held in held_by_callback(callback):
                    self.to_begin.add(held, ident)

    def _look_for_processes(self, frame: Any) -> None:
        manager = module_globals("concurrent.futures.process").get("_ExecutorManagerThread")
        run = attempt(lambda: namespace_of(manager)["run"].__code__)  # since 3.9
        if frame.f_code is not run:
            return
        pool = dict(items_of(frame.f_locals)).get("self")
        pids = sorted(stored_field(pool, "processes") or ())
        for item in list((stored_field(pool, "pending_work_items") or {}).values()):
            self.processes.add(stored_field(item, "future"), pids)


def _gets_threads(reference: Any, known: list[int], stacks: dict[int, list[Any]]) -> bool:
    """Whether a pool may have one more thread than is known to work: it is being started, or has not come to its work."""
    pool = reference() if type(reference) is weakref.ref else None
    if pool is None:
        return False  # nobody has it any more, who could give it work
    idents = [stored_field(thread, "_ident") for thread in list(stored_field(pool, "_threads"))]
    present = sys._current_frames()
    if any(one is None or (one in present and one not in known) for one in idents):
        return True
    submit = attempt(lambda: namespace_of(type(pool))["submit"].__code__)
    return any(
        frame.f_code is submit and dict(items_of(frame.f_locals)).get("self") is pool
        for frames in stacks.values()
        for frame in frames
    )


def is_pending(future: Any) -> bool:
    """Whether a future of concurrent.futures, or the like, is not over."""
    return stored_field(future, "_state") in ("PENDING", "RUNNING")


def all_busy(threads: list[int], names: dict[int, str]) -> tuple[str, Holder]:
    """Who has to act for work that waits until one of a pool's threads is free, and that in words."""
    named = ", ".join(clipped(names.get(ident, "?")) for ident in threads[:5])
    text = f"waits for one of a pool's {len(threads)} threads, all busy ({named})"
    if len(threads) == 1:
        text = f"waits for the only thread of a pool, {named}"
    return text, Holder(threads[0], "all threads of its pool are busy", tuple(threads[1:]))


def _begins_coroutine(callback: Any) -> bool:
    """Whether it is what `asyncio.run_coroutine_threadsafe` has its loop call."""
    return (
        type(callback) is types.FunctionType
        and callback.__module__ == "asyncio.tasks"
        and callback.__qualname__ == "run_coroutine_threadsafe.<locals>.callback"
    )


def queued_in(queue: Any) -> list[Any]:
    """The items of a SimpleQueue of C."""
    held = gc.get_referents(queue)  # up to 3.12 it keeps them in a list
    return next((one for one in held if type(one) is list), held)
