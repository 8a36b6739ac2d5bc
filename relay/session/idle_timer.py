"""IdleTimer: ends a session that nobody asks for any more, and says so at half of the time.

Knows users and deadlines. Refuses to know what a session is. Source: contract, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trio


class IdleTimer:
    """Cancels `scope` after as many seconds of silence as `seconds` says then."""

    def __init__(self, scope: trio.CancelScope, seconds: Callable[[], float]) -> None:
        self._scope = scope
        self._half_time = trio.CancelScope()
        self._seconds = seconds
        self._resting_since = trio.current_time()
        self._users = 0
        self._idle_before = 0.0

    @contextmanager
    def activity(self) -> Iterator[None]:
        """While open, the timer rests; on leaving it starts anew."""
        if not self._users:
            self._idle_before = trio.current_time() - self._resting_since
        self._users += 1
        self._scope.deadline = self._half_time.deadline = math.inf
        try:
            yield
        finally:
            self._users -= 1
            self.rest()

    def rest(self) -> None:
        """The silence begins now, unless somebody is here."""
        if not self._users:
            self._resting_since = now = trio.current_time()
            self._scope.deadline = now + self._seconds()
            self._half_time.deadline = now + self._seconds() / 2

    @property
    def seconds_left(self) -> float:
        """Until the end, if nobody comes from now on."""
        if self._users or math.isinf(self._scope.deadline):  # or the silence has yet to begin
            return self._seconds()
        return max(0.0, self._scope.deadline - trio.current_time())

    @property
    def over_at(self) -> float:
        """When the silence is over, in trio's time; infinite while somebody is here."""
        return self._scope.deadline

    @property
    def warning(self) -> str | None:
        """From half of the time on: how much is left, in whole minutes.

        The request that ends the silence is still served.
        """
        idle = self._idle_before if self._users else trio.current_time() - self._resting_since
        if idle < self._seconds() / 2:
            return None
        minutes = max(1, round((self._seconds() - idle) / 60))
        return f"Session will expire in {minutes} minute{'s' * (minutes != 1)}"

    async def warn_at_half_time(self, warn: Callable[[str | None], None]) -> None:
        """For ever: once in each silence, when half of it is over."""
        while True:
            with self._half_time:
                await trio.sleep_forever()
            self._half_time = trio.CancelScope()
            warn(self.warning)
