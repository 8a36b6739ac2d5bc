"""What pydevd is asked: no question waits for nothing, or gets lost.

Its thread for what is asked of a program that runs works, clears the event that wakes it, and waits
for that, 0.2 s at most: what is asked between the last look at its work and the clearing waits all that
time. Here the waiting clears the event.

The queue of a thread's questions, and the event that wakes it for them, are made by whoever needs them
first: by the thread as it stops, or by the one that brings a question. Both at once would make one
each, and the question would never be answered. Here the first that is made stays.

A thread that stands answers one question and waits for the event again, 0.2 s at most. It is set once
for each question, but once for all that came while the thread was at work: each of the others would
wait all that time. Here whoever takes a question and leaves others sets it.
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
    """From now on each thread has one queue of questions, and one event that is set while there are any."""
    py_db = debugger()
    events, queues = py_db._thread_events, py_db._cmd_queue
    if type(events) is defaultdict:
        events = py_db._thread_events = _MadeOnce(events.default_factory, events)
    if type(queues) is defaultdict:
        py_db._cmd_queue = _QueuesMadeOnce(queues.default_factory, queues, events)


class _MadeOnce(defaultdict):  # type: ignore[type-arg]
    """Several threads that ask for what is not there yet get the same."""

    def __missing__(self, key: Any) -> Any:
        return self.setdefault(key, self.make(key))

    def make(self, key: Any) -> Any:
        """A new one, which may come too late."""
        factory: Any = self.default_factory
        return factory()


class _QueuesMadeOnce(_MadeOnce):
    """Queues of which each wakes its thread until nothing is left in it."""

    def __init__(self, factory: Any, queues: Any, events: Any) -> None:
        super().__init__(factory, queues)
        self._events = events
        for key, queue in queues.items():
            self._wake(key, queue)

    def make(self, key: Any) -> Any:
        queue = super().make(key)
        self._wake(key, queue)
        return queue

    def _wake(self, key: Any, queue: Any) -> None:
        event = self._events[key]

        def take(get: Any, *how: Any, **named: Any) -> Any:
            question = get(*how, **named)
            if not queue.empty():
                event.set()
            return question

        patch(queue, "get", take)
