"""One stop of the program: what is known of it until it runs again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import trio

from relay.actions import Action
from relay.errors import InvalidSessionState


@dataclass(frozen=True, slots=True)
class Frame:
    """One stack frame. `dap_id` is the adapter's id; clients see the index instead."""

    dap_id: int
    name: str
    path: str | None
    line: int
    column: int = 0
    module: str | None = None
    subtle: bool = False
    moved_on: bool = False
    """Of a post-mortem stop: it has gone on since it raised, and its locals of then are lost."""
    inner: bool = False
    """Of a post-mortem stop: a library's, deeper than the program's own code on top."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What an exception has ended, as the runner, the framework or Python says."""

    ends: str
    """test, thread, task, process, request, command, job, future"""
    name: str | None = None
    """Which: the thread's name, the request's path, the phase of the test."""
    test: str | None = None
    """The runner's id of the test."""
    explanation: str | None = None
    """The runner's own words on it."""
    group: Mapping[str, Any] | None = None
    """`message`, `number` and `of`, where it is one leaf of an exception group."""


@dataclass(frozen=True, slots=True)
class RaisedException:
    """The exception at which the program stopped."""

    type: str
    full_type: str
    message: str
    traceback: str
    break_mode: str = "always"
    expected: bool = False
    """Whether a `with` statement, such as `pytest.raises`, waits for it."""
    chain: Sequence[Mapping[str, Any]] = ()
    """Its causes and contexts, nearest first, each with its own place."""
    notes: str = ""
    """What was added to its message, as by `add_note`."""


@dataclass(slots=True)
class Stop:
    """Everything about the present stop. Dies when the program resumes."""

    id: int
    thread_id: int
    reason: str
    top: Frame | None
    description: str | None = None
    text: str | None = None
    hits: dict[str, int] = field(default_factory=dict)
    """Which hit of each breakpoint that it is for, by the breakpoint's id. Other threads may have
    hit it again since, and wait for their turn."""
    exception: RaisedException | None = None
    failure: Failure | None = None
    """Set at a post-mortem stop: the program has left the frames that are shown."""
    change: dict[str, Any] | None = None
    """What a data breakpoint has seen, if the stop is for one."""
    return_value: dict[str, Any] | None = None
    output_seq: int = 0
    stacks: dict[int, list[Frame]] = field(default_factory=dict)
    held: frozenset[int] | None = None
    """The threads that are stopped. None: all of them, as at any new stop."""
    step_in_targets: frozenset[int] = frozenset()
    """Ids of the calls that somebody was told that a step may go into."""
    process: dict[str, Any] | None = None
    """Where several processes are debugged: `pid` and `name` of the one that stopped."""
    is_stopped: Callable[[int], bool] | None = None
    """Where several processes are debugged: whether the one with this thread is stopped."""
    reached: bool | None = None
    """Whether this is where the program was to run to; None if it was to run to no line."""

    threads: Sequence[Mapping[str, Any]] | None = None
    """All threads, once somebody asked; `asking` is held meanwhile."""
    asking: trio.Lock = field(default_factory=trio.Lock)

    @property
    def hit_breakpoint_ids(self) -> list[str]:
        return list(self.hits)

    def shows(self, frame: Frame) -> bool:
        """Whether this very frame is of this stop; one that is equal may be of an earlier one."""
        stacks = self.stacks.values()
        return frame is self.top or any(frame is one for frames in stacks for one in frames)

    def holds(self, thread_id: int) -> bool:
        """Whether this thread is stopped; the others were let go since."""
        if self.is_stopped is not None and not self.is_stopped(thread_id):
            return False
        return self.held is None or thread_id in self.held

    def require_held(self, thread_id: int, verb: str) -> None:
        """Raise InvalidSessionState for a thread that was let go since."""
        if not self.holds(thread_id):
            raise InvalidSessionState(
                f"Cannot {verb}: thread {thread_id} is running",
                current_state="paused",
                thread_id=thread_id,
                suggestion=Action.PAUSE_THREAD.of(thread_id=thread_id),
            )
