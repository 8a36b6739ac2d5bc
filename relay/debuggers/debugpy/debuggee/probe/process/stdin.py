"""The program's standard input as the probe sees it: who reads it, and has to wait, says so.

Knows the one place through which everything that Python reads from stdin comes: the raw file at
the bottom of sys.stdin, in whatever thread (`input()` without a terminal, `sys.stdin.readline()`,
loops over lines, `sys.stdin.buffer`). That raw file is replaced; sys.stdin and its buffer stay
the objects that they were. Refuses to know what is read. Reads of the descriptor itself, those
of C code and of `input()` on a terminal, are not seen here.
"""

from __future__ import annotations

import io
import os
import select
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import LateEvent
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, leave_no_entry

INPUT_EVENT = "relayInput"
_PIECE = 65_536


def watch_stdin() -> bool:
    """Say from now on when a read of stdin has to wait; before the program begins.

    What sys.stdin has read ahead would be lost, so not for a program that runs already.
    """
    text: Any = sys.stdin
    if type(text) is not io.TextIOWrapper or type(text.buffer) is not io.BufferedReader:
        return False
    raw: Any = text.buffer.raw
    if type(raw) is not io.FileIO or raw.fileno() != 0:
        return False
    watched = _WatchedInput(0, "rb", closefd=False)
    watched.name = raw.name
    size = getattr(raw, "_blksize", 0)
    settings = text.encoding, text.errors, "\n", text.line_buffering, text.write_through
    io.BufferedReader.__init__(text.buffer, watched, size if size > 1 else io.DEFAULT_BUFFER_SIZE)
    # It has looked at the old raw file, to ask it whether it is closed.
    io.TextIOWrapper.__init__(text, text.buffer, *settings)
    return True


def watch_input() -> dict[str, Any]:
    """`watch_stdin`, for who cannot call it before the program begins but by the probe."""
    return {"watched": attempt(watch_stdin, default=False)}


# What follows runs in the middle of the program: no step may lead into it, so it must not call
# Python code of others, the standard library's included.


class _WatchedInput(io.FileIO):
    """Descriptor 0, with a word before and after each read that has to wait."""

    def __repr__(self) -> str:
        # As of 3.13 it would name this class without its module.
        return super().__repr__().replace("<FileIO", "<_io.FileIO", 1)

    def readinto(self, buffer: Any) -> Any:
        try:
            return _read(super().readinto, buffer)
        except BaseException as error:
            leave_no_entry(error)  # a Ctrl-C's traceback has the program's line last
            raise

    def read(self, size: Any = -1) -> Any:
        if size is None or size < 0:
            return self.readall()
        return _read(super().read, size)

    def readall(self) -> Any:
        pieces = []
        while True:
            piece = _read(super().read, _PIECE)
            if not piece:
                break
            pieces.append(piece)
        return b"".join(pieces) if pieces else piece


_WatchedInput.__name__ = _WatchedInput.__qualname__ = "FileIO"
_WatchedInput.__module__ = "_io"


def _read(read: Callable[[Any], Any], argument: Any) -> Any:
    if not attempt(_must_wait, default=False):
        return read(argument)
    attempt(_flush)
    attempt(_report_input, True)
    try:
        return read(argument)
    except BaseException as error:
        leave_no_entry(error)
        raise
    finally:
        attempt(_report_input, False)


def _must_wait() -> bool:
    return os.get_blocking(0) and not select.select([0], [], [], 0)[0]


def _flush() -> None:
    """A prompt that was printed without a newline is worth nothing while nobody can see it."""
    for stream in (sys.stdout, sys.stderr):
        # Exact types only: a stream of the program's own would run its code.
        if type(stream) is io.TextIOWrapper and type(stream.buffer) is io.BufferedWriter:
            attempt(stream.flush)


def _report_input(waiting: bool) -> None:
    py_db = debugger()
    if py_db is not None and py_db.writer is not None:  # else a forked child, or nobody listens
        py_db.writer.add_command(LateEvent(INPUT_EVENT, lambda: {"waiting": waiting}))
