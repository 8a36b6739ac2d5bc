"""AdapterInput: the standard input of a program whose adapter holds the other end of it.

Stands where `InputPipe` stands for a program of the relay's own. Source: the adapter's request
for input, which DAP does not know; proc(5).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import trio

from relay.process.streams import identity
from relay.session.dap.connection import Link, LinkClosed, RequestFailed

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee


class AdapterInput:
    """Each piece is a request, sent when the one before was answered."""

    is_terminal = False

    def __init__(self, debuggee: Debuggee, link: Link, request: str) -> None:
        self._debuggee = debuggee
        self._link = link
        self._request = request
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether it was closed from this side."""
        return self._closed

    def is_read_through(self, status: os.stat_result) -> bool:
        """Whether an open file of the program is its standard input. Raises OSError without it."""
        own = os.stat(f"/proc/{self._debuggee.pid}/fd/0")
        return identity(own) == identity(status)

    def send_now(self, data: memoryview) -> int:
        """Nothing: an adapter can only be waited for."""
        return 0

    async def send_all(self, data: bytes) -> None:
        """Have the program read `data`. Raises trio.BrokenResourceError when it will not."""
        await self._ask({"input": data.decode("utf-8", "surrogateescape")})

    def close(self) -> None:
        """End of file for the program. Idempotent."""
        if not self._closed:
            self._closed = True
            # Nobody waits for the answer: the program may be ending by itself.
            self._link.send(self._request, {"eof": True})

    abandon = close

    async def _ask(self, arguments: dict[str, object]) -> None:
        try:
            await self._link.request(self._request, arguments)
        except (LinkClosed, RequestFailed) as error:
            raise trio.BrokenResourceError(f"nobody reads this input: {error}") from error
