"""Children that were lost: announced once each, ahead of them the one because of which others were ended."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee

CAUSE_SECONDS = 1.0
"""So long after a child has failed others are ended because of it: a pool ends those that are left."""

Announce = Callable[[str, int | None], None]


class LostChildren:
    """Those of one program."""

    def __init__(self, announce: Announce, name_of: Callable[[Debuggee], str]) -> None:
        """announce: in words, with the process id."""
        self._announce, self._name_of = announce, name_of
        self._left_at: dict[Debuggee, float] = {}
        """Children that have gone just now."""
        self._lost_at = -math.inf
        """When the last one was lost."""
        self._failed: set[int] = set()
        """The numbers of those announced to have failed."""

    def left(self, child: Debuggee, lost: str | None, living: Iterable[Debuggee]) -> None:
        """A child has gone; lost: in words, how it was lost. living: the others, of which one may be about to go.

        A pool ends its workers because one has left it: that one is announced, too, and first. Which of them
        is seen gone first is chance.
        """
        now = trio.current_time()
        if lost is not None:
            self._lost_at = now
        self._left_at = {one: at for one, at in self._left_at.items() if now < at + CAUSE_SECONDS}
        self._left_at[child] = now
        if now < self._lost_at + CAUSE_SECONDS:
            for one in (*self._left_at, *living):
                if (one.exit_code or 0) > 0 and one.number not in self._failed:
                    self._failed.add(one.number)
                    words = (
                        f"process {one.pid} ({self._name_of(one)}) exited with code {one.exit_code}"
                    )
                    self._announce(words, one.pid)
        if lost is not None:
            self._announce(lost, child.pid)
