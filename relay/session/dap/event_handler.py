"""From DAP events to the session's own: what the debugger says, in the contract's words.

A stop is announced only when everything printed before it is in the log and its
location is known, so that a client never sees `paused` without a place.
Source: API section 6, DAP events.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from typing import Any

from relay.dap.conversation import IncomingEvent
from relay.errors import RelayError
from relay.redaction.output_mask import OutputMask
from relay.session.dap.breakpoint_events import (
    found_function,
    named,
    place_in,
    take_answer,
    take_hits,
    take_places,
)
from relay.session.dap.breakpoint_sync import send_breakpoints
from relay.session.dap.capture_sync import fetch_rest, take_captures
from relay.session.dap.exception_stop import examine, failure_stop
from relay.session.dap.last_words import hear_before_kill
from relay.session.dap.stack import frame_of_place, top_frame
from relay.session.debuggee.debuggee import Debuggee
from relay.session.state.program_run import FailedWithoutStop, LoadedCopy
from relay.session.state.recording import LastWords
from relay.session.state.stop import Frame, Stop

log = logging.getLogger("relay.session")


class EventHandler:
    """Handles the events of one debuggee, in the order in which they came."""

    def __init__(self, debuggee: Debuggee) -> None:
        self._debuggee = debuggee
        self._session = debuggee.session  # its status and run change by _events only
        self._events = debuggee.events
        self._handlers = {
            "initialized": self._initialized,
            "stopped": self._stopped,
            "continued": self._continued,
            "output": self._output,
            "thread": self._thread,
            "breakpoint": self._breakpoint,
            "module": self._module,
            "capabilities": self._capabilities,
            "process": self._process,
            "exited": self._exited,
            "terminated": self._terminated,
            "relaySubprocess": self._subprocess,
            "relayBecomes": self._becomes,
            "relayStop": self._place_reported,
            "relayFailure": self._failure_reported,
            "relayNoStop": self._failed_without_stop,
            "relayHits": self._hits_reported,
            "relayCaptures": self._captures_reported,
            "relayTrace": self._trace_reported,
            "relayCalls": self._calls_reported,
            "relayCopies": self._copies_reported,
            "relayEnding": self._ending,
            "relayKills": self._kills,
            "relayDebugger": self._debugger_reported,
            "relayUnfit": self._unfit_reported,
            "relayInput": self._input,
        }

        self._masks: dict[str, OutputMask | None] = {}  # by category
        self._places: dict[int, Mapping[str, Any]] = {}
        self._failures: dict[int, Mapping[str, Any]] = {}
        self._fetches = False  # captures that the debuggee has not sent yet
        self._resumes = 0  # that the debugger reported

    def __call__(self, event: IncomingEvent) -> None:
        handler = self._handlers.get(event.event)
        if handler is None:
            return
        try:
            handler(event.body or {})
        except MALFORMED as fault:
            text = "session %s: a bad %s event: %r"
            log.warning(text, self._session.id, event.event, fault, exc_info=True)

    def _initialized(self, body: Mapping[str, Any]) -> None:
        self._debuggee.initialized.set()

    def _process(self, body: Mapping[str, Any]) -> None:
        if isinstance(pid := body.get("systemProcessId"), int) and pid > 0:
            self._debuggee.identified(pid)

    def _exited(self, body: Mapping[str, Any]) -> None:
        code = body.get("exitCode")
        self._debuggee.exit_reported(code if isinstance(code, int) else None)

    def _terminated(self, body: Mapping[str, Any]) -> None:
        self._debuggee.end_reported()

    def _output(self, body: Mapping[str, Any]) -> None:
        """What a program with pipes of its own prints does not come this way."""
        category = str(body.get("category") or "console")
        if category == "telemetry":
            if version := (body.get("data") or {}).get("packageVersion"):
                self._debuggee.adapter_says_version(version)
        elif text := body.get("output"):
            if category in STREAMS and self._debuggee.speaks_through_adapter:
                self._printed(category, str(text))
            else:
                self._print("console", str(text))

    def _capabilities(self, body: Mapping[str, Any]) -> None:
        """Some learn what they can from the program: one that was recorded runs backwards."""
        if self._debuggee.inspector is not None:
            self._debuggee.inspector.learn(dict(body["capabilities"]))

    def _debugger_reported(self, body: Mapping[str, Any]) -> None:
        self._events.debugger_known(self._session.debugger.report(body))

    def _unfit_reported(self, body: Mapping[str, Any]) -> None:
        self._debuggee.probe_says_unfit(str(body["reason"]))

    def _printed(self, category: str, text: str) -> None:
        if self._session.tap is not None:
            self._session.tap.put(category, text.encode("utf-8", "surrogateescape"))
        self._print(category, text)

    def _print(self, category: str, text: str) -> None:
        if category not in self._masks:
            self._masks[category] = self._session.redaction.output_mask()
        mask = self._masks[category]
        if shown := text if mask is None else mask(text):
            self._events.printed(category, shown)

    def _breakpoint(self, body: Mapping[str, Any]) -> None:
        """The debugger has found where one lies, or has lost it."""
        answer = body.get("breakpoint") or {}
        number = int(answer.get("id") or 0)
        breakpoint = self._session.breakpoints.by_dap_id(number, place_in(answer))
        if breakpoint is not None and body.get("reason") == "changed":
            is_child = self._debuggee.number > 0
            take_answer(self._session, breakpoint, answer, of_child=is_child)

    def _thread(self, body: Mapping[str, Any]) -> None:
        self._events.thread_changed(body.get("reason"), body.get("threadId"))

    def _module(self, body: Mapping[str, Any]) -> None:
        self._events.module_changed(body.get("reason"), body.get("module") or {})

    def _subprocess(self, body: Mapping[str, Any]) -> None:
        pid, argv = body.get("pid"), body.get("argv")
        if pid is None and not self._debuggee.group.follows_shells:
            self._events.shell_ran(str(argv[-1]) if argv else None)
        self._debuggee.children.announced(pid, argv)

    def _becomes(self, body: Mapping[str, Any]) -> None:
        argv = body["argv"]
        self._debuggee.about_to_become(None if argv is None else [str(word) for word in argv])

    def _input(self, body: Mapping[str, Any]) -> None:
        if self._debuggee.stdin_watch is not None:
            self._debuggee.stdin_watch.reported(body.get("waiting") is True)

    def _trace_reported(self, body: Mapping[str, Any]) -> None:
        """The process ends, and takes with it what it has recorded of a call."""
        self._events.trace_ended(self._debuggee.number, self._last_words(body["trace"]))

    def _calls_reported(self, body: Mapping[str, Any]) -> None:
        """The process ends, and takes with it what it has recorded of its own calls."""
        self._events.calls_ended(self._debuggee.number, self._last_words(body["calls"]))

    def _copies_reported(self, body: Mapping[str, Any]) -> None:
        """The process ends, and has loaded other files in place of some that were named."""
        copies = {path: LoadedCopy(**copy) for path, copy in body["copies"].items()}
        self._events.other_copies_loaded(copies)

    def _last_words(self, record: Mapping[str, Any]) -> LastWords:
        return LastWords(self._debuggee.group.process_of(self._debuggee), record)

    def _ending(self, body: Mapping[str, Any]) -> None:
        """The debuggee waits until we have all of it; any `threads` request says so."""
        self._hits_reported(body)
        self._debuggee.nursery.start_soon(self._confirm)

    def _kills(self, body: Mapping[str, Any]) -> None:
        """The process is about to end another one, or itself, and waits until those were asked for what only they know."""
        self._debuggee.nursery.start_soon(hear_before_kill, self._debuggee, body)

    async def _confirm(self) -> None:
        with contextlib.suppress(RelayError):
            await self._debuggee.request("threads")

    def _continued(self, body: Mapping[str, Any]) -> None:
        """Our own resumes are marked when they are sent; this one came from elsewhere."""
        if not self._debuggee.group.is_current(self._debuggee):
            return  # the session's stop is in another process
        self._resumes += 1
        stop, thread_id = self._session.stop, body.get("threadId")
        if stop is None or (thread_id is not None and not stop.holds(thread_id)):
            return  # of one thread that went alone, we know
        self._events.resumed(thread_id)

    def _place_reported(self, body: Mapping[str, Any]) -> None:
        """The stopping thread says where it is, ahead of `stopped`: nobody need ask."""
        self._hits_reported(body)
        numbers = {
            breakpoint.id: breakpoint.hit_count - later
            for name, later in (body.get("hit") or {}).items()
            for breakpoint in named(self._session, [name])
        }
        self._places[int(body["threadId"])] = {**body, "hit_numbers": numbers}

    def _failure_reported(self, body: Mapping[str, Any]) -> None:
        """A thread is about to stop at what has ended something, and says all of it."""
        self._failures[int(body["threadId"])] = body

    def _failed_without_stop(self, body: Mapping[str, Any]) -> None:
        """A test has failed, and nothing was raised that a stop could show."""
        place = body.get("place") or {}
        self._events.failed_without_stop(
            FailedWithoutStop(body.get("test"), str(body["words"]), **place)
        )

    def _hits_reported(self, body: Mapping[str, Any]) -> None:
        hits = body.get("hits") or {}
        take_hits(self._session, self._debuggee.group.total_hits(self._debuggee, hits))
        take_places(self._session, body.get("places") or {})

    def _captures_reported(self, body: Mapping[str, Any]) -> None:
        take_captures(self._debuggee, body)
        if not self._fetches:
            self._fetches = True
            self._debuggee.nursery.start_soon(self._fetch_captures)

    async def _fetch_captures(self) -> None:
        try:
            await fetch_rest(self._debuggee)
        finally:
            self._fetches = False

    # Stops ---------------------------------------------------------------------------

    def _stopped(self, body: Mapping[str, Any]) -> None:
        self._debuggee.children.look_soon()
        if self._debuggee.inspector is not None:
            self._debuggee.inspector.new_stop()
        as_asked = self._debuggee.stops_as_asked()
        failure = self._failures.pop(_thread_of(body), None)
        if failure is not None and _reason_of(body) == "exception":
            self._debuggee.nursery.start_soon(self._settle_failure, body, failure)
            return
        place = self._places.pop(_thread_of(body), None)
        if place is not None:
            body = {**body, "hitNumbers": place["hit_numbers"]}
        top = (
            frame_of_place(self._debuggee, place)
            if place is not None and _reason_of(body) != "exception"
            else None
        )
        is_known = place is not None and not (place["more"] and _reason_of(body) == "step")
        if place is not None and place.get("change"):
            self._debuggee.nursery.start_soon(self._settle_change, body, top, place["change"])
            return
        if place is None or top is None or not is_known or self._session.stops.target is not None:
            # The reader must go on while we ask for the rest: its answer comes through it.
            self._debuggee.nursery.start_soon(self._settle, body, top, as_asked)
            return
        stop = _stop_at(body, top)
        if stop.reason == "step" and place["returns"]:
            stop.return_value = place["returns"][-1]
        self._announce(stop, body)

    async def _settle(self, body: Mapping[str, Any], top: Frame | None, as_asked: bool) -> None:
        stop: Stop | None
        resumes = self._resumes
        try:
            body = await self._with_thread(body)
            stop = await self._describe(body, top, as_asked)
        except (RelayError, *MALFORMED) as error:
            log.warning("session %s: stop not described: %r", self._session.id, error)
            # One without a place is worth more than none, unless the program runs again.
            stop = _stop_at(body, top) if self._resumes == resumes else None
        if stop is not None:
            await self._forget_target(stop)
            self._announce(stop, body)

    async def _settle_change(
        self, body: Mapping[str, Any], top: Frame | None, change: Mapping[str, Any]
    ) -> None:
        """A stop for a data breakpoint, or one that comes where one would have been."""
        stop = _stop_at(body, top)
        stop.reason = DATA_BREAKPOINT
        if change.get("ended"):
            self._session.data_breakpoints.end(str(change["id"]), "its frame has returned")
        try:
            inspector = self._debuggee.inspector
            if inspector is not None and top is not None:
                stop.change = await inspector.data_change(top)
        except RelayError as error:
            log.warning("session %s: a change is not described: %s", self._session.id, error)
        await self._forget_target(stop)
        self._announce(stop, body)

    async def _settle_failure(self, body: Mapping[str, Any], failure: Mapping[str, Any]) -> None:
        stop, resumes = _stop_at(body, None), self._resumes
        try:
            stop = failure_stop(self._debuggee, stop, failure)
            if not await self._is_meant(stop):
                return
            if self._debuggee.group.is_known(self._debuggee, stop):
                await self._debuggee.request("continue", {"threadId": stop.thread_id})
                return
        except (RelayError, *MALFORMED) as error:
            log.warning("session %s: failure not described: %r", self._session.id, error)
            if self._resumes != resumes:
                return  # the program runs again
        await self._forget_target(stop)
        self._announce(stop, body)

    async def _with_thread(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The event with its thread, which DAP lets a debugger leave out."""
        if body.get("threadId") is not None:
            return body
        threads = (await self._debuggee.request("threads")).get("threads") or []
        return {**body, "threadId": threads[0]["id"]} if threads else body

    def _announce(self, stop: Stop, body: Mapping[str, Any]) -> None:
        if self._session.is_over:
            return
        self._note_hits(stop, body)
        self._debuggee.group.stopped(self._debuggee, stop, lambda: self._make_current(stop))

    def _make_current(self, stop: Stop) -> None:
        self._debuggee.drain_output()
        stop.output_seq = self._session.output.last_seq
        self._events.stopped(stop)

    async def _forget_target(self, stop: Stop) -> None:
        """Whatever stopped the program: who resumes it now is not to meet the target again."""
        target = self._session.stops.aim(None)
        if target is None:
            return
        stop.reached = target.reached = target.is_at(stop)
        try:
            await send_breakpoints(self._debuggee, target.path)
        except RelayError as error:
            log.warning("session %s: target not removed: %s", self._session.id, error.message)

    async def _describe(
        self, body: Mapping[str, Any], top: Frame | None, as_asked: bool
    ) -> Stop | None:
        """The stop with its place; None if it was none of the client's business."""
        debuggee = self._debuggee
        stop = _stop_at(body, top or await top_frame(debuggee, _thread_of(body)))
        if stop.reason == "exception":
            if not await self._is_meant(stop):
                return None
            if as_asked and _is_sigstop(stop):
                stop.reason, stop.exception = "pause", None
                stop.description = stop.text = None
            return stop
        if stop.reason == "step":
            if stop.top is None:
                # Out of the program's last frame: below are the debugger's own.
                await debuggee.request("continue", {"threadId": stop.thread_id})
                return None
            stop.return_value = await self._return_value(stop.top)
        return stop

    async def _is_meant(self, stop: Stop) -> bool:
        """Whether the client wants to stop at this exception; else the program goes on."""
        if await examine(self._debuggee, stop):
            return True
        await self._debuggee.request("continue", {"threadId": stop.thread_id})
        return False

    async def _return_value(self, top: Frame) -> dict[str, Any] | None:
        """What a call gave back. A stop without it is worth more than none: a repr may hang."""
        inspector = self._debuggee.inspector
        try:
            return None if inspector is None else await inspector.return_value(top)
        except RelayError as error:
            log.warning("session %s: no return value: %s", self._session.id, error.message)
            return None

    def _note_hits(self, stop: Stop, body: Mapping[str, Any]) -> None:
        """Which breakpoints stopped it. The stopping thread knows, and has counted them."""
        if body.get("hitNumbers") is None:
            self._count_hits(stop, body.get("hitBreakpointIds") or [])
            return
        for number, hit in body["hitNumbers"].items():
            if (breakpoint := self._session.breakpoints.get(number)) is None:
                continue  # it was taken away meanwhile
            stop.hits[number] = hit
            if stop.top is not None and stop.top.path:
                found_function(self._session, breakpoint, stop.top.path, stop.top.line)

    def _count_hits(self, stop: Stop, dap_ids: list[int]) -> None:
        session = self._session
        place = None if stop.top is None else (stop.top.path or "", stop.top.line)
        numbered = (session.breakpoints.by_dap_id(number, place) for number in dap_ids)
        found = [b for b in numbered if b is not None]
        if not found and stop.top is not None and stop.reason in BREAKPOINT_REASONS:
            # A step that lands on a breakpoint stops for it, but names no ids, and some debuggers
            # never do; the place decides. One that comes back to its line from a call has not
            # hit it again.
            here = session.breakpoints.at(stop.top.path or "", stop.top.line)
            here = here or session.breakpoints.on_function(stop.top.name)
            if here is not None and here.is_active and not stop.reached:
                found = [here]
        for breakpoint in found:
            breakpoint.counted(breakpoint.hit_count + 1)
            stop.hits[breakpoint.id] = breakpoint.hit_count
            if stop.top is not None and stop.top.path:
                found_function(session, breakpoint, stop.top.path, stop.top.line)


DATA_BREAKPOINT = "data_breakpoint"

BREAKPOINT_REASONS = frozenset({"breakpoint", "function breakpoint"})

STREAMS = frozenset({"stdout", "stderr"})

MALFORMED = (AttributeError, KeyError, TypeError, ValueError)
"""What reading a message raises whose fields are not what DAP says: no reason to end a session."""


def _thread_of(body: Mapping[str, Any]) -> int:
    thread = body.get("threadId")
    return thread if isinstance(thread, int) else 0


def _reason_of(body: Mapping[str, Any]) -> str:
    reason = str(body.get("reason") or "pause")
    return DATA_BREAKPOINT if reason == "data breakpoint" else reason


def _is_sigstop(stop: Stop) -> bool:
    """Whether the debugger tells the signal by which it pauses programs, as lldb 14 does."""
    return stop.exception is not None and stop.exception.message == "signal SIGSTOP"


def _stop_at(body: Mapping[str, Any], top: Frame | None) -> Stop:
    return Stop(
        id=0,
        thread_id=_thread_of(body),
        reason=_reason_of(body),
        top=top,
        description=body.get("description"),
        text=body.get("text"),
    )
