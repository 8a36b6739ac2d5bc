"""What a fault is: the program, when it is done and how, and the ends that are true after it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tests.e2e.rungs import RUNGS

if TYPE_CHECKING:
    from tests.faults.trials.trial import Trial


class Moment(StrEnum):
    """Where the session stands when the fault is done."""

    LAUNCH = "launch"
    """The program is being started: anything of it may be there, or nothing."""
    RUNNING = "running"
    STOP = "stop"
    EVALUATE = "evaluate"
    """At a stop, while an expression is evaluated that hangs."""
    FLOOD = "flood"
    """It prints as fast as it can."""
    TEARDOWN = "teardown"
    """Somebody has just asked for its end."""


@dataclass(frozen=True)
class End:
    """How a session is found after a fault, and what has to be said of it."""

    status: str
    """As the session says, or `gone` if there is none any more."""
    exit_code: int | None = None
    says: str = ""
    """A pattern that is found in the reason, in the last event, or in what refused the launch."""

    def fits(self, found: End) -> bool:
        """Whether `found`, with its whole text in `says`, is such an end."""
        same = (self.status, self.exit_code) == (found.status, found.exit_code)
        return same and re.search(self.says, found.says) is not None


KILLED = End("terminated", -9, "SIGKILL")
REFUSED = End("created", None, "^LAUNCH_FAILED: .")
BROKE_OFF = End("failed", None, "the debug adapter ended without a word")
GONE = End("gone")

Act = Callable[["Trial"], Awaitable[None]]


async def nothing(trial: Trial) -> None:
    """The program does it itself."""


@dataclass(frozen=True)
class Fault:
    """One line of the table of faults."""

    group: str
    name: str
    ends: Sequence[End]
    body: str = ""
    """The program, behind `ready`; for the moments that have one of their own, nothing."""
    moment: Moment = Moment.RUNNING
    act: Act = nothing
    """How the fault is done, once the moment has come."""
    after: Act = nothing
    """What else must be so at the end."""
    launch: Mapping[str, Any] = field(default_factory=dict)
    rungs: Sequence[str] = RUNGS
    prepare: Callable[[Trial], None] = lambda trial: None
    """What is done to the surroundings of the program before it is launched."""
    speaks: bool = True
    """Whether all that it prints is by `say`."""
    own_relay: bool = False
    """Whether the relay itself is harmed."""

    def __str__(self) -> str:
        return f"{self.group}: {self.name}"
