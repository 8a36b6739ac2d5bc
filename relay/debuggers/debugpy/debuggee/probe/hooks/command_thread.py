"""What pydevd is asked: no question waits for nothing, or gets lost.

Its thread for what is asked of a program that runs works, clears the event that wakes it, and waits
for that, 0.2 s at most: what is asked between the last look at its work and the clearing waits all that
time. Here the waiting clears the event.

The queue of a thread's questions, and the event that wakes it for them, are made by whoever needs them
first: by the thread as it stops, or by the one that brings a question. Both at once would make one
each, and the question would never be answered. Here the first that is made stays.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch


def answer_commands_promptly() -> None:
    """From now on a question that comes while another is answered is answered next."""
    event = debugger()._py_db_command_thread_event
    patch(event, "wait", _wait_and_clear)
    patch(event, "clear", _leave_to_wait)


def _wait_and_clear(wait: Any, *timeout: Any) -> bool:
    was_set: bool = wait(*timeout)
    type(wait.__self__).clear(wait.__self__)
    return was_set


def _leave_to_wait(clear: Any) -> None:
    pass


def make_queues_once() -> None:
    """From now on each thread has one queue of questions, and one event for them."""
    py_db = debugger()
    for name in ("_cmd_queue", "_thread_events"):
        table = getattr(py_db, name)
        if type(table) is defaultdict:
            setattr(py_db, name, _MadeOnce(table.default_factory, table))


class _MadeOnce(defaultdict):  # type: ignore[type-arg]
    """Several threads that ask for what is not there yet get the same."""

    def __missing__(self, key: Any) -> Any:
        make: Any = self.default_factory
        return self.setdefault(key, make())
