"""Data breakpoints: places of a program's state at whose changes it stops. They end with the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from relay.actions import Action
from relay.errors import BreakpointNotFound

if TYPE_CHECKING:
    from relay.session.inspector import Inspector


@dataclass(slots=True)
class DataBreakpoint:
    """One of them, as the debugger took it."""

    id: str
    expression: str
    condition: str | None
    inspector: Inspector
    """Of the process whose state it watches."""
    pid: int | None = None
    how: str = "lines"
    note: str | None = None
    ended: str | None = None
    """Why it watches nothing any more."""


class DataBreakpointTable:
    """Those of a session's run, in the order in which they were set."""

    def __init__(self) -> None:
        self._found: dict[str, DataBreakpoint] = {}
        self._newest = 0

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[DataBreakpoint]:
        return iter(list(self._found.values()))

    def new_id(self) -> str:
        """An id for one that is about to be set."""
        self._newest += 1
        return f"data_{self._newest}"

    def give_back(self, number: str) -> None:
        """The debugger has refused what this id was for; the next one gets it, if none has come between."""
        if number == f"data_{self._newest}":
            self._newest -= 1

    def add(self, breakpoint: DataBreakpoint) -> None:
        """Keep one that the debugger has taken."""
        self._found[breakpoint.id] = breakpoint

    def take_states(self, states: dict[str, dict[str, Any]]) -> None:
        """What the debugger says of some of them now."""
        for number, state in states.items():
            if (found := self._found.get(number)) is not None:
                found.how = state.get("how") or found.how
                found.note = state.get("note")
                found.ended = state.get("ended") or found.ended

    def end(self, number: str, reason: str) -> None:
        """One watches nothing any more, for this reason; an id that is not known is passed over."""
        if (found := self._found.get(number)) is not None:
            found.ended = reason

    def get(self, number: str) -> DataBreakpoint:
        """The data breakpoint with this id; raises BreakpointNotFound."""
        if number not in self._found:
            raise BreakpointNotFound(
                f"no data breakpoint has the id {number!r}",
                suggestion=Action.LIST_DATA_BREAKPOINTS,
                data_breakpoint_id=number,
                data_breakpoints=list(self._found),
            )
        return self._found[number]

    def remove(self, number: str) -> DataBreakpoint:
        """Take the one with this id away, and return it; raises BreakpointNotFound."""
        found = self.get(number)
        del self._found[number]
        return found

    def begin_run(self) -> None:
        """A program is about to be started: what was watched was another's."""
        self._found.clear()
