"""ProgramRun: the latest run of a session's program, from its start to what is left of it.

Knows how the run began, how it ended, and what happened that no stop shows: processes that were
killed or had no debugger, a read that waits, the trace of a call. Refuses to know stops (see
`stops.py`) and how a program is started.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import trio

from relay.session.clock import FileMoment
from relay.session.state.recording import Recording

_MOST_SHELL_COMMANDS = 100


@dataclass(frozen=True, slots=True)
class Launched:
    """The program that was started: what the client asked for, resolved."""

    script: str | None
    module: str | None
    args: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    rung: str
    limits: Mapping[str, int] = field(default_factory=dict)
    """What the system bounds of it."""
    own_folder: str | None = None
    """Where the script lies, if it is one of the program's own."""

    @property
    def label(self) -> str:
        return self.script or self.module or ""


@dataclass(frozen=True, slots=True)
class DebuggerReport:
    """The debugger inside a program, as it says itself when the program starts."""

    name: str
    version: str | None
    limitations: tuple[str, ...] = ()
    """In words: what the relay cannot do with it."""


@dataclass(frozen=True, slots=True)
class Loss:
    """A process that was killed, and nobody had asked it anything."""

    words: str
    pid: int | None
    """Of a child; None for the program itself."""


@dataclass(frozen=True, slots=True)
class FailedWithoutStop:
    """A test that has failed though nothing was raised; the process where it was in none."""

    test: str | None
    words: str
    path: str | None = None
    line: int | None = None
    function: str | None = None
    """Where the statement stands by which it has failed, if one is known."""


@dataclass(frozen=True, slots=True)
class LoadedCopy:
    """What a process has loaded in place of a file that was named: the module, and the file it is from."""

    module: str
    path: str


@dataclass(frozen=True, slots=True)
class WantedCalls:
    """Whose calls are to be recorded: absolute paths and modules, and the function to begin at."""

    focus: Sequence[str]
    start: str | None = None
    stream: str | None = None
    """A file that gets a line for each call, in place of the tree."""
    rereads: bool = False
    """Whether that line has what has become of the arguments by the end of the call."""
    seed: int | None = None
    """Of the addresses at which the program's objects lie; None: as they come."""
    chance: Mapping[str, Any] | None = None
    """What generators of random numbers begin with, as the inspector takes it; None: the system decides."""
    trees: Sequence[str] = ()
    """Paths that are left out of the texts of the stream before these are cut, the inner ones first."""
    other_tree: str | None = None
    """A folder whose sources are not this program's, of which those that it imports all the same are told."""
    whole: Mapping[str, Any] | None = None
    """Of which calls the stream has all that their values store, as the inspector takes it; None: all."""


class ProgramRun:
    """Read its fields; its methods change them."""

    def __init__(self) -> None:
        self.launched: Launched | None = None
        """Of the latest start that succeeded."""
        self.debugger_report: DebuggerReport | None = None
        """The debugger in the program, as it says itself."""
        self.last_pid: int | None = None
        """The process of the latest program that ran, once it is over."""
        self.first_output = 0
        """Number of the last entry of output before this run."""
        self.exit_code: int | None = None
        self.reason: str | None = None
        """Why the run is over, or the session."""
        self.trace = Recording()
        """Of one call."""
        self.calls = Recording()
        """Of the tree of own calls."""
        self.wanted_trace: Mapping[str, Any] | None = None
        """Of the next start: what begins a trace in each process that joins."""
        self.wanted_calls: WantedCalls | None = None
        """Of the next start: own calls are recorded from its beginning."""
        self.needs_data_breakpoints = False
        """Whether a start is in vain with a debugger that says, as it starts, that it has none."""
        self.lost: str | None = None
        """How a process was killed, until the program resumes."""
        self.was_lost_itself = False
        """Whether `lost` is of the program itself, and so of how the run ended."""
        self.losses: list[Loss] = []
        """The same, of the whole run."""
        self.heard: set[int] = set()
        """Children that had said all that only they knew when they were killed."""
        self.without_stop: list[FailedWithoutStop] = []
        """Tests that have failed though nothing was raised."""
        self.copies: dict[str, LoadedCopy] = {}
        """By real paths of files that breakpoints or questions name, and that a process has not loaded."""
        self.unwatched: dict[int, Sequence[str] | None] = {}
        """Children without a debugger: their command lines by process id."""
        self.debugged: set[int] = set()
        """Children that were debugged with the program, by process id."""
        self.ran_shell = False
        """Whether os.system was called, which names no process, without the debugger."""
        self.shell_commands: set[str] = set()
        """What it was called with, some of it."""
        self.prompt: str | None = None
        """What the program asks for on standard input; None while it does not wait for any."""
        self.start_moment: FileMoment | None = None
        """When the program was started last; None before that."""
        self._started_at: float | None = None
        self._ended_at: float | None = None
        self._resumed_at = -math.inf

    # Invariants: `lost` is in the words of one of `losses`, or None; a run has no end without a start.

    @property
    def runtime_seconds(self) -> float:
        """How long the program has run; 0 before it was started."""
        if self._started_at is None:
            return 0.0
        end = trio.current_time() if self._ended_at is None else self._ended_at
        return round(end - self._started_at, 3)

    @property
    def seconds_since_resumed(self) -> float:
        """How long ago it was last started or sent on."""
        return trio.current_time() - self._resumed_at

    def begin(self, last_output: int) -> None:
        """A start was asked for; `last_output` is the number of the last entry before it."""
        self.exit_code = self.reason = self.lost = None
        self.was_lost_itself = False
        self.trace.forget()
        self.calls.forget()
        self.first_output = last_output
        self.losses.clear()
        self.heard.clear()
        self.without_stop.clear()
        self.copies.clear()
        self.unwatched.clear()
        self.debugged.clear()
        self.shell_commands.clear()
        self.ran_shell = False

    def started(self, launched: Launched) -> None:
        """The program is under the debugger."""
        self.launched = launched
        self.wanted_calls = self.wanted_trace = None
        self._started_at = self._resumed_at = trio.current_time()
        self._ended_at = None
        self.start_moment = FileMoment()

    def ended(self, exit_code: int | None, reason: str) -> None:
        """The program is over, or its debugger has broken off."""
        self.exit_code, self.reason = exit_code, reason
        self._ended_at = trio.current_time()

    def session_ended(self, reason: str) -> None:
        """The session is over, whatever the program did."""
        self.reason = reason

    def process_ended(self, pid: int | None) -> None:
        """Nothing is left of the process with this number."""
        self.last_pid = pid

    def found_exit_code(self, exit_code: int | None) -> None:
        """The process was ended from here: its exit code is known later than its end."""
        if self.exit_code is None:
            self.exit_code = exit_code

    def resumed(self) -> None:
        """Clients have seen what was lost before."""
        self.lost = None
        self._resumed_at = trio.current_time()

    def lose(self, words: str, pid: int | None = None, *, itself: bool = False) -> None:
        """A process was killed, and nobody had asked it anything: clients are to learn of it."""
        if itself or self.lost is None:  # others may have been ended because of the first
            self.lost, self.was_lost_itself = words, itself
        self.losses.append(Loss(words, pid))

    def hear_last_words(self, pid: int) -> None:
        """A child is about to be killed, and nothing is lost with it."""
        self.heard.add(pid)

    def fail_without_stop(self, failed: FailedWithoutStop) -> None:
        """A test has failed; no stop tells of it. What ends a worker is said by two, in either order:
        the process that it works for knows no statement, and its word is left out.
        """
        same = [one for one in self.without_stop if one.test == failed.test is not None]
        if failed.path is not None:
            for one in same:
                if one.path is None:
                    self.without_stop.remove(one)
        elif any(one.path is not None for one in same):
            return
        self.without_stop.append(failed)

    def load_copies(self, copies: Mapping[str, LoadedCopy]) -> None:
        """A process has ended that had loaded these in place of files that were named."""
        self.copies.update(copies)

    def leave_unwatched(self, pid: int, argv: Sequence[str] | None) -> None:
        """A child runs without a debugger; `argv` None: a fork of the program."""
        self.unwatched[pid] = argv

    def debug_child(self, pid: int) -> None:
        """A child has joined, and is debugged with the program."""
        self.debugged.add(pid)

    def run_shell(self, command: str | None) -> None:
        """A shell ran below the program, without a debugger and without a number."""
        self.ran_shell = True
        if command is not None and len(self.shell_commands) < _MOST_SHELL_COMMANDS:
            self.shell_commands.add(command)

    def wait_for_input(self, prompt: str) -> None:
        """A read of standard input waits."""
        self.prompt = prompt

    def stop_waiting(self) -> None:
        """No read of standard input waits any more."""
        self.prompt = None

    def want_trace(self, wanted: Mapping[str, Any]) -> None:
        """Have the processes that the next start's program starts begin this trace as they join."""
        self.wanted_trace = wanted

    def want_calls(self, wanted: WantedCalls | None) -> None:
        """Have the next start recorded from its beginning."""
        self.wanted_calls = wanted

    def need_data_breakpoints(self) -> None:
        """Have the next starts fail, before the program runs, where the debugger has none."""
        self.needs_data_breakpoints = True

    def know_debugger(self, report: DebuggerReport) -> None:
        """What the debugger says of itself at the start of a program."""
        self.debugger_report = report
