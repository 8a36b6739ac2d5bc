"""One run of `relay run`, in this very process: no server, one session, every stop reported.

Knows what is asked of the operations, and when. Refuses to know how it is written. Questions that
few runs ask are imported by those: every run waits for the rest.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import trio
from pydantic import BaseModel, ValidationError

from relay.errors import InvalidSessionState, RelayError
from relay.faces.cli.run.breakpoints import RunBreakpoints, named
from relay.faces.cli.run.end import RunEnd
from relay.faces.cli.run.failures import Failures, facts_of
from relay.faces.cli.run.options import BOUND, RunOptions, quoted
from relay.faces.cli.run.streams import RunStreams
from relay.faces.cli.run.watches import RunWatches
from relay.faces.cli.run.writers import CannotWriteError, RunWriter
from relay.hub import Hub
from relay.models.execution import ContinueRequest
from relay.models.launch import LaunchRequest
from relay.models.sessions import SessionSettings
from relay.models.watches import WatchesQuery, WatchRequest
from relay.operations.breakpoints.exception_filters import no_filter, unfiltered
from relay.operations.execution.stepping import continue_execution
from relay.operations.functions import all_parameters
from relay.operations.inspect.watches import add_watch, list_watches, require_expression
from relay.operations.report.missed import misspelt_functions
from relay.operations.report.stop_report import gather
from relay.operations.sessions.ending import terminate
from relay.operations.sessions.launching import launch
from relay.operations.sessions.sessions import adapter_of, open_session
from relay.operations.sessions.stop_wait import STOPS
from relay.operations.similar_functions import namesakes

if TYPE_CHECKING:
    from relay.faces.cli.run.calls import RunCalls
    from relay.faces.cli.run.trace import TraceQuestion

Request = TypeVar("Request", bound=BaseModel)


UNREAD_RECORD = (
    "--record: nothing reads what it keeps; --why EXPR says who wrote that, at the first stop"
)

NAMESAKES_SECONDS = 2.0
"""How long the end of a run may wait until the sources are searched for functions of one name."""

MOST_NAMESAKES = 5

HITS_SECONDS = 1.0
"""How long a program that is to be ended may take to say what it came to."""


class OneRun:
    """The program, from its breakpoints to its exit code."""

    def __init__(self, options: RunOptions, writer: RunWriter) -> None:
        self._options = options
        self._writer = writer
        self._lost: CannotWriteError | None = None
        self._stops = 0
        self._has_asked = self._has_asked_why = False
        self._began = trio.current_time()
        self._failures = Failures(options.reports)
        self._signalled, self._namesakes_named = trio.Event(), trio.Event()
        self._question: TraceQuestion | None = None
        self._calls: RunCalls | None = None
        self._unanswered: str | None = None
        self._is_ending = self._ends_at_stop = self._is_late = False
        self._asks_at_entry = False  # of the program; it may come to none of its own code
        self._place_reported: trio.Event | None = None
        """Set when it is reported where it stands, at a pause made for that: no stop of the user's."""
        self._has_begun = self._is_end_written = False
        self.interrupted: signal.Signals | None = None
        self.is_left = False
        """Whether whoever has started it waits no longer, not even for the last line."""

    def interrupt(self, by: signal.Signals) -> None:
        """End the program as soon as it is there; `whole` then says how far it came."""
        self.interrupted = by
        self._signalled.set()

    async def whole(self, hub: Hub) -> int:
        """Until the program has ended; raises RelayError if it cannot be started."""
        adapter = self._options.adapter or adapter_of(hub, self._options.target.get("script"))
        request = _asked(SessionSettings, python_path=self._options.python, adapter=adapter)
        self._session = await open_session(hub, body=request)
        with self._session.activity():
            await self._prepare()
            self._streams = RunStreams(self._session, self._writer, self._options.stdin)
            failure: RelayError | CannotWriteError | None = None
            async with trio.open_nursery() as nursery:
                try:
                    await self._follow(nursery)
                except (RelayError, CannotWriteError) as error:
                    failure = error  # as itself, not in a group
                nursery.cancel_scope.cancel()
            if failure is not None or (failure := self._lost) is not None:
                raise failure
        return self._end().exit_code

    # Before --------------------------------------------------------------------------

    async def _prepare(self) -> None:
        """What is to be stopped at and looked at; raises RelayError for what cannot be."""
        session, options = self._session, self._options
        if options.trace is not None:
            from relay.faces.cli.run.trace import TraceQuestion

            self._question = TraceQuestion(options.trace, options.max_chars)
        await self._require_answers()
        self._breakpoints = RunBreakpoints(session)
        await self._breakpoints.place(options.breakpoints)
        asked = [("--why", expression) for expression in dict.fromkeys(options.whys)]
        asked += [("--watch", one["text"]) for one in options.watches]
        for option, expression in asked:  # before the program runs, and even if no stop comes
            with named(f"{option} {quoted(expression)}"):
                await require_expression(session, expression)
        self._watches = RunWatches(session, options.watches)
        with named("--watch"):
            await self._watches.prepare(self._breakpoints.ids)
        for expression in dict.fromkeys(options.expressions):
            with named(f"--eval {quoted(expression)}"):
                await add_watch(session, body=_asked(WatchRequest, expression=expression))
        if options.calls is not None:
            from relay.faces.cli.run.calls import RunCalls

            self._calls = RunCalls(session, self._writer, options.calls, options.max_chars)
            with named("--calls"):
                await self._calls.prepare()

    async def _require_answers(self) -> None:
        """Raise RelayError for a question that the debugger can never answer."""
        if self._question is not None:
            with named(self._question.option):
                await self._question.prepare(self._session)
        if whys := self._options.whys:
            from relay.operations.history.history import require_writers

            with named(f"--why {quoted(whys[0])}"):
                require_writers(self._session)

    async def _follow(self, nursery: trio.Nursery) -> None:
        session = self._session
        self._cursor, self._has_begun = session.events.last_seq, True
        catches: Literal["uncaught", False] = "uncaught" if self._options.on_exception else False
        self._asks_at_entry = self._question is not None and not self._options.is_command
        body = _asked(
            LaunchRequest,
            **self._options.target,
            stop_on_exception=catches,
            debug_subprocesses=self._options.debug_subprocesses,
            record=list(self._options.records),
            stop_on_entry=self._asks_at_entry,
        )
        self._began = trio.current_time()
        try:
            result = await launch(session, body=body)
        except RelayError:
            await self._streams.write_rest()
            raise
        placed = await self._breakpoints.judged()
        await self._writer.started(result.pid, result.python_path, placed)
        if catches and unfiltered(session.debugger, [catches]):
            await self._writer.noted(
                f"[note] --on-exception: {no_filter(session.debugger, catches)}"
            )
        for parameter in self._options.parameters:
            await self._writer.noted(f"[note] {all_parameters(parameter)}")
        if self._options.records and not self._options.whys:
            await self._writer.noted(f"[note] {UNREAD_RECORD}")
        streams = self._streams
        nursery.start_soon(self._written, streams.write_output, nursery.cancel_scope)
        nursery.start_soon(streams.feed)
        nursery.start_soon(self._written, self._end_early, nursery.cancel_scope)
        nursery.start_soon(self._written, streams.write_logs, nursery.cancel_scope)
        nursery.start_soon(self._written, self._name_namesakes, nursery.cancel_scope)
        await self._through_stops()
        await streams.catch_up()
        with trio.move_on_after(NAMESAKES_SECONDS):
            await self._namesakes_named.wait()
        if self._calls is not None and self._calls.has_more:
            await self._calls.report()
        streams.close()
        for number in self._breakpoints.capturing:
            from relay.operations.breakpoints.captures import captures

            await self._writer.captured(await captures(session, number))
        await self._write_end(self._end(await misspelt_functions(self._session)))

    async def write_end(self) -> None:
        """How it ended, if a signal has ended it and that is not told: it took too long.

        The program is gone; raises CannotWriteError.
        """
        if self.interrupted is not None and self._has_begun and not self._is_end_written:
            await self._write_end(self._end())

    async def _write_end(self, end: RunEnd) -> None:
        self._is_end_written = True
        await self._writer.ended(end.summary(), end.words())

    async def _name_namesakes(self) -> None:
        """Of a name that several functions have, which those are: each of them counts."""
        for function in self._options.functions:
            found = await namesakes(self._session, function)
            if len(found) > 1:
                left = f" and {len(found) - MOST_NAMESAKES} more" * (len(found) > MOST_NAMESAKES)
                named = ", ".join(found[:MOST_NAMESAKES])
                text = f"[note] {function}: {len(found)} functions: {named}{left}"
                await self._writer.noted(text)
        self._namesakes_named.set()

    @property
    def _is_cut_short(self) -> bool:
        return self._stops == self._options.until

    def _end(self, similar: Mapping[str, str] = MappingProxyType({})) -> RunEnd:
        shown = self._failures if self._options.on_exception else None
        return RunEnd(
            self._session,
            self._stops,
            shown,
            self.interrupted,
            self._is_cut_short,
            self._unanswered,
            self._watches.unchanged(),
            self._unasked(),
            self._options.timeout if self._is_late else None,
            self._options.calls is not None,
            similar,
        )

    def _unasked(self) -> list[str]:
        """The options that ask at a stop, as far as no stop has come to ask at."""
        whys = () if self._has_asked_why else dict.fromkeys(self._options.whys)
        evals = () if self._has_asked else dict.fromkeys(self._options.expressions)
        options = [("--why", expression) for expression in whys]
        options += [("--eval", expression) for expression in evals]
        return [f"{option} {quoted(expression)}" for option, expression in options]

    async def _end_early(self) -> None:
        """At a signal, or after the time that it was given: what it was doing is said first."""
        with trio.move_on_after(self._options.timeout or math.inf):
            await self._signalled.wait()
        if self.interrupted is None and self._session.stop is not None:
            self._ends_at_stop = True  # when what is asked there is answered
            await self._signalled.wait()
        await self._say_what_it_did()
        is_over = self._session.is_over and self._place_reported is None
        self._is_late = self.interrupted is None and not is_over
        self._is_ending = True
        with suppress(RelayError):  # it has ended meanwhile
            await terminate(self._session)

    async def _say_what_it_did(self) -> None:
        """As far as it can still be asked: it may have ended meanwhile, or let nothing be asked."""
        with suppress(RelayError):
            await self._write_hang()
        with suppress(RelayError), trio.move_on_after(HITS_SECONDS):
            await self._breakpoints.known()
        if self._question is not None:
            with suppress(RelayError):
                await self._question.keep(self._session)
        if self._calls is not None:
            with suppress(RelayError):
                await self._calls.keep()

    async def _write_hang(self) -> None:
        """What each thread waits for, or where it stands, of a program that runs."""
        session = self._session
        if session.stop is None and not session.is_over:
            from relay.faces.cli.run.hang import write_hang, write_where

            room = 2 * self._options.max_chars
            if not await write_hang(session, self._streams, self._writer, room):
                # Even if a pause ends it, as it does a sleep.
                self._is_late = self.interrupted is None
                self._place_reported = trio.Event()
                try:
                    await write_where(session, self._streams, self._writer)
                finally:
                    self._place_reported.set()

    # Streams -----------------------------------------------------------------------------

    async def _written(self, write: Callable[[], Awaitable[None]], scope: trio.CancelScope) -> None:
        """Write as long as somebody reads; without a reader the run is over."""
        try:
            await write()
        except CannotWriteError as error:
            self._lost = error
            scope.cancel()

    # Stops ----------------------------------------------------------------------------------

    async def _through_stops(self) -> None:
        session = self._session
        while await session.events.wait(self._cursor, types=STOPS) is not None:
            self._cursor = session.events.last_seq
            if (stop := session.stop) is None or self._place_reported is not None:
                if session.is_over:
                    if self._place_reported is not None:
                        await self._place_reported.wait()
                    await self._give_up_question()
                    return
                continue
            try:
                if await self._ends_at(stop):
                    return
            except RelayError:
                if session.stop is stop and not self._is_ending:
                    raise  # else it was ended while it was asked, or the process that had stopped

    async def _ends_at(self, stop: Any) -> bool:
        """Show it, unless it was made for nothing but a question of ours. False: it goes on."""
        if self._asks_at_entry and stop.reason == "entry":
            await self._ask_at_entry()
            return False
        await self._streams.catch_up()
        failed = stop.failure is not None
        is_answer = await self._is_answered()
        is_shown = is_answer or failed or await self._is_to_be_shown(stop)
        if (
            not is_answer
            and is_shown
            and not await (self._report_failure(stop) if failed else self._report_stop())
        ):
            return False
        if self._calls is not None:
            await self._calls.report()
        self._is_late = self._ends_at_stop
        if (is_shown and self._is_cut_short) or self._is_late:
            await terminate(self._session)
            return True
        if is_shown and not failed:
            await self._rein_in()
        if self._calls is not None:
            await self._calls.begin()
        if self._session.stop is stop:  # else its process has ended, and another stop may have come
            self._cursor = self._session.events.last_seq
            with suppress(InvalidSessionState):  # it was killed meanwhile
                await self._go_on()
        return False

    async def _ask_at_entry(self) -> None:
        """Have the call traced in the program, too: what it starts is traced as it joins."""
        self._asks_at_entry = False
        if self._question is not None:  # else it is answered, by a process that it has started
            with named(self._question.option):
                await self._question.go_on(self._session)
        else:
            await self._go_on()

    async def _is_to_be_shown(self, stop: Any) -> bool:
        """Whether it is a stop of the user's: not one that begins a watch, nor of what is switched off."""
        if self._breakpoints.are_off(stop.hit_breakpoint_ids):
            return False
        return not await self._watches.begin(stop, self._writer)

    async def _go_on(self) -> None:
        if self._question is None:
            await continue_execution(self._session, body=ContinueRequest())
        else:
            await self._question.go_on(self._session)

    async def _is_answered(self) -> bool:
        """Show the call that --trace asked for, if the program stands at its end."""
        if self._question is None:
            return False
        found = await self._question.read(self._session)
        if found.complete:
            self._stops += 1
            self._question = None
            await self._writer.traced(self._stops, found)
        return found.complete

    async def _give_up_question(self) -> None:
        if self._question is not None:
            self._unanswered = await self._question.unanswered(self._session)

    async def _report_failure(self, stop: Any) -> bool:
        """Show a failure in full, in a line, or at the end among its like."""
        how = self._failures.judge(self._stops + 1, stop)
        if how == "report":
            return await self._report_stop()
        self._stops += 1
        like = self._failures.first_like(stop) if how == "count" else None
        await self._writer.failed_again(self._stops, facts_of(self._session, stop), like)
        return True

    async def _report_stop(self) -> bool:
        """Show where it stands; False if it was ended meanwhile."""
        session = self._session
        report = await gather(session)
        if report.status.value != "paused":
            return False
        self._stops += 1
        index = next((i for i, frame in enumerate(report.stack) if frame.shown), 0)
        query = WatchesQuery(frame_id=index)
        stop, watches = session.stop, []
        if stop is not None and report.stack:
            self._has_asked = True
            try:
                watches = (await list_watches(session, query=query)).watches
            except RelayError:
                if session.stop is stop:
                    raise  # else an expression has ended the process
        await self._writer.stopped(self._stops, report, watches)
        if self._stops == 1 and report.stack:
            self._has_asked_why = True
            await self._write_why(index)
        return True

    async def _write_why(self, frame: int) -> None:
        """Who wrote what --why asks for, in the frame that the report shows."""
        if expressions := list(dict.fromkeys(self._options.whys)):
            from relay.faces.cli.run.why import write_why
            from relay.models.history import second_run_seconds

            wait = second_run_seconds(trio.current_time() - self._began)
            await write_why(self._session, self._writer, expressions, frame, wait)

    async def _rein_in(self) -> None:
        """After so many stops, the breakpoints that made them no longer stop it: unless the user has
        said at which it ends."""
        if self._options.until is None and (self._stops - self._failures.total) % BOUND == 0:
            hit = await self._breakpoints.switch_off()
            if names := ", ".join([*hit, *await self._watches.end()]):
                await self._writer.noted(f"[note] {BOUND} stops shown: {names} no longer stops it")


def _asked(model: type[Request], **fields: Any) -> Request:
    """What the options ask for. Raises InvalidRequest for what cannot be asked."""
    try:
        return model(**fields)
    except ValidationError as error:
        from relay.client.calls import refuse

        refuse(error, model, fields)
