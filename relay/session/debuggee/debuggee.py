"""Debuggee: one program under the debugger, from its spawn to its last byte.

Owns the processes, the DAP link and the tasks that read them, all in one
nursery; what is left of the processes is ended when that is over, whatever
the reason. A starter (see `launching.py`) fills it; what happens is reported
to the session.
"""

from __future__ import annotations

import contextlib
import logging
import math
import re
import shutil
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import trio

from relay.actions import Action
from relay.dap.conversation import IncomingEvent
from relay.errors import (
    DebuggerError,
    DebuggerTimeout,
    InvalidSessionState,
    LaunchFailed,
    RelayError,
)
from relay.process.guarded_process import GuardedProcess
from relay.process.stdin_queue import StdinQueue
from relay.process.streams import ProgramInput
from relay.session.children.discovery import Children
from relay.session.children.process_group import NUMBERS_EACH, ProcessGroup
from relay.session.dap.connection import (
    ByteStream,
    Link,
    LinkClosed,
    RequestFailed,
    RequestHandler,
    RequestTimedOut,
    Sent,
)
from relay.session.debuggee.below import processes_below
from relay.session.debuggee.dismissal import Dismissal
from relay.session.debuggee.ends import HANG_UP_GRACE, command_line, settle, until_first_end
from relay.session.debuggee.events import DebuggeeEvents
from relay.session.debuggee.output_reader import Pumps
from relay.session.debuggee.start_failures import RungUnfit
from relay.session.debuggee.stdin_watch import StdinWatch

if TYPE_CHECKING:
    from relay.session.inspector import Inspector
    from relay.session.session import Session

log = logging.getLogger("relay.session")

LOST_DEBUGGEE = re.compile(
    r"No more messages|Server(\[.*\])? (disconnected unexpectedly|is not available)"
)
"""What adapters say of a request over which, or shortly before which, the program died."""


LIVE: weakref.WeakSet[Debuggee] = weakref.WeakSet()
"""Every debuggee of this process, whatever hub it belongs to: a program has one debugger."""


class Debuggee:
    """The program of a session while it lives."""

    def __init__(self, session: Session, group: ProcessGroup | None = None) -> None:
        self.session = session  # its status and run change by `events` only
        self.events: DebuggeeEvents = session.program_events
        self.link: Link | None = None
        self.process: GuardedProcess | None = None
        self.helpers: list[GuardedProcess] = []
        self.inspector: Inspector | None = None
        self.stdin: StdinQueue | None = None
        self.stdin_watch: StdinWatch | None = None
        self.children = Children(lambda pid, argv: self.group.announced(pid, argv))
        self.number = 0
        """Within the group: that of the program is 0, children count from 1."""
        self.process_name: str | None = None
        """What a child runs, in a word; the program has the name of what was launched."""
        self.group = group or ProcessGroup(self)
        self.pid: int | None = None
        self.attached = False
        self.debugger_version: str | None = None
        """As the debugger's adapter says it of itself; None where there is none between."""
        self.speaks_through_adapter = False
        """Whether all that is known of the program, output included, comes by DAP."""
        self.in_asked_session = False
        """Whether its debugger asked for the session that it is in, and waits to be left at its end."""
        self._links: list[Link] = []
        self._litter: list[Path] = []
        self.becomes: Sequence[str] | None = None
        """The command of the program that the process is about to become by exec."""
        self.unfit: str | None = None  # why the fast start does not know its debugger
        self._starting = trio.CancelScope()
        self._tried = trio.Event()
        """The start has come to its end, whichever."""
        self.exit_code: int | None = None
        self.exit_code_of: Callable[[int], int] = int
        self.configured = False
        """Whether `configurationDone` was sent: from then on the program may run, and end."""
        self.started = False
        self.initialized = trio.Event()
        self.said_terminated = False
        self.ends_the_rest = False
        """Whether the program is over, and what it has left behind is ended from here."""
        self._was_asked_to_pause = False  # and has not stopped since
        self._crashed = False
        self.gone = trio.Event()
        LIVE.add(self)
        self.dismissal: Dismissal | None = None
        self.dismissed = trio.Event()
        self.command_line = b""
        """As it was started; exec changes what the process has."""
        self._pumps = Pumps(self, self.may_ask)

    # Life ------------------------------------------------------------------------

    async def run(
        self, starter: Callable[[Debuggee], Awaitable[None]], on_started: Callable[[], None]
    ) -> None:
        """Start the program and stay with it to the end.

        Raises RungUnfit or RelayError if it cannot be started; nothing is left then.
        """
        failure: Exception | None = None
        try:
            async with trio.open_nursery() as nursery:
                self.nursery = nursery
                try:
                    failure = await self._try(starter)
                    if failure is None:
                        self.started = True
                        on_started()
                        await self._watch()
                finally:
                    await self._part()
                nursery.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True):
                await self._tear_down()
            if self.stdin_watch is not None:
                self.stdin_watch.over()
            self.gone.set()
        if failure is not None:
            raise failure

    def take_up(self) -> None:
        """The program is another's: it is let go at the end, and the attach has its own time limit."""
        self.attached = True
        self._starting.deadline = math.inf

    async def _try(self, starter: Callable[[Debuggee], Awaitable[None]]) -> Exception | None:
        limit = self.session.settings.launch_timeout_seconds
        try:
            with trio.fail_after(limit) as self._starting:
                await starter(self)
        except (RelayError, RungUnfit) as error:
            return error
        except trio.TooSlowError:
            return LaunchFailed(
                f"the debuggee was not ready within {limit:g} s", timeout_seconds=limit
            )
        finally:
            self._tried.set()
        return None

    async def until_tried(self) -> None:
        """Until its start has come to an end, whichever."""
        await self._tried.wait()

    async def _watch(self) -> None:
        """Until the program has ended, or the debugger has broken off."""
        await until_first_end(self)
        crash = await self._settled()
        if self.dismissal is not None:
            await self.dismissal.carry_out(self)
            return
        self._crashed = crash is not None
        if self.stdin_watch is not None:
            self.stdin_watch.over()
        await self._look_for_orphans()
        await self.end_what_is_left()
        await self.await_output_end()
        if crash is not None:
            self.events.crashed(crash)
        else:
            self._report_exit()

    async def _settled(self) -> str | None:
        """As `settle`; at once if it is dismissed: what it has become by exec may live for long."""
        crash = None
        async with trio.open_nursery() as nursery:

            async def dismissed() -> None:
                await self.dismissed.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(dismissed)
            crash = await settle(self)
            nursery.cancel_scope.cancel()
        return crash

    async def dismiss(self, dismissal: Dismissal) -> None:
        """Part from the program, which has started; returns when nothing of it is left here.

        The first dismissal counts; later ones wait for it.
        """
        if self.dismissal is None:
            self.dismissal = dismissal
            self.dismissed.set()
        await self.gone.wait()

    async def await_output_end(self) -> None:
        """Until all that the program has printed is in the log, or somebody else has its pipes."""
        with trio.move_on_after(HANG_UP_GRACE):
            await self._pumps.ended()
        self.drain_output()

    def drain_output(self) -> None:
        """Take what the program has printed so far out of its pipes, now."""
        self._pumps.drain()

    def may_ask(self) -> None:
        """It has printed, or runs on: it may come to wait for input."""
        if self.stdin_watch is not None:
            self.stdin_watch.stir()

    async def _look_for_orphans(self) -> None:
        """The last chance to see what the program leaves behind: it ends with the program."""
        with trio.move_on_after(HANG_UP_GRACE):
            if self.process is not None:
                await self.children.look(partial(processes_below, self), last=True)
        self.group.give_up_joining()

    async def end_what_is_left(self) -> None:
        """End all its processes that live; the ends of those that are debugged are told."""
        self.ends_the_rest = True
        await self.group.hear_last_words()
        await self.end_processes()
        if not self.attached:
            with trio.move_on_after(HANG_UP_GRACE):
                await self.group.until_left()

    def _report_exit(self) -> None:
        if self.process is not None and self.process.returncode is not None:
            self.exited_with(self.process.returncode)
        if not self.session.is_over:
            self.events.exited(self.exit_code)

    async def _part(self) -> None:
        """Let go of what is not ours to end, and close the link. What has said nothing at all holds nothing."""
        link = self.link
        if link is not None and self.attached and link.received and not link.closed.is_set():
            with (
                trio.CancelScope(deadline=trio.current_time() + 1, shield=True),
                contextlib.suppress(LinkClosed, RequestFailed),
            ):
                await link.request("disconnect", {"terminateDebuggee": False})
        for one in self._links:
            one.hang_up()

    def exit_reported(self, code: int | None) -> None:
        """The debugger says that the program has exited. Source: DAP `exited`."""
        if code is not None:
            self.exit_code = code
        if self.speaks_through_adapter:
            self.nursery.start_soon(self._leave_soon)

    def end_reported(self) -> None:
        """The debugger says that there is nothing to debug any more. Source: DAP `terminated`."""
        self.said_terminated = True
        if self.speaks_through_adapter or self.in_asked_session:
            self.nursery.start_soon(self._leave_adapter)

    def exited_with(self, status: int) -> None:
        """Its process has ended, as the system says. Whoever started it may say it in a way of its own."""
        self.exit_code = self.exit_code_of(status)

    async def _ask_for_signal(self, link: Link) -> None:
        """Whether an exit code of 0 stands for a signal, where the debugger knows that by an expression."""
        expression = self.session.debugger.exit_signal
        if expression is None or self.exit_code != 0 or not self.speaks_through_adapter:
            return
        asked = {
            "expression": expression,
            "context": self.session.debugger.evaluate_context("watch"),
        }
        found = str((await link.request("evaluate", asked)).get("result"))
        if found.isdecimal():
            self.exit_code = -int(found)

    async def _leave_soon(self) -> None:
        """The program has exited: `terminated` follows, but some adapters leave it out."""
        await trio.sleep(HANG_UP_GRACE)
        if not self.said_terminated:
            self.said_terminated = True
            await self._leave_adapter()

    async def _leave_adapter(self) -> None:
        """The program has ended: the adapter, which only waits to be left, may go.

        A start that is under way comes to its end first: it is what says how the program began.
        """
        assert self.link is not None
        with trio.move_on_after(HANG_UP_GRACE):
            await self._tried.wait()
        with trio.move_on_after(HANG_UP_GRACE), contextlib.suppress(LinkClosed, RequestFailed):
            await self._ask_for_signal(self.link)
        with trio.move_on_after(HANG_UP_GRACE), contextlib.suppress(LinkClosed, RequestFailed):
            ends = self.speaks_through_adapter  # else its process ends of itself, and says how
            await self.link.request("disconnect", {"terminateDebuggee": ends})
        self.link.hang_up()

    async def end_processes(self) -> None:
        """End what is ours: the program, what it started, and its debugger."""
        for process in [self.process, *self.helpers]:
            if process is not None and not self.attached:
                await process.end()

    async def _tear_down(self) -> None:
        self.group.close()
        for process in [self.process, *self.helpers]:
            if process is not None:
                await process.end()
                process.close()
        for directory in self._litter:
            shutil.rmtree(directory, ignore_errors=True)
        # Where an adapter broke off, its launcher is what has ended here, and as it likes.
        if self.process is not None and self.started and not (self.helpers and self._crashed):
            code = self.process.returncode
            self.events.found_exit_code(None if code is None else self.exit_code_of(code))

    # Parts -------------------------------------------------------------------------

    def adopt(
        self, process: GuardedProcess, stdin: bytes = b"", exit_code_of: Callable[[int], int] = int
    ) -> None:
        """Make `process` the program: its output is read, its end is the program's end.

        `stdin` is the first that it will read; `exit_code_of` makes the program's exit code of the
        process's, which may be a launcher.
        """
        self.speaks_through_adapter = False
        self.exit_code_of = exit_code_of
        self.process = process
        self.pid = process.pid
        self.command_line = command_line(process.pid)
        self.nursery.start_soon(self.children.poll, partial(processes_below, self))
        for category, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
            if pipe is not None:
                self._pumps.add(category, pipe)
                self.nursery.start_soon(self._pumps.run, category)
        self.open_stdin(process.stdin, stdin)

    def identified(self, pid: int) -> None:
        """Its process id is known."""
        self.pid = pid

    def became_program(self) -> None:
        """Its process was a launcher, and may have become what it was to start."""
        self.command_line = command_line(self.pid) or self.command_line

    def about_to_become(self, command: Sequence[str] | None) -> None:
        """It is at an exec, where the debugger ends; None: the exec has failed."""
        self.becomes = command

    @property
    def has_become_another(self) -> bool:
        """Whether its process runs another program by exec: what debugs that, if anything, is a child's."""
        return self.becomes is not None and self.link is not None and self.link.closed.is_set()

    def use_inspector(self, inspector: Inspector) -> None:
        """Questions about the process go there from now on."""
        self.inspector = inspector

    def use_adapter(self) -> None:
        """All that is known of the program comes by DAP, unless its process is adopted later."""
        self.speaks_through_adapter = True

    def is_in_asked_session(self) -> None:
        """Its debugger has asked for the session that it is in."""
        self.in_asked_session = True

    def answer_for(self, directory: Path) -> None:
        """Have this directory taken away at the end, with all that is in it."""
        self._litter.append(directory)

    def adapter_says_version(self, version: str) -> None:
        """What the debugger's adapter says of itself."""
        self.debugger_version = version

    def probe_says_unfit(self, reason: str) -> None:
        """Why the fast start does not know the debugger that the program has."""
        self.unfit = reason

    def is_configured(self) -> None:
        """`configurationDone` has been sent: the program may run, and end."""
        self.configured = True

    def open_stdin(self, pipe: ProgramInput, first: bytes = b"") -> None:
        """Write to the program by `pipe`: `first`, and what it is given from now on."""
        watch = self.stdin_watch = StdinWatch(self, pipe, self.drain_output, self._input_queued)
        self.stdin = StdinQueue(pipe, watch.written, watch.ended, self._input_lost)
        with contextlib.suppress(trio.BrokenResourceError):  # it has ended already
            if first:
                self.stdin.offer(first)
        self.nursery.start_soon(self.stdin.run)
        self.nursery.start_soon(watch.poll)

    def _input_queued(self) -> int:
        return 0 if self.stdin is None else self.stdin.waiting

    def _input_lost(self, count: int) -> None:
        text = f"The program closed its standard input; {count} bytes for it were not read."
        self.events.warned(text)

    def connect(
        self,
        stream: ByteStream,
        on_event: Callable[[IncomingEvent], None],
        on_request: RequestHandler | None = None,
    ) -> Link:
        """Speak DAP over `stream` from now on."""
        link = self.open_link(stream, on_event, on_request)
        self.use_link(link)
        return link

    def open_link(
        self,
        stream: ByteStream,
        on_event: Callable[[IncomingEvent], None],
        on_request: RequestHandler | None = None,
    ) -> Link:
        """Speak DAP over `stream` with somebody who need not be the debugger. `hang_up` ends it."""
        link = Link(stream, on_event, on_request, self.session.dap_log.connection())
        self._links.append(link)
        self.nursery.start_soon(link.run)
        return link

    def use_link(self, link: Link) -> None:
        """Who is at the other end is the debugger: requests to it go there from now on."""
        self.link = link

    # Requests ------------------------------------------------------------------------

    def request(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> Coroutine[Any, Any, dict[str, Any]]:
        """One DAP request; the adapter's failures come out as errors of the catalog.

        One that names a thread goes to the process that has it. Raises DebuggerTimeout,
        DebuggerError, or what `lost` says.
        """
        return self.group.request(self, command, arguments, timeout)

    def ask(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> Coroutine[Any, Any, dict[str, Any]]:
        """One DAP request to this very process. It is sent now; what is returned waits for its answer.

        timeout: seconds; by default what one question may take. During a start it may take as
        much as the start: the interpreter may not even be there.
        """
        settings = self.session.settings
        limit = settings.request_timeout_seconds if timeout is None else timeout
        if not self.started:
            limit = max(limit, settings.launch_timeout_seconds)
        assert self.link is not None
        if command == "pause":
            self._was_asked_to_pause = True
        return self._answer_to(command, self.link.send(command, arguments), limit)

    def stops_as_asked(self) -> bool:
        """Whether this stop is the first since it was asked to pause: some debuggers do not say so."""
        asked, self._was_asked_to_pause = self._was_asked_to_pause, False
        return asked

    async def _answer_to(self, command: str, sent: Sent, limit: float) -> dict[str, Any]:
        try:
            return await self._timed(command, sent, limit)
        except RequestTimedOut:
            raise DebuggerTimeout(
                f"the debugger did not answer {command} within {limit:g} s",
                operation=command,
                timeout_seconds=limit,
            ) from None
        except RequestFailed as error:
            if LOST_DEBUGGEE.fullmatch(error.message):
                raise await self.lost(command) from None
            if command == "pause":
                self._was_asked_to_pause = False
            raise _refused(command, error) from None
        except LinkClosed:
            if not self.started:
                raise LaunchFailed(self._why_hung_up(command)) from None
            raise await self.lost(command) from None

    async def _timed(self, command: str, sent: Sent, limit: float) -> dict[str, Any]:
        asked = trio.current_time()
        try:
            return await sent.answer(limit)
        finally:
            self.session.metrics.note_dap(command, trio.current_time() - asked)

    def _why_hung_up(self, command: str) -> str:
        assert self.link is not None
        if self.link.violation is not None:
            return f"the adapter broke the protocol during {command}: {self.link.violation}"
        return f"the debugger hung up during {command}"

    async def lost(self, command: str) -> RelayError:
        """The error to raise after this process hung up in the middle of `command`."""
        if self.becomes is not None:
            return InvalidSessionState(
                "The program became another one before it answered",
                current_state=self.session.phase.value,
                command=self.session.redaction.words(self.becomes),
                suggestion=Action.LIST_PROCESSES_LEFT,
            )
        return await self.session.program_lost(command)

    def outer_id(self, number: int) -> int:
        """The session's number of what the debugger of this process numbers so."""
        return number + self.number * NUMBERS_EACH

    def inner_id(self, number: int) -> int:
        """The debugger's number, in this process, of what the session numbers so: `outer_id` undone."""
        return number - self.number * NUMBERS_EACH


def _refused(command: str, error: RequestFailed) -> DebuggerError:
    refusal = DebuggerError(
        f"the debugger refused {command}: {error.message}",
        operation=command,
        adapter_message=error.message,
    )
    if isinstance(structured := error.body.get("error"), Mapping):
        refusal.structured = structured
    return refusal
