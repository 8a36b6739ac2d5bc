"""When a connection that nobody uses is closed: one task for its whole life.

Knows the clock and the server's end. Hypercorn starts and cancels a task for each request
instead, and keeps the socket of a client that has left until that task's time is over.

Waits for: Hypercorn to time its idle connections without a task for each pause. No issue is known;
to be reported: each request ends such a task and starts one, and that of a client which has left
holds its socket for the whole `keep_alive_timeout`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio


class Idleness:
    """Calls `close` after `seconds` without a request, or at the server's end between two."""

    def __init__(self, seconds: float, close: Callable[[], Awaitable[None]]) -> None:
        self._seconds = seconds
        self._close = close
        self._scope = trio.CancelScope()
        self._left = False
        self._rests_since: float | None = None  # None while a request is under way

    async def watch(self, server_ends: Callable[[], Awaitable[None]]) -> None:
        """Run until the connection is closed, by us or by the client."""
        with self._scope:
            await self._until_unused(server_ends)
        if self._left or self._rests_since is None:
            return  # the end of a request that is under way closes its connection itself
        with trio.CancelScope(shield=True):
            await self._close()

    async def _until_unused(self, server_ends: Callable[[], Awaitable[None]]) -> None:
        """Until the time is over, or the server ends. Nobody moves a timer for each request."""
        remaining = self._seconds
        while remaining > 0:
            with trio.move_on_after(remaining):
                await server_ends()
                return
            since = trio.current_time() if self._rests_since is None else self._rests_since
            remaining = since + self._seconds - trio.current_time()

    def rest(self) -> None:
        """A request has been answered: the time runs."""
        self._rests_since = trio.current_time()

    def wake(self) -> None:
        """A request has come: the time stands still."""
        self._rests_since = None

    def leave(self) -> None:
        """The client has left, and the connection is closed by its reader."""
        self._left = True
        self._scope.cancel()
