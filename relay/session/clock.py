"""The one clock that stamps what callers see.

Knows how a moment is written in answers. Refuses to measure durations: those are
`trio.current_time()`, which does not jump when the machine's clock is set.
"""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """This moment in UTC, aware of its zone, to the microsecond."""
    return datetime.now(UTC)


def format_timestamp(moment: datetime) -> str:
    """`2026-01-31T12:00:00.123Z`: UTC, milliseconds (cut, not rounded), "Z".

    A moment without a zone is refused with ValueError: guessing would be off by hours.
    """
    if moment.tzinfo is None:
        raise ValueError("a timestamp needs a time zone")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"
