"""ReportHistory: what reports have shown of a session, to say only what has changed since.

Knows functions by any key, and values by their texts. Knows no debuggee.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

MOST_FUNCTIONS = 200


class _Seen(NamedTuple):
    stop_id: int
    values: Mapping[str, str]
    earlier: Mapping[str, str] | None


class ReportHistory:
    """The locals of each function as reports showed them, the latest functions only."""

    def __init__(self) -> None:
        self.last_event = 0
        """Number of the last event whose output an agent has been shown."""
        self._program: Hashable = None
        self._functions: dict[Hashable, _Seen] = {}

    def begin_run(self, last_event: int) -> None:
        """A program is about to be started: what was printed before is not its own."""
        self.last_event = last_event

    def show_events(self, last_event: int) -> None:
        """What was printed up to this event has been shown."""
        self.last_event = last_event

    def before(
        self, program: Hashable, function: Hashable, stop_id: int, values: Mapping[str, str]
    ) -> Mapping[str, str] | None:
        """What the report of an earlier stop showed in this function; None if there was none.

        `values` are kept for later stops. Asked again at the same stop, the answer is the same.
        """
        if program != self._program:
            self._program = program
            self._functions.clear()
        seen = self._functions.pop(function, None)
        earlier = None
        if seen is not None:
            earlier = seen.earlier if seen.stop_id == stop_id else seen.values
        self._functions[function] = _Seen(stop_id, dict(values), earlier)
        if len(self._functions) > MOST_FUNCTIONS:
            del self._functions[next(iter(self._functions))]
        return earlier
