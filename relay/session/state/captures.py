"""What captures have recorded: rows, and what is remarkable among them. Plain data, bounded.

Each row is looked at once, when it comes, so that an extreme or a change is known however many
rows are let go later. Knows the cells as the debuggee sends them; shows nothing.
"""

from __future__ import annotations

import itertools
import json
import math
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

FIRST_ROWS = 5000
"""Rows kept from the beginning."""
LAST_ROWS = 5000
"""Rows kept from the end."""
MOST_TEXT = 4_000_000
"""Characters of texts in the first rows, and again in the last ones."""
CHANGES_EACH = 50
"""Rows kept from the beginning and from the end of a column's changes."""
JUMPS = 3
"""The largest jumps of a column that are kept."""
ALIKE = 10
"""A jump that is so many times smaller than the largest is none beside it."""
MOST_KINDS = 20
"""Types that one column counts apart; the others are counted together."""
MOST_THREADS = 1000
"""Threads whose rows are compared each with its own; beyond, all start anew."""
OTHER_KINDS = "other types"
MOST_AWAITED = 100
"""Rows that another thread's may overtake on their way; larger gaps are losses."""


def mark_of(expressions: Sequence[str], reveal: bool) -> int:
    """A number that these captures have and no others: rows that were under way bear it."""
    return zlib.crc32(json.dumps([list(expressions), reveal]).encode())


@dataclass(frozen=True, slots=True)
class Cell:
    """What one expression was worth."""

    type: str
    text: str
    number: int | float | None = None
    error: bool = False
    nan: bool = False
    """Not a number, or infinite."""
    cut: bool = False
    masked: bool = False

    @property
    def kind(self) -> str:
        """What a change of is remarkable: the type, an error, not a number."""
        if self.error:
            return f"error {self.type}"
        return f"{self.type} {self.text}" if self.nan else self.type


def cell_of(sent: Any) -> Cell:
    """The cell as the debuggee sends it: a plain value, or [type, text, number, flags]."""
    if not isinstance(sent, list):
        number = None if sent is None or isinstance(sent, bool) else sent
        return Cell(type(sent).__name__, repr(sent), number)
    name, text, number, flags = sent
    return Cell(name, text, number, *(mark in flags for mark in "entr"))


@dataclass(slots=True, eq=False)
class Row:
    """One hit. `number` counts from 1; `sent` is how the debuggee sent the cells: most are bare numbers."""

    number: int
    thread_id: int
    time: float
    sent: Sequence[Any]

    @property
    def cells(self) -> list[Cell]:
        """A cell for each expression."""
        return [cell_of(sent) for sent in self.sent]

    @property
    def size(self) -> int:
        """Characters of its texts, roughly."""
        return sum([len(sent[1]) for sent in self.sent if type(sent) is list])


@dataclass(slots=True)
class Remark:
    """A row that is worth showing, and why. Lower ranks go first when there is little room."""

    row: Row
    why: str
    rank: int


class Changes:
    """Rows of one sort: the first ones, the last ones, and how many there were."""

    def __init__(self) -> None:
        self.count = 0
        self._first: list[tuple[Row, str]] = []
        self._last: deque[tuple[Row, str]] = deque(maxlen=CHANGES_EACH)

    def add(self, row: Row, why: str) -> None:
        """Count a row, and keep it if it is among the first or, so far, the last."""
        self.count += 1
        (self._first if len(self._first) < CHANGES_EACH else self._last).append((row, why))

    def __iter__(self) -> Iterator[tuple[Row, str]]:
        return itertools.chain(self._first, self._last)


@dataclass(slots=True)
class Before:
    """What a column was in a thread at the hit before."""

    kind: str
    number: float | None
    sign: int = 0
    """That of the last number that was not 0."""


class Column:
    """What is known of one expression over all rows."""

    def __init__(self) -> None:
        self.kinds: dict[str, int] = {}
        self.least: tuple[float, Row] | None = None
        self.most: tuple[float, Row] | None = None
        self.jumps: list[tuple[float, Row, float]] = []  # (size, row, jump), the largest first
        self._jump_bar = -1.0  # what a jump must exceed to be among them
        self._smallest_jump = math.inf
        self.changes = Changes()
        self._before: dict[int, Before] = {}

    def add(self, row: Row, sent: Any) -> None:
        """The value at the next hit. Runs for every cell of every row: quick where it is plain."""
        number: float | None
        if type(sent) is int:
            kind, number = "int", sent
        elif type(sent) is float:
            kind, number = "float", sent
        else:
            cell = cell_of(sent)
            kind, number = cell.kind, cell.number
        if kind in self.kinds:
            self.kinds[kind] += 1
        else:
            self._count(kind)
        if number is not None:
            if self.least is None or number < self.least[0]:
                self.least = number, row
            if self.most is None or number > self.most[0]:
                self.most = number, row
        before = self._before.get(row.thread_id)
        if before is None:
            self._first_of_thread(row, kind, number)
        else:
            self._compare(before, row, kind, number)

    def _count(self, kind: str) -> None:
        if kind not in self.kinds and len(self.kinds) >= MOST_KINDS:
            kind = OTHER_KINDS
        self.kinds[kind] = self.kinds.get(kind, 0) + 1

    def _compare(self, before: Before, row: Row, kind: str, number: float | None) -> None:
        """With the hit before of the same thread."""
        sign = before.sign if number is None else (number > 0) - (number < 0) or before.sign
        if kind != before.kind:
            self.changes.add(row, f"{before.kind} -> {kind}")
        elif sign != before.sign and before.sign:
            self.changes.add(row, "changes its sign")
        if number is not None and before.number is not None:
            jump = number - before.number
            size = abs(jump)
            if size < self._smallest_jump:
                self._smallest_jump = size
            if size > self._jump_bar:
                self._note_jump(size, row, jump)
        before.kind, before.number, before.sign = kind, number, sign

    def _first_of_thread(self, row: Row, kind: str, number: float | None) -> None:
        if len(self._before) >= MOST_THREADS:
            self._before.clear()
        sign = 0 if number is None else (number > 0) - (number < 0)
        self._before[row.thread_id] = Before(kind, number, sign)
        if not _is_plain(kind):
            self.changes.add(row, kind)

    def _note_jump(self, size: float, row: Row, jump: float) -> None:
        place = sum(known >= size for known, _, _ in self.jumps)
        self.jumps.insert(place, (size, row, jump))
        if len(self.jumps) > JUMPS:
            self.jumps.pop()
        if len(self.jumps) == JUMPS:
            self._jump_bar = self.jumps[-1][0]

    def remarks(self) -> Iterator[Remark]:
        """Its remarkable rows. Where every step is as large as any other, none is a jump."""
        if self.least is not None and self.most is not None and self.least[0] < self.most[0]:
            yield Remark(self.least[1], "is least", 1)
            yield Remark(self.most[1], "is greatest", 1)
        for row, why in self.changes:
            yield Remark(row, why, 2)
        for place, (size, row, jump) in enumerate(self.jumps):
            if size > self._smallest_jump and size >= self.jumps[0][0] / ALIKE:
                yield Remark(row, f"jumps by {jump:+.6g}", 1 if place == 0 else 3)


def _is_plain(kind: str) -> bool:
    return not (kind == "NoneType" or kind.startswith("error ") or " " in kind)


@dataclass(slots=True)
class KeptRows:
    """Rows of one end of the table, within a number and a size."""

    rows: deque[Row] = field(default_factory=deque)
    size: int = 0

    def has_room(self, size: int, most: int) -> bool:
        return len(self.rows) < most and self.size + size <= MOST_TEXT

    def append(self, row: Row, size: int) -> None:
        self.rows.append(row)
        self.size += size

    def shrink(self, most: int) -> None:
        """Let go of the oldest beyond the bounds, but never of the newest."""
        while len(self.rows) > 1 and (len(self.rows) > most or self.size > MOST_TEXT):
            self.size -= self.rows.popleft().size


class CaptureLog:
    """The rows of one breakpoint with these expressions, in one run of the program."""

    # Invariant: a number is one row's, and no row has a number above `total`.

    def __init__(self, expressions: Sequence[str], reveal: bool = False) -> None:
        self.expressions = list(expressions)
        self.mark = mark_of(expressions, reveal)
        self._expected: dict[int, int] = {}  # the next row's own number, by process
        self._awaited: dict[tuple[int, int], int] = {}  # (process, own number): number here
        self._start()

    def _start(self) -> None:
        self.total = 0
        self.lost = 0  # of them: in the debuggee, while nobody read
        self._awaited.clear()
        self.begun_at: float | None = None
        self.columns = [Column() for _ in self.expressions]
        self._first = KeptRows()
        self._last = KeptRows()
        self._first_is_full = False

    def clear(self) -> int:
        """Forget all rows; answers how many there were."""
        total = self.total
        self._start()
        return total

    def take(
        self,
        process: int,
        rows: Sequence[Sequence[Any]],
        thread_of: Callable[[int], int] = int,
    ) -> None:
        """Rows as a process of the debuggee sends them: [own number, thread, time, *cells].

        thread_of: the session's number of a thread of that process.
        """
        for own, thread_id, time, *sent in sorted(rows, key=itemgetter(0)):
            number = self._number_of(process, own)
            if number is None:
                continue
            if self.begun_at is None:
                self.begun_at = time
            self._add(Row(number, thread_of(thread_id), time, sent))

    def _number_of(self, process: int, own: int) -> int | None:
        """The row's number here; rows between it and the one before are late, or never come."""
        expected = self._expected.get(process, 0)
        if own < expected:
            late = self._awaited.pop((process, own), None)
            self.lost -= late is not None
            return late
        if own > expected:
            self._miss(process, range(expected, own))
        self._expected[process] = own + 1
        self.total += 1
        return self.total

    def _miss(self, process: int, missing: range) -> None:
        if len(missing) <= MOST_AWAITED:
            self._awaited |= {(process, n): self.total + i for i, n in enumerate(missing, 1)}
            while len(self._awaited) > MOST_AWAITED:
                del self._awaited[next(iter(self._awaited))]
        self.lost += len(missing)
        self.total += len(missing)

    def _add(self, row: Row) -> None:
        for column, sent in zip(self.columns, row.sent, strict=True):
            column.add(row, sent)
        size = row.size
        if not self._first_is_full and self._first.has_room(size, FIRST_ROWS):
            self._first.append(row, size)
            return
        self._first_is_full = True
        self._last.append(row, size)
        self._last.shrink(LAST_ROWS)

    @property
    def remarks(self) -> list[Remark]:
        """The remarkable rows of every column, each with the column's name in `why`."""
        return [
            Remark(remark.row, f"{expression} {remark.why}", remark.rank)
            for expression, column in zip(self.expressions, self.columns, strict=True)
            for remark in column.remarks()
        ]

    @property
    def rows(self) -> list[Row]:
        """The rows that are kept, in order: the first, the last, and the remarkable between."""
        ends = {row.number: row for row in itertools.chain(self._first.rows, self._last.rows)}
        if len(ends) < self.total:
            ends |= {remark.row.number: remark.row for remark in self.remarks}
        return [ends[number] for number in sorted(ends)]


class CaptureLogs:
    """The logs of a session, by breakpoint. A log begins when it is asked for."""

    def __init__(self) -> None:
        self._logs: dict[str, CaptureLog] = {}

    def of(
        self, breakpoint_id: str, expressions: Sequence[str], reveal: bool = False
    ) -> CaptureLog:
        """The log of a breakpoint; a new one if it captures other expressions now."""
        log = self._logs.get(breakpoint_id)
        if log is None or log.mark != mark_of(expressions, reveal):
            log = self._logs[breakpoint_id] = CaptureLog(expressions, reveal)
        return log

    def forget(self, breakpoint_id: str) -> None:
        """Drop what a breakpoint has recorded: it is gone."""
        self._logs.pop(breakpoint_id, None)

    def start_anew(self) -> None:
        """Another program runs: nothing is recorded yet."""
        self._logs.clear()
