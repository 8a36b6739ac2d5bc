"""What is remembered of runs to a line: hits of each place, times, and what went wrong.

Belongs to the session, so that every face that runs to lines tells the same of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from relay.session.state.stop import RaisedException


@dataclass(slots=True)
class Runs:
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
    told: int | None = None
    """The stop that somebody was told of last."""
    under_way: bool = False
    """Whether somebody waits for a run to end."""

    def start_anew(self) -> None:
        """The program is about to start: what it did before is another run's."""
        self.hits.clear()
        self.last = self.last_ms = self.cpu_ms = self.raised = None

    def arrived(self, stop_id: int, place: tuple[str, int]) -> None:
        """The program stands where it was to run to; counted once a stop."""
        if stop_id != self.counted:
            self.counted = stop_id
            self.last = place
            self.hits[place] += 1
