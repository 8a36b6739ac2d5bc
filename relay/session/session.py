"""Session: one trio nursery, the phase, the logs. Has no verbs; those are in `relay.operations`.

Leaving the nursery, for whatever reason, is the only way in which a session
ends: DELETE, the idle deadline, shutdown or a cancelled embedder all cancel one
scope. A debuggee is a child task of that nursery (see `debuggee.py`).
Source: contract, sections 2 and 4.
"""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

import trio

from relay.actions import Action
from relay.config import Settings
from relay.dap.lifecycle import Happening, Lifecycle, Phase
from relay.errors import InvalidSessionState, RelayError, SessionCrashed
from relay.metrics import Metrics
from relay.models.adapters import DEFAULT_ADAPTER
from relay.models.launch import AttachRequest, LaunchRequest
from relay.process.tap import Tap
from relay.redaction.redaction import Redaction
from relay.session.clock import utc_now
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debuggee.exit_text import describe_exit, while_stopped
from relay.session.debuggee.start import Launched, Start, Starter
from relay.session.debugger import Debugger, KnownDebuggers
from relay.session.event_log import EventLog
from relay.session.idle_timer import IdleTimer
from relay.session.output_log import OutputLog
from relay.session.state.breakpoints import BreakpointTable
from relay.session.state.captures import CaptureLogs
from relay.session.state.debugger_report import DebuggerReport
from relay.session.state.exception_breakpoints import ExceptionBreakpoints
from relay.session.state.run_history import Runs
from relay.session.state.run_target import Target
from relay.session.state.seen_values import SeenValues
from relay.session.state.stop import Stop
from relay.session.state.watches import WatchTable

log = logging.getLogger("relay.session")

OVER = frozenset({Phase.TERMINATED, Phase.FAILED})


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """What a session is created with; paths are absolute."""

    project_root: str
    python_path: str
    timeout_minutes: int = 60
    stop_on_entry: bool = False
    adapter: str = DEFAULT_ADAPTER
    python_given: bool = False
    """Whether somebody named the interpreter; else a launch looks for the program's own."""


class Keeper(Protocol):
    """What a session's definition survives in. Both return when it is done."""

    async def keep(self, session: Session) -> None: ...
    async def forget(self, session: Session) -> None: ...


class Session:
    """State of one debug session. Operations change it; faces read it."""

    def __init__(
        self,
        session_id: str,
        name: str | None,
        config: SessionConfig,
        settings: Settings,
        debuggers: KnownDebuggers,
    ) -> None:
        self.id = session_id
        self.name = name or f"session-{session_id.removeprefix('sess_')}"
        self.config = config
        self.settings = settings
        self.debuggers = debuggers
        self.created_at: datetime = utc_now()
        self.lifecycle = Lifecycle()
        self.metrics = Metrics()  # in a hub, the hub's
        self.events = EventLog(settings.event_limit)
        self.output = OutputLog(settings.output_limit_bytes)
        self.breakpoints = BreakpointTable()
        self.dap_breakpoint_ids: dict[int, str] = {}
        self.captures = CaptureLogs()
        self.exceptions = ExceptionBreakpoints()
        self.looks_out = False  # for files of pending breakpoints
        self.watches = WatchTable()
        self.seen = SeenValues()  # what reports have shown of locals
        self.tap: Tap | None = None  # who passes on what its programs print
        self.redaction = Redaction(settings.redact_patterns, settings.redact_credentials)
        self.launched: Launched | None = None
        self.debugger_report: DebuggerReport | None = None  # of its program
        self.launch_request: LaunchRequest | None = None  # what a restart repeats
        self.attach_request: AttachRequest | None = None
        self.keeper: Keeper | None = None
        self.debuggee: Debuggee | None = None
        self.stop: Stop | None = None
        self.stop_before: Stop | None = None  # the latest one of this run that is over
        self.shown = 0  # number of the last event whose output an agent has been shown
        self.run_began = 0  # number of the last entry of output before this run
        self.target: Target | None = None  # where it runs to, until it stops
        self.runs = Runs()
        self.trace: Mapping[str, Any] | None = None  # of a call, told as the program ended
        self.unwatched: dict[int, Sequence[str] | None] = {}  # had no debugger
        self.ran_shell = False  # by os.system, which names no process, without the debugger
        self.lost: str | None = None  # how a process was killed, until the next resume
        self.losses: list[str] = []  # the same, of the whole run
        self.exit_code: int | None = None
        self.reason: str | None = None
        self.waiting_for_input: str | None = None  # the prompt; None if it does not wait
        self.opened = trio.Event()
        self.closed = trio.Event()
        self.is_ending = False
        self.expired = False
        self.discarded = False
        self.last_pid: int | None = None
        self._scope = trio.CancelScope()
        self._idle = IdleTimer(self._scope, lambda: self.timeout_seconds)
        self._started_at: float | None = None
        self._ended_at: float | None = None

    # Invariants: `stop` is set exactly in PAUSED; `debuggee` is set from the
    # start of a launch until its teardown is over.

    @property
    def phase(self) -> Phase:
        return self.lifecycle.phase

    @property
    def debugger(self) -> Debugger:
        """The debugger that drives the session; one that starts nothing if nobody knows it now."""
        return self.debuggers.named(self.config.adapter)

    @property
    def is_over(self) -> bool:
        """Whether the program has ended, for good or ill."""
        return self.phase in OVER

    @property
    def pid(self) -> int | None:
        """The program's process id, also after its end."""
        return self.debuggee.pid if self.debuggee is not None else self.last_pid

    @property
    def timeout_seconds(self) -> float:
        return self.config.timeout_minutes * 60.0

    @property
    def expires_at(self) -> datetime:
        """When the session ends if nobody asks for it from now on."""
        return utc_now() + timedelta(seconds=self._idle.seconds_left)

    @property
    def timed_out(self) -> bool:
        """Whether the idle timeout is over; what runs is being ended, or has been."""
        return self.expired or (self._scope.cancel_called and not self.is_ending)

    @property
    def idle_until(self) -> float:
        """When the idle timeout is over, or was, in trio's time; infinite while it rests."""
        return self._idle.over_at

    @property
    def warning(self) -> str | None:
        """From half of the idle timeout on: how long the session has left, in whole minutes."""
        return self._idle.warning

    @property
    def runtime_seconds(self) -> float:
        """How long the program has run; 0 before it was started."""
        if self._started_at is None:
            return 0.0
        end = trio.current_time() if self._ended_at is None else self._ended_at
        return round(end - self._started_at, 3)

    @property
    def exception_filters(self) -> tuple[str, ...]:
        """DAP's filters that are in force."""
        return self.exceptions.filters

    # The nursery ---------------------------------------------------------------

    async def run(self) -> None:
        """Hold the session open until it is ended, expires, or its opener is cancelled."""
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    self._nursery = nursery
                    self._idle.rest()
                    nursery.start_soon(self._idle.warn_at_half_time, self._warn)
                    self.opened.set()
                    await trio.sleep_forever()
            self.expired = not self.is_ending
        except Exception:
            log.exception("session %s failed", self.id)
            self.reason = "internal error"
        finally:
            await self._forget_if_over()
            self._conclude()

    def _conclude(self) -> None:
        self.is_ending = True
        if self.expired:
            self.reason = "timeout"
        if not self.is_over:
            self.lifecycle.apply(Happening.ENDED)
        self.stop = None
        self.events.close()
        self.opened.set()
        self.closed.set()

    def start_soon(self, task: Callable[..., Awaitable[object]], *args: Any) -> None:
        """Run a task of the session's own until the session ends. It must not raise."""
        # A task started from a request would carry that request's context for ever.
        contextvars.Context().run(self._nursery.start_soon, task, *args)

    def end(self, *, discard: bool = False) -> None:
        """Cancel the session; `closed` is set once nothing of it runs any more.

        With `discard` its definition is forgotten, too; else the next relay has it again.
        """
        self.is_ending = True
        self.discarded |= discard
        self._scope.cancel()

    async def keep(self) -> None:
        """Have the definition survive the relay, as it is now; call it after each change."""
        if self.keeper is not None and not (self.discarded or self.expired):
            await self.keeper.keep(self)

    async def _forget_if_over(self) -> None:
        if self.keeper is not None and (self.discarded or self.expired):
            with trio.CancelScope(shield=True):
                await self.keeper.forget(self)

    def _warn(self, text: str | None) -> None:
        self.events.append("warning", {"message": text})

    def activity(self) -> AbstractContextManager[None]:
        """While open, the idle timer rests; on leaving it starts anew."""
        return self._idle.activity()

    # Legality ------------------------------------------------------------------

    def require(self, verb: str, *phases: Phase) -> None:
        """Raise InvalidSessionState unless the session is in one of `phases`."""
        if self.phase in phases:
            return
        wanted = " or ".join(phases)
        raise InvalidSessionState(
            f"Cannot {verb}: session is not {wanted}" + (f": {self.lost}" if self.lost else ""),
            current_state=self.phase.value,
            required_state=wanted,
            suggestion=_way_out(self.phase, phases),
            **({} if self.exit_code is None else {"exit_code": self.exit_code}),
        )

    def require_stop(self, verb: str) -> Stop:
        """The present stop; raises InvalidSessionState unless paused."""
        self.require(verb, Phase.PAUSED)
        assert self.stop is not None
        return self.stop

    def require_debuggee(self, verb: str) -> Debuggee:
        """The live debuggee; raises InvalidSessionState unless running or paused."""
        self.require(verb, Phase.RUNNING, Phase.PAUSED)
        assert self.debuggee is not None
        group = self.debuggee.group
        return self.debuggee if group is None else group.current

    def require_program(self, verb: str) -> Debuggee:
        """The program itself, wherever it stands; raises as `require_debuggee` does."""
        debuggee = self.require_debuggee(verb)
        return debuggee if debuggee.group is None else debuggee.group.program

    async def program_lost(self, verb: str) -> RelayError:
        """The error to raise after the debuggee hung up in the middle of `verb`."""
        with trio.move_on_after(5):
            if self.debuggee is not None:
                await self.debuggee.gone.wait()
        if self.phase is Phase.FAILED:
            return SessionCrashed(f"the debugger broke off during {verb}", reason=self.reason)
        return InvalidSessionState(
            f"The program ended during {verb}",
            current_state=self.phase.value,
            exit_code=self.exit_code,
            suggestion=Action.READ_LAST_OUTPUT,
        )

    # The debuggee ----------------------------------------------------------------

    async def start(self, starters: Sequence[tuple[Launched, Starter]]) -> None:
        """Start a debuggee on the first rung that fits; raises RelayError, then as before.

        The work goes on in the session's own nursery when the asker is cancelled.
        """
        happening = Happening.RELAUNCH_REQUESTED if self.is_over else Happening.LAUNCH_REQUESTED
        self.lifecycle.apply(happening)
        self.exit_code = self.reason = self.trace = None
        self.run_began, self.shown = self.output.last_seq, self.events.last_seq
        self.stop_before = None
        self.lost = None
        self.losses.clear()
        self.unwatched.clear()
        self.ran_shell = False
        start = Start(self, starters)
        try:
            contextvars.Context().run(self._nursery.start_soon, start.run)
        except RuntimeError:  # the nursery is closed: the session ended since it was asked for
            await trio.lowlevel.checkpoint_if_cancelled()
            raise start.ended() from None
        await start.outcome()

    # What happens to the program ---------------------------------------------------

    def announce_start(self, launched: Launched) -> None:
        """The program is under the debugger; it may have stopped already."""
        self.launched = launched
        self._started_at, self._ended_at = trio.current_time(), None
        if self.phase is Phase.LAUNCHING:
            self.lifecycle.apply(Happening.STARTED)

    def announce_stop(self, stop: Stop, body: Mapping[str, Any]) -> None:
        """The program has stopped: `stop` is in force, and every waiter is told."""
        self.lifecycle.apply(Happening.STOPPED)
        stop.id = self.lifecycle.stop_id
        self.stop = stop
        self.metrics.stops[stop.reason] += 1
        self.events.append("stopped", dict(body))

    def announce_resume(self, thread_id: int | None) -> None:
        """The program runs: the stop and everything that belongs to it are dead."""
        self.lifecycle.apply(Happening.RESUMED)
        self.stop_before, self.stop = self.stop, None
        self.lost = None
        self.events.append("continued", {"thread_id": thread_id, "all_threads_continued": True})
        if self.debuggee is not None and self.debuggee.group is not None:
            self.debuggee.group.resumed()

    def announce_release(self, thread_id: int, left: Stop) -> None:
        """One thread runs, the others stay: `left` is the stop that is in force now."""
        self.lifecycle.apply(Happening.RESUMED)
        self.lifecycle.apply(Happening.STOPPED)
        left.id = self.lifecycle.stop_id
        self.stop = left
        self.events.append("continued", {"thread_id": thread_id, "all_threads_continued": False})

    def announce_exit(
        self, exit_code: int | None, reason: str = "target_exited", *, restart: bool = False
    ) -> None:
        """The program has ended, and all it printed is in the log."""
        self.lifecycle.apply(Happening.EXITED)
        stop = self.stop if reason == "target_exited" else None
        self._over(exit_code, reason)
        body: dict[str, Any] = {"exit_code": exit_code, "restart": restart}
        if exit_code:
            body["error"] = describe_exit(exit_code) + while_stopped(stop)
            if stop is not None:
                self.note_loss("the program" + body["error"].removeprefix("Process"))
        self.events.append("terminated", body)

    def note_loss(self, words: str) -> None:
        """A process was killed: clients are to learn of it, though nobody asked it anything."""
        self.lost = words
        self.losses.append(words)

    def crash(self, reason: str) -> None:
        """The debugger broke off: the session cannot go on."""
        if self.is_over:
            return
        self.lifecycle.apply(Happening.CRASHED)
        self._over(self.exit_code, reason)
        self.events.append("terminated", {"exit_code": None, "restart": False, "error": reason})

    def _over(self, exit_code: int | None, reason: str) -> None:
        self.stop = self.target = None
        self.exit_code = exit_code
        self.reason = reason
        self._ended_at = trio.current_time()

    def print(self, category: str, text: str) -> None:
        """Text of the program, or of the debugger (`console`), as output and event."""
        self.metrics.note_output(category, text)
        self.output.append(category, text)
        self.events.append(
            "output",
            {"category": category, "output": text, "source": None, "line": None, "column": None},
        )


def _way_out(phase: Phase, wanted: Sequence[Phase]) -> Action:
    if phase is Phase.CREATED:
        return Action.START_PROGRAM
    if phase in OVER:
        return Action.RUN_AGAIN
    if phase is Phase.LAUNCHING:
        return Action.WAIT_FOR_START
    if Phase.PAUSED in wanted:
        return Action.PAUSE
    if phase is Phase.PAUSED:
        return Action.CONTINUE
    return Action.CREATE_SESSION
