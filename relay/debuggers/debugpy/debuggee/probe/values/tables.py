"""Tables of libraries: frames and series of pandas and polars, and rows of databases, by their columns.

Asks the library, as the value's own repr would. Refuses to know how a table is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from relay.debuggers.debugpy.debuggee.probe.values.types import Plan, module_of


def _is_of_polars(plan: Plan) -> bool:
    return str(module_of(plan.base)).partition(".")[0] == "polars"


def frame_column(frame: Any, plan: Plan, i: int) -> tuple[Any, Any, str | None]:
    """(name, column, the expression that says which). The latter None: its name says it."""
    if _is_of_polars(plan):
        return frame.columns[i], frame.to_series(i), None
    path = None if frame.columns.is_unique else f".iloc[:, {i}]"
    return frame.columns[i], frame.iloc[:, i], path


def frame_columns(frame: Any, plan: Plan) -> Iterator[tuple[Any, Any]]:
    """(name, column) of each; several may have one name."""
    for i in range(len(frame.columns)):
        yield frame_column(frame, plan, i)[:2]


def frame_without(frame: Any, plan: Plan, places: Container[int]) -> Any:
    """Another frame, of the columns that are not at these places."""
    left = [i for i in range(len(frame.columns)) if i not in places]
    return frame[:, left] if _is_of_polars(plan) else frame.iloc[:, left]


def series_item(series: Any, plan: Plan, i: int) -> tuple[Any, Any, str]:
    """(label, item, what to append to the series' expression)."""
    if _is_of_polars(plan):
        return i, series[i], f"[{i}]"
    return series.index[i], series.iloc[i], f".iloc[{i}]"


def series_holds_text(series: Any, plan: Plan) -> bool:
    if _is_of_polars(plan):
        return not series.dtype.is_numeric()
    return bool(series.dtype.kind in "OSU")


def row_pairs(row: Any) -> list[tuple[str, Any]]:
    """(column, item) of a row of sqlite3 or SQLAlchemy."""
    names = row._fields if hasattr(type(row), "_fields") else row.keys()
    return [(name, row[i]) for i, name in enumerate(names)]
