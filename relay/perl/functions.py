"""Breakpoints on subs, by their names: what was asked for, and where the subs lie.

Keeps the numbers of those that are asked for again unchanged. Refuses to know how one is set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from relay.perl.numbering import Numbering
from relay.perl.requests import NamedWish

UNKNOWN = "No sub of this name is known yet"


@dataclass(slots=True)
class Named:
    """One breakpoint. `path` and `line` are those of the sub's first statement, once it is known."""

    number: int
    wish: NamedWish
    path: str = ""
    line: int = 0

    def described(self, numbering: Numbering, here: Callable[[str], str]) -> dict[str, Any]:
        """As the client sees it; `here` is the client's path for the program's."""
        if not self.line:
            message = self.wish.problem or UNKNOWN
            return {"id": self.number, "verified": False, "message": message}
        return {
            "id": self.number,
            "verified": True,
            "source": {"path": here(self.path)},
            "line": numbering.client_line(self.line),
            "column": 0,
        }


class Functions:
    """All of them, in the client's order."""

    def __init__(self, numbers: Iterator[int]) -> None:
        self._numbers = numbers
        self._named: list[Named] = []

    def __contains__(self, number: int) -> bool:
        return any(one.number == number for one in self._named)

    def __len__(self) -> int:
        return len(self._named)

    def replace(self, wishes: list[NamedWish]) -> list[Named]:
        """The new ones; nothing is known of where they are."""
        old = {one.wish: one.number for one in self._named}
        self._named = [Named(old.pop(wish, 0) or next(self._numbers), wish) for wish in wishes]
        return self._named

    def settle(self, places: Iterable[dict[str, Any]]) -> list[Named]:
        """The program said where subs are; returns those of which that is news."""
        where = {one["id"]: (one["file"], one["line"]) for one in places}
        news = []
        for one in self._named:
            if one.number in where and where[one.number] != (one.path, one.line):
                one.path, one.line = where[one.number]
                news.append(one)
        return news

    def forget_places(self) -> None:
        """Another program starts: none of its subs is known."""
        for one in self._named:
            one.path, one.line = "", 0

    def fields(self) -> list[str]:
        """As the hook takes them; those with a problem stay here."""
        listed: list[str] = []
        for one in self._named:
            wish = one.wish
            if not wish.problem:
                listed += [str(one.number), wish.name, wish.condition]
                listed += [wish.operator, str(wish.hits)]
        return listed
