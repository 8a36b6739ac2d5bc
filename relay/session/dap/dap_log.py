"""DapLog: the last messages between a session and its debuggers, for reports of faults.

Knows messages as bytes, their order and a bound. Refuses to know what they mean, and masks nothing:
whoever shows them does that. Source: DAP, base protocol.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from relay.session.clock import utc_now

MOST_MESSAGES = 1000
KEPT_BYTES = 16 * 1024
"""Of one message; what is longer, as a page of values or a probe, is kept to there."""


class DapMessage(NamedTuple):
    """One message. `connection` counts the debugger's connections in the session, from 1."""

    seq: int
    timestamp: datetime
    connection: int
    from_debugger: bool
    size: int
    """Bytes of the whole body."""
    body: bytes
    """JSON in UTF-8, or its first KEPT_BYTES bytes."""

    @property
    def is_whole(self) -> bool:
        return len(self.body) == self.size


class DapLog:
    """The newest MOST_MESSAGES of all connections, in the order in which they went by."""

    def __init__(self) -> None:
        self.last_seq = 0
        self._messages: deque[DapMessage] = deque(maxlen=MOST_MESSAGES)
        self._connections = itertools.count(1)

    def connection(self) -> Callable[[bool, bytes], None]:
        """What takes the messages of a new connection: whether the debugger sent it, and its body."""
        number = next(self._connections)

        def take(from_debugger: bool, body: bytes) -> None:
            self.last_seq += 1
            kept = body[:KEPT_BYTES]
            self._messages.append(
                DapMessage(self.last_seq, utc_now(), number, from_debugger, len(body), kept)
            )

        return take

    def newest(self, count: int) -> list[DapMessage]:
        """So many at most, the oldest of them first."""
        return list(itertools.islice(self._messages, max(0, len(self._messages) - count), None))
