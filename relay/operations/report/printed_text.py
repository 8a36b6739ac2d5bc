"""What a program printed, for readers that are no terminal. Pure: texts in, text out.

Knows what a terminal would show of control sequences, and how the newest lines of several
streams share a bound. Refuses to know where the text comes from.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping

CUT = "…"
MOST_ROWS = 10_000
"""Rows that a cursor can go back; a program that asks for more stays at the first."""

MOST_COLUMNS = 10_000

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TOKEN = re.compile(
    r"\x1b\[(?P<numbers>[0-9;:<=>?]*)[ -/]*(?P<final>[@-~])"  # CSI: colours, the cursor
    r"|\x9b(?P<numbers8>[0-9;:<=>?]*)[ -/]*(?P<final8>[@-~])"
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\Z)"  # titles, links
    r"|\x1b[ -/]*[0-~]?"
    r"|(?P<char>[\x00-\x1f\x7f-\x9f])"
    r"|(?P<text>[^\x00-\x1f\x7f-\x9f]+)",
    re.DOTALL,
)


_LINE_END = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def quoted(text: str) -> str:
    """What a program says, for the middle of an answer: every further line begins with a space.

    What begins a line without one is the relay's own, so a program cannot speak as the relay.
    """
    return _LINE_END.sub(r"\g<0> ", text)


def plain(text: str) -> str:
    """The text as a terminal would have it in the end: without colours, each line once.

    A progress bar that rewrites its line is its last state. Other control characters but
    newline and tab are left out.
    """
    if _CONTROL.search(text) is None:
        return text
    return "\n".join(_Screen().show(text.replace("\r\n", "\n")))


class _Screen:
    """Rows without bound, and a cursor that rewrites them."""

    def __init__(self) -> None:
        self._rows: list[list[str]] = [[]]
        self._row = self._column = 0

    def show(self, text: str) -> list[str]:
        for token in _TOKEN.finditer(text):
            if (words := token["text"]) is not None:
                self._write(words)
            elif (char := token["char"]) is not None:
                self._obey_character(char)
            elif final := token["final"] or token["final8"]:
                self._obey(final, token["numbers"] or token["numbers8"] or "")
        return ["".join(row) for row in self._rows]

    def _write(self, words: str) -> None:
        row, column = self._rows[self._row], self._column
        row.extend(" " * (column - len(row)))
        row[column : column + len(words)] = words
        self._column = column + len(words)

    def _obey_character(self, char: str) -> None:
        if char == "\n":
            self._go(self._row + 1, 0)
        elif char == "\r":
            self._column = 0
        elif char == "\b":
            self._column = max(0, self._column - 1)
        elif char == "\t":
            self._write("\t")

    def _obey(self, final: str, numbers: str) -> None:
        first = numbers.split(";")[0]
        count = max(1, int(first)) if first.isdecimal() and len(first) < 6 else 1
        if final in "AF":
            self._go(self._row - count, 0 if final == "F" else self._column)
        elif final in "BE":
            self._go(self._row + count, 0 if final == "E" else self._column)
        elif final in "CDG":
            column = {"C": self._column + count, "D": self._column - count, "G": count - 1}[final]
            self._column = min(max(0, column), MOST_COLUMNS)
        elif final == "K":
            self._erase(first)
        elif final == "J":
            self._clear(first)

    def _erase(self, what: str) -> None:
        row = self._rows[self._row]
        if what in ("", "0"):
            del row[self._column :]
        else:
            end = len(row) if what == "2" else self._column + 1
            row[:end] = " " * len(row[:end])

    def _clear(self, what: str) -> None:
        if what in ("", "0"):
            del self._rows[self._row + 1 :]
            self._erase("")
        elif what in ("2", "3"):
            self._rows, self._row = [[]], 0

    def _go(self, row: int, column: int) -> None:
        self._row = min(max(0, row), len(self._rows) + MOST_ROWS)
        while len(self._rows) <= self._row:
            self._rows.append([])
        self._column = column


def shares(sizes: Mapping[str, int], room: int, weights: Mapping[str, int]) -> dict[str, int]:
    """What each of several gets of `room`: what it needs, or its share of what the others leave."""
    left, found = dict(sizes), dict[str, int]()
    while left:
        total = sum(weights.get(name, 1) for name in left)
        small = [n for n, size in left.items() if size * total <= room * weights.get(n, 1)]
        if not small:
            return {**found, **{n: room * weights.get(n, 1) // total for n in left}}
        for name in small:
            found[name] = left.pop(name)
            room -= found[name]
    return found


def newest(entries: Iterable[tuple[str, str]], room: int) -> str:
    """The end of what several streams printed, in its order: `(stream, text)`, oldest first.

    Plain text of at most `room` characters. No stream takes the place of another's newest
    lines; `…` stands where something is left out.
    """
    runs = [
        (name, plain("".join(text for _, text in run)))
        for name, run in itertools.groupby(entries, lambda entry: entry[0])
    ]
    sizes: dict[str, int] = {}
    for name, text in runs:
        sizes[name] = sizes.get(name, 0) + len(text)
    if sum(sizes.values()) <= room:
        return "".join(text for _, text in runs)
    left = shares(sizes, room - len(sizes), {})
    kept: list[str] = []
    for name, text in reversed(runs):
        if left[name] < 0:
            continue
        shown = last_lines(text, left[name])
        left[name] -= len(shown)
        if shown != text:
            left[name] = -1
            shown = CUT + shown
        kept.insert(0, shown)
    return "".join(kept)


def last_lines(text: str, room: int) -> str:
    """As many whole lines from the end as fit; of a single one that does not, its end."""
    if len(text) <= room:
        return text
    tail = text[len(text) - room :] if room > 0 else ""
    begins_a_line = text[len(text) - len(tail) - 1] == "\n"
    if begins_a_line or "\n" not in tail[:-1]:
        return tail
    return tail.partition("\n")[2]
