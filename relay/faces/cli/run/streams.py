"""The streams of `relay run`: what the program and its logpoints print, and what it reads.

Knows order: what came before a stop is written before the stop is.
"""

from __future__ import annotations

import math
import os
from typing import Any

import trio

from relay.faces.cli.run.writers import RunWriter
from relay.operations.execution.output_tap import feed, tap_output

READ_BYTES = 65_536
LOG_LINES = 1000
"""As many are written at once."""


class RunStreams:
    """Those of one run, from before its start. Its methods are tasks beside the run."""

    def __init__(self, session: Any, writer: RunWriter, stdin: str | None) -> None:
        self._session = session
        self._writer = writer
        self._stdin = stdin
        self._tap = tap_output(session)
        self._logged = 0  # the number of the last entry that was written
        self._log_lines = 0  # that were written, or said to be lost
        self._logging = trio.Lock()

    async def write_output(self) -> None:
        """Everything that the program prints, until `close`."""
        while (piece := await self._tap.take()) is not None:
            await self._writer.printed(piece.category, piece.data)

    async def write_rest(self) -> None:
        """What a program has printed that then could not be started: it may run as it compiles."""
        self.close()
        await self.write_output()

    async def write_logs(self) -> None:
        """What logpoints print, which is not the program's output; without an end."""
        while True:
            await self._session.output.wait(self._logged, category="console")
            await self._write_logs_until(self._session.output.last_seq)

    async def feed(self) -> None:
        """Standard input, as far as somebody takes it; the end of it, too."""
        fd = 0 if self._stdin is None else os.open(self._stdin, os.O_RDONLY)
        while data := await trio.to_thread.run_sync(_read, fd, abandon_on_cancel=True):
            if not await feed(self._session, data):
                return
        await feed(self._session, b"", end=True)

    async def catch_up(self, patience: float = math.inf) -> None:
        """Return when everything that came before this moment has been written.

        What the program has printed is waited for so many seconds: who reads it may not read on.
        """
        with trio.move_on_after(patience):
            await self._tap.dealt_with()
        await self._write_logs_until(self._session.output.last_seq)

    def close(self) -> None:
        """Nothing more comes from the program: who writes its output ends when all is written."""
        self._tap.close()

    async def _write_logs_until(self, last: int) -> None:
        """Those numbered up to `last`: of a program that logs without an end more come meanwhile."""
        output = self._session.output
        async with self._logging:
            while self._logged < last:
                page = output.read(self._logged, LOG_LINES, "console")
                lost = max(0, output.dropped_of("console") - self._log_lines)
                self._logged = page.next_seq
                self._log_lines += lost + len(page.entries)
                if lost:
                    await self._writer.noted(_lost(lost))
                if page.entries:
                    await self._writer.logged([entry.output for entry in page.entries])


def _lost(count: int) -> str:
    lines = f"{count} line{'s were' if count > 1 else ' was'}"
    return f"[note] --log: {lines} lost here: more came than could be written"


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, READ_BYTES)
    except OSError:  # closed, or the terminal of a program in the background
        return b""
