"""Captured rows: what is kept of very many, and what of it is shown within a budget."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay import Settings
from relay.debuggers.known import known_debuggers
from relay.errors import NotSupported
from relay.models.captures import Captures
from relay.operations.breakpoints.capture_table import (
    choose,
    columns_of,
    gaps,
    render_table,
    size_of,
)
from relay.session.dap.capture_sync import send_captures
from relay.session.debuggee.debuggee import Debuggee
from relay.session.session import Session
from relay.session.state import captures
from relay.session.state.breakpoints import Breakpoint
from relay.session.state.captures import CaptureLog
from relay.session.state.session_definition import SessionOptions

CELLS: st.SearchStrategy[Any] = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-3, 3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
    st.sampled_from(
        [
            ["float", "nan", None, "n"],
            ["float", "-inf", None, "n"],
            ["ValueError", "ValueError: bad", None, "e"],
            ["Decimal", "Decimal('-1.5')", -1.5, ""],
            ["str", "***", None, "r"],
        ]
    ),
    st.text(max_size=220).map(lambda text: ["str", text, None, "t"]),
)


@st.composite
def tables(draw: st.DrawFn) -> list[list[Any]]:
    """Rows as a debuggee tells them: long runs of the same, with whatever between."""
    width = draw(st.integers(1, 3))
    cells = st.lists(CELLS, min_size=width, max_size=width)
    runs = draw(st.lists(st.tuples(cells, st.integers(1, 40)), max_size=25))
    found = [row for row, count in runs for _ in range(count)]
    threads = draw(st.lists(st.integers(1, 2), min_size=len(found), max_size=len(found)))
    return [[i, t, i / 8, *row] for i, (t, row) in enumerate(zip(threads, found, strict=True))]


def log_of(rows: Sequence[Sequence[Any]], batch: int = 7) -> CaptureLog:
    log = CaptureLog([f"x{n}" for n in range(len(rows[0]) - 3 if rows else 1)])
    for start in range(0, len(rows), batch):
        log.take(0, rows[start : start + batch])
    return log


def shown(log: CaptureLog, max_rows: int, max_chars: int) -> Captures:
    rows = choose(log, max_rows, max_chars)
    return Captures(
        breakpoint_id="bp_1",
        columns=columns_of(log),
        rows=rows,
        total=log.total,
        dropped=log.total - len(log.rows),
        not_shown=gaps(log.total, rows),
    )


def number_of(cell: Any) -> float | None:
    if isinstance(cell, list):
        return cell[2]  # type: ignore[no-any-return]
    return None if cell is None or isinstance(cell, bool) else cell


@settings(deadline=None, max_examples=60)
@given(tables(), st.integers(2, 60), st.integers(3000, 20_000), st.integers(20, 3000))
def test_a_choice_holds_its_budget_and_the_rows_that_matter(
    rows: list[list[Any]], max_rows: int, max_chars: int, text_chars: int
) -> None:
    log = log_of(rows)
    table = shown(log, max_rows, max_chars)
    numbers = [row.row for row in table.rows]
    assert numbers == sorted(set(numbers))  # in order, each once
    assert len(numbers) <= max_rows
    assert sum(map(size_of, table.rows)) <= max_chars
    assert numbers[:1] == [1][: len(rows)]
    assert numbers[-1:] == [len(rows)][: len(rows)]
    left = [n for first, last in table.not_shown for n in range(first, last + 1)]
    assert sorted(numbers + left) == list(range(1, len(rows) + 1))  # the counts add up
    for column in table.columns:
        assert sum(column.types.values()) == len(rows)
    assert len(render_table(table, text_chars)) <= text_chars


@settings(deadline=None, max_examples=60)
@given(tables())
def test_no_outlier_is_missing_where_there_is_room(rows: list[list[Any]]) -> None:
    log = log_of(rows)
    outliers = {remark.row.number for remark in log.remarks}
    table = shown(log, len(outliers) + 2, 10_000_000)
    why = {row.row: row.why for row in table.rows if row.why}
    assert set(why) == outliers
    for place, column in enumerate(table.columns):
        told = [(i, row[1], row[3 + place]) for i, row in enumerate(rows, 1)]
        numbers = [(n, i) for i, _, cell in told if (n := number_of(cell)) is not None]
        if numbers:
            least, greatest = min(n for n, _ in numbers), max(n for n, _ in numbers)
            assert (column.least, column.greatest) == (least, greatest)
            if least < greatest:
                for extreme in (least, greatest):
                    assert next(i for n, i in numbers if n == extreme) in why
        changes = [
            i
            for thread in (1, 2)
            for (_, _, a), (i, _, b) in _pairs([one for one in told if one[1] == thread])
            if _sort(a) != _sort(b)
        ]
        # A column with more changes than are kept shows the first and the last of them.
        assert set(sorted(changes)[: captures.CHANGES_EACH]) <= set(why)
        assert set(sorted(changes)[-captures.CHANGES_EACH :]) <= set(why)
        for _, _, cell in told[:1]:
            if cell is None or (isinstance(cell, list) and set(cell[3]) & {"e", "n"}):
                assert 1 in why


def _pairs(found: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(itertools.pairwise(found))


def _sort(cell: Any) -> Any:
    """What a change of is an outlier."""
    if not isinstance(cell, list):
        return type(cell).__name__
    return (
        (cell[0], cell[1])
        if "n" in cell[3]
        else (cell[0], "e" in cell[3])
        if "e" in cell[3]
        else cell[0]
    )


def test_of_very_many_rows_the_ends_and_the_outliers_are_kept() -> None:
    size = captures.FIRST_ROWS + captures.LAST_ROWS + 20_000
    middle = captures.FIRST_ROWS + 10_000
    rows: list[list[Any]] = [[i, 1, i / 1000, i % 10, 7] for i in range(size)]
    rows[middle][3], rows[middle + 2][4] = -5, None
    log = log_of(rows, 1000)
    kept = {row.number for row in log.rows}
    assert {1, captures.FIRST_ROWS, middle + 1, middle + 3, middle + 4, size} <= kept
    assert len(kept) < captures.FIRST_ROWS + captures.LAST_ROWS + 200
    table = shown(log, 10, 4000)
    assert (table.total, table.dropped) == (size, size - len(kept))
    why = {row.row: row.why for row in table.rows}
    assert "x0 is least" in (why[middle + 1] or [])
    assert "x1 int -> NoneType" in (why[middle + 3] or [])
    assert table.columns[0].types == {"int": size}


def test_texts_are_bounded_in_memory_whatever_their_number() -> None:
    text = ["str", "x" * 200, None, "t"]
    log = log_of([[i, 1, 0.0, *[text] * 20] for i in range(4000)], 1000)
    assert sum(row.size for row in log.rows) <= 2 * captures.MOST_TEXT + 100 * 20 * 200
    assert (log.rows[0].number, log.rows[-1].number, log.total) == (1, 4000, 4000)


def test_rows_that_never_came_are_counted_and_late_ones_take_their_places() -> None:
    log = CaptureLog(["x"])
    log.take(0, [[0, 1, 0.0, 0], [2, 1, 0.2, 22], [5, 1, 0.5, 55]])
    assert (log.total, log.lost, [row.number for row in log.rows]) == (6, 3, [1, 3, 6])
    log.take(0, [[1, 2, 0.1, 11]])
    assert (log.total, log.lost, [row.number for row in log.rows]) == (6, 2, [1, 2, 3, 6])
    log.take(7, [[0, 1, 0.6, 77]])  # another process counts for itself
    assert (log.total, [row.number for row in log.rows]) == (7, [1, 2, 3, 6, 7])
    assert log.clear() == 7
    log.take(0, [[6, 1, 0.7, 66]])
    assert (log.total, log.lost, [row.number for row in log.rows]) == (1, 0, [1])


async def test_a_debugger_that_cannot_capture_says_so(tmp_path: Path) -> None:
    config = SessionOptions(project_root=str(tmp_path), python_path=sys.executable)
    session = Session("sess_1", None, config, Settings(state_dir=tmp_path), known_debuggers({}))
    debuggee = Debuggee(session)  # without our probe in it
    await send_captures(debuggee)
    session.breakpoints.put(Breakpoint(id="", path="a.py", line=1, capture=["n"]))
    with pytest.raises(NotSupported) as refused:
        await send_captures(debuggee)
    assert refused.value.status == 501
    assert "log_message" in refused.value.details["suggestion"]
