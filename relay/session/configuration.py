"""What the debugger is told of breakpoints and exceptions, before a start and during a run.

Source: DAP setBreakpoints, setExceptionBreakpoints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from relay.adapters.python.breakpoint_text import (
    canonical_hit_condition,
    translate_both,
    translate_condition,
    translate_log_message,
)
from relay.session.breakpoints import Breakpoint

if TYPE_CHECKING:
    from relay.session.debuggee import Debuggee


SECONDS_EACH = 0.02
"""What one breakpoint may add to the time limit: some debuggers take milliseconds for each."""


async def send_all(debuggee: Debuggee) -> None:
    """Everything that the session knows, in DAP's order: breakpoints, then exceptions."""
    for path in debuggee.session.breakpoints.paths():
        await send_breakpoints(debuggee, path)
    await send_exception_filters(debuggee)


async def send_breakpoints(debuggee: Debuggee, path: str) -> None:
    """The active breakpoints of one file; DAP replaces the earlier ones."""
    session = debuggee.session
    active = session.breakpoints.active_in(path)
    body = await debuggee.request(
        "setBreakpoints",
        {"source": {"path": path}, "breakpoints": [_source_breakpoint(b) for b in active]},
        timeout=session.settings.request_timeout_seconds + SECONDS_EACH * len(active),
    )
    for breakpoint, answer in zip(active, body.get("breakpoints") or [], strict=False):
        if isinstance(dap_id := answer.get("id"), int):
            session.dap_breakpoint_ids[dap_id] = breakpoint.id


def _source_breakpoint(breakpoint: Breakpoint) -> dict[str, Any]:
    source: dict[str, Any] = {"line": breakpoint.line}
    condition, hits = breakpoint.condition, breakpoint.hit_condition
    if condition is not None and hits is not None:
        source["hitCondition"] = translate_both(condition, hits)
    elif condition is not None:
        source["condition"] = translate_condition(condition)
    elif hits is not None:
        source["hitCondition"] = canonical_hit_condition(hits)
    if breakpoint.log_message is not None:
        source["logMessage"] = translate_log_message(breakpoint.log_message)
    return source


async def send_exception_filters(debuggee: Debuggee) -> None:
    """The exception filters; `raised` is narrowed to user code and to the first raise."""
    filters = list(debuggee.session.exception_filters)
    await debuggee.request("setExceptionBreakpoints", {"filters": filters})
    if "raised" in filters and debuggee.inspector is not None:
        await debuggee.inspector.refine_exceptions()
