"""The signals that end a command: what is one, where the same one comes twice at once."""

from __future__ import annotations

from collections.abc import AsyncIterator

import trio

ECHO_SECONDS = 0.5
"""`timeout` signals its command, and then the group that this is in; a wrapper passes on the Ctrl-C that
the terminal has sent to all of the group. A person who does not want to wait takes longer.
"""


class DistinctSignals:
    """The numbers of signals, without those that have come within ECHO_SECONDS before."""

    def __init__(self, signals: AsyncIterator[int]) -> None:
        self._signals = signals
        self._came: dict[int, float] = {}

    def __aiter__(self) -> DistinctSignals:
        return self

    async def __anext__(self) -> int:
        while True:
            number = await anext(self._signals)
            now = trio.current_time()
            if now - self._came.get(number, -ECHO_SECONDS) >= ECHO_SECONDS:
                self._came[number] = now
                return number
