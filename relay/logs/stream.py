"""LineStream: lines go to a descriptor, and nothing waits for who reads it.

Whoever starts a relay with a pipe as its standard error and does not read it would bring it to a
stand when the pipe is full. So a line for which there is no room is dropped, and counted.
"""

from __future__ import annotations

import logging
import os
import select

from relay.logs.records import extra

DROPPED = "lines of the log were dropped: nobody read them"

PIECE = 4096
"""Bytes that a pipe takes at once, and without a wait, when it takes any: PIPE_BUF of Linux."""


class LineStream(logging.Handler):
    """Writes each record as its formatter has it."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLOUT)
        self._dropped = 0
        self._is_torn = False  # whether the last line has no end

    # Called with the handler's lock held.

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record, or drop it."""
        try:
            is_written = self._note_dropped() and self._write(self.format(record))
        except OSError:  # nobody is there to read, or to hear of it
            is_written = False
        self._dropped += not is_written

    def _note_dropped(self) -> bool:
        """Say what was left out before anything else is said; whether there was room for that."""
        if self._dropped:
            why = {"msg": DROPPED, "name": "relay", "levelno": logging.WARNING}
            said = logging.makeLogRecord(
                {**why, "levelname": "WARNING", **extra(count=self._dropped)}
            )
            if not self._write(self.format(said)):
                return False
            self._dropped = 0
        return True

    def _write(self, line: str) -> bool:
        """Whether there was room for its beginning. What there is none for then is left out."""
        start = "\n" if self._is_torn else ""
        whole = f"{start}{line}\n".encode("utf-8", "backslashreplace")
        rest = whole
        while rest and self._has_room():
            rest = rest[os.write(self._descriptor, rest[:PIECE]) :]
        if len(rest) == len(whole):
            return False
        self._is_torn = bool(rest)
        return True

    def _has_room(self) -> bool:
        return any(happening & select.POLLOUT for _, happening in self._poll.poll(0))
