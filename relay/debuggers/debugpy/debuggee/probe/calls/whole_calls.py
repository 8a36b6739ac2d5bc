"""Which calls of a stream are recorded with all that their arguments and results store: the others are
recorded in brief, at a hundredth of the price, or not at all.

A program with large values would take a hundred times as long, all over. So a first run stops to record whole
calls when it has spent its time on them, and a later one does so around a call of interest, and records none
behind it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.calls.stored import IN_PART
    from relay.debuggers.debugpy.debuggee.probe.calls.values import (
        BRIEF_ROOM,
        brief,
        is_short,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import MASK, hides

_MOST_RECORDED_CALLS = 1_000_000  # the relay reads as many of one run
_seconds_of_thread = time.thread_time


class WholeCalls:
    """Of one recording. Calls are numbered as they begin, from 1.

    first, last: the numbers of those that are recorded whole; a `last` of None is the end. seconds: of
    processor time that may go into their values; after these, calls are recorded in brief, and
    `note_until` is given the number of the last whole one. until: the number of the last call that is
    recorded at all; None is the end, and that of the most that a run may have.
    """

    def __init__(
        self,
        note_until: Callable[[int], None],
        first: int = 1,
        last: int | None = None,
        seconds: float | None = None,
        until: int | None = None,
    ) -> None:
        self.first, self.last = first, last
        self.until = _MOST_RECORDED_CALLS if until is None else until
        self._note_until = note_until
        self._left = seconds
        self.begun = 0
        """The number of the call that began last."""

    @property
    def are_over(self) -> bool:
        """Whether the call that begins is not recorded, nor any later one."""
        return self.begun >= self.until

    def takes_next(self) -> bool:
        """Whether the call that begins is recorded whole."""
        self.begun += 1
        number = self.begun
        if self.last is not None and number > self.last:
            return False
        if self._left is not None and self._left < 0:
            self.last = number - 1
            self._note_until(self.last)
            return False
        return number >= self.first

    def began_to_write(self) -> float:
        """When values of a whole call begin to be written: for `has_written`."""
        return 0.0 if self._left is None else _seconds_of_thread()

    def has_written(self, began: float) -> None:
        """They are written."""
        if self._left is not None:
            self._left -= _seconds_of_thread() - began


def in_brief(value: Any) -> str:
    """A value of a call that is not recorded whole; after `IN_PART` if it may store more."""
    if is_short(value):
        return repr(value)
    if type(value) is str and len(value) <= BRIEF_ROOM:
        return brief(value)
    return IN_PART + brief(value)


def in_brief_named(name: str, value: Any) -> str:
    """The same, masked if the name says that it is a secret."""
    return MASK if hides(name, value) else in_brief(value)
