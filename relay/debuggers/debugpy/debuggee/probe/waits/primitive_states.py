"""The state of what threads, tasks and processes wait for and are, in a few words: how full a queue is, whether an
event is set, whether a thread has ended. Read where it is stored; nothing of the program is called.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import full_name, mro_of
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import module_globals, stored_field
    from relay.debuggers.debugpy.debuggee.probe.waits.child_processes import (
        end_in_words,
        end_of_child,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.known_waits import plain_length


def state_in_words(value: Any) -> str | None:
    """None of what is none of these, or does not keep it where it is looked for."""
    known = {id(module_globals(at).get(name)): one for (at, name), one in _STATES.items()}
    known.pop(id(None), None)  # of modules that are not loaded
    for base in mro_of(type(value)):
        if id(base) in known:
            return known[id(base)](value)
    return None


def _of_queue(items: str, maximum: str) -> Callable[[Any], str | None]:
    def state(queue: Any) -> str | None:
        held, most = stored_field(queue, items), stored_field(queue, maximum)
        if held is None or (size := plain_length(held)) < 0:
            return None
        room = f" of at most {most}" if type(most) is int and most > 0 else ""
        return f"{size} item{'s' * (size != 1)}{room}"

    return state


def _of_flag(field: str) -> Callable[[Any], str | None]:
    def state(event: Any) -> str | None:
        flag = stored_field(event, field)
        return None if type(flag) is not bool else "set" if flag else "not set"

    return state


def _of_semaphore(semaphore: Any) -> str | None:
    value = stored_field(semaphore, "_value")
    return f"at {value}" if type(value) is int else None


def _of_lock(lock: Any) -> str | None:
    locked = stored_field(lock, "_locked")
    return None if type(locked) is not bool else "locked" if locked else "unlocked"


def _of_barrier(barrier: Any) -> str | None:
    parties, count = stored_field(barrier, "_parties"), stored_field(barrier, "_count")
    return f"{count} of {parties} have come" if type(count) is int else None


def _of_future(future: Any) -> str | None:
    state, error = stored_field(future, "_state"), stored_field(future, "_exception")
    if type(state) is not str:
        return None
    raised = f", raised {full_name(type(error))}" if error is not None else ""
    return state.lower().replace("_", " ") + raised


def _of_thread(thread: Any) -> str | None:
    if stored_field(thread, "_ident") is None:
        return "not started"
    return None if is_running_here(thread) else "ended"


def is_running_here(thread: Any) -> bool:
    """Whether a thread of `threading` has begun and not ended, in this process."""
    known = getattr(threading, "_active", {})
    return thread is not None and known.get(stored_field(thread, "_ident")) is thread


def _of_process(process: Any) -> str | None:
    popen = stored_field(process, "_popen")
    if popen is None:
        return "not started"
    return _of_popen(popen)


def _of_popen(popen: Any) -> str | None:
    code, pid = stored_field(popen, "returncode"), stored_field(popen, "pid")
    if type(pid) is not int:
        return None
    end = end_in_words(code) if type(code) is int else attempt(end_of_child, pid)
    return f"process {pid}, {end}" if end else f"process {pid}"


_STATES: dict[tuple[str, str], Callable[[Any], str | None]] = {
    ("threading", "Thread"): _of_thread,
    ("threading", "Event"): _of_flag("_flag"),
    ("threading", "Semaphore"): _of_semaphore,
    ("threading", "Barrier"): _of_barrier,
    ("queue", "Queue"): _of_queue("queue", "maxsize"),
    ("concurrent.futures._base", "Future"): _of_future,
    ("multiprocessing.process", "BaseProcess"): _of_process,
    ("subprocess", "Popen"): _of_popen,
    ("asyncio.queues", "Queue"): _of_queue("_queue", "_maxsize"),
    ("asyncio.locks", "Event"): _of_flag("_value"),
    ("asyncio.locks", "Lock"): _of_lock,
    ("asyncio.locks", "Semaphore"): _of_semaphore,
    ("_asyncio", "Future"): _of_future,
    ("_asyncio", "Task"): _of_future,
    ("asyncio.futures", "Future"): _of_future,
}
"""How each tells its state, by the module and the name of its class."""
