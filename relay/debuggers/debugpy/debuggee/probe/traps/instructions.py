"""A code of Python 3.11 to 3.13 as instructions: taken apart, the ways between them, and put together again.

Knows the bytecode: relative jumps, caches, the stack, the tables of handlers and of places. Refuses to
know what is put in, and why.
"""

from __future__ import annotations

import dis
import itertools
import opcode
import operator
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import GOES_ON_LATER
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import handler_table

UNIT_BYTES = 2  # bytes of an instruction, and of each argument byte before it, and of each cache
_CACHES: Any = getattr(opcode, "_inline_cache_entries", None)
_ENDS_WAY = frozenset(("RETURN_VALUE", "RERAISE", "RAISE_VARARGS", "JUMP_FORWARD"))
_LONG, _NO_COLUMNS, _NO_PLACE = 14, 13, 15  # kinds of entries in the table of places
_LONGEST_ENTRY = 8  # units
_BITS = 6  # bits that a byte of a variable length number holds


class NoTrapError(Exception):
    """A line of this code is reported, or not, in a way that a trap cannot follow."""


class Instruction:
    """One of a code, with its argument whole, and the bytes before and behind it."""

    __slots__ = (
        "arg",
        "caches",
        "code",
        "extensions",
        "here",
        "inserted",
        "name",
        "place",
        "start",
        "target",
    )

    def __init__(self, name: str, arg: int = 0, place: Any = (None,) * 4) -> None:
        self.name, self.arg, self.place = name, arg, place
        self.code = dis.opmap[name]
        self.caches = _CACHES.get(name, 0) if type(_CACHES) is dict else _CACHES[self.code]
        self.extensions = _extensions(arg)
        self.start = -1  # its offset in the code that it comes from, from its first byte on
        self.target: Any = None  # of a jump: an instruction
        self.here = 0  # its offset in the code that is made
        self.inserted: list[Instruction] = []  # what stands before it there

    @property
    def line(self) -> Any:
        return self.place[0]

    @property
    def size(self) -> int:
        return int(UNIT_BYTES * (self.extensions + 1 + self.caches))

    def assembled(self) -> bytes:
        made = b""
        for at in range(self.extensions, 0, -1):
            made += bytes((dis.EXTENDED_ARG, self.arg >> 8 * at & 0xFF))
        return made + bytes((self.code, self.arg & 0xFF)) + bytes(UNIT_BYTES * self.caches)


class CodeHandler:
    """An entry of the table of handlers: from `first` up to `behind`, which is None for the end."""

    __slots__ = ("behind", "depth", "first", "keeps_place", "target")

    def __init__(self, first: Any, behind: Any, target: Any, depth: int, keeps_place: bool) -> None:
        self.first, self.behind, self.target = first, behind, target
        self.depth, self.keeps_place = depth, keeps_place

    def over(self, first: Any, behind: Any) -> CodeHandler:
        """The same for other instructions."""
        return CodeHandler(first, behind, self.target, self.depth, self.keeps_place)

    @property
    def entry_depth(self) -> int:
        """Of the stack where it begins: with the exception, and perhaps the place that raised it."""
        return self.depth + 1 + int(self.keeps_place)


# Taking apart


def taken_apart(code: Any) -> tuple[list[Instruction], list[CodeHandler]]:
    instructions = _instructions_in(code)
    by_start = {one.start: one for one in instructions}
    handlers = [
        CodeHandler(by_start[h.start], by_start.get(h.end), by_start[h.target], h.depth, h.lasti)
        for h in handler_table(code)
    ]
    return instructions, handlers


def _instructions_in(code: Any) -> list[Instruction]:
    found: list[Instruction] = []
    operations, places = code.co_code, list(code.co_positions())
    at, start, high = 0, 0, 0
    while at < len(operations):
        number, arg = operations[at], operations[at + 1] | high
        if number == dis.EXTENDED_ARG:
            high = arg << 8
            at += UNIT_BYTES
            continue
        one = Instruction(dis.opname[number], arg, places[at // UNIT_BYTES])
        one.start = start
        at = start = at + UNIT_BYTES * (1 + one.caches)
        one.here = at  # behind it, for now
        high = 0
        found.append(one)
    by_start = {one.start: one for one in found}
    for one in found:
        if one.code in dis.hasjrel:
            way = -one.arg if _goes_back(one) else one.arg
            one.target = by_start[one.here + UNIT_BYTES * way]
    return found


def _extensions(arg: int) -> int:
    """How many argument bytes stand in front of an instruction."""
    return max(0, (arg.bit_length() + 7) // 8 - 1)


def _goes_back(one: Instruction) -> bool:
    return "BACKWARD" in one.name


def goes_on(one: Instruction) -> bool:
    """Whether the next instruction may follow it."""
    return one.name not in _ENDS_WAY and not one.name.startswith("JUMP_BACKWARD")


# The ways between them


def ways_into(
    instructions: list[Instruction], handlers: list[CodeHandler], within: list[Instruction]
) -> dict[Instruction, list[Any]]:
    """Of some instructions, those that come before each: (which, "next", "jump" or "exception")."""
    ways: dict[Instruction, list[Any]] = {one: [] for one in within}
    for before, one in itertools.pairwise(instructions):
        if one in ways and goes_on(before):
            ways[one].append((before, "next"))
    for one in instructions:
        if one.target in ways:
            ways[one.target].append((one, "jump"))
    for handler in handlers:
        if handler.target in ways:
            covered = covered_by(instructions, handler)
            ways[handler.target].extend((one, "exception") for one in covered)
    return ways


def covered_by(instructions: list[Instruction], handler: CodeHandler) -> list[Instruction]:
    first = _index(instructions, handler.first)
    behind = None if handler.behind is None else _index(instructions, handler.behind)
    return instructions[first:behind]


def _index(instructions: list[Instruction], one: Instruction) -> int:
    return bisect_left(instructions, one.start, key=operator.attrgetter("start"))


def is_line_reported(before: Instruction, one: Instruction, entry: Instruction) -> bool:
    """Whether the interpreter reports the line of an instruction that is run after another one."""
    if before.start <= entry.start or before.line != one.line or one.line is None:
        return True
    return one.start < before.start and one.name != "SEND"


def value_depths(
    code: Any, instructions: list[Instruction], handlers: list[CodeHandler]
) -> dict[Instruction, int]:
    """How many values are on the stack before each instruction that can be reached."""
    following = dict(itertools.pairwise(instructions))
    begun = 1 if code.co_flags & GOES_ON_LATER else 0  # what is sent to it at first
    depths: dict[Instruction, int] = {}
    todo = [(instructions[0], begun)]
    todo += [(one.target, one.entry_depth) for one in handlers]
    while todo:
        one, depth = todo.pop()
        if depths.setdefault(one, depth) != depth or depth < 0:
            raise NoTrapError
        arg = one.arg if one.code >= dis.HAVE_ARGUMENT else None
        ways = []
        if goes_on(one):
            ways.append((following[one], dis.stack_effect(one.code, arg, jump=False)))
        if one.target is not None:
            ways.append((one.target, dis.stack_effect(one.code, arg, jump=True)))
        todo += [(after, depth + effect) for after, effect in ways if after not in depths]
    return depths


# Putting together


def first_inserted(one: Instruction) -> Instruction:
    return one.inserted[0] if one.inserted else one


def settle(placed: list[Instruction]) -> None:
    """Give each instruction its place, and each jump its way, until no size changes any more."""
    is_settled = False
    while not is_settled:
        at = 0
        for one in placed:
            one.here = at
            at += one.size
        is_settled = True
        for one in placed:
            if one.target is not None:
                way = abs(one.target.here - one.here - one.size) // UNIT_BYTES
                is_settled = is_settled and way == one.arg
                one.arg = way
                one.extensions = max(one.extensions, _extensions(way))  # or it may never end


def _number(value: int, first: int = 0) -> bytes:
    """In as many bytes as it takes, six bits in each, the lowest first; `first` marks the first."""
    made = bytearray()
    while value >> _BITS:
        made.append(value & 0x3F | 0x40)
        value >>= _BITS
    made.append(value)
    made[0] |= first
    return bytes(made)


def _signed(value: int) -> bytes:
    return _number(-value << 1 | 1 if value < 0 else value << 1)


def place_table(placed: list[Instruction], line: int) -> bytes:
    """Where each instruction stands in the source, as the interpreter keeps it."""
    made = bytearray()
    for place, units in _stretches(placed):
        while units:
            length = min(units, _LONGEST_ENTRY)
            units -= length
            entry, line = _place_entry(place, line)
            kind = entry[0] << 3
            made.append(0x80 | kind | length - 1)
            made += entry[1:]
    return bytes(made)


def units_of_places(begin: int) -> int:
    """Of how many units an entry of the table says the place, by its first byte."""
    return (begin & 0x7) + 1


def _stretches(placed: list[Instruction]) -> Iterator[tuple[Any, int]]:
    place, units = placed[0].place, 0
    for one in placed:
        if one.place != place:
            yield place, units
            place, units = one.place, 0
        units += one.size // UNIT_BYTES
    yield place, units


def _place_entry(place: Any, before: int) -> tuple[bytes, int]:
    """Kind and numbers of one entry; the line that the next one counts from."""
    line, end_line, column, end_column = place
    if line is None:
        return bytes((_NO_PLACE,)), before
    if end_line is None or column is None or end_column is None:
        return bytes((_NO_COLUMNS,)) + _signed(line - before), line
    numbers = _number(end_line - line) + _number(column + 1) + _number(end_column + 1)
    return bytes((_LONG,)) + _signed(line - before) + numbers, line


def handler_bytes(handlers: list[CodeHandler], placed: list[Instruction]) -> bytes:
    """The table of handlers, as the interpreter keeps it: in the order of the code.

    placed: all of it, where a handler is up to the end.
    """
    end = placed[-1].here + placed[-1].size if placed else 0
    made = b""
    for one in sorted(handlers, key=lambda handler: handler.first.here):
        start = one.first.here
        length = (end if one.behind is None else one.behind.here) - start
        if length:
            made += _big_number(start // UNIT_BYTES, 0x80) + _big_number(length // UNIT_BYTES)
            made += _big_number(one.target.here // UNIT_BYTES)
            made += _big_number(one.depth << 1 | int(one.keeps_place))
    return made


def _big_number(value: int, mark: int = 0) -> bytes:
    """As in the table of handlers: the highest bits first."""
    words = [value & 0x3F]
    while value >> _BITS:
        value >>= _BITS
        words.insert(0, value & 0x3F | 0x40)
    words[0] |= mark
    return bytes(words)
