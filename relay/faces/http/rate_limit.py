"""RateLimit: how many requests a second a client may send.

Knows names and times. One number for each client is what a bucket of tokens comes to: when it is
full again (GCRA). Refuses to know who is whose client, and what becomes of a request that is too many.
"""

from __future__ import annotations

from collections.abc import Hashable

import trio

CLIENTS = 1000
"""Who is remembered at most: whoever has been quiet the longest is forgotten, and begins anew."""


class RateLimit:
    """So many a second for each client, and as many at once, one at least."""

    def __init__(self, per_second: float) -> None:
        self._interval = 1 / per_second
        self._slack = max(0.0, per_second - 1) * self._interval
        """How far ahead of its turn a request may come: what a full bucket has besides one."""
        self._full_at: dict[Hashable, float] = {}

    def take(self, client: Hashable, patience: float = 0) -> float:
        """Seconds after which the client's request is due: 0 if that is now.

        One that would have to wait for longer than `patience` takes no turn: it is as if it had
        not been sent.
        """
        now = trio.current_time()
        full_at = max(self._full_at.pop(client, now), now)
        wait = max(0.0, full_at - now - self._slack)
        # Taken out and put in again: the first is who has been quiet the longest.
        self._full_at[client] = full_at + (self._interval if wait <= patience else 0)
        if len(self._full_at) > CLIENTS:
            del self._full_at[next(iter(self._full_at))]
        return wait
