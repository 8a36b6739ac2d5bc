"""Where the lines of a code object that may write are left, and what tells then which line it was.

At the event of a line the interpreter does not say what has run before it. It is known where the
code runs on from one instruction to the next; a jump is an event of its own, before the line's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import facts_of
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import (
        JUMPS,
        begun_line,
        handler_table,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import NEVER_ON, lines_in_order

_JUMPS_ALWAYS = ("JUMP_FORWARD", "JUMP_BACKWARD")
_BRANCHES = ("POP_JUMP_", "FOR_ITER")

_CALM = (
    *("LOAD_FAST", "LOAD_CONST", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_ATTR"),
    *("STORE_FAST", "STORE_ATTR"),
    *("BINARY_OP", "COMPARE_OP", "IS_OP", "BUILD_TUPLE", "COPY", "SWAP", "POP_TOP", "NOP"),
)
"""What calls nothing, but for methods of the program."""


class WriteExits(NamedTuple):
    """Of one code object, by offsets of its instructions."""

    falls: Mapping[int, int]
    """Where a line begins that is run on to: the line that may have written before it."""
    jumps: Mapping[int, int]
    """Jumps that leave a line behind what may have written: that line."""
    branches: Mapping[int, int]
    """The same of those that jump or do not."""
    others: frozenset[int]
    """Where lines begin that are come to by an exception, or otherwise."""
    ways: frozenset[tuple[int, int]]
    """A line that may have written, and where one begins that may come next, by no such jump."""
    calm_returns: frozenset[int]
    """Returns before which nothing may have written since a line has begun that is compared at."""


NO_EXITS = WriteExits({}, {}, {}, frozenset(), frozenset(), frozenset())


class _Walk:
    """From behind each instruction that may write on, to where another line begins."""

    def __init__(self, code: Any) -> None:
        self.found, self.indices, _ = facts_of(code)
        self.handlers, self.lines = handler_table(code), lines_in_order(code)
        self.falls: dict[int, int] = {}
        self.jumps: dict[int, int] = {}
        self.branches: dict[int, int] = {}
        self.others: set[int] = set()
        self.ways: set[tuple[int, int]] = set()

    def begin(self, start: int) -> None:
        """From one of them on."""
        line, seen = self.lines[start], set()
        todo: list[tuple[int, str]] = [(start, "falls")]
        while todo:
            entry = at, how = todo.pop()
            if entry in seen or at >= len(self.found):
                continue
            seen.add(entry)
            one = self.found[at]
            if at != start and begun_line(one):
                self._arrive(one.offset, how, line)
                continue
            around = [each for each in self.handlers if each.start <= one.offset < each.end]
            todo += [(self._index(handler.target), "others") for handler in around]
            if one.opcode in JUMPS:
                todo.append(self._jumped(one, at, how, line))
            if not one.opname.startswith(NEVER_ON):
                todo.append((at + 1, how))

    def _index(self, offset: int) -> int:
        return int(self.indices.get(offset, len(self.found)))

    def _arrive(self, offset: int, how: str, line: int) -> None:
        if how == "jumps":
            return
        self.ways.add((line, offset))
        if how == "others":
            self.others.add(offset)
        else:
            self.falls[offset] = line

    def _jumped(self, one: Any, at: int, how: str, line: int) -> tuple[int, str]:
        """Where it leads, and what that is come to by."""
        target = self._index(one.argval)
        if target >= len(self.found) or self._goes_on(at, target):
            return target, how
        if how == "others":
            return target, how
        if one.opname in _JUMPS_ALWAYS:
            self.jumps[one.offset] = line
        elif one.opname.startswith(_BRANCHES):
            self.branches[one.offset] = line
        else:
            return target, "others"
        # Another line has its own event, and what has been written is known by then.
        return (target if self.lines[target] == line else len(self.found)), "jumps"

    def _goes_on(self, at: int, target: int) -> bool:
        """Whether the line of one instruction is that of the other, and is not begun anew."""
        return (
            target > at
            and self.lines[target] == self.lines[at]
            and (not begun_line(self.found[target]))
        )


def exits_of(code: Any, sites: Iterable[int]) -> WriteExits:
    """sites: the instructions that may write, by their places among those of the code."""
    walk = _Walk(code)
    for site in sites:
        walk.begin(site)
    starts = walk.falls.keys() | walk.others
    return WriteExits(
        walk.falls,
        walk.jumps,
        walk.branches,
        frozenset(walk.others),
        frozenset(walk.ways),
        frozenset(_calm_returns(code, frozenset(sites), starts)),
    )


def may_come_next(code: Any, line: int, offset: int) -> bool:
    """Whether the line that begins there may come next after this one, whatever that does."""
    found, lines = facts_of(code)[0], lines_in_order(code)
    walk = _Walk(code)
    for index in [index for index, one in enumerate(lines) if one == line]:
        walk.begin(index)
    leaps = {
        found[index].argval
        for index, one in enumerate(lines)
        if one == line and found[index].opcode in JUMPS
    }
    return offset in leaps or (line, offset) in walk.ways


def _calm_returns(code: Any, sites: frozenset[int], starts: set[int]) -> Iterator[int]:
    """starts: where lines begin that are compared at whatever line comes before."""
    found, _, targets = facts_of(code)
    lines = lines_in_order(code)
    writes = {lines[site] for site in sites}
    for index, one in enumerate(found):
        at = index
        if not one.opname.startswith("RETURN_") or one.opname == "RETURN_GENERATOR":
            continue
        while at >= 0 and at not in sites and (at == index or found[at].opname.startswith(_CALM)):
            if found[at].offset in starts and lines[at] not in writes:
                yield one.offset
                break
            if found[at].offset in targets:
                break
            at -= 1
