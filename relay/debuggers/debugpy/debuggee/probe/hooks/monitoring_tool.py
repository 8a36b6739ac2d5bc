"""A tool number of `sys.monitoring`, on 3.12 and later: taken, and given back with all its events.

pydevd has a number of its own, so its events stay as they are whatever happens to ours. Of several
tools the one with the highest number is called first.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, frame_at

MONITORING: Any = getattr(sys, "monitoring", None)
_TOOL_NUMBERS = (4, 3, 2)  # 0, 1, 2 and 5 have names: debugger, coverage, profiler, optimizer
instructions_wanted_by: dict[int, Any] = {}
"""By the number of a tool of ours that says it: a function of a code, which has the offsets of the
instructions there that the tool does something at. Of any other tool it may be all."""
BRANCH_EVENTS = ("BRANCH",) if sys.version_info < (3, 14) else ("BRANCH_LEFT", "BRANCH_RIGHT")


def take_tool(name: str, numbers: tuple[int, ...] = _TOOL_NUMBERS) -> int:
    """The first of these numbers that is free, ours from now on; -1 if others have all."""
    tool = next((number for number in numbers if MONITORING.get_tool(number) is None), -1)
    if tool >= 0:
        MONITORING.use_tool_id(tool, f"debug relay {name}")
    return tool


def call_at_events(tool: int, callbacks: Mapping[str, Any]) -> None:
    """Each at the events of its name, from now on; `BRANCH` is of all branches.

    In one call of C: another thread has an event of the earlier ones, or of these.
    """
    events, called = [], []
    for name, callback in callbacks.items():
        for each in BRANCH_EVENTS if name == "BRANCH" else (name,):
            events.append(getattr(MONITORING.events, each))
            called.append(callback)
    tuple(map(MONITORING.register_callback, [tool] * len(events), events, called))


def with_frame(call: Callable[..., Any]) -> Callable[..., Any]:
    """A callback of events that passes on the program's frame."""

    def callback(code: Any, *arguments: Any) -> Any:
        return attempt(call, frame_at(1), code, *arguments)

    return callback


def have_anew(tool: int, code: Any, events: int) -> None:
    """These local events and no others, also where they were not wanted any more (DISABLE).

    In one call of C: a thread that runs the code meanwhile would have none between two of them.
    """
    tuple(map(MONITORING.set_local_events, (tool, tool), (code, code), (0, events)))


def give_back_tool(tool: int, events: Iterable[str], codes: Iterable[Any] = ()) -> None:
    """No more events. `events` names those with a callback; `codes` have local ones."""
    instructions_wanted_by.pop(tool, None)
    MONITORING.set_events(tool, 0)
    for code in codes:
        MONITORING.set_local_events(tool, code, 0)
    for name in events:
        MONITORING.register_callback(tool, getattr(MONITORING.events, name), None)
    MONITORING.free_tool_id(tool)
