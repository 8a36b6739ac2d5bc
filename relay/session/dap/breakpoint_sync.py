"""What the debugger is sent of breakpoints and exceptions, before a start and during a run.

Source: DAP setBreakpoints, setExceptionBreakpoints.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import trio

from relay.errors import RelayError
from relay.session.dap.breakpoint_events import name_of, start_anew, take_answer
from relay.session.dap.capture_sync import send_captures
from relay.session.dap.recording_sync import begin_recordings
from relay.session.state.breakpoints import Breakpoint

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee
    from relay.session.session import Session

log = logging.getLogger("relay.session")

SECONDS_EACH = 0.02
"""What one breakpoint may add to the time limit: some debuggers take milliseconds for each."""


P = ParamSpec("P")
Send = Callable[Concatenate["Debuggee", P], Coroutine[Any, Any, None]]


def _to_every_process(send: Send[P]) -> Send[P]:
    """Have what one process is sent during a run sent to every process of the session."""

    @functools.wraps(send)
    async def send_to_all(debuggee: Debuggee, /, *args: P.args, **named: P.kwargs) -> None:
        try:
            if not _is_left_behind(debuggee):
                await send(debuggee, *args, **named)
        except RelayError:
            if not _is_left_behind(debuggee):
                raise
        if debuggee.started:
            await debuggee.group.send_to_others(debuggee, lambda other: send(other, *args, **named))

    return send_to_all


def _is_left_behind(debuggee: Debuggee) -> bool:
    """Whether nobody is there to be sent anything: what it has become, and starts, is asked as a child."""
    return debuggee.has_become_another and debuggee.group.follows_children


async def send_or_undo(
    debuggee: Debuggee, send: Callable[[], Awaitable[None]], undo: Callable[[], object]
) -> None:
    """Send a change that the session knows already; if the debugger refuses it, `undo` it.

    Goes on to its end when the asker is cancelled: the debugger has what was sent to it.
    """
    try:
        with trio.CancelScope(shield=True):
            await send()
    except Exception:
        undo()
        send_later(debuggee, send)
        raise


def send_later(debuggee: Debuggee, send: Callable[[], Awaitable[None]]) -> None:
    """Send what is in force after a refusal. Who was refused does not wait for it.

    send: anew, what may have come to the debugger of what was refused.
    """
    session = debuggee.session
    if session.debuggee is debuggee.group.program:  # else it has ended, and the session may have
        session.start_soon(_send_again, session, send)


async def _send_again(session: Session, send: Callable[[], Awaitable[None]]) -> None:
    try:
        await send()
    except Exception as error:  # noqa: BLE001  whatever it answers is no reason to end a session
        log.warning("session %s: what was refused may be in force: %s", session.id, error)


async def send_all(debuggee: Debuggee, *, at_once: bool = False) -> None:
    """Everything that the session knows, in DAP's order: breakpoints, then exceptions.

    at_once: to a debugger that takes them in any order; they do not wait for each other's answers.
    """
    if debuggee.session.debuggee is debuggee:  # and no child of a program that runs
        start_anew(debuggee.session)
    if at_once:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_send_all_breakpoints, debuggee)
            nursery.start_soon(send_exception_filters, debuggee)
    else:
        await _send_all_breakpoints(debuggee)
        await send_exception_filters(debuggee)
    await begin_recordings(debuggee)


async def _send_all_breakpoints(debuggee: Debuggee) -> None:
    target = debuggee.session.stops.target
    targets = [] if target is None else [target.path]
    for path in dict.fromkeys([*debuggee.session.breakpoints.paths(), *targets]):
        await send_breakpoints(debuggee, path)
    await send_function_breakpoints(debuggee)


@_to_every_process
async def send_breakpoints(debuggee: Debuggee, path: str) -> None:
    """The active breakpoints of one file; DAP replaces the earlier ones."""
    session = debuggee.session
    await send_captures(debuggee)  # first: a breakpoint that is set may be hit at once
    active = _taken(debuggee, session.breakpoints.active_in(path))
    if (target := session.stops.target) is not None and target.path == path:
        active = target.added_to(active)
    body = await debuggee.request(
        "setBreakpoints",
        {
            "source": {"path": path},
            "breakpoints": [
                session.debugger.source_breakpoint(b, name_of(session, b)) for b in active
            ],
        },
        timeout=session.settings.request_timeout_seconds + SECONDS_EACH * len(active),
    )
    take_answers(debuggee, active, body.get("breakpoints") or [])


def take_answers(
    debuggee: Debuggee, sent: list[Breakpoint], answers: list[Mapping[str, Any]]
) -> None:
    """Note what the debugger answers of breakpoints, each in its place, and its own ids."""
    session = debuggee.session
    for breakpoint, answer in zip(sent, answers, strict=False):
        if dap_id := id_of(answer):
            session.breakpoints.number(dap_id, breakpoint)
        take_answer(session, breakpoint, answer, of_child=debuggee.number > 0)


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


def id_of(answer: Mapping[str, Any]) -> int:
    """The debugger's own id of a breakpoint; 0 if it gives none."""
    dap_id = answer.get("id")
    return dap_id if isinstance(dap_id, int) else 0


@_to_every_process
async def send_function_breakpoints(debuggee: Debuggee) -> None:
    """The active function breakpoints; replaces the earlier ones."""
    session, inspector = debuggee.session, debuggee.inspector
    await send_captures(debuggee)
    if inspector is None:
        return
    active = _taken(debuggee, session.breakpoints.active_functions())
    if not active and not inspector.functions:
        return
    await inspector.set_function_breakpoints(active)


@_to_every_process
async def send_exception_filters(debuggee: Debuggee) -> None:
    """What exceptions the program stops at; replaces the earlier setting."""
    setting = debuggee.session.exceptions
    if debuggee.inspector is not None:
        await debuggee.inspector.set_exception_breakpoints(setting)
        return
    filters = debuggee.session.debugger.exception_filters(setting.filters)
    await debuggee.request("setExceptionBreakpoints", {"filters": filters})
