"""FastDebuggee: a process of the fast rung, from its spawn until it has its program.

Knows how it is told what to run, and that it must not be left behind. What it does then is DAP.
"""

from __future__ import annotations

import weakref

import trio

from relay.debuggers.debugpy.rungs import READY
from relay.process.guarded_process import GuardedProcess
from relay.session.dap.connection import SocketByteStream


class FastDebuggee:
    """A process, and the socket on which it asks for its program. End it, or have it adopted."""

    def __init__(
        self, process: GuardedProcess, stream: SocketByteStream, hash_seed: int | None
    ) -> None:
        self.process = process
        self.stream = stream
        self.hash_seed = hash_seed
        BEGUN.add(self)

    async def receives(self, program: bytes) -> bool:
        """Give it its program; False if it does not take it, or is not as good as a new process."""
        try:
            await self.stream.send_all(program)
            return await self.stream.receive_some(len(READY)) == READY
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return False

    async def end(self) -> None:
        """Nothing of it is left when this returns. Shielded from cancellation."""
        with trio.CancelScope(shield=True):
            await self.stream.aclose()
            await self.process.end()
            self.process.close()


BEGUN: weakref.WeakSet[FastDebuggee] = weakref.WeakSet()
"""Every one of this process that lives: those without a program are not to be debugged by others."""
