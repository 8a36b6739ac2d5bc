"""Captured rows on their way from the debuggee into the session's logs.

While rows come, what is left behind them in the debuggee is fetched four times a second, so that
a program that dies takes no more than that along. Knows no table: see `captures.py`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import trio

from relay.errors import DebuggerTimeout, NotSupported, RelayError
from relay.session.dap.breakpoint_events import name_of, named
from relay.session.state.breakpoints import Breakpoint
from relay.session.state.captures import CaptureLog, mark_of

if TYPE_CHECKING:
    from relay.session.debuggee.debuggee import Debuggee
    from relay.session.session import Session

FETCH_EVERY = 0.25
"""Seconds that a row stays in the debuggee at most, while it can be asked."""
FETCH_SECONDS = 1.0
"""How long a busy program may keep its rows to itself before it is asked again."""


def log_of(session: Session, breakpoint: Breakpoint) -> CaptureLog:
    """The rows of a breakpoint that captures."""
    assert breakpoint.capture is not None
    return session.captures.of(breakpoint.id, breakpoint.capture, breakpoint.reveal)


def take_captures(debuggee: Debuggee, body: Mapping[str, Any]) -> None:
    """Note rows that a process sent, unless they belong to a breakpoint as it was before."""
    session = debuggee.session
    for breakpoint in named(session, [str(body["name"])]):
        if breakpoint.capture is None:
            continue
        log = log_of(session, breakpoint)
        if log.mark == body["mark"]:
            log.take(debuggee.outer_id(0), _rows(body["columns"]), debuggee.outer_id)


def _rows(columns: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
    """As a log takes them; the third column has times in whole microseconds."""
    numbers, threads, times, *values = columns
    seconds = [time / 1e6 for time in times]
    return list(zip(numbers, threads, seconds, *values, strict=True))


async def fetch_rest(debuggee: Debuggee) -> None:
    """Ask for what waits in the debuggee, until nothing does. The rows come as events."""
    while debuggee.inspector is not None:
        await trio.sleep(FETCH_EVERY)
        try:
            if not await debuggee.inspector.send_captures(timeout=FETCH_SECONDS):
                return
        except DebuggerTimeout:
            continue  # it is busy in C: later
        except RelayError:
            return  # it is over


async def fetch_now(debuggee: Debuggee) -> None:
    """Have every process send what it has recorded so far, if it can be asked just now."""
    if debuggee.inspector is None or not debuggee.inspector.captures:
        return
    with contextlib.suppress(RelayError):  # busy, or over: what was sent last is what there is
        await debuggee.group.send_captures(timeout=FETCH_SECONDS)


async def send_captures(debuggee: Debuggee) -> None:
    """Every breakpoint's captures, if they are not as they were sent last.

    Also of those that are switched off: they are not hit. Raises NotSupported where there are
    some and the debugger cannot.
    """
    session, inspector = debuggee.session, debuggee.inspector
    wanted = [_capture_set(session, b) for b in session.breakpoints if b.capture is not None]
    if inspector is None:
        if wanted:
            raise NotSupported(
                "this debugger cannot capture values without stopping",
                suggestion="Use log_message instead, or remove `capture` from the breakpoints",
            )
        return
    if wanted == inspector.captures:
        return
    await inspector.set_captures(wanted)


def _capture_set(session: Session, breakpoint: Breakpoint) -> dict[str, Any]:
    expressions, debugger = breakpoint.capture or [], session.debugger
    return {
        "name": name_of(session, breakpoint),
        "mark": mark_of(expressions, breakpoint.reveal),
        "expressions": [[text, debugger.frame_expression(text)] for text in expressions],
        "reveal": breakpoint.reveal,
    }
