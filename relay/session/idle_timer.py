"""IdleTimer: ends a session that nobody asks for any more, and says so at half of the time.

Knows users and deadlines. Refuses to know what a session is. Source: contract, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trio


class IdleTimer:
    """Cancels `scope` after as many seconds of silence as `seconds` says when it begins."""

    # Nobody moves a timer for each request: `watch` sleeps until a silence can be over at the
    # earliest, and looks then whether it is. So `_alarm` is never later than what is due.

    def __init__(self, scope: trio.CancelScope, seconds: Callable[[], float]) -> None:
        self._scope = scope
        self._alarm = trio.CancelScope()
        self._seconds = seconds
        self._resting_since = trio.current_time()
        self._half_at = self._over_at = math.inf
        self._users = 0
        self._idle_before = 0.0

    @contextmanager
    def activity(self) -> Iterator[None]:
        """While open, the timer rests; on leaving it starts anew."""
        if not self._users:
            self._idle_before = trio.current_time() - self._resting_since
        self._users += 1
        self._half_at = self._over_at = math.inf
        try:
            yield
        finally:
            self._users -= 1
            self.rest()

    def rest(self) -> None:
        """The silence begins now, unless somebody is here."""
        if not self._users:
            self._resting_since = now = trio.current_time()
            seconds = self._seconds()
            self._half_at, self._over_at = now + seconds / 2, now + seconds
            if self._half_at < self._alarm.deadline:
                self._alarm.deadline = self._half_at

    @property
    def seconds_left(self) -> float:
        """Until the end, if nobody comes from now on."""
        if math.isinf(self._over_at):  # somebody is here, or the silence has yet to begin
            return self._seconds()
        return max(0.0, self._over_at - trio.current_time())

    @property
    def over_at(self) -> float:
        """When the silence is over, in trio's time; infinite while somebody is here."""
        return self._over_at

    def end_if_over(self) -> bool:
        """Whether the silence has lasted too long; `scope` is cancelled then."""
        if trio.current_time() >= self._over_at:
            self._scope.cancel()
        return self._scope.cancel_called

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

    async def watch(self, warn: Callable[[str | None], None]) -> None:
        """Until a silence is over: call `warn` once in each, when half of it is."""
        while not self.end_if_over():
            now = trio.current_time()
            if now >= self._half_at:
                self._half_at = math.inf
                warn(self.warning)
            earliest = now + self._seconds() / 2  # of a silence that begins now
            self._alarm = trio.CancelScope(deadline=min(earliest, self._half_at, self._over_at))
            with self._alarm:
                await trio.sleep_forever()
