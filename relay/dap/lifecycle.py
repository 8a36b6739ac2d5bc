"""What a session may go through: THE TABLE, phase x happening -> phase.

Knows which happenings are legal in which phase, and numbers the stops. Refuses
to know where happenings come from, and does nothing about them.

The program, its debugger and our own handshake report independently, so some
happenings arrive late. Those that are harmless have a row of their own which
keeps the phase; whatever has no row is a fault, ours or the adapter's. One thing
the table cannot distinguish is an old run from a new one: end the tasks of the
old run before `relaunch_requested`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from relay.errors import ProtocolViolation


class Phase(StrEnum):
    """The status of a session: how far it has come."""

    CREATED = "created"
    LAUNCHING = "launching"
    RUNNING = "running"
    PAUSED = "paused"
    TERMINATED = "terminated"
    FAILED = "failed"


class Happening(StrEnum):
    """What may lead a session from one phase to another."""

    LAUNCH_REQUESTED = "launch_requested"
    """A first launch or attach begins."""
    START_FAILED = "start_failed"
    """The handshake failed and what it had started is dead."""
    STARTED = "started"
    """The handshake succeeded."""
    STOPPED = "stopped"
    """A thread stopped."""
    RESUMED = "resumed"
    """The program was sent on its way, or said that it goes on."""
    EXITED = "exited"
    """The program is gone, or said its last word."""
    CRASHED = "crashed"
    """The debugger died without the program's exit."""
    RELAUNCH_REQUESTED = "relaunch_requested"
    """A launch of a session that had ended begins."""
    ENDED = "ended"
    """DELETE, time-out or shutdown."""


class IllegalTransition(ProtocolViolation):
    """A happening that the phase has no row for."""

    def __init__(self, phase: Phase, happening: Happening) -> None:
        super().__init__(f"{happening} cannot happen to a session that is {phase}")
        self.phase = phase
        self.happening = happening


_CREATED = {
    Happening.LAUNCH_REQUESTED: Phase.LAUNCHING,
    Happening.ENDED: Phase.TERMINATED,
    # The end of an attempt that had failed already.
    Happening.EXITED: Phase.CREATED,
    Happening.CRASHED: Phase.CREATED,
}
_LAUNCHING = {
    Happening.STARTED: Phase.RUNNING,
    Happening.START_FAILED: Phase.CREATED,
    # A stop may overtake the answer to `launch`, and so may the end of a short program.
    Happening.STOPPED: Phase.PAUSED,
    Happening.EXITED: Phase.TERMINATED,
    Happening.CRASHED: Phase.FAILED,
    Happening.ENDED: Phase.TERMINATED,
}
_RUNNING = {
    Happening.STOPPED: Phase.PAUSED,
    Happening.EXITED: Phase.TERMINATED,
    Happening.CRASHED: Phase.FAILED,
    Happening.ENDED: Phase.TERMINATED,
    # Another thread goes on, or the adapter confirms what we did.
    Happening.RESUMED: Phase.RUNNING,
    # The handshake ends after a first stop that was resumed at once.
    Happening.STARTED: Phase.RUNNING,
    Happening.START_FAILED: Phase.CREATED,
}
_PAUSED = {
    # A second thread stops.
    Happening.STOPPED: Phase.PAUSED,
    Happening.RESUMED: Phase.RUNNING,
    Happening.EXITED: Phase.TERMINATED,
    Happening.CRASHED: Phase.FAILED,
    Happening.ENDED: Phase.TERMINATED,
    # The handshake ends after the first stop.
    Happening.STARTED: Phase.PAUSED,
    Happening.START_FAILED: Phase.CREATED,
}
_TERMINATED = {
    Happening.RELAUNCH_REQUESTED: Phase.LAUNCHING,
    # The process's death is often known before its last messages are read, and the
    # adapter goes after the program: all of this is the tail of the same end.
    Happening.STARTED: Phase.TERMINATED,
    Happening.START_FAILED: Phase.TERMINATED,
    Happening.STOPPED: Phase.TERMINATED,
    Happening.RESUMED: Phase.TERMINATED,
    Happening.EXITED: Phase.TERMINATED,
    Happening.CRASHED: Phase.TERMINATED,
    Happening.ENDED: Phase.TERMINATED,
}
_FAILED = {
    Happening.RELAUNCH_REQUESTED: Phase.LAUNCHING,
    Happening.ENDED: Phase.TERMINATED,
    # The adapter died inside the handshake: the session never started.
    Happening.START_FAILED: Phase.CREATED,
    # The tail of the crash; what the caller must see is that it was one.
    Happening.STARTED: Phase.FAILED,
    Happening.STOPPED: Phase.FAILED,
    Happening.RESUMED: Phase.FAILED,
    Happening.EXITED: Phase.FAILED,
    Happening.CRASHED: Phase.FAILED,
}

TABLE: Mapping[tuple[Phase, Happening], Phase] = MappingProxyType(
    {
        (phase, happening): after
        for phase, row in (
            (Phase.CREATED, _CREATED),
            (Phase.LAUNCHING, _LAUNCHING),
            (Phase.RUNNING, _RUNNING),
            (Phase.PAUSED, _PAUSED),
            (Phase.TERMINATED, _TERMINATED),
            (Phase.FAILED, _FAILED),
        )
        for happening, after in row.items()
    }
)

_NEW_STOP_ID = frozenset({Happening.STOPPED, Happening.RESUMED})


class Lifecycle:
    """The phase of one session, and the number of its present stop.

    `stop_id` rises with every stop and every resume and never falls, so work that
    remembers it knows whether the program has moved since.
    """

    __slots__ = ("phase", "stop_id")

    def __init__(self, phase: Phase = Phase.CREATED, stop_id: int = 0) -> None:
        self.phase = phase
        self.stop_id = stop_id
        self._check()

    def apply(self, happening: Happening) -> Phase:
        """Move, and return the new phase. Raises IllegalTransition and moves nothing."""
        after = TABLE.get((self.phase, happening))
        if after is None:
            raise IllegalTransition(self.phase, happening)
        self.phase = after
        self.stop_id += happening in _NEW_STOP_ID
        self._check()
        return after

    def allows(self, happening: Happening) -> bool:
        """Whether `apply` would take it now."""
        return (self.phase, happening) in TABLE

    def _check(self) -> None:
        assert self.stop_id >= 0
        assert self.stop_id > 0 or self.phase is not Phase.PAUSED, "paused, but nothing stopped"


def as_markdown() -> str:
    """The table for the documentation: a line a happening, a column a phase, `-` if illegal."""
    head = ["happening", *Phase]
    lines = [head, ["---"] * len(head)]
    lines += [[f"`{h}`", *(TABLE.get((p, h), "-") for p in Phase)] for h in Happening]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
