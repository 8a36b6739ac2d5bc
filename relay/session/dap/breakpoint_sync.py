"""What the debugger is told of breakpoints and exceptions, before a start and during a run.

Source: DAP setBreakpoints, setExceptionBreakpoints.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from relay.debuggers.debugpy.breakpoint_text import (
    translate_both,
    translate_condition,
    translate_hits,
    translate_log_message,
)
from relay.debuggers.debugpy.own_code import own_roots
from relay.debuggers.standard.debugger import StandardDebugger
from relay.session.dap.breakpoint_events import name_of, start_anew, take_answer, take_places
from relay.session.dap.capture_sync import send_captures
from relay.session.state.breakpoints import Breakpoint

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee
    from relay.session.session import Session


SECONDS_EACH = 0.02
"""What one breakpoint may add to the time limit: some debuggers take milliseconds for each."""


P = ParamSpec("P")
Send = Callable[Concatenate["Debuggee", P], Coroutine[Any, Any, None]]


def _told_to_all(send: Send[P]) -> Send[P]:
    """Have what one process is told during a run told to every process of the session."""

    @functools.wraps(send)
    async def send_to_all(debuggee: Debuggee, /, *args: P.args, **named: P.kwargs) -> None:
        await send(debuggee, *args, **named)
        if debuggee.group is not None and debuggee.started:
            await debuggee.group.pass_on(debuggee, lambda other: send(other, *args, **named))

    return send_to_all


async def send_all(debuggee: Debuggee) -> None:
    """Everything that the session knows, in DAP's order: breakpoints, then exceptions."""
    if debuggee.session.debuggee is debuggee:  # and no child of a program that runs
        start_anew(debuggee.session)
    target = debuggee.session.target
    targets = [] if target is None else [target.path]
    for path in dict.fromkeys([*debuggee.session.breakpoints.paths(), *targets]):
        await send_breakpoints(debuggee, path)
    await send_function_breakpoints(debuggee)
    await send_exception_filters(debuggee)


@_told_to_all
async def send_breakpoints(debuggee: Debuggee, path: str) -> None:
    """The active breakpoints of one file; DAP replaces the earlier ones."""
    session = debuggee.session
    await send_captures(debuggee)  # first: a breakpoint that is set may be hit at once
    active = _taken(debuggee, session.breakpoints.active_in(path))
    if session.target is not None and session.target.path == path:
        active = session.target.added_to(active)
    body = await debuggee.request(
        "setBreakpoints",
        {"source": {"path": path}, "breakpoints": [_source_breakpoint(session, b) for b in active]},
        timeout=session.settings.request_timeout_seconds + SECONDS_EACH * len(active),
    )
    _take_answers(session, active, body.get("breakpoints") or [])


def _take_answers(
    session: Session, sent: list[Breakpoint], answers: list[Mapping[str, Any]]
) -> None:
    for breakpoint, answer in zip(sent, answers, strict=False):
        if dap_id := _id_of(answer):
            session.dap_breakpoint_ids[dap_id] = breakpoint.id
        take_answer(session, breakpoint, answer)


def _taken(debuggee: Debuggee, active: list[Breakpoint]) -> list[Breakpoint]:
    """Those that the debugger can have; the others learn why not."""
    if (inspector := debuggee.inspector) is None:
        return active
    taken = []
    for breakpoint in active:
        if (why := inspector.refusal(breakpoint)) is None:
            taken.append(breakpoint)
        else:
            take_answer(debuggee.session, breakpoint, {"verified": False, "message": why})
    return taken


def _id_of(answer: Mapping[str, Any]) -> int:
    dap_id = answer.get("id")
    return dap_id if isinstance(dap_id, int) else 0


@_told_to_all
async def send_function_breakpoints(debuggee: Debuggee) -> None:
    """The active function breakpoints; replaces the earlier ones."""
    session, inspector = debuggee.session, debuggee.inspector
    await send_captures(debuggee)
    if inspector is None:
        return
    active = _taken(debuggee, session.breakpoints.active_functions())
    if not active and not inspector.functions:
        return
    told, inspector.functions = inspector.functions, frozenset(b.id for b in active)
    if isinstance(session.debugger, StandardDebugger):
        await _send_named(debuggee, active, told)
    else:
        sent = [_function_breakpoint(session, b) for b in active]
        take_places(session, await inspector.set_function_breakpoints(sent))


async def _send_named(debuggee: Debuggee, active: list[Breakpoint], told: frozenset[str]) -> None:
    """One more with each request: some debuggers answer in an order of their own, without names."""
    sent = [b for b in active if b.id in told]
    added = [[b] for b in active if b.id not in told]
    for one in added or [[]]:
        sent += one
        body = await debuggee.request(
            "setFunctionBreakpoints", {"breakpoints": [_named_as_asked(b) for b in sent]}
        )
        answers = body.get("breakpoints") or []
        _take_answers(debuggee.session, _in_order_of(answers, debuggee.session, sent), answers)


def _in_order_of(
    answers: list[Mapping[str, Any]], session: Session, sent: list[Breakpoint]
) -> list[Breakpoint]:
    """What was sent, in the order of the answers: those by their ids that were told before."""
    known = [session.dap_breakpoint_ids.get(_id_of(answer)) for answer in answers]
    by_id = {b.id: b for b in sent if b.id in known}
    others = iter([b for b in sent if b.id not in by_id])
    found = [by_id.get(number or "") or next(others, None) for number in known]
    return [breakpoint for breakpoint in found if breakpoint is not None]


def _source_breakpoint(session: Session, breakpoint: Breakpoint) -> dict[str, Any]:
    if isinstance(session.debugger, StandardDebugger):
        return _as_asked(breakpoint)
    source: dict[str, Any] = {"line": breakpoint.line, **_texts(session, breakpoint)}
    if breakpoint.log_message is not None:
        source["logMessage"] = translate_log_message(breakpoint.log_message)
    return source


def _as_asked(breakpoint: Breakpoint) -> dict[str, Any]:
    """For a debugger that takes the texts in its own language, and counts by itself."""
    return _given(line=breakpoint.line, logMessage=breakpoint.log_message, **_both(breakpoint))


def _named_as_asked(breakpoint: Breakpoint) -> dict[str, Any]:
    """The same for one on a name, of which DAP knows no log message."""
    return _given(name=breakpoint.function, **_both(breakpoint))


def _both(breakpoint: Breakpoint) -> dict[str, Any]:
    return {"condition": breakpoint.condition, "hitCondition": breakpoint.hit_condition}


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _function_breakpoint(session: Session, breakpoint: Breakpoint) -> dict[str, Any]:
    texts = _texts(session, breakpoint)
    message = breakpoint.log_message
    return {
        "name": name_of(session, breakpoint),
        "function": breakpoint.function,
        "condition": texts["condition"],
        "hit_condition": texts.get("hitCondition"),
        "log_message": None if message is None else translate_log_message(message),
    }


def _texts(session: Session, breakpoint: Breakpoint) -> dict[str, str]:
    """Both conditions; behind the first stands the name under which the probe counts hits."""
    condition, hits = breakpoint.condition, breakpoint.hit_condition
    texts: dict[str, str] = {}
    if hits is not None:
        texts["hitCondition"] = (
            translate_both(condition, hits) if condition else translate_hits(hits)
        )
    elif condition is not None:
        texts["condition"] = translate_condition(condition)
    if breakpoint.id:
        # Beside a hit condition, which holds the condition too, this one must never hold.
        plain = "False" if hits is not None else texts.get("condition", "True")
        texts["condition"] = f"{plain}  #relay:{name_of(session, breakpoint)}"
    return texts


@_told_to_all
async def send_exception_filters(debuggee: Debuggee) -> None:
    """The exception filters; `raised` is narrowed to user code and to the first raise.

    `uncaught` is the probe's: it learns of each failure from whoever the exception comes to, and
    needs nothing traced.
    Whatever goes out of the program's own code unhandled was raised in it or passed it, and
    `raised` stops there: it has user_unhandled in it.
    """
    setting, inspector = debuggee.session.exceptions, debuggee.inspector
    if isinstance(adapter := debuggee.session.debugger, StandardDebugger):
        filters = adapter.exception_filters(setting.filters)
        if filters or inspector is None or inspector.has_exception_filters:
            await debuggee.request("setExceptionBreakpoints", {"filters": filters})
        return
    if inspector is not None:
        await inspector.limit_exceptions(setting.types)
        await inspector.watch_failures("uncaught" in setting.filters, own_roots(debuggee.session))
    raised = "raised" in setting.filters
    filters = [
        name
        for name in setting.filters
        if not (raised and name == "userUnhandled") and not (inspector and name == "uncaught")
    ]
    await debuggee.request("setExceptionBreakpoints", {"filters": filters})
    if raised and inspector is not None:
        await inspector.refine_exceptions()
