"""Line breakpoints: set, list, remove. Source: API section 3.4, contract section 3."""

from __future__ import annotations

from relay.errors import BreakpointNotFound
from relay.models.breakpoints import (
    BreakpointBatch,
    BreakpointList,
    BreakpointListQuery,
    BreakpointView,
    DeletedBreakpoint,
    SetBreakpoints,
)
from relay.models.resource import SourceRef
from relay.operations.paths import resolve
from relay.operations.placing import place
from relay.session.breakpoints import Breakpoint, BreakpointTable
from relay.session.configuration import send_breakpoints
from relay.session.session import Session
from relay.session.sources import check_expressions


async def set_breakpoints(session: Session, *, body: SetBreakpoints) -> BreakpointBatch:
    """Set breakpoints, in any state of the session.

    Each line is checked by compiling its file, which never runs it. A line without
    code is kept unverified and says where the nearest code is. One bad breakpoint
    refuses the whole batch. The same place again updates that breakpoint.
    """
    # One question to another interpreter for the whole batch; `place` then knows the answers.
    conditions = [spec.condition for spec in body.specs if spec.condition is not None]
    await check_expressions(conditions, session.config.python_path)
    checked = [await place(session, spec) for spec in body.specs]
    before = session.breakpoints.copy()
    stored = [session.breakpoints.put(breakpoint) for breakpoint in checked]
    await _send(session, [b.path for b in stored], before)
    for breakpoint in stored:
        reason = "changed" if breakpoint.id in before else "new"
        _announce(session, reason, breakpoint)
    # The same place twice in one batch is one breakpoint: show its final state.
    return BreakpointBatch(breakpoints=[view(session.breakpoints[b.id]) for b in stored])


async def list_breakpoints(session: Session, *, query: BreakpointListQuery) -> BreakpointList:
    """List the breakpoints, in the order in which they were set."""
    path = None if query.file is None else resolve(query.file, session.config.project_root)
    found = [
        view(breakpoint)
        for breakpoint in session.breakpoints
        if path in (None, breakpoint.path) and query.verified in (None, breakpoint.verified)
    ]
    return BreakpointList(breakpoints=found, total=len(found))


async def remove_breakpoint(session: Session, *, breakpoint_id: str) -> DeletedBreakpoint:
    """Remove a breakpoint; the program no longer stops there."""
    if breakpoint_id not in session.breakpoints:
        raise BreakpointNotFound(
            f"Breakpoint with ID '{breakpoint_id}' not found", breakpoint_id=breakpoint_id
        )
    before = session.breakpoints.copy()
    removed = session.breakpoints.remove(breakpoint_id)
    await _send(session, [removed.path], before)
    _announce(session, "removed", removed)
    return DeletedBreakpoint(id=breakpoint_id)


async def _send(session: Session, paths: list[str], before: BreakpointTable) -> None:
    """Tell a live debugger; if it refuses, the table is as it was."""
    debuggee = session.debuggee
    if debuggee is None or not debuggee.initialized.is_set():
        return
    try:
        for path in dict.fromkeys(paths):
            await send_breakpoints(debuggee, path)
    except BaseException:
        session.breakpoints.restore(before)
        raise


def _announce(session: Session, reason: str, breakpoint: Breakpoint) -> None:
    session.events.append(
        "breakpoint",
        {
            "reason": reason,
            "breakpoint": {
                "id": breakpoint.id,
                "verified": breakpoint.verified,
                "line": breakpoint.line,
                "message": breakpoint.message,
            },
        },
    )


def view(breakpoint: Breakpoint) -> BreakpointView:
    """The breakpoint as a resource."""
    return BreakpointView(
        id=breakpoint.id,
        verified=breakpoint.verified,
        source=SourceRef(path=breakpoint.path),
        line=breakpoint.line,
        condition=breakpoint.condition,
        hit_condition=breakpoint.hit_condition,
        log_message=breakpoint.log_message,
        enabled=breakpoint.enabled,
        hit_count=breakpoint.hit_count,
        message=breakpoint.message,
        suggestion=breakpoint.suggestion,
    )
