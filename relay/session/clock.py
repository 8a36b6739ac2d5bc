"""The one clock that stamps what callers see.

Knows how a moment is written in answers. Refuses to measure durations: those are
`trio.current_time()`, which does not jump when the machine's clock is set.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime

import trio

MOST_SLOWED = 0.001
"""A clock that is only corrected goes slower than it should by 0.05 % at most; this is generous."""


def utc_now() -> datetime:
    """This moment in UTC, aware of its zone, to the microsecond."""
    return datetime.now(UTC)


class FileMoment:
    """A moment as files are dated: by the machine's clock, which may be set at any time after it."""

    def __init__(self) -> None:
        self._dated = time.time()
        self._at = trio.current_time()

    @property
    def set_back(self) -> float:
        """Seconds by which the clock was set back since; 0 if it was not, or only slowed down."""
        passed = trio.current_time() - self._at
        behind = passed - (time.time() - self._dated)
        return behind if behind > 1 + passed * MOST_SLOWED else 0.0

    def may_precede(self, changed_at: float) -> bool:
        """Whether a file that bears this date, in seconds since 1970, may have been changed since.

        Once the clock was set back, a file of after the moment may bear a date from before it: every
        date counts that the clock has had twice.
        """
        return changed_at > self._dated - self.set_back


def format_timestamp(moment: datetime) -> str:
    """`2026-01-31T12:00:00.123Z`: UTC, milliseconds (cut, not rounded), "Z".

    A moment without a zone is refused with ValueError: guessing would be off by hours.
    """
    if moment.tzinfo is None:
        raise ValueError("a timestamp needs a time zone")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
