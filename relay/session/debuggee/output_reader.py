"""Pumps: from the pipes of a program into the log of its session, until nobody holds them.

Knows when all of it was read. Refuses to know what ends a program.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import trio

from relay.process.output_pipe import OutputPipe

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee


class Pumps:
    """One for each stream; `printed` is called after each piece."""

    def __init__(self, debuggee: Debuggee, printed: Callable[[], None]) -> None:
        self._session = debuggee.session
        self._events = debuggee.events
        self._printed = printed
        self._pipes: dict[str, OutputPipe] = {}
        self._running = 0
        self._idle = trio.Event()

    def add(self, category: str, pipe: OutputPipe) -> None:
        """Read it from now on: `run` follows at once."""
        if self._session.tap is not None:
            pipe.tap(category, self._session.tap)
        if (mask := self._session.redaction.output_mask()) is not None:
            pipe.mask(mask)
        self._pipes[category] = pipe
        self._running += 1

    async def run(self, category: str) -> None:
        """Until the end of the stream."""
        await self._pipes[category].pump(partial(self._take, category))
        self._running -= 1
        if not self._running:
            self._idle.set()

    def _take(self, category: str, text: str) -> None:
        self._events.printed(category, text)
        self._printed()

    async def ended(self) -> None:
        """Until every stream has ended, if there is any."""
        if self._running:
            await self._idle.wait()

    def drain(self) -> None:
        """Take what is in the pipes, now."""
        for pipe in self._pipes.values():
            pipe.drain_now()
