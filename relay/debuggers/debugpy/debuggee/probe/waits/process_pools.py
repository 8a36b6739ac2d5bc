"""What a result of multiprocessing's pools waits for: a thread of the pool that has the work, or a worker that
will never bring it, as it has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        clipped,
        module_globals,
        stored_field,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.descriptors import proc_text
    from relay.debuggers.debugpy.debuggee.probe.waits.holders import Holder
    from relay.debuggers.debugpy.debuggee.probe.waits.pools import all_busy, queued_in

_STARTED_AT = 19
"""Where /proc/PID/stat has the time of the start, counted from the field behind the name."""
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
    text = "a result of a pool" + _chunks_left(result)
    workers = list(stored_field(pool, "_pool") or ())
    if any(stored_field(one, "_popen") is not None for one in workers):
        return PoolWait(text, note=_lost_workers(pool, workers))
    busy = _PoolThreads(workers, stacks)
    if theirs := busy.with_work_of(job):
        name = clipped(names.get(theirs[0], "?"))
        held = Holder(theirs[0], "it has work of the pool", tuple(theirs[1:]))
        return PoolWait(f"{text}, which {name} is to bring to its end", held)
    queued = queued_in(stored_field(pool, "_inqueue"))
    if busy.are_all and any(type(task) is tuple and task[:1] == (job,) for task in queued):
        said, held = all_busy(busy.threads, names)
        return PoolWait(f"{text}, which {said}", held)
    return PoolWait(text)


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
    handler = stored_field(stored_field(pool, "_worker_handler"), "_native_id")
    begun = _begin_of(f"/proc/self/task/{handler}/stat")  # as the first ones had been started
    later = [
        clipped(stored_field(one, "_name"))
        for one in workers
        if _is_later(
            _begin_of(f"/proc/{stored_field(stored_field(one, '_popen'), 'pid')}/stat"), begun
        )
    ]
    if not later:
        return None
    if len(later) == 1:
        return (
            f"and a worker of the pool has ended ({later[0]} is in its place): work that it had is lost,"
            " and its result never comes"
        )
    return (
        f"and workers of the pool have ended ({', '.join(later)} are in their places): work that they had"
        " is lost, and its result never comes"
    )


def _begin_of(path: str) -> tuple[int, int] | None:
    """When a process or thread has begun, in ticks since the system has, and its number; None where that is not known."""
    text = proc_text(path)
    fields = text.rpartition(") ")[2].split()
    return (int(fields[_STARTED_AT]), int(text.split()[0])) if len(fields) > _STARTED_AT else None


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

    def with_work_of(self, job: int) -> list[int]:
        """Those that have some of this job."""
        return [ident for ident, one in self._jobs.items() if one == job]
