"""Where a program is to run to: a breakpoint that nobody set, and that no stop survives.

It is the session's, not in the table of breakpoints, so no client ever sees it. The event
handler takes it away before it announces any stop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from relay.session.state.breakpoints import Breakpoint
from relay.session.state.stop import Stop


@dataclass(slots=True)
class RunTarget:
    """A line, for one thread or for any. `ident` is Python's own number of that thread."""

    path: str
    line: int
    thread_id: int | None = None
    ident: int | None = None
    reached: bool | None = None
    """Whether the first stop was there; None before it."""

    def is_at(self, stop: Stop) -> bool:
        """Whether this stop is where the program was to run to."""
        if stop.top is None or (stop.top.path, stop.top.line) != (self.path, self.line):
            return False
        return self.thread_id in (None, stop.thread_id)

    def added_to(self, active: Sequence[Breakpoint]) -> list[Breakpoint]:
        """The breakpoints of the file with this one among them.

        The debugger knows one breakpoint a line. One that stops there anyway serves both; one
        that need not stop (condition, hits, log message, capture) rests until the program has stopped.
        """
        here = next((b for b in active if b.line == self.line), None)
        if here is not None and _always_stops(here):
            return list(active)
        others = [b for b in active if b is not here]
        return sorted([*others, self._breakpoint()], key=lambda b: b.line)

    def _breakpoint(self) -> Breakpoint:
        own_thread = f"__import__('threading').get_ident() == {self.ident}"
        return Breakpoint(
            id="",
            path=self.path,
            line=self.line,
            condition=None if self.ident is None else own_thread,
            verified=True,
        )


def _always_stops(breakpoint: Breakpoint) -> bool:
    texts = (breakpoint.condition, breakpoint.hit_condition, breakpoint.log_message)
    return texts == (None,) * 3 and breakpoint.capture is None
