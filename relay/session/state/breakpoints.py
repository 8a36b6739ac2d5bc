"""The breakpoints of one session, by id and by place. Plain data: nothing is sent from here."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from relay.models.places import is_in_file, without_parameter


@dataclass(slots=True)
class Breakpoint:
    """One breakpoint. `line` is where the client asked; it never moves by itself.

    With `capture` it never stops, and records those expressions; `reveal`: secrets, too.
    With `function` it is one on a name: `path` and `line` say nothing, and `found_at` where
    the function lies, once it is known: at once if the name has its file. With `pending` its file need not exist yet.
    """

    id: str
    path: str
    line: int
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None
    capture: list[str] | None = None
    reveal: bool = False
    enabled: bool = True
    verified: bool = False
    message: str | None = None
    suggestion: str | None = None
    hit_count: int = 0
    function: str | None = None
    found_at: tuple[str, int] | None = None
    pending: bool = False
    judged_by_adapter: bool = False
    """Whether only the debugger can know if its line has code, once the program is there."""

    appeared_at: float = 0.0
    """When the file was last changed before it was found, if the breakpoint waited for it."""

    owner: str = ""
    """Who wants it, by a name of that client's own; empty: it is everybody's, and nobody lets it go."""

    others: tuple[Breakpoint, ...] = ()
    """What other owners want at this place, each: the first is in force when this one is let go."""

    @property
    def is_active(self) -> bool:
        """Whether the debugger should know of it: it moves unverified lines elsewhere."""
        known = self.verified or self.judged_by_adapter or self.function is not None
        return self.enabled and known

    @property
    def place(self) -> tuple[str, int]:
        """What only one breakpoint has: file and line, or the function's name."""
        if self.function is not None:
            return f"function {without_parameter(self.function)}", 0
        return self.path, self.line

    @property
    def is_in_file(self) -> bool:
        """Whether it is on a function of one file."""
        return self.function is not None and is_in_file(self.function)

    def start_run(self) -> None:
        """A program is about to run: it is not hit yet; a function by its name is not known."""
        self.hit_count = 0
        if not self.is_in_file:
            self.found_at = None

    def counted(self, hits: int) -> None:
        """So often it was hit in this run."""
        self.hit_count = hits

    def found(self, path: str, line: int) -> None:
        """Its function lies there."""
        self.found_at = (path, line)

    def judged(self, verified: bool, message: str | None) -> bool:
        """Whether it can stop the program, and why it is as it is. Whether that is news."""
        before = self.verified, self.message
        self.verified, self.message = verified, message
        return before != (verified, message)

    @property
    def shown_path(self) -> str | None:
        """The file, as far as it is known."""
        if self.function is None:
            return self.path
        return self.found_at[0] if self.found_at else None

    @property
    def shown_line(self) -> int | None:
        """The line, as far as it is known."""
        if self.function is None:
            return self.line
        return self.found_at[1] if self.found_at else None


class BreakpointTable:
    """Breakpoints in the order of their ids; one place holds one breakpoint."""

    def __init__(self) -> None:
        self._by_id: dict[str, Breakpoint] = {}
        self._by_place: dict[tuple[str, int], Breakpoint] = {}
        self._numbers = itertools.count(1)
        self._by_dap_id: dict[int, list[str]] = {}
        self._stopping: tuple[Breakpoint, ...] | None = None

    # Invariants: the first two dicts hold the same breakpoints. The third has the numbers that the
    # debuggers of this run gave, also for breakpoints that were removed since; the latest is last.
    # What a client has said of a breakpoint is changed by another one in its place alone, and then
    # nothing is stopping that was found before.

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(list(self._by_id.values()))

    def __contains__(self, breakpoint_id: str) -> bool:
        return breakpoint_id in self._by_id

    def __getitem__(self, breakpoint_id: str) -> Breakpoint:
        return self._by_id[breakpoint_id]

    def copy(self) -> BreakpointTable:
        """The table as it is now, for `take_back`."""
        table = BreakpointTable()
        table._by_id = dict(self._by_id)
        table._by_place = dict(self._by_place)
        return table

    def take_back(self, changed: Iterable[Breakpoint], earlier: BreakpointTable) -> None:
        """Have breakpoints as they were in `earlier`, where nobody has changed them again since.

        changed: as they were stored, or as they were removed. Ids that were given out stay used.
        """
        self._stopping = None
        for last in {breakpoint.id: breakpoint for breakpoint in changed}.values():
            before = earlier.get(last.id)
            after = None if last is before else last  # what was removed is as it was
            if self.get(last.id) is not after:
                continue
            if before is not None and self._by_place.get(before.place) not in (None, after):
                continue  # another one has its place by now
            if after is not None:
                self.remove(after.id)
            if before is not None:
                self._by_id[before.id] = self._by_place[before.place] = before
        self._by_id = {number: self._by_id[number] for number in sorted(self._by_id, key=_number)}

    def stopping(self) -> tuple[Breakpoint, ...]:
        """Those that stop a program, in order: the same tuple as long as no client changes one."""
        if self._stopping is None:
            found = self._by_id.values()
            self._stopping = tuple(
                b for b in found if b.enabled and b.log_message is None and b.capture is None
            )
        return self._stopping

    def get(self, breakpoint_id: str) -> Breakpoint | None:
        return self._by_id.get(breakpoint_id)

    def at(self, path: str, line: int) -> Breakpoint | None:
        return self._by_place.get((path, line))

    def on_function(self, frame: str) -> Breakpoint | None:
        """The breakpoint on the function of a stack frame, whose name may have parameters, too."""
        return self._by_place.get((f"function {frame.partition('(')[0]}", 0))

    def by_dap_id(self, dap_id: int, place: tuple[str, int] | None = None) -> Breakpoint | None:
        """The breakpoint that a debugger knows by this number.

        js-debug gives some numbers twice: then it is the one at this `place`, or else in this file.
        """
        ids = reversed(self._by_dap_id.get(dap_id, []))
        known = [self._by_id[number] for number in ids if number in self._by_id]
        if len(known) > 1 and place is not None:
            there = [one for one in known if one.shown_path == place[0]]
            known = [one for one in there if one.shown_line == place[1]] or there or known
        return known[0] if known else None

    def id_of(self, dap_id: int) -> str | None:
        """The id of what a debugger of this run knows by this number, though it was removed."""
        ids = self._by_dap_id.get(dap_id)
        return ids[-1] if ids else None

    def number(self, dap_id: int, breakpoint: Breakpoint) -> None:
        """A debugger of this run calls the breakpoint so."""
        ids = self._by_dap_id.setdefault(dap_id, [])
        if breakpoint.id in ids:
            ids.remove(breakpoint.id)
        ids.append(breakpoint.id)

    def forget_numbers(self) -> None:
        """Another run begins: its debuggers number anew."""
        self._by_dap_id.clear()

    def put(self, breakpoint: Breakpoint) -> Breakpoint:
        """Store under a new id, or over the breakpoint of the same place, whose id stays.

        What has an owner waits where somebody else's is: that is what is returned then.
        """
        place = breakpoint.place
        earlier = self._by_place.get(place)
        if earlier is None:
            stored = replace(breakpoint, id=f"bp_{next(self._numbers)}")
        elif breakpoint.owner in ("", earlier.owner):
            others = _others(earlier, breakpoint.owner)
            stored = replace(breakpoint, id=earlier.id, hit_count=earlier.hit_count, others=others)
        else:
            waiting = [one for one in earlier.others if one.owner != breakpoint.owner]
            stored = replace(earlier, others=(*waiting, breakpoint))
        self._by_id[stored.id] = stored
        self._by_place[place] = stored
        self._stopping = None
        return stored

    def load(self, kept: Iterable[Breakpoint]) -> None:
        """Store breakpoints under the ids that they had before; the table must be empty."""
        highest = 0
        for breakpoint in kept:
            number = _number(breakpoint.id)
            self._numbers = itertools.count(number)
            self.put(breakpoint)
            highest = max(highest, number)
        self._numbers = itertools.count(highest + 1)

    def remove(self, breakpoint_id: str) -> Breakpoint:
        """Take out one breakpoint; raises KeyError if there is none of that id."""
        breakpoint = self._by_id.pop(breakpoint_id)
        del self._by_place[breakpoint.place]
        self._stopping = None
        return breakpoint

    def let_go(self, breakpoint_id: str, owner: str) -> Breakpoint | None:
        """One owner wants it no more: what is at its place then, None if nobody wants anything."""
        known = self._by_id[breakpoint_id]
        if known.owner != owner:
            others = tuple(one for one in known.others if one.owner != owner)
            return self.change(replace(known, others=others))
        if not known.others:
            self.remove(breakpoint_id)
            return None
        heir, *others_left = known.others
        own = replace(heir, id=known.id, hit_count=known.hit_count, others=tuple(others_left))
        return self.change(own)

    def change(self, breakpoint: Breakpoint) -> Breakpoint:
        """Store over the breakpoint of the same id, also at another place, which must be free."""
        del self._by_place[self._by_id[breakpoint.id].place]
        assert breakpoint.place not in self._by_place
        self._by_id[breakpoint.id] = self._by_place[breakpoint.place] = breakpoint
        self._stopping = None
        return breakpoint

    def active_in(self, path: str) -> list[Breakpoint]:
        """What the debugger should know of this file, in order of lines."""
        found = [b for b in self._by_id.values() if b.place[0] == path and b.is_active]
        return sorted(found, key=lambda b: b.line)

    def active_functions(self) -> list[Breakpoint]:
        """The function breakpoints that the debuggee should know of."""
        return [b for b in self._by_id.values() if b.function is not None and b.is_active]

    def paths(self) -> list[str]:
        """Every file that has a breakpoint, each once."""
        lines = [b for b in self._by_id.values() if b.function is None]
        return list(dict.fromkeys(b.path for b in lines))


def _others(breakpoint: Breakpoint, owner: str) -> tuple[Breakpoint, ...]:
    """What is wanted at its place by anybody else than `owner`."""
    wanted = (replace(breakpoint, others=()), *breakpoint.others)
    return tuple(one for one in wanted if one.owner != owner)


def _number(breakpoint_id: str) -> int:
    return int(breakpoint_id.removeprefix("bp_"))
