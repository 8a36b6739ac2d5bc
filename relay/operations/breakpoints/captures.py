"""Captured values: read and clear. Source: contract, section 3.

`captures` and `render_table` serve every face; the rows come from `session/state/captures.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.actions import Action
from relay.errors import InvalidRequest
from relay.models.captures import (
    DEFAULT_CHARS,
    DEFAULT_PAGE,
    DEFAULT_ROWS,
    CapturedRow,
    Captures,
    CapturesQuery,
    ClearedCaptures,
)
from relay.operations.breakpoints.breakpoints import require_breakpoint
from relay.operations.breakpoints.capture_table import (
    Shower,
    choose,
    columns_of,
    gaps,
    render_table,
    size_of,
)
from relay.session.dap.capture_sync import fetch_now, log_of
from relay.session.session import Session
from relay.session.state.captures import CaptureLog

__all__ = ["captures", "clear_captures", "get_captures", "render_table"]


async def get_captures(session: Session, *, breakpoint_id: str, query: CapturesQuery) -> Captures:
    """The values that a breakpoint with `capture` has recorded, as a table.

    A choice of the rows: the first, the last, the outliers (least and greatest numbers, the
    largest jumps, changes of type or sign, errors, None, NaN), and some between them. With
    `offset` or `limit`, all that are kept, page by page. Also after the program has ended.
    """
    return await captures(session, breakpoint_id, **query.model_dump())


async def captures(
    session: Session,
    breakpoint_id: str,
    *,
    max_rows: int | None = None,
    max_chars: int | None = None,
    offset: int | None = None,
    limit: int | None = None,
) -> Captures:
    """As `get_captures`. Raises BreakpointNotFound, or InvalidRequest if it captures nothing."""
    log = await _log(session, breakpoint_id)
    if offset is None and limit is None:
        return _choice(log, breakpoint_id, max_rows or DEFAULT_ROWS, max_chars or DEFAULT_CHARS)
    return _page(log, breakpoint_id, offset or 0, limit or DEFAULT_PAGE, max_chars)


async def clear_captures(session: Session, *, breakpoint_id: str) -> ClearedCaptures:
    """Forget the rows that a breakpoint has recorded; it goes on recording."""
    log = await _log(session, breakpoint_id)
    return ClearedCaptures(breakpoint_id=breakpoint_id, cleared=log.clear())


async def _log(session: Session, breakpoint_id: str) -> CaptureLog:
    """The rows of a breakpoint, those included that the program has not reported yet."""
    _require_captures(session, breakpoint_id)
    if session.debuggee is not None:
        await fetch_now(session.debuggee)
    breakpoint = require_breakpoint(session, breakpoint_id)
    _require_captures(session, breakpoint_id)
    return log_of(session, breakpoint)


def _require_captures(session: Session, breakpoint_id: str) -> None:
    if require_breakpoint(session, breakpoint_id).capture is None:
        raise InvalidRequest(
            f"Breakpoint '{breakpoint_id}' captures nothing",
            breakpoint_id=breakpoint_id,
            suggestion=Action.SET_CAPTURES.of(breakpoint_id=breakpoint_id),
        )


def _choice(log: CaptureLog, breakpoint_id: str, max_rows: int, max_chars: int) -> Captures:
    rows = choose(log, max_rows, max_chars)
    shown = {row.row for row in rows}
    missed = {remark.row.number for remark in log.remarks} - shown
    return Captures(
        breakpoint_id=breakpoint_id,
        columns=columns_of(log),
        rows=rows,
        total=log.total,
        dropped=log.total - len(log.rows),
        not_shown=gaps(log.total, rows),
        outliers_not_shown=len(missed) or None,
    )


def _page(
    log: CaptureLog, breakpoint_id: str, offset: int, limit: int, max_chars: int | None
) -> Captures:
    kept = log.rows
    shower = Shower(log)
    rows = _fitting([shower.show(row) for row in kept[offset : offset + limit]], max_chars)
    return Captures(
        breakpoint_id=breakpoint_id,
        columns=columns_of(log),
        rows=rows,
        total=log.total,
        dropped=log.total - len(kept),
        not_shown=gaps(log.total, rows),
        offset=offset,
        limit=limit,
        has_more=offset + len(rows) < len(kept),
    )


def _fitting(rows: Sequence[CapturedRow], max_chars: int | None) -> list[CapturedRow]:
    """The first rows within the budget; one at least, so that a reader gets on."""
    fitting: list[CapturedRow] = []
    left = max_chars
    for row in rows:
        if left is not None:
            left -= size_of(row)
            if left < 0 and fitting:
                break
        fitting.append(row)
    return fitting
