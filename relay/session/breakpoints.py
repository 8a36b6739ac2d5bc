"""The breakpoints of one session, by id and by place. Plain data: nothing is sent from here."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace


@dataclass(slots=True)
class Breakpoint:
    """One line breakpoint. `line` is where the client asked; it never moves by itself."""

    id: str
    path: str
    line: int
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    enabled: bool = True
    verified: bool = False
    message: str | None = None
    suggestion: str | None = None
    hit_count: int = 0

    @property
    def is_active(self) -> bool:
        """Whether the debugger should know of it: it moves unverified lines elsewhere."""
        return self.enabled and self.verified


class BreakpointTable:
    """Breakpoints in the order of their ids; one place holds one breakpoint."""

    def __init__(self) -> None:
        self._by_id: dict[str, Breakpoint] = {}
        self._by_place: dict[tuple[str, int], Breakpoint] = {}
        self._numbers = itertools.count(1)

    # Invariant: both dicts hold the same breakpoints.

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(list(self._by_id.values()))

    def __contains__(self, breakpoint_id: str) -> bool:
        return breakpoint_id in self._by_id

    def __getitem__(self, breakpoint_id: str) -> Breakpoint:
        return self._by_id[breakpoint_id]

    def copy(self) -> BreakpointTable:
        """The table as it is now, for `restore`."""
        table = BreakpointTable()
        table._by_id = dict(self._by_id)
        table._by_place = dict(self._by_place)
        return table

    def restore(self, earlier: BreakpointTable) -> None:
        """Take back what happened since `copy`; ids that were given out stay used."""
        self._by_id = dict(earlier._by_id)
        self._by_place = dict(earlier._by_place)

    def get(self, breakpoint_id: str) -> Breakpoint | None:
        return self._by_id.get(breakpoint_id)

    def at(self, path: str, line: int) -> Breakpoint | None:
        return self._by_place.get((path, line))

    def put(self, breakpoint: Breakpoint) -> Breakpoint:
        """Store under a new id, or over the breakpoint of the same place, whose id stays."""
        place = (breakpoint.path, breakpoint.line)
        earlier = self._by_place.get(place)
        if earlier is None:
            stored = replace(breakpoint, id=f"bp_{next(self._numbers)}")
        else:
            stored = replace(breakpoint, id=earlier.id, hit_count=earlier.hit_count)
        self._by_id[stored.id] = stored
        self._by_place[place] = stored
        return stored

    def remove(self, breakpoint_id: str) -> Breakpoint:
        """Take out one breakpoint; raises KeyError if there is none of that id."""
        breakpoint = self._by_id.pop(breakpoint_id)
        del self._by_place[breakpoint.path, breakpoint.line]
        return breakpoint

    def active_in(self, path: str) -> list[Breakpoint]:
        """What the debugger should know of this file, in order of lines."""
        found = [b for b in self._by_id.values() if b.path == path and b.is_active]
        return sorted(found, key=lambda b: b.line)

    def paths(self) -> list[str]:
        """Every file that has a breakpoint, each once."""
        return list(dict.fromkeys(b.path for b in self._by_id.values()))
