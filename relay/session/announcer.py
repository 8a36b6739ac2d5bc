"""From DAP events to the session's own: what the debugger says, in the contract's words.

A stop is announced only when everything printed before it is in the log and its
location is known, so that a client never sees `paused` without a place.
Source: API section 6, DAP events.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from relay.adapters.python.probe_secrets import scrub
from relay.dap.conversation import Event
from relay.errors import RelayError
from relay.session.breakpoint_news import found_function, named, take_answer, take_hits
from relay.session.capture_news import fetch_rest, take_captures
from relay.session.configuration import send_breakpoints
from relay.session.debuggee import Debuggee
from relay.session.frames import told_frame, top_frame
from relay.session.stop import Frame, RaisedException, Stop

log = logging.getLogger("relay.session")


class Announcer:
    """Handles the events of one debuggee, in the order in which they came."""

    def __init__(self, debuggee: Debuggee) -> None:
        self._debuggee = debuggee
        self._session = debuggee.session
        self._handlers = {
            "initialized": self._initialized,
            "stopped": self._stopped,
            "continued": self._continued,
            "output": self._output,
            "thread": self._thread,
            "breakpoint": self._breakpoint,
            "module": self._module,
            "process": self._process,
            "exited": self._exited,
            "terminated": self._terminated,
            "relaySubprocess": self._subprocess,
            "relayStop": self._place_told,
            "relayHits": self._hits_told,
            "relayCaptures": self._captures_told,
            "relayTrace": self._trace_told,
            "relayEnding": self._ending,
            "relayInput": self._input,
        }

        self._places: dict[int, Mapping[str, Any]] = {}
        self._fetches = False  # captures that the debuggee has not told yet

    def __call__(self, event: Event) -> None:
        handler = self._handlers.get(event.event)
        if handler is not None:
            handler(event.body or {})

    def _initialized(self, body: Mapping[str, Any]) -> None:
        self._debuggee.initialized.set()

    def _process(self, body: Mapping[str, Any]) -> None:
        if isinstance(pid := body.get("systemProcessId"), int):
            self._debuggee.pid = pid

    def _exited(self, body: Mapping[str, Any]) -> None:
        if isinstance(code := body.get("exitCode"), int):
            self._debuggee.exit_code = code

    def _terminated(self, body: Mapping[str, Any]) -> None:
        self._debuggee.said_terminated = True
        if self._debuggee.speaks_through_adapter:
            self._debuggee.nursery.start_soon(self._debuggee.leave_adapter)

    def _output(self, body: Mapping[str, Any]) -> None:
        """What a program with pipes of its own prints does not come this way."""
        category = str(body.get("category") or "console")
        if category != "telemetry" and (text := body.get("output")):
            if category in STREAMS and self._debuggee.speaks_through_adapter:
                self._printed(category, str(text))
            else:
                self._session.print("console", str(text))

    def _printed(self, category: str, text: str) -> None:
        if self._session.tap is not None:
            self._session.tap.put(category, text.encode("utf-8", "surrogateescape"))
        self._session.print(category, text)

    def _breakpoint(self, body: Mapping[str, Any]) -> None:
        """The debugger has found where one lies, or has lost it."""
        told = body.get("breakpoint") or {}
        number = self._session.dap_breakpoint_ids.get(int(told.get("id") or 0), "")
        breakpoint = self._session.breakpoints.get(number)
        if breakpoint is not None and body.get("reason") == "changed":
            take_answer(self._session, breakpoint, told)

    def _thread(self, body: Mapping[str, Any]) -> None:
        self._session.events.append(
            "thread", {"reason": body.get("reason"), "thread_id": body.get("threadId")}
        )

    def _module(self, body: Mapping[str, Any]) -> None:
        module = body.get("module") or {}
        self._session.events.append(
            "module",
            {
                "reason": body.get("reason"),
                "module": {
                    "id": module.get("id"),
                    "name": module.get("name"),
                    "path": module.get("path"),
                    "is_optimized": bool(module.get("isOptimized")),
                    "is_user_code": bool(module.get("isUserCode", True)),
                    "version": module.get("version"),
                },
            },
        )

    def _subprocess(self, body: Mapping[str, Any]) -> None:
        self._debuggee.children.announced(body.get("pid"), body.get("argv"))

    def _input(self, body: Mapping[str, Any]) -> None:
        if self._debuggee.stdin_watch is not None:
            self._debuggee.stdin_watch.told(body.get("waiting") is True)

    def _trace_told(self, body: Mapping[str, Any]) -> None:
        """The program ends, and takes with it what it has recorded of a call."""
        self._session.trace = body["trace"]

    def _ending(self, body: Mapping[str, Any]) -> None:
        """The debuggee waits until we have heard all of it; any `threads` request says so."""
        self._hits_told(body)
        self._debuggee.nursery.start_soon(self._confirm)

    async def _confirm(self) -> None:
        with contextlib.suppress(RelayError):
            await self._debuggee.request("threads")

    def _continued(self, body: Mapping[str, Any]) -> None:
        """Our own resumes are marked when they are sent; this one came from elsewhere."""
        if (family := self._debuggee.family) and not family.is_foremost(self._debuggee):
            return  # the session's stop is in another process
        stop, thread_id = self._session.stop, body.get("threadId")
        if stop is None or (thread_id is not None and not stop.holds(thread_id)):
            return  # of one thread that went alone, we know
        self._session.announce_resume(thread_id)

    def _place_told(self, body: Mapping[str, Any]) -> None:
        """The stopping thread says where it is, ahead of `stopped`: nobody need ask."""
        self._places[int(body["threadId"])] = body
        self._hits_told(body)

    def _hits_told(self, body: Mapping[str, Any]) -> None:
        hits = body.get("hits") or {}
        family = self._debuggee.family
        take_hits(
            self._session, hits if family is None else family.total_hits(self._debuggee, hits)
        )

    def _captures_told(self, body: Mapping[str, Any]) -> None:
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
        told = self._places.pop(_thread_of(body), None)
        if told is not None:
            body = {**body, "relayHit": told.get("hit")}
        top = told_frame(told) if told is not None and _reason_of(body) != "exception" else None
        is_known = told is not None and not (told["more"] and _reason_of(body) == "step")
        if told is None or top is None or not is_known or self._session.target is not None:
            # The reader must go on while we ask for the rest: its answer comes through it.
            self._debuggee.nursery.start_soon(self._settle, body, top)
            return
        stop = _stop_at(body, top)
        if stop.reason == "step" and told["returns"]:
            stop.return_value = told["returns"][-1]
        self._announce(stop, body)

    async def _settle(self, body: Mapping[str, Any], top: Frame | None) -> None:
        try:
            stop = await self._describe(body, top)
        except RelayError as error:
            log.warning("session %s: stop not described: %s", self._session.id, error.message)
            return
        if stop is not None:
            await self._forget_target(stop)
            self._announce(stop, body)

    def _announce(self, stop: Stop, body: Mapping[str, Any]) -> None:
        if self._session.is_over:
            return
        self._note_hits(stop, body)
        if (family := self._debuggee.family) is not None:
            family.stopped(self._debuggee, stop, lambda: self._tell(stop))
        else:
            self._tell(stop)

    def _tell(self, stop: Stop) -> None:
        self._debuggee.drain_output()
        stop.output_seq = self._session.output.last_seq
        self._session.announce_stop(stop, stopped_body(stop))

    async def _forget_target(self, stop: Stop) -> None:
        """Whatever stopped the program: who resumes it now is not to meet the target again."""
        target, self._session.target = self._session.target, None
        if target is None:
            return
        stop.reached = target.reached = target.is_at(stop)
        try:
            await send_breakpoints(self._debuggee, target.path)
        except RelayError as error:
            log.warning("session %s: target not removed: %s", self._session.id, error.message)

    async def _describe(self, body: Mapping[str, Any], top: Frame | None) -> Stop | None:
        """The stop with its place; None if it was none of the client's business."""
        debuggee = self._debuggee
        stop = _stop_at(body, top or await top_frame(debuggee, _thread_of(body)))
        if stop.reason == "exception":
            return stop if await self._examine_exception(stop) else None
        if stop.reason == "step":
            if stop.top is None:
                # Out of the program's last frame: below are the debugger's own.
                await debuggee.request("continue", {"threadId": stop.thread_id})
                return None
            stop.return_value = await self._return_value(stop.top)
        return stop

    async def _return_value(self, top: Frame) -> dict[str, Any] | None:
        """What a call gave back. A stop without it is worth more than none: a repr may hang."""
        inspector = self._debuggee.inspector
        try:
            return None if inspector is None else await inspector.return_value(top)
        except RelayError as error:
            log.warning("session %s: no return value: %s", self._session.id, error.message)
            return None

    async def _examine_exception(self, stop: Stop) -> bool:
        """Fill in the exception; False if it is a signal and no failure."""
        debuggee = self._debuggee
        stop.exception = await self._exception_of(stop)
        if await self._is_wanted(stop):
            return True
        assert debuggee.link is not None
        await debuggee.request("continue", {"threadId": stop.thread_id})
        return False

    async def _is_wanted(self, stop: Stop) -> bool:
        """Whether it is an exception that the client means."""
        setting = self._session.exceptions
        # What is named is meant, whatever it is.
        if stop.exception is not None and not setting.types and self._is_signal(stop.exception):
            return False
        inspector = self._debuggee.inspector
        if setting.condition is None or stop.top is None or inspector is None:
            return True
        try:
            holds, complaint = await inspector.exception_holds(stop.top, setting.condition)
        except RelayError as error:  # it hangs, say: a stop too many is better than none
            holds, complaint = True, error.message
        if complaint is not None:
            text = f"Exception breakpoint: its condition raised {complaint}\n"
            self._session.print("console", text)
        return holds

    def _is_signal(self, raised: RaisedException) -> bool:
        """Under a test runner: what it skips by, and what a test waits for, are no failures."""
        under_tests = "userUnhandled" in self._session.exception_filters
        return raised.full_type in SIGNALS or (under_tests and raised.expected)

    async def _exception_of(self, stop: Stop) -> RaisedException | None:
        debuggee = self._debuggee
        if debuggee.inspector is not None and stop.top is not None:
            try:
                found = await debuggee.inspector.exception(stop.top)
            except RelayError as error:  # its __str__ hangs, say: the debugger knows the rest
                log.warning("session %s: exception: %s", self._session.id, error.message)
                found = None
            if found is not None:
                return found
        body = await debuggee.request("exceptionInfo", {"threadId": stop.thread_id})
        found = exception_from_dap(body)
        is_secret = self._session.is_secret
        return replace(
            found,
            message=scrub(found.message, is_secret),
            traceback=scrub(found.traceback, is_secret),
        )

    def _note_hits(self, stop: Stop, body: Mapping[str, Any]) -> None:
        """Which breakpoints stopped it. The stopping thread knows, and has counted them."""
        if body.get("relayHit") is None:
            self._count_hits(stop, body.get("hitBreakpointIds") or [])
            return
        found = named(self._session, body["relayHit"])
        stop.hit_breakpoint_ids = [b.id for b in found]
        for breakpoint in found:
            if breakpoint.function is not None and stop.top is not None and stop.top.path:
                found_function(self._session, breakpoint, stop.top.path, stop.top.line)

    def _count_hits(self, stop: Stop, dap_ids: list[int]) -> None:
        session = self._session
        hits = [session.dap_breakpoint_ids.get(dap_id) for dap_id in dap_ids]
        found = [b for b in map(session.breakpoints.get, filter(None, hits)) if b]
        if not found and stop.top is not None and stop.reason == "breakpoint":
            # A step that lands on a breakpoint stops for it, but names no ids; the place
            # decides. One that comes back to its line from a call has not hit it again.
            here = session.breakpoints.at(stop.top.path or "", stop.top.line)
            if here is not None and here.is_active and not stop.reached:
                found = [here]
        for breakpoint in found:
            breakpoint.hit_count += 1
        stop.hit_breakpoint_ids = [b.id for b in found]


STREAMS = frozenset({"stdout", "stderr"})

SIGNALS = frozenset(
    {
        "SystemExit",  # the debugger leaves out those with a number only
        "Skipped",  # pytest says that it is a builtin
        "_pytest.outcomes.XFailed",
        "_pytest.outcomes.Exit",
        "unittest.case.SkipTest",
    }
)
"""Exceptions by which programs and test runners steer themselves: not what stop_on_exception means."""


def exception_from_dap(body: Mapping[str, Any]) -> RaisedException:
    """An exceptionInfo answer, when nothing better is known."""
    details = body.get("details") or {}
    # pydevd adds a remark in brackets where it does not pause in the raising frame.
    name = str(details.get("typeName") or body.get("exceptionId") or "Exception").split("(")[0]
    name = name.strip()
    return RaisedException(
        type=name.rpartition(".")[2],
        full_type=str(details.get("fullTypeName") or name).split("(")[0].strip(),
        message=str(body.get("description") or details.get("message") or ""),
        traceback=str(details.get("stackTrace") or ""),
        break_mode=str(body.get("breakMode") or "always"),
    )


def _thread_of(body: Mapping[str, Any]) -> int:
    return int(body.get("threadId") or 0)


def _reason_of(body: Mapping[str, Any]) -> str:
    return str(body.get("reason") or "pause")


def _stop_at(body: Mapping[str, Any], top: Frame | None) -> Stop:
    return Stop(
        id=0,
        thread_id=_thread_of(body),
        reason=_reason_of(body),
        top=top,
        description=body.get("description"),
        text=body.get("text"),
    )


DESCRIPTIONS = {
    "breakpoint": "Paused on breakpoint",
    "function breakpoint": "Paused on function breakpoint",
    "step": "Paused after step",
    "exception": "Paused on exception",
    "pause": "Paused on request",
    "entry": "Paused on entry",
}


def stopped_body(stop: Stop) -> dict[str, Any]:
    """The body of a `stopped` event."""
    body: dict[str, Any] = {
        "reason": stop.reason,
        "description": DESCRIPTIONS.get(stop.reason, stop.description),
        "thread_id": stop.thread_id,
        "preserve_focus_hint": False,
        "text": stop.text,
        "all_threads_stopped": True,
        "hit_breakpoint_ids": stop.hit_breakpoint_ids,
        "location": _place(stop.top),
    }
    if stop.process is not None:
        body["process"] = stop.process
    if (raised := stop.exception) is not None:
        body["text"] = f"{raised.type}: {raised.message}" if raised.message else raised.type
        body["exception_info"] = {
            "exception_id": raised.type,
            "description": raised.message,
            "break_mode": raised.break_mode,
            "details": {
                "type_name": raised.type,
                "full_type_name": raised.full_type,
                "message": raised.message,
                "stack_trace": raised.traceback,
            },
        }
    return body


def _place(frame: Frame | None) -> dict[str, Any] | None:
    if frame is None:
        return None
    return {
        "path": frame.path,
        "line": frame.line,
        "column": frame.column,
        "function": frame.name,
    }
