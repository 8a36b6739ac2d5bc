"""The tool that sets, removes and lists breakpoints, and shows what they recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relay.errors import BreakpointNotFound, RelayError
from relay.faces.mcp import arguments
from relay.faces.mcp.calls import Session, choose_exceptions, shown_place, using
from relay.faces.mcp.places import breakpoint_specs
from relay.faces.mcp.texts import listed
from relay.hub import Hub
from relay.models.breakpoints import (
    BreakpointListQuery,
    BreakpointView,
    SetBreakpoints,
)
from relay.models.data_breakpoints import DataBreakpointView, SetDataBreakpoint
from relay.models.places import parse_place
from relay.operations.breakpoints import breakpoints, captures
from relay.operations.breakpoints.data_breakpoints import (
    list_data_breakpoints,
    remove_data_breakpoint,
    set_data_breakpoint,
)

PAGE = 200
MORE_CHARS = 80
"""Kept free for how to get the other rows."""


async def change(hub: Hub, asked: arguments.Breakpoints) -> str:
    """Set, remove, choose; then every breakpoint there is, or what one recorded."""
    specs = breakpoint_specs(
        "set", asked.set, asked.capture, hit_condition=asked.hits, log_message=asked.log
    )
    async with using(hub, asked.session) as session:
        there = await _there(session)
        watched = [found.id for found in session.data_breakpoints]
        if "all" in asked.remove:
            going, unwatched = [found.id for found in there], watched
        else:
            unwatched = [name for name in asked.remove if name in watched]
            going = _ids(there, [name for name in asked.remove if name not in watched])
        shown = _ids(there, [asked.captures] if asked.captures is not None else [])
        kept: set[str] = set()
        if specs:
            request = SetBreakpoints(breakpoints=specs)
            placed = await breakpoints.set_breakpoints(session, body=request)
            kept = {found.id for found in placed.breakpoints}
        for breakpoint_id in going:
            if breakpoint_id not in kept:
                await breakpoints.remove_breakpoint(session, breakpoint_id=breakpoint_id)
        for number in unwatched:
            await remove_data_breakpoint(session, data_breakpoint_id=number)
        await _watch(session, asked.watch)
        if asked.on_exception is not None:
            await choose_exceptions(session, asked.on_exception, asked.types)
        if shown:
            return await _recorded(session, shown[0], asked)
        return await _listing(session, asked.max_chars)


async def _watch(session: Session, expressions: Sequence[str]) -> None:
    """All of them, or none: one that cannot be watched is an error, which says nothing of the others."""
    known = {found.id for found in session.data_breakpoints}
    try:
        for expression in expressions:
            await set_data_breakpoint(session, body=SetDataBreakpoint(expression=expression))
    except RelayError:
        for found in list(session.data_breakpoints):
            if found.id not in known:
                await remove_data_breakpoint(session, data_breakpoint_id=found.id)
        raise


async def _recorded(session: Session, breakpoint_id: str, asked: arguments.Breakpoints) -> str:
    """A choice of the rows, or with `start` all of them from there."""
    room = asked.max_chars - MORE_CHARS
    if asked.start is None:
        found = await captures.captures(session, breakpoint_id, max_chars=max(500, 2 * room))
        more = [f"… every row: captures={breakpoint_id} start=0"] if found.not_shown else []
    else:
        found = await captures.captures(
            session, breakpoint_id, offset=asked.start, limit=PAGE, max_chars=room
        )
        after = asked.start + len(found.rows)
        more = [f"… more: captures={breakpoint_id} start={after}"] if found.has_more else []
    return "\n".join([captures.render_table(found, room), *more])


async def _there(session: Session) -> list[BreakpointView]:
    return (await breakpoints.list_breakpoints(session, query=BreakpointListQuery())).breakpoints


def _ids(there: Sequence[BreakpointView], wanted: Sequence[str]) -> list[str]:
    """The ids that `wanted` means; raises BreakpointNotFound."""
    return list(dict.fromkeys(_one(there, name) for name in wanted))


def _one(there: Sequence[BreakpointView], name: str) -> str:
    if (place := parse_place(name)) is not None and place.function is not None:
        name = place.spelled
    for found in there:
        path = found.source.path if found.source is not None else ""
        at = found.function or f"{path}:{found.line}"
        if name in (found.id, at) or at.endswith("/" + name.removeprefix("./")):
            return found.id
    raise BreakpointNotFound(f"there is no breakpoint {name!r}", breakpoint_id=name[:200])


async def _listing(session: Session, max_chars: int) -> str:
    lines = [_line(session, one) for one in await _there(session)]
    watched = (await list_data_breakpoints(session)).data_breakpoints
    lines += [_watch_line(one) for one in watched]
    if not lines:
        return "no breakpoints"
    return listed(lines, max_chars, lambda n: f"… {len(lines) - n} more; raise max_chars")


def _watch_line(found: DataBreakpointView) -> str:
    state = "" if found.verified else f"  not watched: {found.message}"
    return f"{found.id}  watches {found.expression}{state}"


def _line(session: Session, found: BreakpointView) -> str:
    details: dict[str, Any] = {
        "if": found.condition,
        "at hits": found.hit_condition,
        "logs": found.log_message,
        "captures": ", ".join(found.capture) if found.capture else None,
        "hits": found.hit_count,
    }
    more = "".join(f"  {name} {value}" for name, value in details.items() if value is not None)
    state = "" if found.verified else f"  not verified: {found.message}"
    return f"{found.id}  {shown_place(session, found)}{more}{state}"
