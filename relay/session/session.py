"""Session: one trio nursery, the status, and the parts that it is made of. Has no verbs.

Leaving the nursery, for whatever reason, is the only way in which a session
ends: DELETE, the idle deadline, shutdown or a cancelled embedder all cancel one
scope. A debuggee is a child task of that nursery (see `debuggee.py`). The verbs are
in `relay.operations`.
Source: contract, sections 2 and 4.
"""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, Protocol

import trio

from relay.actions import Action
from relay.asker import asker
from relay.config import Settings
from relay.dap.lifecycle import Happening, Lifecycle, Phase
from relay.errors import InvalidSessionState, RelayError, SessionCrashed
from relay.logs.records import note
from relay.metrics import Metrics
from relay.process.tap import Tap
from relay.redaction.redaction import Redaction
from relay.session.children.process_group import ProcessGroup
from relay.session.clock import utc_now
from relay.session.dap.dap_log import DapLog
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debuggee.start import Start, Starter
from relay.session.debugger import Debugger, KnownDebuggers
from relay.session.event_log import EventLog
from relay.session.idle_timer import IdleTimer
from relay.session.output_log import OutputLog
from relay.session.program_events import ProgramEvents
from relay.session.request_log import RequestLog
from relay.session.standby import Standby
from relay.session.state.breakpoints import BreakpointTable
from relay.session.state.captures import CaptureLogs
from relay.session.state.data_breakpoints import DataBreakpointTable
from relay.session.state.exception_breakpoints import ExceptionBreakpoints
from relay.session.state.holding import Holding
from relay.session.state.journey import Journey
from relay.session.state.line_runs import LineRuns
from relay.session.state.program_run import Launched, ProgramRun
from relay.session.state.report_history import ReportHistory
from relay.session.state.session_definition import SessionDefinition, SessionOptions
from relay.session.state.stop import Stop
from relay.session.state.stops import Stops
from relay.session.state.watches import WatchTable

log = logging.getLogger("relay.session")

OVER = frozenset({Phase.TERMINATED, Phase.FAILED})


FAILED = "internal error"
"""Why a session is over in which the relay itself went wrong."""


class Keeper(Protocol):
    """What a session's definition survives in. Both return when it is done."""

    async def keep(self, session: Session) -> None: ...
    async def forget(self, session: Session) -> None: ...


class Session:
    """One debug session. Faces read its parts; operations and debuggees call their methods.

    No field of a session, or of one of its parts, is assigned through the session from outside, as by
    `session.stops.target = …`. What a part hands out, a Stop say, is filled in by who learns of it.

    definition        name, settings, launch or attach, exceptions: what survives the relay
    breakpoints, captures, watches    the rest of it, as tables, and what they have recorded
    data_breakpoints  places of the state of the present run at whose changes it stops
    lifecycle         the status, and which may follow it
    program_run       the latest run of the program: how it began, how it ended, what was lost
    stops             the stop in force, the one before, and where the program is to run to
    journey           how the program was brought where it stands, to do so again in another run
    line_runs         what is remembered of runs to a line
    report_history    what reports have shown already
    holding           who has taken the session for itself
    program_events    what happens to the program: changes the four above, writes the two logs
    events, output    the logs that clients read; requests: who asked what; dap_log: the debugger's
    redaction         what is masked in whatever is shown
    debuggee          the program while it lives, with its processes and tasks
    """

    def __init__(
        self,
        session_id: str,
        name: str | None,
        config: SessionOptions,
        settings: Settings,
        debuggers: KnownDebuggers,
        *,
        created_at: datetime | None = None,
        log_mark: str = "",
        metrics: Metrics | None = None,
        keeper: Keeper | None = None,
        standby: Standby | None = None,
    ) -> None:
        self.id = session_id
        self.created_at = created_at or utc_now()
        self.settings = settings
        self.debuggers = debuggers
        self.definition = SessionDefinition(
            name or f"session-{session_id.removeprefix('sess_')}", config
        )
        self.breakpoints = BreakpointTable()
        self.captures = CaptureLogs()
        self.data_breakpoints = DataBreakpointTable()
        self.watches = WatchTable()
        self.lifecycle = Lifecycle()
        self.program_run = ProgramRun()
        self.stops = Stops()
        self.journey = Journey()
        self.line_runs = LineRuns()
        self.report_history = ReportHistory()
        self.holding = Holding()
        self.metrics = metrics or Metrics()
        self.events = EventLog(settings.event_limit)
        self.requests = RequestLog(settings.event_limit)
        self.dap_log = DapLog()
        self.output = OutputLog(settings.output_limit_bytes)
        self.program_events = ProgramEvents(self)
        self.log_mark = log_mark
        """Tells the cursors of these logs from those that an earlier relay gave; empty if there was none."""
        self.redaction = Redaction(settings.redact_patterns, settings.redact_credentials)
        self.standby = standby
        """Debuggees that were started ahead, of all sessions; None where nobody keeps any."""
        self.tap: Tap | None = None
        """Takes every byte that the session's programs print."""
        self.debuggee: Debuggee | None = None
        self._start: Start | None = None
        self.opened = trio.Event()
        self.closed = trio.Event()
        self.is_ending = False
        self.expired = False
        self.discarded = False
        self._keeper = keeper
        self._tasks_once: set[Callable[..., Awaitable[object]]] = set()
        self._scope = trio.CancelScope()
        self._idle = IdleTimer(self._scope, lambda: self.timeout_seconds)

    # Invariants: `stop` is set exactly in PAUSED; `debuggee` is set from the start of a launch
    # until its teardown is over, and a session has one at a time.

    # What everybody reads ------------------------------------------------------

    @property
    def phase(self) -> Phase:
        return self.lifecycle.phase

    @property
    def debugger(self) -> Debugger:
        """The debugger that drives the session; one that starts nothing if nobody knows it now."""
        return self.debuggers.named(self.config.adapter)

    @property
    def stop(self) -> Stop | None:
        """The stop in force; None unless the session is paused."""
        return self.stops.current

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def config(self) -> SessionOptions:
        return self.definition.config

    @property
    def exceptions(self) -> ExceptionBreakpoints:
        """Which exceptions stop the program."""
        return self.definition.exceptions

    @property
    def launched(self) -> Launched | None:
        """The program that was started last."""
        return self.program_run.launched

    @property
    def exit_code(self) -> int | None:
        return self.program_run.exit_code

    @property
    def reason(self) -> str | None:
        """Why the program, or the session, is over."""
        return self.program_run.reason

    @property
    def waiting_for_input(self) -> str | None:
        """What the program asks for on standard input; None while it does not wait for any."""
        return self.program_run.prompt

    @property
    def is_over(self) -> bool:
        """Whether the program has ended, for good or ill."""
        return self.phase in OVER

    @property
    def pid(self) -> int | None:
        """The program's process id, also after its end."""
        return self.debuggee.pid if self.debuggee is not None else self.program_run.last_pid

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
        return self.expired or (not self.is_ending and self._idle.end_if_over())

    @property
    def idle_until(self) -> float:
        """When the idle timeout is over, or was, in trio's time; infinite while it rests."""
        return self._idle.over_at

    @property
    def warning(self) -> str | None:
        """From half of the idle timeout on: how long the session has left, in whole minutes."""
        return self._idle.warning

    # The nursery ---------------------------------------------------------------

    async def run(self) -> None:
        """Hold the session open until it is ended, expires, or its opener is cancelled."""
        try:
            with self._scope:
                async with trio.open_nursery() as nursery:
                    self._nursery = nursery
                    self._idle.rest()
                    nursery.start_soon(self._idle.watch, self.program_events.warned)
                    self.opened.set()
                    try:
                        await trio.sleep_forever()
                    finally:
                        await self._forget_if_over()  # while the program is being ended
            self.expired = not self.is_ending
        except Exception:
            log.exception("session %s failed", self.id)
            self.program_run.session_ended(FAILED)
        finally:
            await self._forget_if_over()
            self._conclude()

    def _conclude(self) -> None:
        self.is_ending = True
        if self.expired:
            self.program_run.session_ended("timeout")
        if not self.is_over:
            self.lifecycle.apply(Happening.ENDED)
        self.stops.drop()
        self.events.close()
        note(log, "session ended", session_id=self.id, reason=self._ended_by())
        self.opened.set()
        self.closed.set()

    def _ended_by(self) -> str:
        if self.expired:
            return "timeout"
        if self.discarded:
            return "deleted"
        return self.reason if self.reason == FAILED else "the relay ends"

    def start_soon(self, task: Callable[..., Awaitable[object]], *args: Any) -> None:
        """Run a task of the session's own until the session ends. It must not raise."""
        # A task started from a request would carry that request's context for ever.
        contextvars.Context().run(self._nursery.start_soon, task, *args)

    def start_once(self, task: Callable[[Session], Awaitable[object]]) -> None:
        """Run a task of the session's own with the session, unless it runs already."""
        if task not in self._tasks_once:
            self._tasks_once.add(task)
            self.start_soon(self._run_once, task)

    async def _run_once(self, task: Callable[[Session], Awaitable[object]]) -> None:
        try:
            await task(self)
        finally:
            self._tasks_once.discard(task)

    def end(self, *, discard: bool = False) -> None:
        """Cancel the session; `closed` is set once nothing of it runs any more.

        With `discard` its definition is forgotten, too; else the next relay has it again.
        """
        self.is_ending = True
        self.discarded |= discard
        self._scope.cancel()

    async def keep(self) -> None:
        """Have the definition survive the relay, as it is now; call it after each change."""
        if self._keeper is not None and not (self.discarded or self.expired):
            await self._keeper.keep(self)

    async def _forget_if_over(self) -> None:
        if self._keeper is not None and (self.discarded or self.expired):
            with trio.CancelScope(shield=True):
                await self._keeper.forget(self)

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
            f"Cannot {verb}: session is not {wanted}"
            + (f": {lost}" if (lost := self.program_run.lost) else ""),
            current_state=self.phase.value,
            required_state=wanted,
            suggestion=self._way_out(phases),
            **({} if self.exit_code is None else {"exit_code": self.exit_code}),
        )

    def _way_out(self, wanted: Sequence[Phase]) -> Action:
        if self.phase in OVER and self.definition.attach is not None:  # not the relay's to start
            return Action.CREATE_SESSION
        return _way_out(self.phase, wanted)

    def require_control(self, verb: str) -> None:
        """Raise SessionHeld if another client than the one that asks holds the session.

        The first thing that each verb asks which runs the program, stops it or ends it.
        """
        self.holding.check(verb, asker().client)

    def require_stop(self, verb: str) -> Stop:
        """The present stop; raises InvalidSessionState unless paused."""
        self.require(verb, Phase.PAUSED)
        assert self.stop is not None
        return self.stop

    def require_debuggee(self, verb: str) -> Debuggee:
        """The live debuggee; raises InvalidSessionState unless running or paused."""
        self.require(verb, Phase.RUNNING, Phase.PAUSED)
        return self.live_debuggee

    @property
    def live_debuggee(self) -> Debuggee:
        """The same for who knows already, from a stop in force say, that there is one."""
        assert self.debuggee is not None
        return self.debuggee.group.current

    @property
    def live_group(self) -> ProcessGroup | None:
        """The processes of the program while it runs or stands; None before that, and after."""
        if self.debuggee is None or self.phase not in (Phase.RUNNING, Phase.PAUSED):
            return None
        return self.debuggee.group

    def require_program(self, verb: str) -> Debuggee:
        """The program itself, wherever it stands; raises as `require_debuggee` does."""
        return self.require_debuggee(verb).group.program

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
        self.program_run.begin(self.output.last_seq)
        self.stops.begin_run()
        self.data_breakpoints.begin_run()
        self.report_history.begin_run(self.events.last_seq)
        self._start = start = Start(self, starters)
        try:
            contextvars.Context().run(self._nursery.start_soon, start.run)
        except RuntimeError:  # the nursery is closed: the session ended since it was asked for
            await trio.lowlevel.checkpoint_if_cancelled()
            raise start.ended() from None
        await start.outcome()

    async def until_start_is_over(self) -> None:
        """Until the program runs, or it is known that it does not; at once if none is started."""
        if self._start is not None:
            with suppress(RelayError):
                await self._start.outcome()

    @contextmanager
    def hold(self, debuggee: Debuggee) -> Iterator[None]:
        """While open, `debuggee` is the session's. One that started leaves its process id."""
        assert self.debuggee is None, "a session has one debuggee at a time"
        self.debuggee = debuggee
        try:
            yield
        finally:
            self.debuggee = None
            if debuggee.started:
                self.program_run.process_ended(debuggee.pid)

    def open_tap(self) -> Tap:
        """Where every byte that the programs print goes, from the next start on."""
        if self.tap is None:
            self.tap = Tap()
        return self.tap

    def apply_settings(self, settings: Settings) -> None:
        """Go by other settings from now on; what is too much in the logs goes at once."""
        self.settings = settings
        self.output.set_limit(settings.output_limit_bytes)
        self.events.set_limit(settings.event_limit)


def _way_out(phase: Phase, wanted: Sequence[Phase]) -> Action:
    if phase is Phase.CREATED:
        return Action.START_PROGRAM
    if phase in OVER:
        return Action.RUN_AGAIN
    if phase is Phase.LAUNCHING:
        return Action.WAIT_FOR_START
    if Phase.PAUSED in wanted:
        return Action.PAUSE
    if phase is Phase.PAUSED and Phase.RUNNING in wanted:
        return Action.CONTINUE
    return Action.CREATE_SESSION
