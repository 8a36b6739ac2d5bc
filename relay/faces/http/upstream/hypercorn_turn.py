"""What a client sends while its request is under way is read, up to a bound; so its leaving is noticed.

Knows the connection's bytes and whether the next request may begin. Hypercorn reads nothing meanwhile
if anything at all has come after the request: a client that asks ahead and then hangs up keeps its
long-poll, and its connection for ever if its stream breaks.

Waits for: Hypercorn to notice that a client has left that sent more than one request. No issue is
known; to be reported: who sends two requests at once and hangs up during the first is not noticed,
since the connection is not read until that is answered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio


class HungUpError(Exception):
    """The connection has ended while a request was under way."""


class Turn:
    """An event of Hypercorn's, set when the next request may begin, that reads while it is awaited.

    `read` gives bytes, or none at the end, and `keep` takes them: `room` of them for each request.
    What comes after that stays in the socket, with the end behind it.
    """

    def __init__(
        self, read: Callable[[], Awaitable[bytes]], keep: Callable[[bytes], None], room: int
    ) -> None:
        self._read = read
        self._keep = keep
        self._room = room
        self._has_come = False
        self._has_left = False
        self._waiting: trio.CancelScope | None = None

    async def clear(self) -> None:
        """A request has begun: the next one has to wait."""
        self._has_come = False

    async def set(self) -> None:
        """The request is over: the next one may begin."""
        self._has_come = True
        self._wake()

    def is_set(self) -> bool:
        """Whether no request is under way."""
        return self._has_come

    def leave(self) -> None:
        """The connection is of no use any more."""
        self._has_left = True
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()

    async def wait(self) -> None:
        """Until the next request may begin. Raises HungUpError."""
        with trio.CancelScope() as self._waiting:
            await self._read_on()
        self._waiting = None
        if self._has_left:
            raise HungUpError

    async def _read_on(self) -> None:
        room = self._room
        while not self._has_come and not self._has_left:
            if room <= 0:
                await trio.sleep_forever()
            data = await self._read()
            room -= len(data)
            if data:
                self._keep(data)
            else:
                self._has_left = True
