"""The streams of `relay run`: what the program and its logpoints print, and what it reads.

Knows order: what came before a stop is written before the stop is.
"""

from __future__ import annotations

import os
from typing import Any

import trio

from relay.faces.cli.run.writers import RunWriter
from relay.operations.execution.output_tap import feed, tap_output

READ_BYTES = 65_536


class RunStreams:
    """Those of one run, from before its start. Its methods are tasks beside the run."""

    def __init__(self, session: Any, writer: RunWriter, stdin: str | None) -> None:
        self._session = session
        self._writer = writer
        self._stdin = stdin
        self._tap = tap_output(session)
        self._logged = 0  # the number of the last entry that was written
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
            await self._write_new_logs()

    async def feed(self) -> None:
        """Standard input, as far as somebody takes it; the end of it, too."""
        fd = 0 if self._stdin is None else os.open(self._stdin, os.O_RDONLY)
        while data := await trio.to_thread.run_sync(_read, fd, abandon_on_cancel=True):
            if not await feed(self._session, data):
                return
        await feed(self._session, b"", end=True)

    async def catch_up(self) -> None:
        """Return when everything that came before this moment has been written."""
        await self._tap.dealt_with()
        await self._write_new_logs()

    def close(self) -> None:
        """Nothing more comes from the program: who writes its output ends when all is written."""
        self._tap.close()

    async def _write_new_logs(self) -> None:
        async with self._logging:
            while True:
                page = self._session.output.read(self._logged, 1000, "console")
                self._logged = page.next_seq
                for entry in page.entries:
                    await self._writer.logged(entry.output)
                if not page.has_more:
                    return


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, READ_BYTES)
    except OSError:  # closed, or the terminal of a program in the background
        return b""
