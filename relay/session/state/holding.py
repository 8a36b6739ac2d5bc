"""Holding: a client that has taken the session, so that nobody else runs its program.

A hold is an agreement among clients that say who they are, and no lock against those who lie.
Source: contract, section 12.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from relay.errors import SessionHeld
from relay.session.clock import format_timestamp, utc_now


@dataclass(frozen=True, slots=True)
class Hold:
    """Who holds the session, by the name under which it asks, and since when."""

    by: str
    since: datetime


class Holding:
    """Whether a session is held. It is by one at a time, until it is released."""

    def __init__(self) -> None:
        self.current: Hold | None = None

    def take(self, by: str) -> Hold:
        """Hold for `by`, who may hold already; raises SessionHeld if it is another."""
        if self.current is None or self.current.by != by:
            self.check("take the session", by)
            self.current = Hold(by, utc_now())
        assert self.current is not None
        return self.current

    def release(self) -> Hold | None:
        """End the hold, whoever has it; what it was."""
        released, self.current = self.current, None
        return released

    def check(self, verb: str, client: str) -> None:
        """Raise SessionHeld unless `client` may run the program."""
        if self.current is not None and self.current.by != client:
            raise SessionHeld(
                f"Cannot {verb}: {self.current.by} holds the session",
                held_by=self.current.by,
                held_since=format_timestamp(self.current.since),
            )
