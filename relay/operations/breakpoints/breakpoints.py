"""Breakpoints: set, show, change, remove. Source: API section 3.4, contract section 3."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from relay.errors import BreakpointNotFound, InvalidRequest, RelayError
from relay.models.breakpoints import (
    BreakpointBatch,
    BreakpointList,
    BreakpointListQuery,
    BreakpointSpec,
    BreakpointView,
    ChangeBreakpoint,
    DeleteBreakpointsQuery,
    DeletedBreakpoint,
    DeletedBreakpoints,
    SetBreakpoints,
)
from relay.models.resource import SourceRef
from relay.operations.allowed_roots import meant_path
from relay.operations.breakpoints.pending import look_out
from relay.operations.breakpoints.placing import change_warning, check_texts, place
from relay.session.dap.breakpoint_events import announce, take_hits, take_places
from relay.session.dap.breakpoint_sync import (
    send_breakpoints,
    send_function_breakpoints,
    send_or_undo,
)
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debugger import Ability
from relay.session.session import Session
from relay.session.state.breakpoints import Breakpoint, BreakpointTable

COUNT_SECONDS = 1.0
"""How long a program that is busy may keep the count of hits to itself."""

WAITS = (
    "Somebody else's breakpoint is here, and stays as it is: this one waits until that is let go"
)


async def set_breakpoints(session: Session, *, body: SetBreakpoints) -> BreakpointBatch:
    """Set breakpoints, in any state of the session.

    Each line is checked by compiling its file, which never runs it. A line without
    code is kept unverified and says where the nearest code is. One bad breakpoint
    refuses the whole batch. The same place again updates that breakpoint.
    """
    # One question to another interpreter for the whole batch; `place` then knows the answers.
    conditions = [spec.condition for spec in body.specs if spec.condition is not None]
    conditions += [text for spec in body.specs for text in spec.capture or []]
    if Ability.CHECKS_SOURCE in session.debugger.abilities:
        await session.debugger.check_expressions(conditions, session.config.python_path)
    checked = [await place(session, spec) for spec in body.specs]
    owner = body.owner or ""
    before = session.breakpoints.copy()
    stored = [session.breakpoints.put(replace(breakpoint, owner=owner)) for breakpoint in checked]
    await _send(session, stored, before)
    for breakpoint in stored:
        if breakpoint.owner == owner:  # else it stays as it is, and what was asked for waits
            announce(session, "changed" if breakpoint.id in before else "new", breakpoint)
    await _changed(session)
    # The same place twice in one batch is one breakpoint: show its final state.
    now = [found for b in stored if (found := session.breakpoints.get(b.id)) is not None]
    return BreakpointBatch(
        breakpoints=[_view_for(session, b, owner) for b in now], warning=_warning(session, now)
    )


def _view_for(session: Session, breakpoint: Breakpoint, owner: str) -> BreakpointView:
    """The breakpoint in force; if that is another one's, and not what this owner wants there, it says so."""
    shown = view(session, breakpoint)
    for one in breakpoint.others:
        if one.owner == owner and _wanted(one) != _wanted(breakpoint):
            return shown.model_copy(update={"message": shown.message or WAITS})
    return shown


def _wanted(breakpoint: Breakpoint) -> tuple[object, ...]:
    """When to stop there, and what to do then."""
    return (
        breakpoint.condition,
        breakpoint.hit_condition,
        breakpoint.log_message,
        breakpoint.capture,
        breakpoint.enabled,
    )


async def list_breakpoints(session: Session, *, query: BreakpointListQuery) -> BreakpointList:
    """List the breakpoints, in the order in which they were set."""
    look_out(session)
    await _refresh(session)
    path = None if query.file is None else meant_path(session, query.file)
    found = [
        breakpoint
        for breakpoint in session.breakpoints
        if path in (None, breakpoint.shown_path) and query.verified in (None, breakpoint.verified)
    ]
    return BreakpointList(
        breakpoints=[view(session, b) for b in found],
        total=len(found),
        warning=_warning(session, found),
    )


async def get_breakpoint(session: Session, *, breakpoint_id: str) -> BreakpointView:
    """Show one breakpoint."""
    require_breakpoint(session, breakpoint_id)
    await _refresh(session)
    return view(session, require_breakpoint(session, breakpoint_id))


async def change_breakpoint(
    session: Session, *, breakpoint_id: str, body: ChangeBreakpoint
) -> BreakpointView:
    """Change a breakpoint, in any state of the session; what is not given stays."""
    breakpoint = require_breakpoint(session, breakpoint_id)
    given = {name: getattr(body, name) for name in body.model_fields_set}
    changed = await _moved(session, breakpoint, given)
    await check_texts(session, changed)
    if session.breakpoints.get(breakpoint_id) is not breakpoint:
        # Somebody else was quicker, while the source was looked at.
        return await change_breakpoint(session, breakpoint_id=breakpoint_id, body=body)
    before = session.breakpoints.copy()
    if changed.capture is None:
        changed = replace(changed, reveal=False)
    left: list[Breakpoint] = []
    if changed.place != breakpoint.place and changed.others:  # what others want stays where it is
        heir, *waiting = changed.others
        stored = session.breakpoints.change(replace(changed, others=()))
        left = [session.breakpoints.put(replace(heir, others=tuple(waiting)))]
    else:
        stored = session.breakpoints.change(changed)
    await _send(session, [stored, *left], before)
    announce(session, "changed", stored)
    for one in left:
        announce(session, "new", one)
    await _changed(session)
    return view(session, stored)


async def _moved(session: Session, breakpoint: Breakpoint, given: dict[str, Any]) -> Breakpoint:
    """The breakpoint with what is given, at its new line if that is among it."""
    changed = replace(breakpoint, **given)
    if changed.line == breakpoint.line:
        return changed
    if breakpoint.function is not None:
        message = "a function breakpoint has no line of its own"
        raise InvalidRequest.of_field("line", message, changed.line)
    spec = BreakpointSpec(file=breakpoint.path, line=changed.line, pending=breakpoint.pending)
    placed = await place(session, spec)
    other = session.breakpoints.at(breakpoint.path, changed.line)
    if other is not None:
        message = f"breakpoint {other.id} is there already"
        raise InvalidRequest.of_field("line", message, changed.line)
    return replace(
        changed,
        verified=placed.verified,
        pending=placed.pending,
        message=placed.message,
        suggestion=placed.suggestion,
    )


async def remove_breakpoint(session: Session, *, breakpoint_id: str) -> DeletedBreakpoint:
    """Remove a breakpoint; the program no longer stops there."""
    await _remove(session, [require_breakpoint(session, breakpoint_id)])
    return DeletedBreakpoint(id=breakpoint_id)


async def remove_breakpoints(
    session: Session, *, query: DeleteBreakpointsQuery
) -> DeletedBreakpoints:
    """Remove all breakpoints, all of a file, or what one owner wants; exception breakpoints stay."""
    path = None if query.file is None else meant_path(session, query.file)
    found = [b for b in session.breakpoints if path in (None, b.shown_path)]
    if query.ids is not None:
        found = [b for b in found if b.id in query.ids]
    if query.owner is None:
        await _remove(session, found)
    else:
        found = await _let_go(session, found, query.owner)
    return DeletedBreakpoints(deleted=[b.id for b in found], total=len(found))


async def _let_go(session: Session, found: list[Breakpoint], owner: str) -> list[Breakpoint]:
    """Have an owner want these no more; those that nobody wants any longer, which are gone."""
    wanted = [b for b in found if owner in (b.owner, *(one.owner for one in b.others))]
    before = session.breakpoints.copy()
    stay = {b.id: session.breakpoints.let_go(b.id, owner) for b in wanted}
    in_force = [b for b in wanted if b.owner == owner]
    changed = [stay[b.id] or b for b in in_force]
    if changed:
        await _send(session, changed, before)
    for breakpoint in changed:
        is_gone = stay[breakpoint.id] is None
        if is_gone or breakpoint.capture is None:
            session.captures.forget(breakpoint.id)
        announce(session, "removed" if is_gone else "changed", breakpoint)
    await _changed(session)
    return [b for b in in_force if stay[b.id] is None]


async def let_go(session: Session, owner: str) -> None:
    """An owner has left: what it has set goes, but for what others want, too."""
    with contextlib.suppress(RelayError):  # the program, or the session, is over
        await remove_breakpoints(session, query=DeleteBreakpointsQuery(owner=owner))


async def _remove(session: Session, breakpoints: list[Breakpoint]) -> None:
    before = session.breakpoints.copy()
    for breakpoint in breakpoints:
        session.breakpoints.remove(breakpoint.id)
    await _send(session, breakpoints, before)
    for breakpoint in breakpoints:
        session.captures.forget(breakpoint.id)
        announce(session, "removed", breakpoint)
    await _changed(session)


def require_breakpoint(session: Session, breakpoint_id: str) -> Breakpoint:
    """The breakpoint of this id; raises BreakpointNotFound."""
    breakpoint = session.breakpoints.get(breakpoint_id)
    if breakpoint is None:
        raise BreakpointNotFound(
            f"Breakpoint with ID '{breakpoint_id}' not found", breakpoint_id=breakpoint_id
        )
    return breakpoint


async def _send(session: Session, touched: Sequence[Breakpoint], before: BreakpointTable) -> None:
    """Send a live debugger the places touched; if it refuses, the table has them as before."""
    debuggee = session.debuggee
    if debuggee is None or not debuggee.initialized.is_set():
        return
    await send_or_undo(
        debuggee,
        partial(_send_places, debuggee, [(b.function is not None, b.path) for b in touched]),
        partial(session.breakpoints.take_back, touched, before),
    )


async def _send_places(debuggee: Debuggee, places: Sequence[tuple[bool, str]]) -> None:
    for path in dict.fromkeys(path for is_function, path in places if not is_function):
        await send_breakpoints(debuggee, path)
    if any(is_function for is_function, _ in places):
        await send_function_breakpoints(debuggee)


async def _changed(session: Session) -> None:
    """What follows from every change."""
    look_out(session)
    await session.keep()


async def _refresh(session: Session) -> None:
    """What a live program knows better: counts of hits, and places of functions."""
    debuggee = session.debuggee
    inspector = debuggee.inspector if debuggee is not None else None
    if debuggee is None or inspector is None or not len(session.breakpoints):
        return
    try:
        take_hits(session, await debuggee.group.hits(timeout=COUNT_SECONDS))
        if any(_is_sought(b) for b in session.breakpoints):
            take_places(session, await inspector.function_places(timeout=COUNT_SECONDS))
    except RelayError:
        return  # it is busy, or over: what was reported last is the answer


def _is_sought(breakpoint: Breakpoint) -> bool:
    """Whether it is on a function that the debuggee may have come to know by now."""
    unknown = breakpoint.function is not None and not breakpoint.verified
    return unknown and not breakpoint.judged_by_adapter


def _warning(session: Session, breakpoints: Iterable[Breakpoint]) -> str | None:
    """One sentence for each file, as for its breakpoints."""
    by_path = {(b.path, b.function): b for b in breakpoints}
    found = [change_warning(session, b) for b in by_path.values()]
    return "; ".join(text for text in found if text) or None


def view(session: Session, breakpoint: Breakpoint) -> BreakpointView:
    """The breakpoint as a resource."""
    path = breakpoint.shown_path
    return BreakpointView(
        id=breakpoint.id,
        verified=breakpoint.verified,
        source=None if path is None else SourceRef(path=path),
        line=breakpoint.shown_line,
        function=breakpoint.function,
        condition=breakpoint.condition,
        hit_condition=breakpoint.hit_condition,
        log_message=breakpoint.log_message,
        capture=breakpoint.capture,
        reveal=breakpoint.reveal or None,
        enabled=breakpoint.enabled,
        pending=breakpoint.pending or None,
        hit_count=breakpoint.hit_count,
        message=breakpoint.message,
        suggestion=breakpoint.suggestion,
        warning=change_warning(session, breakpoint),
    )
