"""The perl process: how it is started, what it prints, and its certain end.

Knows processes and pipes. Refuses to know DAP, and what the program and its debugger say to
each other. The process leads a group and a session of its own; the kernel kills it when the
adapter dies, and so is started from the main thread, whose death is the adapter's.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import fcntl
import os
import re
import signal
import socket
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import trio

from relay.perl.refusals import failed
from relay.perl.requests import Launch

LIBRARY = Path(__file__).resolve().parent / "lib"
"""Where the hook is: `perl -I LIBRARY -d:RelayHook=…`."""

HIGH = 200
"""The program finds its first free descriptors where it does without a debugger."""

LAST_WORDS = 0.5
"""Seconds in which the output of a program that ended may still come: a child may hold it."""


class ProgramOutput:
    """One pipe of the program, as text. What is not UTF-8 survives as lone surrogates."""

    def __init__(self, fd: int, category: str, report: Callable[[str, str], None]) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._category = category
        self._report = report
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self.ended = trio.Event()

    def drain(self) -> bool:
        """Report what is there. False at the end of the pipe."""
        while (has_come := self._report_some()) is True:
            pass
        return has_come is None

    async def run(self, ready: Callable[[], Awaitable[None]]) -> None:
        """Report everything until the end; `ready` is awaited while too much is on its way."""
        while not self.ended.is_set():
            await trio.lowlevel.wait_readable(self._fd)
            if self._report_some() is False:
                break
            await ready()

    def _report_some(self) -> bool | None:
        """Report what one read brings; None: there is nothing yet, False: the pipe has ended."""
        if self.ended.is_set():
            return False
        try:
            data = os.read(self._fd, 65536)
        except BlockingIOError:
            return None
        text = self._decoder.decode(data, final=not data)
        if text:
            self._report(self._category, text)
        if not data:
            self.ended.set()
        return bool(data)


class PerlProgram:
    """One run of a program."""

    def __init__(self, process: subprocess.Popen[bytes], link: socket.socket) -> None:
        self._process = process
        self.link = link
        self._guard = _guard(process.pid)
        self._stdin_open = True
        self._writing = trio.Lock()
        self._pidfd = os.pidfd_open(process.pid)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def pipes(self) -> tuple[int, int]:
        """Its stdout and its stderr."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        return self._process.stdout.fileno(), self._process.stderr.fileno()

    async def wait(self) -> int:
        """The exit code; 128 and the signal's number for a program that was killed."""
        while self._process.poll() is None:
            await trio.lowlevel.wait_readable(self._pidfd)
        code = self._process.returncode
        return 128 - code if code < 0 else code

    def signal(self, number: int) -> None:
        """Send a signal to the program alone, if it lives."""
        if self._process.poll() is None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """The program and what it started in its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    async def write(self, data: bytes, *, end: bool) -> None:
        """To its standard input, behind what waits already, and with `end` its end.

        Returns when the pipe has taken it all. Raises Refusal 1008 if the input is closed.
        """
        async with self._writing:
            rest = memoryview(data)
            while rest:
                rest = rest[await self._write_some(rest) :]
            if end:
                self._end_input()

    async def _write_some(self, data: memoryview) -> int:
        assert self._process.stdin is not None
        fd = self._process.stdin.fileno() if self._stdin_open else -1
        try:
            return os.write(fd, data)
        except BlockingIOError:
            with contextlib.suppress(trio.ClosedResourceError):  # the next try says so
                await trio.lowlevel.wait_writable(fd)
            return 0
        except OSError as error:
            reason = "closed" if error.errno in (errno.EBADF, errno.EPIPE) else str(error)
            raise failed(f"The standard input of the program is {reason}") from None

    def _end_input(self) -> None:
        if self._stdin_open:
            self._stdin_open = False
            assert self._process.stdin is not None
            trio.lowlevel.notify_closing(self._process.stdin.fileno())
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def close(self) -> None:
        """Everything of ours; the process must have ended, or be about to."""
        self.kill()
        self._process.wait()
        self._guard.kill()
        self._guard.communicate()
        self._end_input()
        for pipe in (self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()
        os.close(self._pidfd)


def _guard(group: int) -> subprocess.Popen[bytes]:
    """Kills the group when this process dies: the kernel's word reaches its leader alone."""
    return subprocess.Popen(
        ["/bin/sh", "-c", "read line; kill -9 -$0", str(group)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _environment() -> dict[str, str]:
    """Ours, without what only the relay's own callers are to know."""
    return {name: value for name, value in os.environ.items() if name.upper() != "RELAY_TOKEN"}


def start(launch: Launch, *, seccomp: bool) -> PerlProgram:
    """Raises Refusal 1008 if Perl cannot be started. Call it in the main thread."""
    ours, theirs = socket.socketpair()
    high = fcntl.fcntl(theirs.fileno(), fcntl.F_DUPFD, HIGH)
    theirs.close()
    try:
        process = subprocess.Popen(
            _command(launch, high, seccomp=seccomp),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=launch.cwd,
            env={**_environment(), **launch.env},
            pass_fds=[high],
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        ours.close()
        raise failed(f"Cannot start {launch.perl}: {error.strerror}") from None
    finally:
        os.close(high)
    assert process.stdin is not None
    os.set_blocking(process.stdin.fileno(), False)
    return PerlProgram(process, ours)


TAINT = re.compile(rb"#!.*perl.*\s-\w*([tT])")


def _taint(program: str) -> list[str]:
    """The switch that perl takes from its command line alone; the kernel puts it there."""
    try:
        with open(program, "rb") as file:
            first = file.readline(1000)
    except OSError:
        return []  # perl says so
    match = TAINT.match(first)
    return [f"-{match[1].decode()}"] if match else []


def _command(launch: Launch, fd: int, *, seccomp: bool) -> list[str]:
    hook = f"-d:RelayHook=fd,{fd}" + ("" if seccomp else ",noseccomp")
    paths = [f"-I{path}" for path in launch.include_paths]
    taint = _taint(launch.program)
    return [launch.perl, *taint, f"-I{LIBRARY}", hook, *paths, "--", launch.program, *launch.args]
