"""Breakpoints of a conversation: what was asked for, file by file, and where it ended up.

Keeps the numbers of breakpoints that are asked for again unchanged. Refuses to know how a
breakpoint is set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from relay.perl import source
from relay.perl.numbering import Numbering
from relay.perl.refusals import BREAKPOINT, Refusal
from relay.perl.requests import Wish

WAITING = "The file is not loaded yet"
BUSY = "The program is busy; the breakpoint is set as soon as it can be"


@dataclass(slots=True)
class PlacedLine:
    """One breakpoint. `line` is where it is set, 0 while it is nowhere."""

    number: int
    wish: Wish
    line: int = 0
    message: str = WAITING

    def described(self, numbering: Numbering) -> dict[str, Any]:
        """As the client sees it."""
        described: dict[str, Any] = {
            "id": self.number,
            "verified": self.line > 0,
            "line": numbering.client_line(self.line or self.wish.line),
            "column": 0,
        }
        if not self.line:
            described["message"] = self.message
        return described


class LineBreakpoints:
    """All of them, by the path that the client used."""

    def __init__(self, numbers: Iterator[int]) -> None:
        self._by_path: dict[str, list[PlacedLine]] = {}
        self._numbers = numbers

    def replace(self, path: str, wishes: list[Wish]) -> list[PlacedLine]:
        """Raises Refusal 1007 if the file cannot be read."""
        text = read_source(path) if wishes else ""
        old = list(self._by_path.get(path, ()))
        placed = [self._placed(wish, old) for wish in wishes]
        for one in placed:
            one.line, one.message = 0, one.wish.problem or _message(text, one.wish.line)
        self._by_path[path] = placed
        return placed

    def _placed(self, wish: Wish, old: list[PlacedLine]) -> PlacedLine:
        for one in old:
            if one.wish == wish:
                old.remove(one)
                return one
        return PlacedLine(next(self._numbers), wish)

    def settle(self, lines: list[dict[str, int]]) -> list[PlacedLine]:
        """The program said where they are; returns those of which that is news."""
        where = {one["id"]: one["line"] for one in lines}
        news = []
        for path, placed in self._by_path.items():
            for one in placed:
                if one.number not in where:
                    continue
                before = (one.line, one.message)
                one.line = where[one.number]
                if not one.line:
                    one.message = _why(path, one.wish.line)
                if (one.line, one.message) != before:
                    news.append(one)
        return news

    def forget_places(self) -> None:
        """Another program starts: no file of it is loaded."""
        for placed in self._by_path.values():
            for one in placed:
                one.line = 0

    def by_path(self) -> list[tuple[str, list[PlacedLine]]]:
        return list(self._by_path.items())


def fields(placed: list[PlacedLine]) -> list[str]:
    """As the hook takes them; those with a problem stay here."""
    listed: list[str] = []
    for one in placed:
        wish = one.wish
        if not wish.problem:
            listed += [str(one.number), str(wish.line), wish.condition]
            listed += [wish.operator, str(wish.hits), wish.log_message]
    return listed


def read_source(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
            return file.read()
    except OSError as error:
        raise Refusal(
            BREAKPOINT,
            f"Breakpoint verification failed: {error.strerror}",
            "Cannot read '{path}': {reason}",
            path=os.path.basename(path),
            reason=str(error.strerror),
        ) from None


def _message(text: str, line: int) -> str:
    """Before the file is loaded: what can be said for certain."""
    found = source.reasons(text)
    total = len(source.lines_of(text))
    if line > total:
        return source.BEYOND
    if all(n in found for n in range(max(line, 1), min(line + 5, total) + 1)):
        return found[max(line, 1)]
    return WAITING


def _why(path: str, line: int) -> str:
    try:
        return source.reason(read_source(path), line)
    except Refusal:
        return source.NO_CODE
