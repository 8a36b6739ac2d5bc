"""The standard streams of a program, as pipes or as a terminal: both ends.

Knows descriptors. Refuses to know the program, and what is read (see `output_pipe.py`).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import termios
from typing import NamedTuple, Protocol

import trio

from relay.process.output_pipe import OutputPipe

TERMINAL_SIZE = (24, 80)
"""Rows and columns: a size of nothing confuses programs."""

END_OF_FILE = b"\x04"


class ProgramInput(Protocol):
    """Where the standard input of a program is written, whoever holds the other end."""

    @property
    def closed(self) -> bool:
        """Whether it was closed from this side."""

    @property
    def is_terminal(self) -> bool:
        """Whether the program has a terminal: it reads whole lines."""

    def is_read_through(self, status: os.stat_result) -> bool:
        """Whether an open file of some process, by its status, is the program's input."""

    def send_now(self, data: memoryview) -> int:
        """Write what fits without waiting, perhaps nothing; returns how much."""

    async def send_all(self, data: bytes) -> None:
        """Write all of it. Raises trio.BrokenResourceError when nobody will read it."""

    def close(self) -> None:
        """End of file for the program. Idempotent."""

    def abandon(self) -> None:
        """Close it, whatever is under way."""


class InputPipe:
    """The writing end of a program's standard input, or of its terminal. Owns `fd`."""

    def __init__(self, fd: int, *, slave: int | None = None) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._device = None if slave is None else os.ttyname(slave)
        self.reading_end = identity(os.fstat(fd if slave is None else slave))
        self._turn = trio.Lock()
        self._within_line = False

    @property
    def closed(self) -> bool:
        """Whether it was closed from this side."""
        return self._fd < 0

    @property
    def is_terminal(self) -> bool:
        """Whether the program has a terminal: it reads whole lines."""
        return self._device is not None

    def is_read_through(self, status: os.stat_result) -> bool:
        """Whether an open file of some process, by its status, is the other end of this."""
        return identity(status) == self.reading_end

    def send_now(self, data: memoryview) -> int:
        """Write what fits without waiting, perhaps nothing; returns how much.

        Raises as `send_all` does. Not to be called while `send_all` is under way.
        """
        self._check_open()
        return self._write(data)

    async def send_all(self, data: bytes) -> None:
        """Write all of `data`, waiting while the program does not read; writers take turns.

        Raises trio.BrokenResourceError when nobody can read it any more, and
        trio.ClosedResourceError after `close`. When cancelled, a part may be written.
        """
        async with self._turn:
            rest = memoryview(data)
            self._check_open()
            while rest:
                rest = rest[self._write(rest) :]
                if rest:
                    await trio.lowlevel.wait_writable(self._fd)
                    self._check_open()

    def close(self) -> None:
        """End of file for the program. On a terminal: Ctrl-D, as a user would. Idempotent."""
        if self._device is not None and self._fd >= 0:
            # A first Ctrl-D within a line only hands the line over.
            with contextlib.suppress(OSError):
                os.write(self._fd, END_OF_FILE * (2 if self._within_line else 1))
                _settle(self._device)
        self.abandon()

    def abandon(self) -> None:
        """Close without a word; only a pipe shows it to its reader. Idempotent."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            trio.lowlevel.notify_closing(fd)
            os.close(fd)

    async def aclose(self) -> None:
        """`close`, as a checkpoint."""
        self.close()
        await trio.lowlevel.checkpoint()

    def _check_open(self) -> None:
        if self._fd < 0:
            raise trio.ClosedResourceError("this input is closed")

    def _write(self, data: memoryview) -> int:
        try:
            count = os.write(self._fd, data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise trio.BrokenResourceError("nobody reads this input") from error
        self._within_line = data[count - 1] != ord("\n")
        if self._device is not None:
            _settle(self._device)
        return count


class Streams(NamedTuple):
    """Our ends, and the descriptors that become the program's 0, 1 and 2."""

    stdin: InputPipe
    stdout: OutputPipe
    stderr: OutputPipe | None
    theirs: tuple[int, int, int]


def open_streams(
    terminal: bool, theirs: contextlib.ExitStack, failed: contextlib.ExitStack
) -> Streams:
    """Opens both ends. Raises OSError.

    Closing the program's ends is left to `theirs`, and closing ours to `failed`, which
    holds them only until someone else takes them over.
    """
    return _open_terminal(theirs, failed) if terminal else _open_pipes(theirs, failed)


def _open_pipes(theirs: contextlib.ExitStack, failed: contextlib.ExitStack) -> Streams:
    def pipe(ours: int) -> tuple[int, int]:
        ends = os.pipe()
        failed.callback(os.close, ends[ours])
        theirs.callback(os.close, ends[1 - ours])
        return ends

    stdin, writing = pipe(1)
    reading, stdout = pipe(0)
    error_reading, stderr = pipe(0)
    return Streams(
        InputPipe(writing),
        OutputPipe(reading),
        OutputPipe(error_reading),
        (stdin, stdout, stderr),
    )


def _open_terminal(theirs: contextlib.ExitStack, failed: contextlib.ExitStack) -> Streams:
    master, slave = os.openpty()
    failed.callback(os.close, master)
    theirs.callback(os.close, slave)
    _prepare_terminal(slave)
    writing = os.dup(master)
    failed.callback(os.close, writing)
    return Streams(
        InputPipe(writing, slave=slave),
        OutputPipe(master),
        None,
        (slave, slave, slave),
    )


def _settle(device: str) -> None:
    """Until what was written has reached those who read from the terminal.

    A worker of Linux's hands it on, later; asking whether it can be read waits for that worker.
    Until then a reader would look as if it waited for more.
    """
    with contextlib.suppress(OSError):
        reading = os.open(device, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            readable = select.poll()
            readable.register(reading, select.POLLIN)
            readable.poll(0)
        finally:
            os.close(reading)


def identity(status: os.stat_result) -> tuple[int, int, int]:
    """The same for all who have a pipe or a terminal open, by whichever end of the pipe."""
    return status.st_dev, status.st_ino, status.st_rdev


def _prepare_terminal(slave: int) -> None:
    """No echo and no added carriage returns: the log shows what the program wrote."""
    settings = termios.tcgetattr(slave)
    settings[1] &= ~termios.ONLCR
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, settings)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *TERMINAL_SIZE, 0, 0))
