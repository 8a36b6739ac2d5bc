"""GuardedProcess: a program, its streams, and the certainty that all of it ends.

Knows how to start a program under a guardian (see `guardian.py`), how it ended, what
lives below it and how to end that. Refuses to know what the program is: debuggee,
adapter or helper. There is no task behind a process: whoever waits for the guardian's
word reads it for all.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import logging
import os
import signal
import socket
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple

import trio

from relay.process import guardian
from relay.process.guardian_link import framed, messages
from relay.process.spawn_error import NO_RESOURCES, SpawnError, refuse
from relay.process.streams import Streams

log = logging.getLogger("relay.session")

END_SECONDS = 5.0
"""How long a guardian may take to end everything before it is ended itself."""

_numbers = itertools.count(1)

_let_go: set[trio.Process] = set()
"""Guardians of detached programs, which may outlive the event loop."""


class Child(NamedTuple):
    """A process below a program. `ppid` is the guardian's once its own parent is dead."""

    pid: int
    ppid: int
    argv: tuple[str, ...]


class GuardedProcess:
    """A running program: made by `spawn` (`spawning.py`), released by `end` and `close`.

    `async with` does both at its end. `stderr` is None on a terminal, where `stdout` carries both.
    """

    # Invariants: _returncode is set at the latest when _lost is; nothing is sent or
    # received once _over is set; at most one task is in _read.

    def __init__(
        self, keeper: trio.Process, control: socket.socket, streams: Streams, program: str
    ) -> None:
        self.program = program
        self.pid = 0
        self.stdin = streams.stdin
        self.stdout = streams.stdout
        self.stderr = streams.stderr
        self._guardian = keeper
        self._control = control
        self._inbox = bytearray()
        self._started: Mapping[str, Any] | None = None
        self._returncode: int | None = None
        self._listings: dict[int, list[Child] | None] = {}
        self._detaching = False
        self._ended = False
        self._lost = False
        self._over = False
        self._reading = False
        self._news = trio.Event()
        self._ending = trio.Lock()

    def __repr__(self) -> str:
        return f"<GuardedProcess {self.program!r} pid={self.pid} returncode={self._returncode}>"

    async def __aenter__(self) -> GuardedProcess:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self.end()
        finally:
            self.close()

    # Asking

    @property
    def returncode(self) -> int | None:
        """The exit code, or minus the signal, as of now; None while the program lives."""
        if self._returncode is None:
            self._receive()
        return self._returncode

    @property
    def guardian_pid(self) -> int:
        """The process that everything below the program is, in the end, a child of."""
        return self._guardian.pid

    async def wait(self) -> int:
        """Until the program itself ends, whatever it leaves behind; returns `returncode`.

        Raises trio.ClosedResourceError when it was detached: then nobody learns how it ends.
        """
        await self._until(lambda: self._returncode is not None)
        if self._returncode is None:
            raise trio.ClosedResourceError(f"{self.program} was detached")
        return self._returncode

    async def children(self) -> list[Child]:
        """What lives below the program, daemons included; empty after `end` and `detach`."""
        number = next(_numbers)
        self._listings[number] = None
        try:
            self._send({"children": number})
            await self._until(lambda: self._listings[number] is not None)
            return self._listings[number] or []
        finally:
            del self._listings[number]

    def answer_for(self, path: str) -> None:
        """Have this file, alone in its directory, taken away with it when the program ends.

        Or this directory, with all that is in it.

        The guardian does it where the relay cannot any more, because it was killed.
        """
        self._send({"litter": os.fsencode(path)})

    # Ending

    async def end(self) -> None:
        """Kill the program and everything below it; returns when all of that is gone.

        Idempotent, shielded from cancellation, and over in about END_SECONDS even if the
        guardian does not answer; then what is known to be left is logged. Output that
        was printed before can still be read afterwards.
        """
        with trio.CancelScope(shield=True):
            async with self._ending:
                if not self._over:
                    await self._end()
                    self._finish()

    async def detach(self) -> None:
        """Let the program live on, without the relay. Then this object is as after `close`.

        Its standard input ends; its output is read, and thrown away, by the guardian,
        which stays until nothing below it lives. Shielded. Raises RuntimeError, after
        ending everything, when the guardian does not answer; does nothing after `end`.
        """
        with trio.CancelScope(shield=True):
            async with self._ending:
                if not self._over:
                    await self._detach()

    def close(self) -> None:
        """Release the streams. Does not end the program: call it after `end`. Idempotent."""
        self.stdin.abandon()
        for output in (self.stdout, self.stderr):
            if output is not None:
                output.close()

    async def _end(self) -> None:
        with contextlib.suppress(OSError):
            # The same end of file that the guardian sees when the relay is killed.
            self._control.shutdown(socket.SHUT_WR)
        with trio.move_on_after(END_SECONDS):
            await self._until(lambda: self._ended)
            await self._guardian.wait()
        if self._guardian.returncode is None:
            await self._end_by_force()

    async def _end_by_force(self) -> None:
        left = [pid for pid, _ in guardian.descendants(self._guardian.pid)]
        log.error("guardian %d of %s did not end; left: %s", self.guardian_pid, self.program, left)
        for pid in left:
            guardian.kill(pid)
        self._guardian.kill()
        await self._guardian.wait()
        self._lose()

    def _finish(self) -> None:
        self._over = self._lost = True
        if self._returncode is None and not self._detaching:
            self._returncode = -signal.SIGKILL
        trio.lowlevel.notify_closing(self._control.fileno())
        self._control.close()
        self.stdin.abandon()
        self._wake_waiters()

    async def _detach(self) -> None:
        pipes = [pipe for pipe in (self.stdout, self.stderr) if pipe and not pipe.closed]
        # Copies: a pipe is closed at the program's end, which may come before the guardian's answer.
        outputs = [os.dup(pipe.fileno()) for pipe in pipes]
        try:
            self._send({"detach": len(outputs)})
            with trio.move_on_after(END_SECONDS):
                await self._until(lambda: self._detaching)
            if not self._detaching:
                await self._end()
                self._finish()
                raise RuntimeError(f"the guardian of {self.program} does not answer")
            if outputs:
                socket.send_fds(self._control, [b"\0"], outputs)
        finally:
            for output in outputs:
                os.close(output)
        trio.lowlevel.spawn_system_task(_reap, self._guardian)
        self._finish()
        self.close()

    # Starting

    async def begin(self, job: Mapping[str, Any]) -> None:
        """Hand the guardian its job; raises SpawnError."""
        data = framed(job)
        while data:
            try:
                data = data[self._control.send(data) :]
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._control.fileno())
            except OSError:
                break  # what can be read says its end
        await self._until(lambda: self._started is not None)
        if self._started is None:
            raise SpawnError(errno.EIO, self.program, NO_RESOURCES, "its guardian died")
        if "pid" not in self._started:
            refuse(self._started, self.program, job)
        self.pid = self._started["pid"]

    # The guardian's word

    def _send(self, message: Mapping[str, Any]) -> None:
        """Send a small message; it fits, or the guardian is stuck and `end` will see to it."""
        if not self._over:
            with contextlib.suppress(OSError):
                self._control.send(framed(message))

    async def _until(self, done: Callable[[], bool]) -> None:
        """Until `done()`, or the guardian has nothing more to say."""
        await trio.lowlevel.checkpoint()
        while not (done() or self._lost):
            if self._reading:
                await self._news.wait()
            else:
                await self._read()

    async def _read(self) -> None:
        """Wait for news; a cancelled reader leaves its place to one of those who wait."""
        self._reading = True
        try:
            await trio.lowlevel.wait_readable(self._control.fileno())
        except trio.ClosedResourceError:
            pass
        finally:
            self._reading = False
            self._receive()
            self._wake_waiters()

    def _receive(self) -> None:
        """Take what has arrived, without waiting."""
        while not self._lost:
            try:
                data = self._control.recv(65_536)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._lose()
                return
            self._inbox += data
            for message in messages(self._inbox):
                self._note(message)

    def _note(self, message: Mapping[str, Any]) -> None:
        if "exit" in message:
            self._returncode = message["exit"]
        elif "ended" in message:
            self._ended = True
        elif "detaching" in message:
            self._detaching = True
        elif "children" in message:
            if message["children"] in self._listings:
                self._listings[message["children"]] = [_child(row) for row in message["list"]]
        else:
            self._started = message
        self._wake_waiters()

    def _lose(self) -> None:
        """The guardian is gone. If it was killed, the program died with it."""
        self._lost = True
        if self._ended or self._detaching or (self._started and "error" in self._started):
            return
        sessions = {self._guardian.pid}  # not reaped yet, so nobody else has its number
        if self._returncode is None:
            self._returncode = -signal.SIGKILL
            sessions.add(self.pid)  # with a terminal it leads a session of its own
            if self.pid:
                with contextlib.suppress(OSError):
                    os.killpg(self.pid, signal.SIGKILL)
        if self.pid:
            log.error("guardian %d of %s was killed", self.guardian_pid, self.program)
            _kill_sessions(sessions)

    def _wake_waiters(self) -> None:
        news, self._news = self._news, trio.Event()
        news.set()


async def _reap(keeper: trio.Process) -> None:
    """Wait for a guardian that no session waits for any more, however long that takes."""
    _let_go.add(keeper)
    await keeper.wait()
    _let_go.discard(keeper)


def _kill_sessions(sessions: set[int]) -> None:
    """The second line: kills what is left in the sessions of a program whose guardian died."""
    for pid, (_, session, state) in guardian.process_table().items():
        if session in sessions and state not in "ZX":
            guardian.kill(pid)


def _child(row: tuple[int, int, list[bytes]]) -> Child:
    pid, ppid, argv = row
    return Child(pid, ppid, tuple(os.fsdecode(text) for text in argv))
