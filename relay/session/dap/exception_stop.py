"""A stop at an exception: what was raised, and whether it is one that the client means.

Source: DAP exceptionInfo; contract, section 5.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from relay.errors import DebuggerError, RelayError
from relay.session.state.stop import Failure, Frame, RaisedException, Stop

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee
    from relay.session.session import Session

_TITLE = re.compile(r"([\w.$]+): (.+)", re.DOTALL)
_BREAK_MODES = ("never", "always", "unhandled", "userUnhandled")
_FILTERS = {"always": "raised", "userUnhandled": "userUnhandled"}
"""DAP's filters by the way in which an exception stops the program; any other is uncaught."""

log = logging.getLogger("relay.session")


def failure_stop(debuggee: Debuggee, stop: Stop, facts: Mapping[str, Any]) -> Stop:
    """The stop with what the debuggee said of a failure: what it ends, and its frames."""
    frames = [
        Frame(
            dap_id=one["id"],
            name=one["name"],
            path=one["path"],
            line=one["line"],
            column=one["column"],
            subtle=str(one["path"]).startswith("<"),
            moved_on=one["moved_on"],
            inner=one["inner"],
        )
        for one in facts["frames"]
    ]
    raised = [frame for frame in frames if not frame.inner]
    debugger = debuggee.session.debugger
    while len(raised) > 1 and debugger.is_launcher_frame(raised[-1].path, raised[-1].name):
        raised.pop()
    frames = [*raised, *(frame for frame in frames if frame.inner)]
    stop.top = next(iter(frames), None)
    stop.stacks[stop.thread_id] = frames
    stop.failure = Failure(
        ends=facts["ends"],
        name=facts.get("ends_name"),
        test=facts.get("test"),
        explanation=facts.get("explanation"),
        group=facts.get("group"),
    )
    return stop


async def examine(debuggee: Debuggee, stop: Stop) -> bool:
    """Fill in the stop's exception; False if it is a signal and no failure, or not asked for."""
    stop.exception = await _exception_of(debuggee, stop)
    if stop.failure is not None:
        stop.exception = replace(stop.exception, break_mode="unhandled")
    setting = debuggee.session.exceptions
    if stop.exception.break_mode == "always" and "raised" not in setting.filters:
        stop.exception = replace(stop.exception, break_mode="userUnhandled")
    # What is named is meant, whatever it is.
    is_narrowed = setting.narrows(_FILTERS.get(stop.exception.break_mode, "uncaught"))
    is_named = is_narrowed and setting.types
    if stop.failure is None and not is_named and _is_signal(debuggee.session, stop.exception):
        return False
    return not is_narrowed or await _condition_holds(debuggee, stop)


async def _condition_holds(debuggee: Debuggee, stop: Stop) -> bool:
    condition, inspector = debuggee.session.exceptions.condition, debuggee.inspector
    if condition is None or stop.top is None or inspector is None:
        return True
    try:
        holds, complaint = await inspector.exception_holds(stop.top, condition)
    except RelayError as error:  # it hangs, say: a stop too many is better than none
        holds, complaint = True, error.message
    if complaint is not None:
        text = f"Exception breakpoint: its condition raised {complaint}\n"
        debuggee.events.printed("console", text)
    return holds


def _is_signal(session: Session, raised: RaisedException) -> bool:
    """Under a test runner: what it skips by, and what a test waits for, are no failures."""
    under_tests = "userUnhandled" in session.exceptions.filters
    return raised.full_type in session.debugger.control_exceptions or (
        under_tests and raised.expected
    )


async def _exception_of(debuggee: Debuggee, stop: Stop) -> RaisedException:
    if debuggee.inspector is not None and stop.top is not None:
        try:
            found = await debuggee.inspector.exception(stop.top)
        except RelayError as error:  # its __str__ hangs, say: the debugger knows the rest
            log.warning("session %s: exception: %s", debuggee.session.id, error.message)
            found = None
        if found is not None:
            return found
    try:
        body = await debuggee.request("exceptionInfo", {"threadId": stop.thread_id})
    except DebuggerError:  # not every debugger has it: the stop itself says a little
        return _from_stop(stop)
    found = _from_dap(body)
    redaction = debuggee.session.redaction
    return replace(
        found,
        message=redaction.text(found.message),
        traceback=redaction.text(found.traceback),
    )


def _from_dap(body: Mapping[str, Any]) -> RaisedException:
    """An exceptionInfo answer, when nothing better is known."""
    details = body.get("details") or {}
    # Some debuggers add a remark in brackets where it does not pause in the raising frame.
    name = str(details.get("typeName") or body.get("exceptionId") or "Exception").split("(")[0]
    name = name.strip()
    message = str(body.get("description") or details.get("message") or "")
    if not message and (titled := _TITLE.match(str(body.get("exceptionId") or ""))):
        name, message = titled.groups()  # js-debug has both in one text
    break_mode = body.get("breakMode")
    return RaisedException(
        type=name.rpartition(".")[2],
        full_type=str(details.get("fullTypeName") or name).split("(")[0].strip(),
        message=message,
        traceback=str(details.get("stackTrace") or ""),
        break_mode=str(break_mode) if break_mode in _BREAK_MODES else "always",
    )


def _from_stop(stop: Stop) -> RaisedException:
    """What the event says of an exception, when the debugger has no exceptionInfo."""
    words = stop.description or stop.text or "the program stopped at an exception"
    return RaisedException(type="exception", full_type="exception", message=words, traceback="")
