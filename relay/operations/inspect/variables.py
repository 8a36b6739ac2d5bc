"""Variables by frame, scope and reference, and setting one. Source: contract, section 5."""

from __future__ import annotations

from typing import Any

from relay.errors import EvaluateError
from relay.models.inspection import ScopeList, ScopesQuery, VariableList, VariableView
from relay.models.variables import (
    ChildPage,
    ChildrenQuery,
    ChildView,
    FrameVariables,
    FrameVariablesQuery,
    SetExpressionRequest,
    SetVariableRequest,
    VariableSummary,
    expandable,
    shown,
)
from relay.operations.inspect.inspection import PAGE, frame_of, get_scopes, inspector_of
from relay.operations.inspect.running import can_look, looks_elsewhere, running_locals
from relay.session.inspector import Page
from relay.session.session import Session


async def get_frame_scopes(session: Session, *, frame_id: int) -> ScopeList:
    """The scopes of a frame of the stopped thread: locals first, then globals."""
    await frame_of(session, frame_id)  # a negative id is refused as an unknown one
    return await get_scopes(session, query=ScopesQuery(frame_id=frame_id))


async def get_frame_variables(
    session: Session, *, frame_id: int, query: FrameVariablesQuery
) -> FrameVariables:
    """The local variables of a frame; with `summary` only names, types and sizes.

    A summary runs no code of the program, so it answers where a `__repr__` hangs. While the
    program runs, frames of any thread can be asked; values are then shown without their `__repr__`.
    """
    session.require_debuggee("get variables")
    if can_look(session) or looks_elsewhere(session, query.thread_id):
        return await running_locals(session, frame_id, query)
    inspector = inspector_of(session, "get variables")
    frame = await frame_of(session, frame_id)
    scopes = await inspector.scopes(frame)
    page = await inspector.variables_of_locals(
        frame,
        scopes,
        start=query.offset,
        count=query.limit,
        summary=query.summary,
        reveal=query.reveal,
    )
    found: list[VariableView] | list[VariableSummary]
    if query.summary:
        found = [VariableSummary.pick(v, **expandable(v)) for v in page.variables]
    else:
        found = [shown(v) for v in page.variables]
    return FrameVariables(
        frame_id=frame_id,
        variables_reference=scopes[0]["variables_reference"],
        variables=found,
        total=page.total,
        offset=query.offset,
        limit=query.limit,
        has_more=query.offset + len(found) < page.total,
    )


async def get_scope_variables(
    session: Session, *, variables_reference: int, query: ChildrenQuery
) -> VariableList:
    """The variables of a scope, a page at a time."""
    page, start, _ = await _page(session, 0, variables_reference, query)
    found = [shown(variable) for variable in page.variables]
    return VariableList(
        variables_reference=variables_reference,
        variables=found,
        total=page.total,
        has_more=start + len(found) < page.total,
    )


async def expand_variable(
    session: Session, *, variables_reference: int, query: ChildrenQuery
) -> ChildPage:
    """The children of a value, a page at a time: items or entries, then attributes."""
    return await _children(session, 0, variables_reference, query)


async def get_children(
    session: Session, *, frame_id: int, variables_reference: int, query: ChildrenQuery
) -> ChildPage:
    """The children of a value that was seen in this frame, a page at a time."""
    return await _children(session, frame_id, variables_reference, query)


async def _children(
    session: Session, frame_id: int, reference: int, query: ChildrenQuery
) -> ChildPage:
    page, start, limit = await _page(session, frame_id, reference, query)
    items = [_child(facts, start + i, page) for i, facts in enumerate(page.variables)]
    return ChildPage(
        variables_reference=reference,
        items=items,
        total=page.total,
        offset=start,
        limit=limit,
        has_more=start + len(items) < page.total,
    )


def _child(facts: dict[str, Any], position: int, page: Page) -> ChildView:
    index = {"index": position} if position < page.indexed else {}
    return ChildView.pick(facts, **expandable(facts), **index)


async def _page(
    session: Session, frame_id: int, reference: int, query: ChildrenQuery
) -> tuple[Page, int, int]:
    """The page with its start and its limit, by whichever names they were given."""
    inspector = inspector_of(session, "get variables")
    start = query.offset or query.start or 0
    limit = query.limit or query.count or PAGE
    page = await inspector.variables(
        await frame_of(session, frame_id),
        reference,
        start=start,
        count=limit,
        reveal=query.reveal,
    )
    return page, start, limit


async def set_variable(
    session: Session, *, variables_reference: int, body: SetVariableRequest
) -> VariableView:
    """Give a variable, an item or an attribute a new value, and show it.

    `value` is an expression, evaluated in the frame that the reference belongs to. What it
    raises, or the assignment does, is an `EVALUATE_ERROR`; nothing is changed then.
    """
    inspector = inspector_of(session, "set a variable")
    found = await inspector.set_variable(
        await frame_of(session, 0),
        variables_reference,
        body.name,
        body.value,
        reveal=body.reveal,
    )
    return _changed(session, body.name, found)


async def set_expression(session: Session, *, body: SetExpressionRequest) -> VariableView:
    """Give what an expression names a new value, and show it.

    `value` is evaluated in the frame, too. What it raises, or the assignment does, is an
    `EVALUATE_ERROR`; nothing is changed then.
    """
    frame = await frame_of(session, body.frame_id)
    inspector = inspector_of(session, "set an expression")
    found = await inspector.set_expression(frame, body.expression, body.value, reveal=body.reveal)
    return _changed(session, body.expression, found)


def _changed(session: Session, name: str, found: dict[str, Any]) -> VariableView:
    """What was set, as it is now. Raises EvaluateError for what was not."""
    if (raised := found.get("exception")) is not None:
        raise EvaluateError(
            f"cannot set {name!r}: {raised}",
            name=name,
            reason=raised,
            suggestion="Give an expression whose value can stand there; "
            "tuples, texts and read-only attributes cannot be changed",
        )
    session.journey.disturb("a variable was set by hand")
    return shown(found)
