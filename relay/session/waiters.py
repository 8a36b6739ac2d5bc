"""Waiters: tasks that wait for the next thing of certain kinds.

Knows who waits for what. Refuses to know the things themselves: whoever wakes looks
again for what it wants, so nothing can be lost between looking and waiting as long as
the two happen without an await between them.
"""

from __future__ import annotations

from collections.abc import Set

import trio


class Waiters:
    """One trio event for each distinct set of kinds, made when first waited for."""

    # Invariant: an event in _events is unset, and has at least one task waiting.
    __slots__ = ("_events",)

    def __init__(self) -> None:
        self._events: dict[frozenset[str] | None, trio.Event] = {}

    def __len__(self) -> int:
        return sum(event.statistics().tasks_waiting for event in self._events.values())

    async def wait(self, kinds: Set[str] | None) -> None:
        """Until the next `wake` of one of `kinds` (None: of any). Leaves nothing behind."""
        key = None if kinds is None else frozenset(kinds)
        event = self._events.get(key)
        if event is None:
            event = self._events[key] = trio.Event()
        try:
            await event.wait()
        finally:
            if self._events.get(key) is event and not event.statistics().tasks_waiting:
                del self._events[key]

    def wake(self, kind: str) -> None:
        """Wake whoever waits for `kind`. Cheap when nobody does."""
        if self._events:
            self._release([key for key in self._events if key is None or kind in key])

    def wake_all(self) -> None:
        """Wake whoever waits, for whatever kinds."""
        self._release(list(self._events))

    def _release(self, keys: list[frozenset[str] | None]) -> None:
        for key in keys:
            self._events.pop(key).set()
