"""Relay, adapter, guardian and debuggee, killed at each moment of a session."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence

import trio

from tests.e2e.rungs import RUNGS
from tests.faults.trials.fault import BROKE_OFF, GONE, KILLED, REFUSED, Act, End, Fault, Moment
from tests.faults.trials.trial import Trial

LATEST = {Moment.LAUNCH: 0.6, Moment.TEARDOWN: 0.03}
"""Seconds after the moment has begun within which it is killed; else a quarter of one."""

GUARDIAN = " debug-relay="
ADAPTER = "/debugpy/adapter"
OWN = (GUARDIAN, f"{ADAPTER} ", "/debugpy/launcher ", "uname ")
"""What tells the debugger's processes from the program, in their command lines with a space behind.
The adapter asks `uname` about the machine, for its log."""

Victim = Callable[[Trial], int | None]


def guardian(trial: Trial) -> int | None:
    """The newest guardian: that of the program, once there is one."""
    return max(_guardians(trial), default=None)


def debuggee(trial: Trial) -> int | None:
    """The program itself, which may have the debugger's processes above it, and none below."""
    below = trial.lane.below()
    return next(
        (pid for pid, text in below.items() if not any(own in f"{text} " for own in OWN)), None
    )


def adapter(trial: Trial) -> int | None:
    """debugpy's adapter, on the rung that has one."""
    below = trial.lane.below()
    return next((pid for pid, text in below.items() if text.endswith(ADAPTER)), None)


def _guardians(trial: Trial) -> list[int]:
    return [pid for pid, text in trial.lane.below().items() if GUARDIAN in text]


def kill(victim: Victim) -> Act:
    """SIGKILL for it, some time after the moment has begun; as soon as it is there."""

    async def act(trial: Trial) -> None:
        await trio.sleep(trial.lot.uniform(0, LATEST.get(trial.fault.moment, 0.25)))
        if trial.fault.moment is Moment.TEARDOWN:  # it may have gone by itself
            pid = victim(trial)
        else:
            await trial.until(lambda: victim(trial) is not None, "what is to be killed")
            pid = victim(trial)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    return act


async def kill_relay(trial: Trial) -> None:
    """SIGKILL for the relay, some time after the moment has begun."""
    await trio.sleep(trial.lot.uniform(0, LATEST.get(trial.fault.moment, 0.25)))
    await trial.check_killed_relay()


ENDED_BY_REQUEST = (
    End("terminated", -9),
    End("terminated", -15),
    End("terminated", None, "^terminated"),  # the adapter was gone, and knew it alone
    GONE,
)
VICTIMS: dict[str, tuple[Victim, Sequence[str], End]] = {
    "debuggee": (debuggee, RUNGS, KILLED),
    "guardian": (guardian, RUNGS, KILLED),
    "adapter": (adapter, ["adapter"], BROKE_OFF),
}


def _ends(moment: Moment, usual: End) -> Sequence[End]:
    if moment is Moment.LAUNCH:
        return (usual, REFUSED)
    if moment is Moment.TEARDOWN:
        return (usual, *ENDED_BY_REQUEST)
    return (usual,)


def _killings() -> Iterator[Fault]:
    for moment in Moment:
        for name, (victim, rungs, usual) in VICTIMS.items():
            yield Fault(
                f"{name} killed",
                f"at {moment}",
                _ends(moment, usual),
                moment=moment,
                act=kill(victim),
                rungs=rungs,
            )
        yield Fault(
            "relay killed", f"at {moment}", (), moment=moment, act=kill_relay, own_relay=True
        )


KILLINGS = list(_killings())
