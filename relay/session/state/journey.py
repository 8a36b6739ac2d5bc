"""Journey: how clients have brought a program from its launch to where it stands.

Knows what has to be done again so that another run of the same launch comes to the same stop, or
why that cannot be. Refuses to do it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import trio

from relay.session.clock import FileMoment
from relay.session.state.breakpoints import Breakpoint, BreakpointTable
from relay.session.state.exception_breakpoints import ExceptionBreakpoints
from relay.session.state.run_target import RunTarget
from relay.session.state.stop import Stop

if TYPE_CHECKING:
    from relay.session.debuggee.launch_plan import LaunchPlan

MOST_LEGS = 1000
"""Stops that another run would have to go through; beyond that it is not tried."""

IN_CHILD = "it stopped in a child process, and only the program itself is run again"
NOT_LAUNCHED = "the program was not launched by this session: it cannot be started again"
NOT_COME_TO = "another run cannot be brought to one of its stops"

REPEATED_REASONS = frozenset(
    {"breakpoint", "function breakpoint", "step", "entry", "exception", "goto"}
)
"""Of stops: those that the same commands come to again."""


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """Where the program is to stop: breakpoints that stop it, and exceptions."""

    breakpoints: tuple[Breakpoint, ...] = ()
    exceptions: ExceptionBreakpoints = field(default_factory=ExceptionBreakpoints)

    def is_as(self, other: Setting) -> bool:
        """Whether a client has asked for the same: what else breakpoints have is learned in a run."""
        if self.exceptions != other.exceptions:
            return False
        # Most often nothing was set meanwhile, and then a stop is not to cost what many breakpoints do.
        return self.breakpoints is other.breakpoints or self._asked() == other._asked()

    def _asked(self) -> list[tuple[object, ...]]:
        return [(one.place, one.condition, one.hit_condition) for one in self.breakpoints]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stop was, as far as another run has the same."""

    reason: str
    path: str | None
    line: int
    function: str

    @classmethod
    def of(cls, stop: Stop) -> Place:
        top = stop.top
        if top is None:
            return cls(stop.reason, None, 0, "")
        return cls(stop.reason, top.path, top.line, top.name)


@dataclass(frozen=True, slots=True)
class Leg:
    """From one stop to the next: a command of DAP, and what could stop the program then."""

    command: str
    granularity: str | None
    target: tuple[str, int] | None
    setting: Setting
    arrived: Place | None = None


class Journey:
    """Read its fields; its methods change them."""

    def __init__(self) -> None:
        self.plan: LaunchPlan | None = None
        """The launch, with all that the program was given."""
        self.start = Setting()
        """What could stop the program from its launch on."""
        self.first: Place | None = None
        self.legs: list[Leg] = []
        self.obstacle: str | None = NOT_LAUNCHED
        """Why it cannot be done again."""
        self.not_come_to: tuple[int, Place] | None = None
        """The stop that is the obstacle, by its id, if one is: another run cannot be brought to it."""
        self.began_at: FileMoment | None = None
        """When the launch was asked for."""
        self.asking = trio.Lock()
        """Held while another run is under way: one at a time."""
        self._is_announced = False

    # Invariant: every leg but the last has arrived somewhere.

    def begin(self, plan: LaunchPlan | None, setting: Setting) -> None:
        """A program is about to be started; without a plan it is attached to."""
        self.plan, self.start, self.first = plan, setting, None
        self.legs.clear()
        self.not_come_to = None
        self.began_at = FileMoment()
        self.obstacle = NOT_LAUNCHED if plan is None else None
        self._is_announced = True

    def begin_with_seed(self, hash_seed: int | None) -> None:
        """The process that runs the program was started with this one."""
        if self.plan is not None:
            self.plan = replace(self.plan, hash_seed=hash_seed)

    def leave(self, leg: Leg) -> None:
        """A command that resumes the program is about to be sent."""
        if len(self.legs) >= MOST_LEGS:
            self.disturb(f"it has stopped more than {MOST_LEGS} times before")
        if self.obstacle is None:
            self.legs.append(leg)
        self._is_announced = True

    def resumed(self) -> None:
        """The program runs; by a command that was announced, if it can be given again."""
        if not self._is_announced:
            self.disturb("its threads were resumed one by one")
        self._is_announced = False

    def arrive(self, stop: Stop, setting: Setting, *, in_child: bool) -> None:
        """The program has stopped, or a child of it."""
        if self.obstacle is not None:
            return
        place, goes_by = Place.of(stop), self.legs[-1].setting if self.legs else self.start
        if in_child:
            self.disturb(IN_CHILD)
        elif stop.reason not in REPEATED_REASONS or (self._was_traced(stop)):
            self.not_come_to = stop.id, place
            self.disturb(NOT_COME_TO)
        elif not goes_by.is_as(setting):
            self.disturb("breakpoints were changed while it ran")
        elif self.legs:
            self.legs[-1] = replace(self.legs[-1], arrived=place)
        else:
            self.first = place

    def _was_traced(self, stop: Stop) -> bool:
        """Whether the end of a call that was recorded stopped it, and no step."""
        return stop.reason == "step" and (not self.legs or self.legs[-1].command == "continue")

    def disturb(self, why: str) -> None:
        """Something was done to the program that another run would not have."""
        self.obstacle = self.obstacle or why


def setting_of(table: BreakpointTable, exceptions: ExceptionBreakpoints) -> Setting:
    """What stops a program now. Breakpoints that never stop are left out."""
    return Setting(table.stopping(), exceptions)


def leg_of(
    command: str, granularity: str | None, target: RunTarget | None, setting: Setting
) -> Leg:
    """A leg that begins now."""
    place = None if target is None else (target.path, target.line)
    return Leg(command, granularity, place, setting)
