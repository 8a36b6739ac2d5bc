"""Stops: the stop in force, the one before it, and where the program is to run to next.

Knows which stop a client may ask about. Refuses to know how a program comes to stop.
"""

from __future__ import annotations

from relay.session.state.run_target import RunTarget
from relay.session.state.stop import Stop


class Stops:
    """Read its fields; its methods change them."""

    def __init__(self) -> None:
        self.current: Stop | None = None
        """Set exactly while the session is paused."""
        self.before: Stop | None = None
        """The latest stop of this run that is over."""
        self.target: RunTarget | None = None
        """Where the program runs to, until it stops anywhere."""

    # Invariant: `current` and `before` are two different stops of the same run.

    def begin_run(self) -> None:
        """A program is about to be started. It may have a target already."""
        assert self.current is None, "a program is started while another one is stopped"
        self.before = None

    def put(self, stop: Stop, stop_id: int) -> None:
        """`stop` is in force now, under this number."""
        stop.id = stop_id
        self.current = stop

    def resumed(self) -> None:
        """The program runs: nobody may ask about the stop any more."""
        self.before, self.current = self.current, None

    def clear(self) -> None:
        """The program is over: it is stopped nowhere, and runs to nowhere."""
        self.current = self.target = None

    def drop(self) -> None:
        """No program is stopped any more; a target stays, for the next start."""
        self.current = None

    def aim(self, target: RunTarget | None) -> RunTarget | None:
        """The program is to stop at `target`, or nowhere in particular; returns the one before."""
        before, self.target = self.target, target
        return before
