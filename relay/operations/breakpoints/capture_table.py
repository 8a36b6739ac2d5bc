"""Which rows of a capture to show within a budget, and how they look as text.

First and last row always; then the outliers, by their rank; then rows at even distances, as far
as there is room. Pure: knows rows, no session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from relay.models.captures import (
    CaptureColumn,
    CapturedRow,
    CapturedValue,
    Captures,
)
from relay.session.state.captures import CaptureLog, Cell, Column, Row

ROOMS = (200, 100, 50, 25, 12)
"""Characters of a value: the first of these at which the first and the last row fit."""
MOST_REASONS = 4
"""What is said of one row."""
CELL_WIDTH = 32
"""Characters of a value in a text table."""


def columns_of(log: CaptureLog) -> list[CaptureColumn]:
    """What is known of each expression."""
    return [_column(*pair) for pair in zip(log.expressions, log.columns, strict=True)]


def _column(expression: str, column: Column) -> CaptureColumn:
    return CaptureColumn(
        expression=expression,
        types=dict(column.kinds),
        least=column.least and column.least[0],
        greatest=column.most and column.most[0],
    )


class Shower:
    """Makes rows of a log presentable, each with what is remarkable about it."""

    def __init__(self, log: CaptureLog) -> None:
        self._begun_at = log.begun_at or 0.0
        self.ranks: dict[int, int] = {}
        self._why: dict[int, list[str]] = {}
        for remark in log.remarks:
            number = remark.row.number
            self.ranks[number] = min(remark.rank, self.ranks.get(number, remark.rank))
            why = self._why.setdefault(number, [])
            if len(why) < MOST_REASONS:
                why.append(remark.why[-200:])

    def show(self, row: Row, room: int = ROOMS[0]) -> CapturedRow:
        """The row, each value cut to `room` characters."""
        return CapturedRow(
            row=row.number,
            thread_id=row.thread_id,
            seconds=round(row.time - self._begun_at, 6),
            values=[_value(cell, room) for cell in row.cells],
            why=self._why.get(row.number),
        )


def _value(cell: Cell, room: int) -> CapturedValue:
    text = cell.text if len(cell.text) <= room else cell.text[: room - 3] + "..."
    return CapturedValue(
        type=cell.type[:room],
        value=None if cell.error else text,
        number=cell.number,
        error=text if cell.error else None,
        truncated=cell.cut or len(cell.text) > room or None,
        redacted=cell.masked or None,
    )


def size_of(row: CapturedRow) -> int:
    """Characters of its JSON, with the comma behind it."""
    return len(row.model_dump_json()) + 1


def choose(log: CaptureLog, max_rows: int, max_chars: int) -> list[CapturedRow]:
    """At most `max_rows` rows of `max_chars` characters of JSON in all, in order.

    The first and the last row are among them in any case: with many columns, two rows may take
    more than a very small `max_chars`, each value of a dozen characters then.
    """
    shower, rows = Shower(log), log.rows
    ends = rows[:1] + rows[1:][-1:]
    room = next((r for r in ROOMS if _size(shower, ends, r) <= max_chars), ROOMS[-1])
    chosen = {row.number: shower.show(row, room) for row in ends}
    left = max_chars - sum(map(size_of, chosen.values()))
    outliers = sorted(
        (row for row in rows if row.number in shower.ranks),
        key=lambda row: (shower.ranks[row.number], row.number),
    )

    def show(row: Row) -> CapturedRow:
        return shower.show(row, room)

    left = _add(chosen, outliers, show, max_rows, left)
    _add(chosen, _spread(rows, max_rows - len(chosen)), show, max_rows, left)
    return [chosen[number] for number in sorted(chosen)]


def _size(shower: Shower, rows: Iterable[Row], room: int) -> int:
    return sum(size_of(shower.show(row, room)) for row in rows)


def _add(
    chosen: dict[int, CapturedRow],
    rows: Sequence[Row],
    show: Callable[[Row], CapturedRow],
    max_rows: int,
    left: int,
) -> int:
    """Add rows as long as they fit; answers what is left of the characters."""
    for row in rows:
        if len(chosen) >= max_rows:
            break
        if row.number not in chosen:
            shown = show(row)
            if size_of(shown) <= left:
                chosen[row.number] = shown
                left -= size_of(shown)
    return left


def _spread(rows: Sequence[Row], count: int) -> list[Row]:
    """`count` rows at even distances; coarse ones first, so that any beginning is spread, too."""
    if count <= 0 or not rows:
        return []
    count = min(count, len(rows))
    order = sorted(range(count), key=lambda n: -((n + 1) & -(n + 1)))
    return [rows[(2 * n + 1) * len(rows) // (2 * count)] for n in order]


def gaps(total: int, shown: Sequence[CapturedRow]) -> list[list[int]]:
    """[from, to] of the row numbers up to `total` that are not shown."""
    found, expected = [], 1
    for number in [*(row.row for row in shown), total + 1]:
        if number > expected:
            found.append([expected, number - 1])
        expected = number + 1
    return found


# Text -------------------------------------------------------------------------------------


def render_table(captures: Captures, max_chars: int = 2000) -> str:
    """The table as text of at most `max_chars` characters.

    With little room, rows between the first, the last and the outliers go first. Each line is a
    row; a line of dots says how many are left out.
    """
    by_worth = sorted(captures.rows, key=lambda row: _worth(captures.rows, row))
    few, many = 0, len(by_worth)
    while few < many:  # the most rows that fit
        middle = (few + many + 1) // 2
        if len(_layout(captures, by_worth[:middle])) <= max_chars:
            few = middle
        else:
            many = middle - 1
    text = _layout(captures, by_worth[:few])
    return text if len(text) <= max_chars else text[: max(0, max_chars - 3)] + "..."[:max_chars]


def _worth(rows: Sequence[CapturedRow], row: CapturedRow) -> tuple[int, int]:
    if row is rows[0] or row is rows[-1]:
        return 0, row.row
    return (1 if row.why else 2), row.row


def _layout(captures: Captures, chosen: Iterable[CapturedRow]) -> str:
    rows = sorted(chosen, key=lambda row: row.row)
    lines = [_headline(captures, len(rows)), *map(_summary, captures.columns)]
    if not rows:
        return "\n".join(lines)
    head = ["row", *(_cut(column.expression) for column in captures.columns), ""]
    table = [head, *([str(r.row), *map(_cell, r.values), _reasons(r)] for r in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    body = ["  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)) for line in table]
    return "\n".join([*lines, body[0].rstrip(), *_with_gaps(captures.total, rows, body[1:])])


def _with_gaps(total: int, rows: Sequence[CapturedRow], lines: Sequence[str]) -> list[str]:
    found, expected = [], 1
    for number, line in [*zip((row.row for row in rows), lines, strict=True), (total + 1, "")]:
        if number > expected:
            found.append(f"... {number - expected} more")
        found.append(line.rstrip())
        expected = number + 1
    return found[:-1]


def _headline(captures: Captures, shown: int) -> str:
    dropped = f", {captures.dropped} no longer kept" if captures.dropped else ""
    plural = "" if captures.total == 1 else "s"
    return f"{captures.breakpoint_id}: {captures.total} row{plural}, {shown} shown{dropped}"


def _summary(column: CaptureColumn) -> str:
    types = ", ".join(f"{count} {name}" for name, count in column.types.items()) or "no values"
    spread = "" if column.least is None else f"; {column.least!r} to {column.greatest!r}"
    return f"{_cut(column.expression)}: {types}{spread}"


def _cell(value: Any) -> str:
    return _cut(value.value if value.error is None else f"! {value.error}")


def _reasons(row: CapturedRow) -> str:
    return f"< {', '.join(row.why)}" if row.why else ""


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= CELL_WIDTH else line[: CELL_WIDTH - 3] + "..."
