"""A tree of calls as text: one line for each call that fits, within a budget. Pure.

What does not fit is left out from the leaves of what went well, the earliest first; the path to a
failure stays longest. Of a recursion the calls between the first and the last are left out before that.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from relay.operations.report.recursion import stretches
from relay.operations.report.report_text import cut, one_line, size

OPEN, RETURNED, RAISED, STOPPED, UNSEEN = range(5)
CUT = "…"
WIDTHS = (80, 48, 24)
"""Characters of a value: tried in this order until all lines fit."""
NOTHING = frozenset({"()", "{}", "None"})
"""Arguments that are left out of a line."""
MARK_ROOM = 6
"""For how many calls are left out below a line."""
TOP_ROOM = 12
"""For a line with how many calls are left out above the first one that is shown."""
LINES = (3, 6, 10)
"""How many lines as long as a line may be fill the text: tried in this order until the path to the failure fits."""
LEAST_LINE = 60
"""Bytes that a line has at least."""
NO_LINE = -1
"""In place of a row: nothing above has a line."""


Left = Sequence[tuple[str, str]]
"""Functions that an exception has left: their file without its folder, which a debugger may write otherwise, and
their name. Not the line: a group that a `with` makes of the exception leaves from another one.
"""


class CallRow(NamedTuple):
    """One call as the debuggee describes it, each after the one that made it."""

    depth: int
    function: int
    arguments: list[str]
    kind: int
    outcome: str
    line: int
    times: int
    yields: int
    yielded: list[str]
    gone: list[tuple[int, int]]
    """Functions, and how often they were called without a row of their own."""
    gone_calls: int
    """Those calls, and all that were made below them."""

    @property
    def is_thread(self) -> bool:
        """Whether it stands for a thread, and is no call."""
        return self.function < 0


class CallText(NamedTuple):
    """The text, and how many calls it shows."""

    text: str
    shown: int


def rows_of(record: Mapping[str, Any]) -> list[CallRow]:
    """The rows of a record."""
    return [CallRow(*row) for row in record["rows"]]


def calls_text(
    record: Mapping[str, Any], max_chars: int, failure_left: Left | None = None
) -> CallText:
    """The calls in at most `max_chars` bytes of UTF-8.

    failure_left: if the recording has ended with a failure, what it has left, the innermost first.
    """
    rows, total = rows_of(record), record["calls"]
    writer = _Writer(record, rows, failure_left)
    everything = set(range(len(rows)))
    head_room = len(_head(total, record["known"], total)) + 1
    for width in WIDTHS:
        lines = writer.lines(everything, width)
        if sum(map(size, lines)) + len(lines) + head_room <= max_chars:
            return writer.text(everything, width)
    width = WIDTHS[-1] if max_chars < 1000 else WIDTHS[1]
    for lines_in_all in LINES:
        longest = max(max_chars // lines_in_all, LEAST_LINE)
        for top_room in (0, TOP_ROOM):
            chosen = writer.choose(width, max_chars - head_room - top_room, longest)
            if size(writer.text(chosen, width, longest).text) <= max_chars:
                break
        if writer.has_path_to_failure(chosen):
            break
    while True:
        found = writer.text(chosen, width, longest)
        if size(found.text) <= max_chars or not chosen:
            return CallText(cut(found.text, max_chars), found.shown)
        chosen = writer.without_last(chosen)


def _head(total: int, functions: int, left: int) -> str:
    calls = f"{total:,} call{'' if total == 1 else 's'}"
    rest = f", {left:,} not shown (+n)" if left else ""
    return f"{calls} of {functions} function{'' if functions == 1 else 's'}{rest}"


class _Writer:
    """Lines of one record."""

    def __init__(
        self, record: Mapping[str, Any], rows: Sequence[CallRow], failure_left: Left | None
    ) -> None:
        self.functions, self.total, self.known = (
            record["functions"],
            record["calls"],
            record["known"],
        )
        self.rows, self.failure_left = rows, failure_left
        self.parents = list(_parents(rows))
        self.repeated = set(_repeated(rows, self.parents))
        self.weights = self._weights()
        self.order: list[int] = []  # of what was chosen, the most important first

    def _weights(self) -> list[int]:
        """How many calls a row stands for."""
        weights: list[int] = []
        for row, parent in zip(self.rows, self.parents, strict=True):
            above = 1 if parent < 0 else weights[parent]
            weights.append(above * row.times)
        return weights

    # Lines ---------------------------------------------------------------------------

    def text(self, chosen: set[int], width: int, longest: int | None = None) -> CallText:
        """longest: bytes of a line, without what stands before it and behind it."""
        shown = sum(self.weights[i] for i in chosen if not self.rows[i].is_thread)
        head = _head(self.total, self.known, self.total - shown)
        return CallText("\n".join([head, *self.lines(chosen, width, longest)]), shown)

    def lines(self, chosen: set[int], width: int, longest: int | None = None) -> list[str]:
        above, passed = self._lines_above(chosen), self._passed_on(chosen)
        hidden: dict[int, int] = {}  # calls by the line that counts them
        before: dict[int, int] = {}  # calls at the top that come before a line
        at_top = 0
        for i, line in enumerate(above):
            has_line, unseen = self._has_line(i, chosen), self._unseen(i, chosen)
            if has_line and line == NO_LINE:
                before[i], at_top = at_top, 0
            if has_line or line != NO_LINE:
                owner = i if has_line else line
                hidden[owner] = hidden.get(owner, 0) + unseen
            else:
                at_top += unseen
        found: list[str] = []
        for i in filter(lambda i: self._has_line(i, chosen), range(len(self.rows))):
            found += _left_out(before.get(i, 0))
            line_text = self._line(self.rows[i], width, i in passed, longest)
            found.append("  " * self._indent(i, chosen) + line_text + _mark(hidden[i]))
        return found + _left_out(at_top)

    def _indent(self, i: int, chosen: set[int]) -> int:
        """A call below ones that only repeat those above them stands as if it were made there."""
        passed = sum(one in self.repeated and one not in chosen for one in self._ancestors(i))
        return max(self.rows[i].depth, 0) - passed

    def _ancestors(self, i: int) -> Iterator[int]:
        """Those that led to a call, from the one that has made it on."""
        while (i := self.parents[i]) >= 0:
            yield i

    def _has_no_line(self, i: int) -> bool:
        """Whether the row stands for the only thread, which needs no name."""
        return self.rows[i].is_thread and not self.rows[i].arguments[0]

    def _has_line(self, i: int, chosen: set[int]) -> bool:
        return i in chosen and not self._has_no_line(i)

    def _lines_above(self, chosen: set[int]) -> list[int]:
        """Of each row the nearest above it that has a line."""
        above: list[int] = []
        for parent in self.parents:
            has_line = parent >= 0 and self._has_line(parent, chosen)
            above.append(parent if has_line or parent < 0 else above[parent])
        return above

    def _unseen(self, i: int, chosen: set[int]) -> int:
        """Calls of the row that have no line: itself, and what has no row."""
        row = self.rows[i]
        itself = 0 if i in chosen or row.is_thread else 1
        return (itself + row.gone_calls) * self.weights[i]

    def _passed_on(self, chosen: set[int]) -> set[int]:
        """Rows left by an exception that has left one below, whose line says which."""
        rows, found = self.rows, set()
        for i in chosen:
            above = next((one for one in self._ancestors(i) if one in chosen), NO_LINE)
            same = above >= 0 and (rows[above].kind, rows[above].outcome) == (
                RAISED,
                rows[i].outcome,
            )
            if same and rows[i].kind == RAISED:
                found.add(above)
        return found

    def _line(
        self, row: CallRow, width: int, passes_on: bool = False, longest: int | None = None
    ) -> str:
        if row.is_thread:
            return one_line(f"[{row.arguments[0]}]")
        function = self.functions[row.function]
        names = function["arguments"]
        arguments = ", ".join(
            f"{name}={_cut(value, width)}"
            for name, value in zip(names, row.arguments, strict=False)
            if value not in NOTHING
        )
        times = f" ×{row.times}" if row.times > 1 else ""
        ending = f" raised{_place(row)}" if passes_on else _ending(row, width)
        gave = ""
        if row.yields:
            more = f", {CUT}" if row.yields > len(row.yielded) else ""
            gave = f" yields {row.yields}: {_cut(', '.join(row.yielded) + more, width)}"
        name, end = one_line(function["name"]), one_line(f"){gave}{ending}{times}")
        given = one_line(arguments)
        if longest is None:
            return f"{name}({given}{end}"
        # How it ended is what the line is for: arguments are cut first.
        given = cut(given, max(longest - size(name) - 1 - size(end), size(CUT)))
        return cut(f"{name}({given}{end}", longest)

    # Choosing ------------------------------------------------------------------------

    def has_path_to_failure(self, chosen: set[int]) -> bool:
        """Whether what matters most, if anything has failed or is not over, is among those chosen."""
        failing = self._failing() | self._left_by_the_failure()
        first = next((i for i in self._by_importance() if not self._has_no_line(i)), NO_LINE)
        return first not in failing or first in chosen

    def choose(self, width: int, room: int, longest: int) -> set[int]:
        """The rows that fit: the paths to failures, then what is near to the top, the last first."""
        self.order = []
        chosen: set[int] = set()
        for i in self._by_importance():
            if i in self.repeated:
                continue
            missing = [one for one in self._path(i) if one not in chosen]
            passed = self._passed_on(set(missing))
            cost = sum(
                size(self._line(self.rows[one], width, one in passed, longest))
                + 2 * self._indent(one, chosen)
                + MARK_ROOM
                for one in missing
                if not self._has_no_line(one)
            )
            if cost > room:
                continue
            room -= cost
            chosen.update(missing)
            self.order += reversed(missing)
        return chosen

    def without_last(self, chosen: set[int]) -> set[int]:
        return chosen - {self.order.pop()}

    def _path(self, row: int) -> list[int]:
        """What is to be shown for a call to be shown: itself, and what led to it but for repetitions."""
        return [row, *(one for one in self._ancestors(row) if one not in self.repeated)]

    def _by_importance(self) -> list[int]:
        left = self._left_by_the_failure()
        failing = self._failing() | left
        handled = set() if failing else self._last_handled()
        return sorted(
            range(len(self.rows)), key=lambda i: self._importance(i, left, failing, handled)
        )

    def _importance(
        self, i: int, left: set[int], failing: set[int], handled: set[int]
    ) -> tuple[int, int, int]:
        row = self.rows[i]
        if self._has_no_line(i):
            return (0, 0, 0)
        if i in left:
            return (0, 1, -row.depth)
        if i in failing:  # of several, the last: the program may have ended with it
            return (1, -self._path(i)[-1], -row.depth)
        if i in handled:
            return (2, -row.depth, 0)
        if self.parents[i] in failing:
            return (3, -row.depth, -i)
        return (4, row.depth, -i)  # the last led to where the recording ends

    def _last_handled(self) -> set[int]:
        """The last calls that an exception left on its way to who handled it."""
        raised = [i for i, row in enumerate(self.rows) if row.kind == RAISED]
        return set(self._path(raised[-1])) if raised else set()

    def _left_by_the_failure(self) -> set[int]:
        """The innermost call that the failure has left, and those that led to it."""
        if not self.failure_left:
            return set()
        last = {self._left(row): i for i, row in enumerate(self.rows)}
        found = next((last[one] for one in self.failure_left if one in last), None)
        return set() if found is None else set(self._path(found))

    def _left(self, row: CallRow) -> tuple[str, str] | None:
        if row.is_thread or row.kind != RAISED:
            return None
        function = self.functions[row.function]
        return os.path.basename(function["path"]), _bare(function["name"])

    def _failing(self) -> set[int]:
        """Calls that an exception left, up to the top, or that are not over. Where the failure is known, the
        others that an exception left are none: somebody has handled it.
        """
        kinds = (RAISED, OPEN) if self.failure_left is None else (OPEN,)
        found: set[int] = set()
        for i, (row, parent) in enumerate(zip(self.rows, self.parents, strict=True)):
            is_top = parent < 0 or self.rows[parent].is_thread
            if row.kind in kinds and (is_top or parent in found) and not row.is_thread:
                found.add(i)
        return found


def left_by(frames: Sequence[tuple[str, str]]) -> Left:
    """Of frames, the innermost first, each with its file and the name of its function."""
    return [(os.path.basename(path), _bare(name)) for path, name in frames]


def _bare(name: str) -> str:
    return name.rpartition(".")[2]


def _ending(row: CallRow, width: int) -> str:
    if row.kind == OPEN:
        return " is not over"
    if row.kind == RAISED:
        return f" raised {_cut(row.outcome, max(width, 60))}{_place(row)}"
    if row.kind == UNSEEN:
        return " ended unseen"
    if row.kind == STOPPED:
        return f" ended by {_cut(row.outcome, width)}"
    return "" if row.yields and row.outcome == "None" else f" → {_cut(row.outcome, width)}"


def _place(row: CallRow) -> str:
    """Where an exception left the call. What `except*` has joined has come from no line."""
    return f" at line {row.line}" if row.line else ""


def _parents(rows: Sequence[CallRow]) -> Iterator[int]:
    """Position of the row that made each call; -1: nobody of the program's own."""
    path: list[int] = []
    for i, row in enumerate(rows):
        while path and rows[path[-1]].depth >= row.depth:
            path.pop()
        yield path[-1] if path else -1
        path.append(i)


def _repeated(rows: Sequence[CallRow], parents: Sequence[int]) -> Iterator[int]:
    """The calls of a recursion between its first round and its last, where each has made the next one alone."""
    children = Counter(parents)
    only_child = {
        parent: i for i, parent in enumerate(parents) if parent >= 0 and children[parent] == 1
    }
    for i, parent in enumerate(parents):
        if parent in only_child or rows[i].is_thread:
            continue  # it is within a chain that begins above
        chain = [i]
        while (below := only_child.get(chain[-1])) is not None:
            chain.append(below)
        alike = [
            (rows[one].function, rows[one].kind, rows[one].kind == RAISED and rows[one].outcome)
            for one in chain
        ]
        for at, length, times in stretches(alike):
            yield from chain[at + length : at + length * (times - 1)]


def _mark(count: int) -> str:
    return f" (+{count:,})" if count else ""


def _left_out(count: int) -> list[str]:
    return [f"{CUT}{_mark(count)}"] if count else []


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(room - 1, 1)] + CUT
