"""FastDebuggee: a process of the fast rung, from its spawn until it has its program.

Knows what it has before that, how it is told what to run, and that it must not be left behind. What
it does then is DAP.
"""

from __future__ import annotations

import os
import socket
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import trio

from relay.debuggers.debugpy.interpreter import Interpreter
from relay.debuggers.debugpy.process_start import start_process
from relay.debuggers.debugpy.rungs import READY, Program, fast_spawn
from relay.environments import chance_seed
from relay.process.guarded_process import GuardedProcess
from relay.process.inheritance import inheritance
from relay.session.dap.connection import SocketByteStream

CACHE = "cache"
"""Within the state directory: what debuggees keep of their compiled code. May be deleted."""


LOADING_SECONDS = 5.0
"""How long after its start a process may still be loading its debugger; it takes a quarter of one."""

FILE_TIME_LAG = 20_000_000
"""Nanoseconds by which the time of a file may lie before that of its change: the kernel's tick, twice."""

READY_SECONDS = 2.0
"""How long one that has loaded it may take for its answer: then a new process is quicker."""


class FastDebuggee:
    """A process, and the socket on which it asks for its program. End it, or have it adopted."""

    def __init__(
        self,
        process: GuardedProcess,
        stream: SocketByteStream,
        hash_seed: int | None,
        begun_at: int,
    ) -> None:
        self.process = process
        self.stream = stream
        self.hash_seed = hash_seed
        self.begun_at = begun_at
        """What has changed since, by the time of its file in nanoseconds, it may not have seen."""
        self._begun = trio.current_time()
        BEGUN.add(self)

    async def receives(self, program: bytes) -> bool:
        """Give it its program; False if it does not take it, or is not as good as a new process.

        One that is stopped by a signal takes nothing: it is waited for in vain READY_SECONDS at most,
        or until it could have loaded its debugger.
        """
        now = trio.current_time()
        deadline = max(now + READY_SECONDS, self._begun + LOADING_SECONDS)
        with trio.move_on_at(deadline):
            try:
                await self.stream.send_all(program)
                return await self.stream.receive_some(len(READY)) == READY
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return False
        return False

    async def end(self) -> None:
        """Nothing of it is left when this returns. Shielded from cancellation."""
        with trio.CancelScope(shield=True):
            await self.stream.aclose()
            await self.process.end()
            self.process.close()


BEGUN: weakref.WeakSet[FastDebuggee] = weakref.WeakSet()
"""Every one of this process that lives: those without a program are not to be debugged by others."""


@dataclass(frozen=True)
class FastStart:
    """What a process of the fast rung is started with. Of its program only the surroundings count.

    `state_dir`: the relay's. `terminal`: whether its standard streams are one. `limits`: what it may
    use; one that has any is not begun ahead.
    """

    interpreter: Interpreter
    program: Program
    state_dir: str
    terminal: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)

    @property
    def kind(self) -> tuple[object, ...] | None:
        """Equal for launches that need the same of a process that does not know its program yet.

        None for a launch that no such process can serve.
        """
        program = self.program
        try:
            cwd = os.stat(program.cwd)
        except OSError:
            return None
        return (
            self.interpreter,
            tuple(program.python_args),
            (program.cwd, cwd.st_dev, cwd.st_ino),
            tuple(sorted(program.env.items())),
            program.hash_seed is None,
            self.terminal,
            self.state_dir,
            inheritance(),
        )

    async def begin(self) -> FastDebuggee:
        """A process that is about to ask for its program. Raises LaunchFailed."""
        begun_at = time.time_ns() - FILE_TIME_LAG
        ours, theirs = socket.socketpair()
        stream = SocketByteStream(trio.socket.from_stdlib_socket(ours))
        cache = os.path.join(self.state_dir, CACHE)
        try:
            with theirs:
                plan = fast_spawn(self.interpreter, self.program, fd=theirs.fileno(), cache=cache)
                process = await start_process(
                    plan,
                    theirs.fileno(),
                    cwd=self.program.cwd,
                    terminal=self.terminal,
                    limits=self.limits,
                )
        except BaseException:
            ours.close()
            raise
        return FastDebuggee(process, stream, self.program.hash_seed, begun_at)

    async def begin_next(self) -> FastDebuggee:
        """The same again, but for what Python chooses by chance."""
        seed = None if self.program.hash_seed is None else chance_seed()
        return await replace(self, program=replace(self.program, hash_seed=seed)).begin()
