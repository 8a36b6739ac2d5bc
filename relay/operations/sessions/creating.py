"""Create a session, with its breakpoints and its program if asked for: one call for a whole start.

Source: API section 3.2; contract, section 2; user story, section 3.2.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import trio

from relay.dap.lifecycle import Phase
from relay.errors import RelayError
from relay.hub import Hub
from relay.models.breakpoints import BreakpointView, SetBreakpoints
from relay.models.creating import CreatedSession, CreateSession
from relay.operations.breakpoints.breakpoints import set_breakpoints
from relay.operations.breakpoints.breakpoints import view as breakpoint_view
from relay.operations.breakpoints.exception_breakpoints import set_exception_breakpoints
from relay.operations.sessions import launching
from relay.operations.sessions.profiles import apply_profile
from relay.operations.sessions.sessions import open_session, view_as, whole_or_not_at_all
from relay.session.definition import without_waiting
from relay.session.session import Session


async def create_session(hub: Hub, *, body: CreateSession) -> CreatedSession:
    """Create a debug session; with `launch` or `attach`, start it, too.

    Without them it holds no process yet: set breakpoints, then launch or attach. Bad
    breakpoints create nothing. If the start fails, the session stays in `created`, and
    `details.session_id` of the error names it: correct what was wrong, and launch or restart it.
    If the client hangs up before, a program that starts all the same runs on, and a session
    without one ends.
    """
    return await create_checked(hub, body, len)


async def create_checked(
    hub: Hub, body: CreateSession, check: Callable[[Sequence[BreakpointView]], object]
) -> CreatedSession:
    """The same; nothing is created either if `check` raises at what the breakpoints became."""
    session = await open_session(hub, body=body)
    with session.activity():
        placed = await _configure(hub, session, body, check)
        try:
            started = await _start(session, body)
        except RelayError:
            raise
        except BaseException:  # the client has hung up, and nobody else knows the id
            if not session.is_ending:
                session.start_soon(_end_unless_it_runs, session)
            raise
        placed = _as_now(session, placed)
        return view_as(CreatedSession, session, breakpoints=placed, **started)


@asynccontextmanager
async def session_for_block(hub: Hub, *, body: CreateSession) -> AsyncIterator[Session]:
    """A session, with its program if one is asked for, that lives as long as the block.

    Whatever ends the block, also a cancellation, and also while the program is being started:
    the session is ended first, and all that it started. Raises as `create_session` does.
    """
    session = await open_session(hub, body=body)
    try:
        with session.activity():
            await _configure(hub, session, body)
            await _start(session, body)
            yield session
    finally:
        with trio.CancelScope(shield=True):
            await hub.end_session(session)


async def _configure(
    hub: Hub,
    session: Session,
    body: CreateSession,
    check: Callable[[Sequence[BreakpointView]], object] = len,
) -> list[BreakpointView] | None:
    async with whole_or_not_at_all(hub, session):
        placed = await _place(session, body)
        check(placed or [])
    return placed


async def _place(session: Session, body: CreateSession) -> list[BreakpointView] | None:
    if body.launch is not None:  # it says where relative files are
        session.definition.use_launch(without_waiting(body.launch))
    if body.exception_breakpoints is not None:
        await set_exception_breakpoints(session, body=body.exception_breakpoints)
    placed: list[BreakpointView] = []
    for name in body.breakpoint_profiles:
        placed += (await apply_profile(session, name=name)).breakpoints
    if body.breakpoints:
        request = SetBreakpoints(breakpoints=body.breakpoints)
        placed += (await set_breakpoints(session, body=request)).breakpoints
    # A place that was named twice is one breakpoint: the last word counts.
    return list({breakpoint.id: breakpoint for breakpoint in placed}.values()) or None


async def _end_unless_it_runs(session: Session) -> None:
    await session.until_start_is_over()
    if session.lifecycle.phase is Phase.CREATED:
        session.end(discard=True)


def _as_now(session: Session, placed: list[BreakpointView] | None) -> list[BreakpointView] | None:
    """The breakpoints after the start: some debuggers judge them only then."""
    known = [session.breakpoints.get(one.id) for one in placed or []]
    return [breakpoint_view(session, one) for one in known if one is not None] or None


async def _start(session: Session, body: CreateSession) -> dict[str, Any]:
    """Returns what the answer has of the start, by the names of its fields."""
    target = body.target
    try:
        if body.launch is not None:
            # Also what is refused: a restart repeats it once it is corrected.
            await session.keep()
            return {"stop": (await launching.launch(session, body=body.launch)).stop}
        if target is not None:
            attached = await launching.attach(session, body=target)
            return {"child_processes": attached.child_processes}
    except RelayError as error:
        error.details["session_id"] = session.id
        raise
    return {}
