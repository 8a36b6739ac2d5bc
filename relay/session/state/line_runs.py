"""LineRuns: what is remembered of runs to a line: hits of each place, times, and what went wrong.

Belongs to the session, so that every face that runs to lines says the same of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from relay.session.state.stop import RaisedException


@dataclass(slots=True)
class LineRuns:
    """The runs of one program, from its start on."""

    hits: Counter[tuple[str, int]] = field(default_factory=Counter)
    """How often the program was found at each path and line that it was to run to."""
    last: tuple[str, int] | None = None
    last_ms: float | None = None
    """Wall time of the latest run, in milliseconds."""
    cpu_ms: float | None = None
    """CPU time of the program's process as of its latest stop, in milliseconds."""
    raised: RaisedException | None = None
    """The uncaught exception that it met."""
    counted: int | None = None
    """The stop that was counted last."""
    reported_stop: int | None = None
    """The stop that was reported last."""
    under_way: bool = False
    """Whether somebody waits for a run to end."""

    def start_anew(self) -> None:
        """The program is about to start: what it did before is another run's."""
        self.hits.clear()
        self.last = self.last_ms = self.cpu_ms = self.raised = None

    @contextmanager
    def wait(self) -> Iterator[None]:
        """While open, somebody waits for a run to end; one at a time."""
        assert not self.under_way, "two calls wait for one program"
        self.under_way = True
        try:
            yield
        finally:
            self.under_way = False

    def took(self, wall_ms: float) -> None:
        """The latest run has come to its end, or its wait is over."""
        self.last_ms = wall_ms

    def reported(self, stop_id: int, cpu_ms: float | None) -> None:
        """This stop is reported to somebody, at which the program had used so much of the processor."""
        self.reported_stop, self.cpu_ms = stop_id, cpu_ms

    def met(self, raised: RaisedException) -> None:
        """The program stopped at an uncaught exception."""
        self.raised = raised

    def arrived(self, stop_id: int, place: tuple[str, int]) -> None:
        """The program stands where it was to run to; counted once a stop."""
        if stop_id != self.counted:
            self.counted = stop_id
            self.last = place
            self.hits[place] += 1
