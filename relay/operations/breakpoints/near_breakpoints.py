"""Breakpoints that move to the nearest line with code, for clients that cannot be asked twice."""

from __future__ import annotations

from typing import NamedTuple

from relay.errors import BreakpointInvalidLine, BreakpointNotFound
from relay.models.breakpoints import BreakpointSpec, SetBreakpoints
from relay.operations.breakpoints.breakpoints import remove_breakpoint, set_breakpoints
from relay.operations.breakpoints.placing import place
from relay.session.session import Session


class NearBreakpoint(NamedTuple):
    """A breakpoint of the session, and where it really is."""

    id: str
    path: str
    line: int


async def set_near(session: Session, file: str, line: int) -> NearBreakpoint:
    """A breakpoint at `line`, or at the next line with code, or at the last before it.

    Raises BreakpointFileNotFound, or BreakpointInvalidLine past the end of the file and
    where there is no code at all.
    """
    spot = await place(session, BreakpointSpec(file=file, line=line))
    actual = spot.line
    if not spot.verified and not spot.judged_by_adapter:
        analysis = await session.debugger.check_source(spot.path, session.config.python_path)
        found = analysis.nearest(line)
        if found is None:
            message = f"Cannot set a breakpoint at line {line} of {spot.path}: {spot.message}"
            raise BreakpointInvalidLine(message, file=spot.path, line=line)
        actual = found
    request = SetBreakpoints(breakpoints=[BreakpointSpec(file=spot.path, line=actual)])
    (kept,) = (await set_breakpoints(session, body=request)).breakpoints
    return NearBreakpoint(kept.id, spot.path, actual)


async def clear(session: Session, breakpoint_id: str) -> None:
    """Remove a breakpoint, if it is there."""
    try:
        await remove_breakpoint(session, breakpoint_id=breakpoint_id)
    except BreakpointNotFound:
        return
