"""`relay run --calls`: which own functions were called, from one stop to the next.

Imported by runs that ask for it: every run waits for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import trio

from relay.errors import InvalidSessionState
from relay.faces.cli.run.writers import RunWriter
from relay.models.calls import CallsRequest, CallsView
from relay.operations.execution.calls import calls_here, keep_calls, start_calls, want_calls

KEEP_SECONDS = 1.0
"""How long a program that is to be ended may take to hand over what it has recorded."""


class RunCalls:
    """The calls of one run, recorded anew after each stop in the process that has stopped."""

    def __init__(
        self, session: Any, writer: RunWriter, focus: Sequence[str], max_chars: int
    ) -> None:
        self._session = session
        self._writer = writer
        self._focus = list(focus)
        self._view = CallsView(max_chars=max_chars)
        self._were_some = False
        self.has_more = True
        """Whether anything was recorded since the last report."""

    async def prepare(self) -> None:
        """Record from the program's first line on. Raises RelayError for what cannot be recorded."""
        await want_calls(self._session, self._focus)

    async def report(self) -> None:
        """Write those since the stop before, or since the start: at a stop those of its process, at the end of all."""
        found = await calls_here(self._session, self._view)
        if self._were_some and not found.calls and found.complete:
            # Why a run has called nothing, and where it was looked for, is no question any more.
            found = found.model_copy(update={"text": "none since the stop before"})
        await self._writer.called(found)
        self._were_some = self._were_some or found.calls > 0
        self.has_more = False

    async def begin(self) -> None:
        """Record from the present stop on."""
        with suppress(InvalidSessionState):  # it was killed meanwhile
            request = CallsRequest(focus=self._focus)
            await start_calls(self._session, request, only_stopped=True)
            self.has_more = True

    async def keep(self) -> None:
        """What it has recorded would go with the program that is killed."""
        if self._session.stop is None:
            with trio.move_on_after(KEEP_SECONDS):
                await keep_calls(self._session)
