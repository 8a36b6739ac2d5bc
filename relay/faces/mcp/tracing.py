"""The tool that answers instead of steps: one call as text, or who wrote a value."""

from __future__ import annotations

from relay.errors import InvalidRequest
from relay.faces.mcp.arguments import Trace
from relay.faces.mcp.calls import Session, using
from relay.faces.mcp.places import trace_target
from relay.faces.mcp.texts import clip
from relay.hub import Hub
from relay.models.calls import CallsRequest, CallsResult, CallsView
from relay.models.execution import ExecutionResult
from relay.models.history import LATE, HistoryRequest
from relay.models.trace import TraceRequest, TraceResult, TraceView
from relay.operations.execution.calls import calls, get_calls
from relay.operations.execution.trace import get_trace, trace
from relay.operations.history.history import history
from relay.operations.history.history_text import history_text
from relay.operations.report.report_text import one_line
from relay.operations.report.short_paths import short_path

PLACE_SHARE = 3
"""The place where the program stands may take so much of an answer: one part of so many."""

BESIDE_CHARS = 300
"""Kept free for what is said beside the record, in a long answer."""

LEAST_TEXT = 200
"""Characters; the least bound of the operations."""

LARGEST_BOUND = 100_000

MORE_OF_TEXT = "… all of it: debug_trace without target, max_chars={bound}"
MORE_OF_TRACE = "… more: trace a call that it made"
MORE_OF_CALLS = "… more: debug_inspect what=calls with a larger max_chars"
NONE_RECORDED = "debug_trace what=calls records them, from a stop on"
UNDER_WAY = "debug_continue action=wait, then {look} shows the rest"


async def trace_call(hub: Hub, asked: Trace) -> str:
    """One call from beginning to end; without a target, what is recorded by now."""
    async with using(hub, asked.session) as session:
        if asked.what == "why":
            return await _why(session, asked)
        if asked.what == "calls":
            return await _calls(session, asked)
        found = await _found(session, asked)
        if found.trace_state in {"waiting", "recording"}:
            more = UNDER_WAY.format(look="debug_trace without target")
        else:
            more = _more_of(found)
        text = found.text or "no trace"
        all_of_it = _all_of_text(len(text))  # where the text is cut here
        return _answer(text, more, all_of_it, _present_place(session, found), asked.max_chars)


def _more_of(found: TraceResult) -> str:
    """How to see what the text leaves out: rounds of a loop, say, are no longer in the record."""
    if found.thread_name is None or not (found.truncated and found.text):
        return ""  # no call was recorded, or all of it is there
    return MORE_OF_TRACE if found.whole_text is None else _all_of_text(found.whole_text)


def _all_of_text(whole: int) -> str:
    bound = -(-(whole + BESIDE_CHARS) // 100) * 100
    return MORE_OF_TEXT.format(bound=min(bound, LARGEST_BOUND))


RECORD = '; debug_run with record=["PLACE:EXPR"] takes no second run'
"""How an agent does without a second run."""


async def _why(session: Session, asked: Trace) -> str:
    if asked.target is None:
        message = "what=why needs the expression whose value is asked about"
        raise InvalidRequest.of_field("target", message, None)
    request = HistoryRequest(expression=asked.target, wait=max(1.0, asked.wait))
    found = await history(session, body=request)
    more = ["ask again with a larger wait"] if (found.reason or "").startswith(LATE) else []
    room = asked.max_chars - sum(len(line) + 1 for line in more)
    text = history_text(
        found, session.config.project_root, room, more=": raise max_chars", record=RECORD
    )
    return "\n".join([text, *more])


async def _calls(session: Session, asked: Trace) -> str:
    """Of a stopped program those up to its next stop; else those that are recorded by now."""
    if session.stop is None:
        return await recorded_calls(session, asked.max_chars)
    focus = [one for name in (asked.target or "").split(",") if (one := name.strip())]
    room = _text_room(asked.max_chars)
    request = CallsRequest(focus=focus, wait=asked.wait, max_chars=room)
    return _calls_text(session, await calls(session, body=request), asked.max_chars)


async def recorded_calls(session: Session, max_chars: int) -> str:
    """The last tree of calls as it is by now, and where the program stands."""
    found = await get_calls(session, query=CallsView(max_chars=_text_room(max_chars)))
    return _calls_text(session, found, max_chars)


def _calls_text(session: Session, found: CallsResult, max_chars: int) -> str:
    if found.calls_state == "recording":
        more = UNDER_WAY.format(look="debug_inspect what=calls")
    elif found.calls_state == "none":
        more = NONE_RECORDED
    else:
        more = MORE_OF_CALLS if found.left_out else ""
    return _answer(found.text, more, MORE_OF_CALLS, _present_place(session, found), max_chars)


async def _found(session: Session, asked: Trace) -> TraceResult:
    room = _text_room(asked.max_chars)
    if asked.target is None:
        return await get_trace(session, query=TraceView(max_chars=room))
    fields = asked.model_dump(include={"call", "depth", "condition", "until_result", "wait"})
    target = trace_target("target", asked.target)
    if "condition" in target and fields.pop("condition") is not None:
        message = "a condition stands in target or in condition, not in both"
        raise InvalidRequest.of_field("target", message, asked.target[:200])
    request = TraceRequest.model_validate({**fields, **target, "max_chars": room})
    return await trace(session, body=request)


# Answers within their bound ------------------------------------------------------------------


def _text_room(max_chars: int) -> int:
    """Of an answer, for what was recorded."""
    return max(LEAST_TEXT, max_chars - min(BESIDE_CHARS, max_chars // PLACE_SHARE))


def _answer(text: str, more: str, otherwise: str, place: str, max_chars: int) -> str:
    """The text, how to get more of it, and the place; `otherwise` stands for `more` if it is cut here."""
    whole = "\n".join(filter(None, [text, more, place]))
    if len(whole) <= max_chars:
        return whole
    rest = "\n".join([more or otherwise, clip(place, max_chars // PLACE_SHARE)])
    return f"{clip(text, max_chars - len(rest) - 1)}\n{rest}"


def _present_place(session: Session, found: ExecutionResult) -> str:
    place = found.current_location
    path = short_path(session, place.path) if place else None
    where = f" at {one_line(f'{path}:{place.line} in {place.function}')}" if place else ""
    code = f", exit code {found.exit_code}" if found.exit_code is not None else ""
    return f"now {found.status.value}{where}{code}"
