"""Standby: debuggees that are started before anybody asks for them, each for one launch.

Knows how many may wait, for which launches, and for how long. Refuses to know how one is started,
and what makes it fit a launch: a debugger gives each a key (see `debuggers/`).
"""

from __future__ import annotations

import contextvars
import logging
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Protocol

import trio

log = logging.getLogger("relay.session")


class Spare(Protocol):
    """A debuggee that waits for its program. Whoever takes it has to end it."""

    async def end(self) -> None:
        """Nothing of it is left when this returns. Shielded from cancellation."""


Begin = Callable[[], Awaitable[Spare]]


BURST_SECONDS = 1.0
"""Of launches of a kind that come within this time, each is to find one that waits the next time."""


class _Place:
    """One that waits, or is being started."""

    def __init__(self) -> None:
        self.spare: Spare | None = None
        self.begun = trio.Event()
        self.scope = trio.CancelScope()
        self.taken = False


class _Kind:
    """Launches with one key."""

    def __init__(self) -> None:
        self.places: deque[_Place] = deque()
        """Started in this order."""
        self._asked_at: deque[float] = deque()

    def note_asked(self, now: float, most: int) -> int:
        """A launch has come at this time: how many are to wait for the next ones."""
        while self._asked_at and self._asked_at[0] <= now - BURST_SECONDS:
            self._asked_at.popleft()
        self._asked_at.append(now)
        return min(len(self._asked_at), most)


class Standby:
    """For each key at most one debuggee, or as many as there were launches within a second.

    The first launch of a kind finds none, and has the next one prepared: so what is never launched
    again costs one start, and nothing of the time of the launch itself. Each waits `minutes`.
    """

    # Invariant: a place is in its kind until it is taken, or its task has begun to end it.

    def __init__(
        self, nursery: trio.Nursery, most: int, minutes: float, *, renews: bool = True
    ) -> None:
        self._nursery = nursery
        self.most = most
        """How many may wait at once; at least one."""
        self.renews = renews
        """Whether a launch is to have the next one prepared."""
        self._minutes = minutes
        self._kinds: OrderedDict[Hashable, _Kind] = OrderedDict()
        self.served = 0
        """Launches that went on with one."""

    def waiting(self) -> list[Spare]:
        """Those that have been started and that nobody has taken."""
        places = self._all_places()
        return [place.spare for place in places if place.spare is not None]

    def is_prepared(self, key: Hashable) -> bool:
        """Whether one is being started for this key, or waits."""
        return key in self._kinds and bool(self._kinds[key].places)

    def prepare(self, key: Hashable, begin: Begin) -> None:
        """Have some started for the next launches with this key, if too few wait. Returns at once.

        The kind that was not asked for longest gives way to the first one of this, and nobody to more.
        """
        kind = self._kinds.setdefault(key, _Kind())
        self._kinds.move_to_end(key)
        self._forget_kinds_beside(key)
        wanted = kind.note_asked(trio.current_time(), self.most)
        while len(kind.places) < wanted and self._has_room_for(kind):
            place = _Place()
            kind.places.append(place)
            self._start_soon(self._hold, key, place, begin)

    async def take(self, key: Hashable) -> Spare | None:
        """The one for this key, which is the caller's from now on; None if there is none."""
        kind = self._kinds.get(key)
        if kind is None or not kind.places:
            return None
        place = next((one for one in kind.places if one.spare is not None), kind.places[0])
        if place.spare is None:
            await place.begun.wait()
            if place not in kind.places or place.spare is None:
                return None  # it could not be started, or somebody else was quicker
        kind.places.remove(place)
        place.taken = True
        place.scope.cancel()
        self.served += 1
        return place.spare

    def discard(self, spare: Spare) -> None:
        """End one that was taken and did not fit, while the launch goes on without it."""
        self.served -= 1
        self._start_soon(spare.end)

    def _all_places(self) -> list[_Place]:
        return [place for kind in self._kinds.values() for place in kind.places]

    def _forget_kinds_beside(self, key: Hashable) -> None:
        """Those of which none waits, where nobody has asked for the next."""
        for other in [one for one, kind in self._kinds.items() if not kind.places and one != key]:
            del self._kinds[other]

    def _has_room_for(self, kind: _Kind) -> bool:
        if len(self._all_places()) < self.most:
            return True
        if kind.places:
            return False
        self._give_way()
        return True

    def _give_way(self) -> None:
        """One of a kind of which several wait, or the one of the kind that was not asked for longest."""
        kinds = [(key, kind) for key, kind in self._kinds.items() if kind.places]
        key, kind = next((one for one in kinds if len(one[1].places) > 1), kinds[0])
        place = kind.places[-1]
        self._forget(key, place)
        place.scope.cancel()

    def _forget(self, key: Hashable, place: _Place) -> None:
        kind = self._kinds.get(key)
        if kind is not None and place in kind.places:
            kind.places.remove(place)
            if not kind.places:
                del self._kinds[key]

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
            self._forget(key, place)
            if place.spare is not None and not place.taken:
                await place.spare.end()
