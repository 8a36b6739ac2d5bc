"""Standby: debuggees that are started before anybody asks for them, each for one launch.

Knows how many may wait, for which launches, and for how long. Refuses to know how one is started,
and what makes it fit a launch: a debugger gives each a key (see `debuggers/`).
"""

from __future__ import annotations

import contextvars
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Protocol

import trio

log = logging.getLogger("relay.session")


class Spare(Protocol):
    """A debuggee that waits for its program. Whoever takes it has to end it."""

    async def end(self) -> None:
        """Nothing of it is left when this returns. Shielded from cancellation."""


Begin = Callable[[], Awaitable[Spare]]


class _Place:
    """One that waits, or is being started."""

    def __init__(self) -> None:
        self.spare: Spare | None = None
        self.begun = trio.Event()
        self.scope = trio.CancelScope()
        self.taken = False


class Standby:
    """At most one debuggee for each key, the newest keys first.

    The first launch of a kind finds none, and has the next one prepared: so what is never launched
    again costs one start, and nothing of the time of the launch itself. Each waits `minutes`.
    """

    # Invariant: a place is in _places until it is taken, or its task has begun to end it.

    def __init__(
        self, nursery: trio.Nursery, most: int, minutes: float, *, renews: bool = True
    ) -> None:
        self._nursery = nursery
        self.most = most
        """How many may wait at once; at least one."""
        self.renews = renews
        """Whether a launch is to have the next one prepared."""
        self._minutes = minutes
        self._places: OrderedDict[Hashable, _Place] = OrderedDict()
        self.served = 0
        """Launches that went on with one."""

    def waiting(self) -> list[Spare]:
        """Those that have been started and that nobody has taken."""
        return [place.spare for place in self._places.values() if place.spare is not None]

    def prepare(self, key: Hashable, begin: Begin) -> None:
        """Have one started for the next launch with this key, if none waits. Returns at once.

        The one whose key was not asked for longest gives way. A start that fails leaves none.
        """
        if key in self._places:
            self._places.move_to_end(key)
            return
        while len(self._places) >= self.most:
            self._places.popitem(last=False)[1].scope.cancel()
        place = self._places[key] = _Place()
        self._start_soon(self._hold, key, place, begin)

    async def take(self, key: Hashable) -> Spare | None:
        """The one for this key, which is the caller's from now on; None if there is none."""
        place = self._places.get(key)
        if place is None:
            return None
        await place.begun.wait()
        if self._places.get(key) is not place or place.spare is None:
            return None  # it could not be started, or somebody else was quicker
        del self._places[key]
        place.taken = True
        place.scope.cancel()
        self.served += 1
        return place.spare

    def discard(self, spare: Spare) -> None:
        """End one that was taken and did not fit, while the launch goes on without it."""
        self.served -= 1
        self._start_soon(spare.end)

    def _start_soon(self, task: Callable[..., Awaitable[object]], *args: Any) -> None:
        # A task started from a request would carry that request's context for ever.
        contextvars.Context().run(self._nursery.start_soon, task, *args)

    async def _hold(self, key: Hashable, place: _Place, begin: Begin) -> None:
        """From the start of one to its end, unless it is taken before."""
        try:
            with place.scope:
                place.spare = await begin()
                place.begun.set()
                await trio.sleep(self._minutes * 60)
        except Exception as error:  # noqa: BLE001 - a launch that finds none says what is wrong
            log.info("no debuggee could be put on standby: %s", error)
        finally:
            place.begun.set()
            if self._places.get(key) is place:
                del self._places[key]
            if place.spare is not None and not place.taken:
                await place.spare.end()
