"""What a result of multiprocessing's pools waits for: a thread of the pool that has the work or takes results in, or
nobody any more, as a worker or that thread has ended.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import namespace_of
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        clipped,
        module_globals,
        stored_field,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.child_processes import begin_of
    from relay.debuggers.debugpy.debuggee.probe.waits.holders import Holder
    from relay.debuggers.debugpy.debuggee.probe.waits.pools import all_busy, queued_in
    from relay.debuggers.debugpy.debuggee.probe.waits.primitive_states import is_running_here

_PROCESSES_AT = 4
"""Where the thread that looks after the workers is given how many there are to be."""
_NEAR = 10_000
"""How many processes and threads begin within one tick at most."""


class PoolWait(NamedTuple):
    """What is known of a result that is not there."""

    text: str
    held_by: Holder | None = None
    note: str | None = None


def wait_for_pool(
    result: Any, stacks: dict[int, list[Any]], names: dict[int, str]
) -> PoolWait | None:
    """Of a result of `Pool.map`, `apply_async` or `imap`; None of anything else."""
    pool, job = stored_field(result, "_pool"), stored_field(result, "_job")
    if pool is None or type(job) is not int:
        return None
    found = _PoolSeen(pool, stacks, names).wait([job], "a result of a pool" + _chunks_left(result))
    if found.held_by is not None and stored_field(result, "_length", 0) is None:
        # Of `imap` of a generator: what that still gives may be what is waited for.
        feeding = stored_field(stored_field(pool, "_task_handler"), "_ident")
        others = (*found.held_by.others, feeding)
        return found._replace(held_by=found.held_by._replace(others=others))
    return found


def wait_for_end_of_pool(
    pool: Any, stacks: dict[int, list[Any]], names: dict[int, str]
) -> PoolWait:
    """Of `Pool.join`, while results are to come."""
    jobs = results_to_come(pool)
    text = f"the end of a pool, with {len(jobs)} result{'s' * (len(jobs) != 1)} to come"
    return _PoolSeen(pool, stacks, names).wait(jobs, text)


def results_to_come(pool: Any) -> list[int]:
    """The numbers of the calls whose results a pool has not yet."""
    cache = stored_field(pool, "_cache")
    return list(dict.keys(cache)) if isinstance(cache, dict) else []


class _PoolSeen:
    """A pool and its threads at one moment."""

    def __init__(self, pool: Any, stacks: dict[int, list[Any]], names: dict[int, str]) -> None:
        self._pool = pool
        self._stacks = stacks
        self._names = names
        self._workers = list(stored_field(pool, "_pool") or ())
        self._receiver = stored_field(pool, "_result_handler")

    def wait(self, jobs: list[int], text: str) -> PoolWait:
        """Who is to bring what is to come of these calls, or why nobody does."""
        # The stacks may be those of a moment at which it had not begun.
        if not is_running_here(self._receiver):
            return PoolWait(text, note=self._why_none_comes())
        if self._is_in_callback():
            ident = stored_field(self._receiver, "_ident")
            held = Holder(
                ident, "it is in a callback, and takes in no result of the pool meanwhile"
            )
            return PoolWait(f"{text}, which {self._name(ident)} is to take in", held)
        if any(stored_field(one, "_popen") is not None for one in self._workers):
            return PoolWait(text, note=_lost_workers(self._pool, self._workers))
        busy = _PoolThreads(self._workers, self._stacks)
        if theirs := busy.with_work_of(jobs):
            held = Holder(theirs[0], "it has work of the pool", tuple(theirs[1:]))
            return PoolWait(f"{text}, which {self._name(theirs[0])} is to bring to its end", held)
        queued = queued_in(stored_field(self._pool, "_inqueue"))
        if busy.are_all and any(type(task) is tuple and task[0] in jobs for task in queued):
            said, held = all_busy(busy.threads, self._names)
            return PoolWait(f"{text}, which {said}", held)
        return PoolWait(text)

    def _name(self, ident: Any) -> str:
        return clipped(self._names.get(ident, "?"))

    def _is_in_callback(self) -> bool:
        """Whether the thread that takes in results has given one to the program."""
        module = module_globals("multiprocessing.pool")
        sets = [
            attempt(lambda name=name: namespace_of(module[name])["_set"].__code__)
            for name in ("ApplyResult", "MapResult")
        ]
        frames = self._stacks.get(stored_field(self._receiver, "_ident"), [])
        return any(
            caller.f_code in sets and frames[called].f_code.co_filename != threading.__file__
            for called, caller in enumerate(frames[1:])
        )

    def _why_none_comes(self) -> str:
        if stored_field(self._pool, "_state") == "TERMINATE":
            return "and the pool was terminated: its results never come"
        handlers = ("_worker_handler", "_task_handler", "_result_handler")
        if not any(is_running_here(stored_field(self._pool, name)) for name in handlers):
            return (
                "and the threads of the pool are not in this process, as a fork has none of its"
                " parent's: its results never come here"
            )
        return (
            f"and {clipped(stored_field(self._receiver, '_name'))}, which takes in the results of the"
            " pool, has ended, as by an error in a callback or of a result that cannot be unpickled:"
            " none comes any more"
        )


def _chunks_left(result: Any) -> str:
    """How much of a map is still to come; a chunk is what a worker gets at once."""
    left, length, size = (
        stored_field(result, name) for name in ("_number_left", "_value", "_chunksize")
    )
    if type(left) is not int or type(length) is not list or type(size) is not int or size < 1:
        return ""
    chunks = -(-len(length) // size)
    return f": {left} of {chunks} chunk{'s' * (chunks != 1)} left"


# ---------------------------------------------------------------------------- processes


def _lost_workers(pool: Any, workers: list[Any]) -> str | None:
    """That workers have ended which were to stay; the pool starts others, and never hears of the work they had."""
    if stored_field(pool, "_maxtasksperchild") is not None:
        return None  # they are to end
    handler = stored_field(pool, "_worker_handler")
    given = stored_field(handler, "_args")
    if type(given) is not tuple or given[_PROCESSES_AT : _PROCESSES_AT + 1] != (len(workers),):
        return None  # the program has given the pool more than it began with
    native = stored_field(handler, "_native_id")
    begun = begin_of(f"self/task/{native}")  # as the first ones had been started
    later = [
        clipped(stored_field(one, "_name"))
        for one in workers
        if _is_later(begin_of(str(stored_field(stored_field(one, "_popen"), "pid"))), begun)
    ]
    if not later:
        return None
    if len(later) == 1:
        return (
            f"and a worker of the pool has ended ({later[0]} is in its place): if it had work,"
            " that is lost, and its result never comes"
        )
    return (
        f"and workers of the pool have ended ({', '.join(later)} are in their places): if they had work,"
        " that is lost, and its result never comes"
    )


def _is_later(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    """Whether it has begun later: within a tick the system counts up, unless it has just begun again from below."""
    if one is None or other is None:
        return False
    return one[0] > other[0] or (one[0] == other[0] and 0 < one[1] - other[1] < _NEAR)


# ---------------------------------------------------------------------------- threads


class _PoolThreads:
    """The workers of a ThreadPool that have work."""

    def __init__(self, workers: list[Any], stacks: dict[int, list[Any]]) -> None:
        work = attempt(lambda: module_globals("multiprocessing.pool")["worker"].__code__)
        jobs = {
            ident: dict(items_of(frame.f_locals)).get("job")
            for ident in [stored_field(one, "_ident") for one in workers]
            for frame in stacks.get(ident, ())
            if frame.f_code is work
        }
        self._jobs = {ident: job for ident, job in jobs.items() if job is not None}
        self.are_all = bool(workers) and len(self._jobs) == len(workers)
        """Whether none waits for some."""

    @property
    def threads(self) -> list[int]:
        """Their idents."""
        return list(self._jobs)

    def with_work_of(self, jobs: list[int]) -> list[int]:
        """Those that have some of these jobs."""
        return [ident for ident, one in self._jobs.items() if one in jobs]
