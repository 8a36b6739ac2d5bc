"""Placing: the client's breakpoints, on lines and on subs, sent to the program that runs.

Knows what the hook answers, at once or late. Refuses to know requests and their shapes.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

from relay.perl.breakpoints import BUSY, LineBreakpoints, PlacedLine, fields
from relay.perl.functions import Functions, Named
from relay.perl.hook import Reply, Silence
from relay.perl.numbering import Numbering
from relay.perl.refusals import Refusal
from relay.perl.requests import NamedWish, Wish
from relay.perl.run import PerlRun

BREAKPOINT_SECONDS = 2.0
"""For a program that runs to take breakpoints; afterwards they are reported as they come."""

Body = dict[str, Any]


class BreakpointPlacing:
    """`changed` is called with each breakpoint that lies elsewhere than was said, as DAP shows it."""

    def __init__(self, changed: Callable[[Body], None]) -> None:
        numbers = itertools.count(1)
        self._lines = LineBreakpoints(numbers)
        self._functions = Functions(numbers)
        self._changed = changed
        self.numbering = Numbering()

    async def set_lines(self, run: PerlRun | None, path: str, wishes: list[Wish]) -> list[Body]:
        """Set these breakpoints in a file, and no others. Raises Refusal 1007 if it cannot be read."""
        placed = self._lines.replace(path, wishes)
        if run is not None:
            await self._place(run, path, placed)
        return [one.described(self.numbering) for one in placed]

    async def set_functions(self, run: PerlRun | None, wishes: list[NamedWish]) -> list[Body]:
        """Set these breakpoints on subs, and no others."""
        named = self._functions.replace(wishes)
        if run is not None:
            await self._name(run)
        return [self._described(run, one) for one in named]

    async def set_all(self, run: PerlRun) -> None:
        """For a program that has just been started; reports what is news."""
        for path, placed in self._lines.by_path():
            self._report(await self._place(run, path, placed))
        if len(self._functions):
            self._report_named(run, await self._name(run))

    def forget_places(self) -> None:
        """Forget where breakpoints lie: another program starts."""
        self._lines.forget_places()
        self._functions.forget_places()

    def bound(self, run: PerlRun | None, reply: Reply) -> None:
        """The hook says where breakpoints are, in an answer or of itself."""
        self._report(self._lines.settle(reply.get("lines") or []))
        self._report_named(run, self._functions.settle(reply.get("functions") or []))

    def is_on_function(self, number: int) -> bool:
        """Whether it is a breakpoint on a sub."""
        return number in self._functions

    async def _place(self, run: PerlRun, path: str, placed: list[PlacedLine]) -> list[PlacedLine]:
        """Those of which the place is news."""
        there = run.path_there(path)
        real = _real(there) if run.program is not None else there
        try:
            reply = await run.hook.ask("breakpoints", real, *fields(placed), seconds=_patience(run))
        except Silence:
            for one in placed:
                one.message = one.wish.problem or BUSY
            return []
        except Refusal:
            return []  # it ended
        return self._lines.settle(reply["lines"])

    async def _name(self, run: PerlRun) -> list[Named]:
        """Those of which the place is news; of a program that is busy, later."""
        fields = self._functions.fields()
        try:
            reply = await run.hook.ask("functions", *fields, seconds=_patience(run))
        except Refusal:
            return []
        return self._functions.settle(reply["functions"])

    def _report(self, news: list[PlacedLine]) -> None:
        for one in news:
            self._changed(one.described(self.numbering))

    def _report_named(self, run: PerlRun | None, news: list[Named]) -> None:
        for one in news:
            self._changed(self._described(run, one))

    def _described(self, run: PerlRun | None, one: Named) -> Body:
        return one.described(self.numbering, str if run is None else run.path_here)


def _patience(run: PerlRun) -> float:
    return 0.0 if run.changes else BREAKPOINT_SECONDS


def _real(path: str) -> str:
    return os.path.realpath(path)
