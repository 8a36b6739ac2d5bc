"""The tool that answers instead of steps: one call as text, or who wrote a value."""

from __future__ import annotations

from relay.errors import InvalidRequest
from relay.faces.mcp.arguments import Trace
from relay.faces.mcp.calls import Session, using
from relay.faces.mcp.places import PLACE, file_and_line
from relay.faces.mcp.texts import clip
from relay.hub import Hub
from relay.models.calls import CallsRequest, CallsView
from relay.models.execution import ExecutionResult
from relay.models.history import HistoryRequest
from relay.models.trace import TraceRequest, TraceResult, TraceView
from relay.operations.execution.calls import calls, get_calls
from relay.operations.execution.trace import get_trace, trace
from relay.operations.history.history import history
from relay.operations.history.history_text import history_text

PLACE_CHARS = 300
"""Of the answer, for where the program stands now."""


async def trace_call(hub: Hub, asked: Trace) -> str:
    """One call from beginning to end; without a target, what is recorded by now."""
    async with using(hub, asked.session) as session:
        if asked.what == "why":
            return await _why(session, asked)
        if asked.what == "calls":
            return await _calls(session, asked)
        found = await _found(session, asked)
        text = "\n".join([found.text or "no trace", *_remarks(found), _present_place(found)])
        return clip(text, asked.max_chars)


async def _why(session: Session, asked: Trace) -> str:
    if asked.target is None:
        message = "what=why needs the expression whose value is asked about"
        raise InvalidRequest.of_field("target", message, None)
    request = HistoryRequest(expression=asked.target, wait=max(1.0, asked.wait))
    found = await history(session, body=request)
    return history_text(found, session.config.project_root, asked.max_chars)


async def _calls(session: Session, asked: Trace) -> str:
    """Of a stopped program those up to its next stop; else those that are recorded by now."""
    room = max(200, asked.max_chars - PLACE_CHARS)
    if session.stop is None:
        found = await get_calls(session, query=CallsView(max_chars=room))
    else:
        focus = [one for one in (asked.target or "").split(",") if one]
        request = CallsRequest(focus=focus, wait=asked.wait, max_chars=room)
        found = await calls(session, body=request)
    under_way = ["debug_continue action=wait, then debug_trace what=calls shows the rest"]
    remarks = under_way if found.calls_state == "recording" else []
    return clip("\n".join([found.text, *remarks, _present_place(found)]), asked.max_chars)


async def _found(session: Session, asked: Trace) -> TraceResult:
    # The operation's least bound is 200.
    room = max(200, asked.max_chars - PLACE_CHARS)
    if asked.target is None:
        return await get_trace(session, query=TraceView(max_chars=room))
    fields = asked.model_dump(include={"call", "depth", "condition", "until_result", "wait"})
    request = TraceRequest.model_validate({**_target(asked.target), **fields, "max_chars": room})
    return await trace(session, body=request)


def _target(target: str) -> dict[str, str | int]:
    if PLACE.fullmatch(target) is None:
        return {"function": target}
    file, line = file_and_line("target", target)
    return {"file": file, "line": line}


def _remarks(found: TraceResult) -> list[str]:
    if found.trace_state in {"waiting", "recording"}:
        return ["debug_continue action=wait, then debug_trace without target shows the rest"]
    if found.truncated and found.text:
        return ["… more with a larger max_chars; or trace a call that it made"]
    return []


def _present_place(found: ExecutionResult) -> str:
    place = found.current_location
    where = f" at {place.path}:{place.line} in {place.function}" if place else ""
    code = f", exit code {found.exit_code}" if found.exit_code is not None else ""
    return clip(f"now {found.status.value}{where}{code}", PLACE_CHARS - 100)
