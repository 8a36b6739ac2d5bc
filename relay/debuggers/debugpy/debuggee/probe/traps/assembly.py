"""A call put into a function's bytecode wherever a line begins: a trap. Python 3.11.

A trap stands where the interpreter would report the line to a trace function, and nowhere else: on
the ways into the line from another one, and on those back to its beginning. The instructions of a
trap have no line, so that the line is reported behind it as ever. Where it depends on the run
whether the line is reported, as in some handlers of exceptions, there is no trap, and the caller
hears of it.

A trap that cannot be called, for want of stack or memory, is passed over: the program is to meet
its limits where it would. What else is raised in one, as by a handler of a signal, is raised at the
line, with a traceback that begins there.

Knows the bytecode of Python 3.11: relative jumps, caches, the tables of handlers and of places.
Refuses to know what a trap does.
"""

from __future__ import annotations

import dis
import itertools
import opcode
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import handler_table

_TRAP_STACK = 4  # values that a trap has on the stack at most, its handler's included
_PASSED_OVER = (RecursionError, MemoryError)
_UNIT = 2  # bytes of an instruction, and of each argument byte before it, and of each cache
_CACHES: Any = getattr(opcode, "_inline_cache_entries", None)
_BEGUN_BY_SEND = 0x20 | 0x80 | 0x200  # generators, coroutines, both, by a code's flags
_ENDS_WAY = frozenset(("RETURN_VALUE", "RERAISE", "RAISE_VARARGS", "JUMP_FORWARD"))
_LONG, _NO_COLUMNS, _NO_PLACE = 14, 13, 15  # kinds of entries in the table of places
_LONGEST_ENTRY = 8  # units
_BITS = 6  # bits that a byte of a variable length number holds


_inserted = CodeTable()


class NoTrapError(Exception):
    """A line of this code is reported, or not, in a way that a trap cannot follow."""


class _Instruction:
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
        self.caches = _CACHES[self.code]
        self.extensions = _extensions(arg)
        self.start = -1  # its offset in the code that it comes from, from its first byte on
        self.target: Any = None  # of a jump: an instruction
        self.here = 0  # its offset in the code that is made
        self.inserted: list[_Instruction] = []  # what stands before it there

    @property
    def line(self) -> Any:
        return self.place[0]

    @property
    def size(self) -> int:
        return int(_UNIT * (self.extensions + 1 + self.caches))

    def assembled(self) -> bytes:
        made = b""
        for at in range(self.extensions, 0, -1):
            made += bytes((dis.EXTENDED_ARG, self.arg >> 8 * at & 0xFF))
        return made + bytes((self.code, self.arg & 0xFF)) + bytes(_UNIT * self.caches)


class _Handler:
    """An entry of the table of handlers: from `first` up to `behind`, which is None for the end."""

    __slots__ = ("behind", "depth", "first", "keeps_place", "target")

    def __init__(self, first: Any, behind: Any, target: Any, depth: int, keeps_place: bool) -> None:
        self.first, self.behind, self.target = first, behind, target
        self.depth, self.keeps_place = depth, keeps_place

    def over(self, first: Any, behind: Any) -> _Handler:
        """The same for other instructions."""
        return _Handler(first, behind, self.target, self.depth, self.keeps_place)

    @property
    def entry_depth(self) -> int:
        """Of the stack where it begins: with the exception, and perhaps the place that raised it."""
        return self.depth + 1 + int(self.keeps_place)


def with_traps(code: Any, lines: Collection[int], trap: Any) -> Any:
    """A code that does the same, and calls `trap` each time that one of the lines is to be reported.

    Raises NoTrapError.
    """
    instructions = _taken_apart(code)
    by_start = {one.start: one for one in instructions}
    handlers = [
        _Handler(by_start[h.start], by_start.get(h.end), by_start[h.target], h.depth, h.lasti)
        for h in handler_table(code)
    ]
    entry = next(one for one in instructions if one.name == "RESUME")
    depths = _depths(code, instructions, handlers)
    within = [one for one in instructions if one in depths and one.start > entry.start]
    within = [one for one in within if one.line in lines]
    numbers = _Numbers(code, trap)
    traps: dict[_Instruction, _Trap] = {}  # by the instruction that it stands before
    for one, ways in _ways(instructions, handlers, within).items():
        reported = [(how, _is_reported(before, one, entry)) for before, how in ways]
        if _needs_trap(reported):
            traps[one] = _Trap(one, numbers, ("next", False) in reported)
    if not traps:
        return code
    comers = [(one, one) for one in instructions] + [(one, one.first) for one in handlers]
    for comer, before in comers:
        if comer.target in traps and _is_reported(before, comer.target, entry):
            comer.target = traps[comer.target].begin
    table = _handlers_with_traps(handlers, traps, depths)
    placed = [every for one in instructions for every in (*one.inserted, one)]
    placed += [every for one in traps.values() for every in one.escape]
    _settle(placed)
    made = code.replace(
        co_code=b"".join(one.assembled() for one in placed),
        co_consts=(*code.co_consts, trap, _PASSED_OVER, None),
        co_names=(*code.co_names, "__traceback__"),
        co_stacksize=code.co_stacksize + _TRAP_STACK,
        co_linetable=_place_table(placed, code.co_firstlineno),
        co_exceptiontable=_handler_bytes(table, placed),
    )
    _inserted[made] = {
        at: before.here
        for before, trap in traps.items()
        for one in (*before.inserted, *trap.escape)
        for at in range(one.here, one.here + one.size, _UNIT)
    }
    return made


def inserted_in(code: Any) -> dict[int, int]:
    """Where in this code traps are: their offsets, each with that of the instruction behind the trap."""
    found: dict[int, int] = _inserted.get(code, {})
    return found


# Taking apart


def _taken_apart(code: Any) -> list[_Instruction]:
    found: list[_Instruction] = []
    operations, places = code.co_code, list(code.co_positions())
    at, start, high = 0, 0, 0
    while at < len(operations):
        number, arg = operations[at], operations[at + 1] | high
        if number == dis.EXTENDED_ARG:
            high = arg << 8
            at += _UNIT
            continue
        one = _Instruction(dis.opname[number], arg, places[at // _UNIT])
        one.start = start
        at = start = at + _UNIT * (1 + one.caches)
        one.here = at  # behind it, for now
        high = 0
        found.append(one)
    by_start = {one.start: one for one in found}
    for one in found:
        if one.code in dis.hasjrel:
            way = -one.arg if _goes_back(one) else one.arg
            one.target = by_start[one.here + _UNIT * way]
    return found


def _extensions(arg: int) -> int:
    """How many argument bytes stand in front of an instruction."""
    return max(0, (arg.bit_length() + 7) // 8 - 1)


def _goes_back(one: _Instruction) -> bool:
    return "BACKWARD" in one.name


def _goes_on(one: _Instruction) -> bool:
    """Whether the next instruction may follow it."""
    return one.name not in _ENDS_WAY and not one.name.startswith("JUMP_BACKWARD")


# The ways into a line


def _ways(
    instructions: list[_Instruction], handlers: list[_Handler], within: list[_Instruction]
) -> dict[_Instruction, list[Any]]:
    """Of some instructions, those that come before each: (which, "next", "jump" or "exception")."""
    ways: dict[_Instruction, list[Any]] = {one: [] for one in within}
    for before, one in itertools.pairwise(instructions):
        if one in ways and _goes_on(before):
            ways[one].append((before, "next"))
    for one in instructions:
        if one.target in ways:
            ways[one.target].append((one, "jump"))
    for handler in handlers:
        if handler.target in ways:
            covered = _covered(instructions, handler)
            ways[handler.target].extend((one, "exception") for one in covered)
    return ways


def _covered(instructions: list[_Instruction], handler: _Handler) -> list[_Instruction]:
    end = float("inf") if handler.behind is None else handler.behind.start
    return [one for one in instructions if handler.first.start <= one.start < end]


def _is_reported(before: _Instruction, one: _Instruction, entry: _Instruction) -> bool:
    """Whether the interpreter reports the line of an instruction that is run after another one."""
    if before.start <= entry.start or before.line != one.line:
        return True
    return one.start < before.start and one.name != "SEND"


def _needs_trap(ways: list[tuple[str, bool]]) -> bool:
    """Whether there is a way on which the line is reported."""
    if len({is_reported for how, is_reported in ways if how == "exception"}) > 1:
        raise NoTrapError
    return any(is_reported for _, is_reported in ways)


# A trap


class _Numbers:
    """Of what traps use, among the constants and names of a code."""

    def __init__(self, code: Any, trap: Any) -> None:
        first = len(code.co_consts)
        self.trap, self.passed_over, self.none = first, first + 1, first + 2
        self.traceback = len(code.co_names)


class _Trap:
    """The instructions of one; those that follow an exception in it stand at the code's end."""

    def __init__(self, before: _Instruction, numbers: _Numbers, is_passed: bool) -> None:
        new = _Instruction
        self.begin = new("PUSH_NULL")
        call = [new("LOAD_CONST", numbers.trap), new("PRECALL"), new("CALL"), new("POP_TOP")]
        before.inserted = [self.begin, *call]
        if is_passed:  # by what comes to the instruction from one of its own line
            past = new("JUMP_FORWARD", place=before.place)
            past.target = before
            before.inserted.insert(0, past)
        back, self.over = new("JUMP_BACKWARD"), new("POP_TOP")
        back.target = before
        is_passed_over = new("POP_JUMP_FORWARD_IF_TRUE")
        is_passed_over.target = self.over
        self.raises = new("RAISE_VARARGS", 1, before.place)
        self.escape = [
            new("PUSH_EXC_INFO"),
            new("LOAD_CONST", numbers.passed_over),
            new("CHECK_EXC_MATCH"),
            is_passed_over,
            new("LOAD_CONST", numbers.none),
            new("COPY", 2),
            new("STORE_ATTR", numbers.traceback),
            new("SWAP", 2),
            new("POP_EXCEPT"),
            self.raises,
            self.over,
            new("POP_EXCEPT"),
            back,
        ]


# The stack, and the table of handlers


def _depths(
    code: Any, instructions: list[_Instruction], handlers: list[_Handler]
) -> dict[_Instruction, int]:
    """How many values are on the stack before each instruction that can be reached."""
    following = dict(itertools.pairwise(instructions))
    begun = 1 if code.co_flags & _BEGUN_BY_SEND else 0  # what is sent to it at first
    depths: dict[_Instruction, int] = {}
    todo = [(instructions[0], begun)]
    todo += [(one.target, one.entry_depth) for one in handlers]
    while todo:
        one, depth = todo.pop()
        if depths.setdefault(one, depth) != depth or depth < 0:
            raise NoTrapError
        arg = one.arg if one.code >= dis.HAVE_ARGUMENT else None
        ways = []
        if _goes_on(one):
            ways.append((following[one], dis.stack_effect(one.code, arg, jump=False)))
        if one.target is not None:
            ways.append((one.target, dis.stack_effect(one.code, arg, jump=True)))
        todo += [(after, depth + effect) for after, effect in ways if after not in depths]
    return depths


def _handlers_with_traps(
    handlers: list[_Handler], traps: dict[_Instruction, _Trap], depths: dict[_Instruction, int]
) -> list[_Handler]:
    """What a trap raises goes to its escape, and what that raises where its line would raise it."""
    found = [
        _Handler(trap.begin, before, trap.escape[0], depths[before], keeps_place=False)
        for before, trap in traps.items()
    ]
    for one in handlers:
        end = float("inf") if one.behind is None else one.behind.start
        first = _first_of(one.first)
        for before, trap in traps.items():
            if one.first.start <= before.start < end:
                found.append(one.over(first, trap.begin))
                found.append(one.over(trap.raises, trap.over))
                first = before
        found.append(one.over(first, None if one.behind is None else _first_of(one.behind)))
    return found


# Putting together


def _settle(placed: list[_Instruction]) -> None:
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
                way = abs(one.target.here - one.here - one.size) // _UNIT
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


def _place_table(placed: list[_Instruction], line: int) -> bytes:
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


def _stretches(placed: list[_Instruction]) -> Iterator[tuple[Any, int]]:
    place, units = placed[0].place, 0
    for one in placed:
        if one.place != place:
            yield place, units
            place, units = one.place, 0
        units += one.size // _UNIT
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


def _handler_bytes(handlers: list[_Handler], placed: list[_Instruction]) -> bytes:
    """The table of handlers, as the interpreter keeps it: in the order of the code."""
    end = placed[-1].here + placed[-1].size
    made = b""
    for one in sorted(handlers, key=lambda handler: handler.first.here):
        start = one.first.here
        length = (end if one.behind is None else one.behind.here) - start
        if length:
            made += _big_number(start // _UNIT, 0x80) + _big_number(length // _UNIT)
            made += _big_number(one.target.here // _UNIT)
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


def _first_of(one: _Instruction) -> _Instruction:
    return one.inserted[0] if one.inserted else one
