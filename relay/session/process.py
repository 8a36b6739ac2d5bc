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
import marshal
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, NoReturn

import trio

from relay.session import guardian
from relay.session.streams import Streams, open_streams

log = logging.getLogger("relay.session")

END_SECONDS = 5.0
"""How long a guardian may take to end everything before it is ended itself."""

PROGRAM_NOT_FOUND = "program_not_found"
NOT_EXECUTABLE = "not_executable"
BAD_CWD = "bad_cwd"
TOO_LONG = "arguments_too_long"
INVALID = "invalid_argument"
NO_RESOURCES = "no_resources"

_REASONS = {
    errno.ENOENT: PROGRAM_NOT_FOUND,
    errno.ENOTDIR: PROGRAM_NOT_FOUND,
    errno.EACCES: NOT_EXECUTABLE,
    errno.EPERM: NOT_EXECUTABLE,
    errno.ENOEXEC: NOT_EXECUTABLE,
    errno.E2BIG: TOO_LONG,
    errno.EINVAL: INVALID,
}


_let_go: set[trio.Process] = set()
"""Guardians of detached programs, which may outlive the event loop."""


class SpawnError(OSError):
    """The program could not be started; nothing of it is left.

    `errno`, `strerror` and `filename` as in OSError; `filename` is the program, or the
    working directory when that is at fault. `reason` is one of the constants above.
    """

    def __init__(self, number: int, filename: str, reason: str, text: str | None = None) -> None:
        super().__init__(number, text or os.strerror(number), filename)
        self.reason = reason


class Child(NamedTuple):
    """A process below a program. `ppid` is the guardian's once its own parent is dead."""

    pid: int
    ppid: int
    argv: tuple[str, ...]


class GuardedProcess:
    """A running program. Made by `spawn`, released by `end` and `close` (or `async with`).

    `stderr` is None on a terminal, where `stdout` carries both.
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
        self._tell()

    async def _detach(self) -> None:
        outputs = [pipe.fileno() for pipe in (self.stdout, self.stderr) if pipe and not pipe.closed]
        self._send({"detach": len(outputs)})
        with trio.move_on_after(END_SECONDS):
            await self._until(lambda: self._detaching)
        if not self._detaching:
            await self._end()
            self._finish()
            raise RuntimeError(f"the guardian of {self.program} does not answer")
        if outputs:
            socket.send_fds(self._control, [b"\0"], outputs)
        trio.lowlevel.spawn_system_task(_reap, self._guardian)
        self._finish()
        self.close()

    # Starting

    async def _start(self, job: Mapping[str, Any]) -> None:
        """Hand the guardian its job; raises SpawnError."""
        data = _frame(job)
        while data:
            try:
                data = data[self._control.send(data) :]
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._control.fileno())
            except OSError:
                break  # its end is told by what can be read
        await self._until(lambda: self._started is not None)
        if self._started is None:
            raise SpawnError(errno.EIO, self.program, NO_RESOURCES, "its guardian died")
        if "pid" not in self._started:
            _refuse(self._started, self.program, job)
        self.pid = self._started["pid"]

    # The guardian's word

    def _send(self, message: Mapping[str, Any]) -> None:
        """Send a small message; it fits, or the guardian is stuck and `end` will see to it."""
        if not self._over:
            with contextlib.suppress(OSError):
                self._control.send(_frame(message))

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
            self._tell()

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
            for message in _messages(self._inbox):
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
        self._tell()

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

    def _tell(self) -> None:
        news, self._news = self._news, trio.Event()
        news.set()


async def _reap(keeper: trio.Process) -> None:
    """Wait for a guardian that no session waits for any more, however long that takes."""
    _let_go.add(keeper)
    await keeper.wait()
    _let_go.discard(keeper)


_numbers = itertools.count(1)


async def spawn(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    pass_fds: Sequence[int] = (),
    terminal: bool = False,
) -> GuardedProcess:
    """Start a program, in a process group of its own, under a guardian of its own.

    `argv[0]` is looked up in the PATH of `env`, which is the program's whole
    environment. `pass_fds` (above 2) are open in it under the same numbers. With
    `terminal` its standard streams are a new controlling terminal, which does not echo.

    Raises SpawnError. When cancelled or failed, nothing is left of it.
    """
    program = argv[0] if argv else ""
    job = _job(argv, cwd, env, pass_fds, terminal)
    try:
        process = await _start_guardian(program, pass_fds, terminal)
    except OSError as error:
        raise SpawnError(error.errno or errno.EIO, program, NO_RESOURCES, error.strerror) from error
    try:
        await process._start(job)
    except BaseException:
        await process.end()
        process.close()
        raise
    return process


def _job(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], fds: Sequence[int], terminal: bool
) -> dict[str, Any]:
    """What the guardian has to know; raises SpawnError on what no program can be given."""
    program = argv[0] if argv else ""
    if not program:
        raise SpawnError(errno.ENOENT, program, PROGRAM_NOT_FOUND)
    if any(fd <= 2 for fd in fds):
        raise ValueError("pass_fds must lie above the standard streams")
    if "\0" in cwd:
        raise SpawnError(errno.EINVAL, cwd, BAD_CWD, "embedded null character")
    if any("\0" in text for text in itertools.chain(argv, env, env.values())):
        raise SpawnError(errno.EINVAL, program, INVALID, "embedded null character")
    if any(not name or "=" in name for name in env):
        raise SpawnError(errno.EINVAL, program, INVALID, "illegal environment variable name")
    return {
        "argv": [os.fsencode(text) for text in argv],
        "cwd": os.fsencode(cwd),
        "env": {os.fsencode(name): os.fsencode(value) for name, value in env.items()},
        "fds": list(fds),
        "terminal": terminal,
    }


async def _start_guardian(program: str, fds: Sequence[int], terminal: bool) -> GuardedProcess:
    """A guardian that waits for its job. Raises OSError; not interrupted by cancellation."""
    with contextlib.ExitStack() as theirs, contextlib.ExitStack() as failed:
        streams = open_streams(terminal, theirs, failed)
        control, far = socket.socketpair()
        theirs.callback(far.close)
        failed.callback(control.close)
        control.setblocking(False)
        with trio.CancelScope(shield=True):
            # It is spawned from a worker thread, which is no harm: only the program's
            # PR_SET_PDEATHSIG follows a thread, and that is the guardian's.
            keeper = await trio.lowlevel.open_process(
                [*guardian_command(), str(far.fileno()), f"debug-relay={os.getpid()}"],
                stdin=streams.theirs[0],
                stdout=streams.theirs[1],
                stderr=streams.theirs[2],
                pass_fds=[far.fileno(), *fds],
                start_new_session=True,
            )
        failed.pop_all()
        return GuardedProcess(keeper, control, streams, program)


def guardian_command() -> list[str]:
    """How a guardian is started: as compiled code if there is any, which saves compiling it."""
    compiled = guardian.__spec__.cached
    source = os.path.abspath(guardian.__file__)
    path = compiled if compiled and _is_fresh(compiled, source) else source
    return [sys.executable, "-I", "-S", path]


def _is_fresh(compiled: str, source: str) -> bool:
    """Whether a .pyc belongs to its source, as the import system checks it."""
    try:
        with open(compiled, "rb") as file:
            _, flags, mtime, size = struct.unpack("<4sIII", file.read(16))
        status = os.stat(source)
    except (OSError, struct.error):
        return False
    return bool(
        flags == 0 and mtime == int(status.st_mtime) & 0xFFFFFFFF and size == status.st_size
    )


def _refuse(answer: Mapping[str, Any], program: str, job: Mapping[str, Any]) -> NoReturn:
    number, stage = int(answer["error"]), answer["stage"]
    if stage == "cwd":
        raise SpawnError(number, os.fsdecode(job["cwd"]), BAD_CWD)
    if stage == "setup":
        raise SpawnError(number, program, NO_RESOURCES)
    path = os.path.join(os.fsdecode(job["cwd"]), program)
    if number == errno.ENOENT and "/" in program and os.path.exists(path):
        text = "the interpreter or loader that it names does not exist"
        raise SpawnError(number, program, NOT_EXECUTABLE, text)
    raise SpawnError(number, program, _REASONS.get(number, NO_RESOURCES))


def _kill_sessions(sessions: set[int]) -> None:
    """The second line: kills what is left in the sessions of a program whose guardian died."""
    for pid, (_, session, state) in guardian.process_table().items():
        if session in sessions and state not in "ZX":
            guardian.kill(pid)


def _frame(message: Mapping[str, Any]) -> bytes:
    body = marshal.dumps(dict(message))
    return len(body).to_bytes(4, "big") + body


def _messages(inbox: bytearray) -> Iterator[Mapping[str, Any]]:
    """The whole messages in `inbox`, which are taken out of it."""
    while len(inbox) >= 4 and len(inbox) >= (size := 4 + int.from_bytes(inbox[:4], "big")):
        message = marshal.loads(inbox[4:size])
        del inbox[:size]
        yield message


def _child(row: tuple[int, int, list[bytes]]) -> Child:
    pid, ppid, argv = row
    return Child(pid, ppid, tuple(os.fsdecode(text) for text in argv))
