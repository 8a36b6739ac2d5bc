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

Where the code may write what is watched (`LineChecks`), another call is put where lines begin, with
the line that has run before told apart, where the frame is left by a return or a yield, and where an
exception leaves it.
"""

from __future__ import annotations

import dis
import functools
import itertools
import opcode
import operator
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

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


_LEAVES_FRAME = ("RETURN_VALUE", "YIELD_VALUE", "SEND")
_LEAST_STACK = 8  # of a code with checks: what the handler of one that leaves has on it


_LOOKS = ("space", "last", "owner", "__dict__")  # attributes that a quick check reads


_inserted = CodeTable()
_checked_behind = CodeTable()
_unwound = CodeTable()


class QuickCheck(NamedTuple):
    """What tells that nothing has changed, without a call."""

    watched: Any
    """It has a dict, `space`, and what that has under the key if nothing has changed: `last`."""
    key: str
    has_owner: bool
    """Whether the dict is the `__dict__` of what `owner` gives when it is called, and may get another
    one."""
    is_slot: bool = False
    """Whether there is no dict: what `owner` gives has the attribute itself."""


class LineChecks(NamedTuple):
    """What to call in a code that may write, between lines and where its frame is left."""

    check: Callable[[], Any]
    near: frozenset[int]
    """The lines that it is called before."""
    writes: frozenset[int]
    """Those that may write: a check knows which of them has run last."""
    quick: QuickCheck | None = None
    keeps_space: bool = False
    """Whether the dict stays the same while this code runs."""


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


def with_traps(
    code: Any, lines: Collection[int], trap: Any, checks: LineChecks | None = None
) -> Any:
    """A code that does the same, and calls `trap` each time that one of the lines is to be reported.

    checks: what else to call, ahead of that. Raises NoTrapError.
    """
    instructions = _taken_apart(code)
    by_start = {one.start: one for one in instructions}
    handlers = [
        _Handler(by_start[h.start], by_start.get(h.end), by_start[h.target], h.depth, h.lasti)
        for h in handler_table(code)
    ]
    entry = next(one for one in instructions if one.name == "RESUME")
    depths = _depths(code, instructions, handlers)
    following = [one for one in instructions if one in depths and one.start > entry.start]
    numbers = _Numbers(code, trap, checks)
    handlers = _split_by_line(instructions, handlers, entry, checks)
    near = _near(following, handlers, checks)
    last = _LastLines(checks, near, instructions, handlers)
    within = [one for one in following if one.line in lines or one in near]
    traps: dict[_Instruction, _Trap] = {}  # by the instruction that it stands before
    for one, ways in _ways(instructions, handlers, within).items():
        reported = [(how, _is_reported(before, one, entry)) for before, how in ways]
        if any(is_so for _, is_so in reported) if checks else _needs_trap(reported):
            comers = [before for before, how in ways if _is_reported(before, one, entry)]
            behind = [last.before(comer) for comer in comers] if last.is_near(one) else []
            is_first = any(before.start <= entry.start for before in comers)
            is_passed, left = ("next", False) in reported, last.left_at(one)
            traps[one] = _Trap(one, numbers, is_passed, one.line in lines, behind, left, is_first)
    for one in following:
        left = last.left_at(one)
        if left and one not in traps:
            traps[one] = _Trap(one, numbers, False, False, [], left)
    if not traps:
        return code
    traps = dict(sorted(traps.items(), key=lambda trap: int(trap[0].start)))
    unwinding = _unwinding_checks(instructions, handlers, following, numbers, last)
    comers = [(one, one) for one in instructions] + [(one, one.first) for one in handlers]
    for comer, before in comers:
        if comer.target in traps:
            is_reported = _is_reported(before, comer.target, entry)
            line = last.before(before) if comer.target in near else None
            comer.target = traps[comer.target].way_in(is_reported, line)
    table = _handlers_with_traps([*handlers, *unwinding.handlers], traps, depths)
    table += unwinding.own_handlers
    placed = [every for one in instructions for every in (*one.inserted, one)]
    placed += [every for one in traps.values() for every in one.escape]
    placed += unwinding.instructions
    _settle(placed)
    made = code.replace(
        co_code=b"".join(one.assembled() for one in placed),
        co_consts=(*code.co_consts, *numbers.constants),
        co_names=(*code.co_names, *numbers.names),
        co_stacksize=max(code.co_stacksize + _TRAP_STACK, _LEAST_STACK if checks else 0),
        co_linetable=_place_table(placed, code.co_firstlineno),
        co_exceptiontable=_handler_bytes(table, placed),
    )
    _inserted[made] = {
        at: before.here
        for before, trap in traps.items()
        for one in (*before.inserted, *trap.escape)
        for at in range(one.here, one.here + one.size, _UNIT)
    }
    if checks:
        _note_checks(made, traps, unwinding)
    return made


def inserted_in(code: Any) -> dict[int, int]:
    """Where in this code traps are: their offsets, each with that of the instruction behind the trap."""
    found: dict[int, int] = _inserted.get(code, {})
    return found


def unwinding_in(code: Any) -> range:
    """The offsets of what is called in this code where an exception leaves the frame."""
    found: range = _unwound.get(code, range(0))
    return found


def has_checks(code: Any) -> bool:
    """Whether it is one that calls a check where it may have written."""
    return code in _checked_behind


def write_behind(code: Any, offset: int) -> int | None:
    """Of a check at this offset, the line that may have written, of those that have run last."""
    found: int | None = _checked_behind.get(code, {}).get(offset)
    return found


def is_before_send(code: Any, offset: int) -> bool:
    """Whether a check at this offset stands where the frame hands on to another one: the next event
    may be that one's."""
    behind = _inserted.get(code, {}).get(offset)
    return behind is not None and code.co_code[behind] == dis.opmap["SEND"]


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
    first = _index(instructions, handler.first)
    behind = None if handler.behind is None else _index(instructions, handler.behind)
    return instructions[first:behind]


def _index(instructions: list[_Instruction], one: _Instruction) -> int:
    return bisect_left(instructions, one.start, key=operator.attrgetter("start"))


def _is_reported(before: _Instruction, one: _Instruction, entry: _Instruction) -> bool:
    """Whether the interpreter reports the line of an instruction that is run after another one."""
    if before.start <= entry.start or before.line != one.line or one.line is None:
        return True
    return one.start < before.start and one.name != "SEND"


def _needs_trap(ways: list[tuple[str, bool]]) -> bool:
    """Whether there is a way on which the line is reported."""
    if len({is_reported for how, is_reported in ways if how == "exception"}) > 1:
        raise NoTrapError
    return any(is_reported for _, is_reported in ways)


# What has run before


def _near(
    following: list[_Instruction], handlers: list[_Handler], checks: LineChecks | None
) -> set[_Instruction]:
    """The instructions before which to check: of these lines, and the beginnings of handlers, which
    have no line."""
    if checks is None:
        return set()
    begun = {handler.target for handler in handlers if handler.target.line is None}
    return {one for one in following if one.line in checks.near or one in begun}


class _LastLines:
    """Which line that may write has run before an instruction, if it was the last one."""

    def __init__(
        self,
        checks: LineChecks | None,
        near: set[_Instruction],
        instructions: list[_Instruction],
        handlers: list[_Handler],
    ) -> None:
        self.checks, self.near = checks, near
        self.ways: dict[_Instruction, list[Any]] = {}
        self.leaving: set[_Instruction] = set()
        if checks:
            # The interpreter counts on `SEND` directly before what it leaves the frame by.
            self.leaving = {
                one
                for before, one in itertools.pairwise(instructions)
                if one.name in _LEAVES_FRAME and before.name != "SEND"
            }
            self._check_where_ways_differ(instructions, handlers)

    def _check_where_ways_differ(
        self, instructions: list[_Instruction], handlers: list[_Handler]
    ) -> None:
        """What has no line may follow several of them: there the last one is known by the way."""
        unknown = [one for one in instructions if one.line is None and one not in self.near]
        self.ways = _ways(instructions, handlers, unknown)
        # None before it is concerned: a way through it would have had them all.
        for one in list(self.ways):
            if len(self._found(one)) > 1:
                self.near.add(one)
                del self.ways[one]

    def _found(self, one: _Instruction) -> set[Any]:
        """The last lines of all ways that lead to this instruction, which has none itself."""
        found: set[Any] = set()
        seen, ahead = {one}, [one]
        while ahead:
            for before, _ in self.ways.get(ahead.pop(), ()):
                if before in seen:
                    continue
                seen.add(before)
                if self._is_known(before):
                    found.add(self._line(before))
                else:
                    ahead.append(before)
        return found

    def _is_known(self, one: _Instruction) -> bool:
        return self._begins(one) or one.line is not None or one in self.near

    def _line(self, one: _Instruction) -> Any:
        if self.checks is None or self._begins(one):
            return None
        return one.line if one.line in self.checks.writes else None

    def _begins(self, one: _Instruction) -> bool:
        """Whether nothing of this code has run before, or nothing is checked."""
        return self.checks is None or (one.name == "RESUME" and one.arg == 0)

    def is_near(self, one: _Instruction) -> bool:
        return one in self.near

    def left_at(self, one: _Instruction) -> list[Any]:
        """Where the frame is left, the line that may write then."""
        return [self.before(one)] if one in self.leaving else []

    def before(self, one: _Instruction) -> Any:
        """The line, for what follows this instruction."""
        if self._is_known(one):
            return self._line(one)
        found = self._found(one)
        return found.pop() if found else None


def _split_by_line(
    instructions: list[_Instruction],
    handlers: list[_Handler],
    entry: _Instruction,
    checks: LineChecks | None,
) -> list[_Handler]:
    """Each handler is come to from instructions of one line, or from some that may not write; and
    its line is reported then, or not."""
    if not checks:
        return handlers
    found = []
    following = dict(itertools.pairwise(instructions))
    for handler in handlers:
        covered = _covered(instructions, handler)

        def kind(one: _Instruction, target: _Instruction = handler.target) -> Any:
            return _kind_of_line(one, checks), _is_reported(one, target, entry)

        found += [handler.over(*run) for run in _alike(covered, following, kind)]
    return found


def _kind_of_line(one: _Instruction, checks: LineChecks) -> Any:
    return one.line if one.line is None or one.line in checks.writes else 0


def _alike(
    run: list[_Instruction], following: dict[Any, _Instruction], kind: Callable[[Any], Any]
) -> Iterator[tuple[_Instruction, _Instruction | None]]:
    """Neighbours of one kind: the first, and what is behind the last."""
    first = last = None
    for one in run:
        if last is None or following.get(last) is not one or kind(one) != kind(last):
            if first is not None:
                yield first, following.get(last)
            first = one
        last = one
    if first is not None:
        yield first, following.get(last)


# A trap


class _Numbers:
    """Of what traps use, among the constants and names of a code."""

    def __init__(self, code: Any, trap: Any, checks: LineChecks | None) -> None:
        first = len(code.co_consts)
        self.trap, self.passed_over, self.none = first, first + 1, first + 2
        self.check, self.watched, self.key = first + 3, first + 4, first + 5
        self.constants: list[Any] = [trap, _PASSED_OVER, None]
        quick = checks.quick if checks else None
        self.is_quick, self.has_owner = quick is not None, quick is not None and quick.has_owner
        self.keeps_space = checks is not None and checks.keeps_space
        self.is_slot = quick is not None and quick.is_slot
        if checks is not None:
            self.constants += [checks.check, *(quick or ())[:2]]
        self.traceback = len(code.co_names)
        self.space, self.last, self.owner, self.dict, self.slot = range(
            self.traceback + 1, self.traceback + 6
        )
        self.names = ("__traceback__", *((*_LOOKS, quick.key) if quick else ()))


def _trap_call(number: int, place: Any = (None,) * 4) -> list[_Instruction]:
    """The call of a constant, at no line if it is to be reported behind it."""
    new = _Instruction
    load = new("LOAD_CONST", number, place)
    rest = [new("PRECALL", place=place), new("CALL", place=place), new("POP_TOP", place=place)]
    return [new("PUSH_NULL", place=place), load, *rest]


class _Check:
    """One look whether something has changed."""

    def __init__(
        self,
        numbers: _Numbers,
        over: _Instruction,
        place: Any = (None,) * 4,
        is_first: bool = False,
    ) -> None:
        """over: where to go on if nothing has; is_first: whether other code may have run before."""
        self.call = _trap_call(numbers.check, place)
        self.made = self.call
        self.reads: list[tuple[_Instruction, _Instruction, _Instruction]] = []
        """What may raise, what is behind it, and where to go on if there is nothing to compare."""
        if not numbers.is_quick:
            return

        def new(name: str, arg: int = 0) -> _Instruction:
            return _Instruction(name, arg, place)

        read, compare = new("BINARY_SUBSCR"), new("LOAD_CONST", numbers.watched)
        is_same, absent = new("POP_JUMP_FORWARD_IF_TRUE"), new("POP_TOP")
        is_same.target = over
        item = [new("LOAD_CONST", numbers.key), read]
        if numbers.is_slot or (numbers.has_owner and (is_first or not numbers.keeps_space)):
            begin = new("LOAD_ATTR", numbers.slot if numbers.is_slot else numbers.dict)
            call = [new("PUSH_NULL"), new("LOAD_CONST", numbers.watched)]
            call += [new("LOAD_ATTR", numbers.owner), new("PRECALL"), new("CALL"), begin]
            item = [] if numbers.is_slot else item
        else:
            call = [new("LOAD_CONST", numbers.watched), new("LOAD_ATTR", numbers.space)]
            begin = read
        self.made = [
            *(*call, *item),
            *(compare, new("LOAD_ATTR", numbers.last), new("IS_OP"), is_same),
            *(new("LOAD_CONST", numbers.none), absent),  # in the place of an exception
            *self.call,
        ]
        self.reads = [(begin, compare, absent)]


class _Trap:
    """The instructions of one; those that follow an exception in it stand at the code's end."""

    def __init__(
        self,
        before: _Instruction,
        numbers: _Numbers,
        is_passed: bool,
        is_trap: bool,
        behind: list[Any],
        left: list[Any],
        is_first: bool = False,
    ) -> None:
        """behind: lines that may have written, by the ways into the line, the next one first; left:
        the one that may write where the frame is left."""
        new = _Instruction
        trap = _trap_call(numbers.trap) if is_trap else []
        looks = [_Check(numbers, before, before.place) for line in left]
        leave = [one for look in looks for one in look.made]
        self.checks: list[tuple[_Instruction, Any]]
        self.checks = [(look.call[3], line) for look, line in zip(looks, left, strict=True)]
        # What comes from a line of its own goes there.
        self.past = leave[0] if leave and before.name != "SEND" else before
        last = trap[0] if trap else self.past
        self.ways: dict[Any, _Instruction] = {}
        made: list[_Instruction] = []
        for line in dict.fromkeys(behind):
            if made:
                over = new("JUMP_FORWARD")
                over.target = last
                made.append(over)
            look = _Check(numbers, last, is_first=is_first)
            looks.append(look)
            self.ways[line] = look.made[0]
            self.checks.append((look.call[3], line))
            made += look.made
        before.inserted = [*made, *trap, *leave]
        self.begin = before.inserted[0]
        self.first = last
        if is_passed:  # by what comes to the instruction from one of its own line
            past = new("JUMP_FORWARD", place=before.place)
            past.target = self.past
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
        self.reads = [read for look in looks for read in look.reads]
        self.reads = [*self.reads[1:], *self.reads[:1]] if left else self.reads  # as they lie

    def way_in(self, is_reported: bool, behind: Any) -> _Instruction:
        """Where to come from another instruction: whether the line is reported then, and which one
        may have written."""
        return self.ways.get(behind, self.first) if is_reported else self.past


class _Unwinding:
    """Checks where an exception leaves the frame."""

    def __init__(self) -> None:
        self.instructions: list[_Instruction] = []
        self.handlers: list[_Handler] = []
        self.own_handlers: list[_Handler] = []
        """Of what a check raises."""
        self.checks: list[tuple[_Instruction, Any]] = []

    def add(self, first: Any, behind: Any, line: Any, numbers: _Numbers) -> None:
        new = _Instruction
        begin, call = new("PUSH_EXC_INFO"), _trap_call(numbers.check)
        leave = [new("SWAP", 2), new("POP_EXCEPT"), new("RERAISE", 1)]
        over, back = new("POP_TOP"), new("JUMP_BACKWARD")
        is_passed_over = new("POP_JUMP_FORWARD_IF_TRUE")
        is_passed_over.target, back.target = over, leave[0]
        raised = [
            *(new("PUSH_EXC_INFO"), new("LOAD_CONST", numbers.passed_over)),
            *(new("CHECK_EXC_MATCH"), is_passed_over),
            *(new("SWAP", 2), new("POP_EXCEPT"), new("SWAP", 3), new("POP_EXCEPT")),
            *(new("POP_TOP"), new("RERAISE", 1)),
            *(over, new("POP_EXCEPT"), back),
        ]
        self.checks.append((call[3], line))
        self.handlers.append(_Handler(first, behind, begin, 0, keeps_place=True))
        self.own_handlers.append(_Handler(call[0], leave[0], raised[0], 3, keeps_place=False))
        self.instructions += [begin, *call, *leave, *raised]


def _unwinding_checks(
    instructions: list[_Instruction],
    handlers: list[_Handler],
    following: list[_Instruction],
    numbers: _Numbers,
    last: _LastLines,
) -> _Unwinding:
    """One for each line that may write, and some for the others, for all that no handler covers."""
    found = _Unwinding()
    if last.checks:
        covered = {one for handler in handlers for one in _covered(instructions, handler)}
        free = [one for one in following if one not in covered]
        kind = functools.partial(_kind_of_line, checks=last.checks)
        for first, behind in _alike(free, dict(itertools.pairwise(instructions)), kind):
            found.add(first, behind, last.before(first), numbers)
    return found


def _note_checks(made: Any, traps: dict[_Instruction, _Trap], unwinding: _Unwinding) -> None:
    checks = [*unwinding.checks, *[one for trap in traps.values() for one in trap.checks]]
    _checked_behind[made] = {
        at: line for one, line in checks for at in range(one.here, one.here + one.size, _UNIT)
    }
    if unwinding.instructions:
        first, last = unwinding.instructions[0], unwinding.instructions[-1]
        _unwound[made] = range(first.here, last.here + last.size)


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
    found = []
    for before, trap in traps.items():
        begin, depth = trap.begin, depths[before]
        for read, behind, absent in trap.reads:
            found.append(_Handler(begin, read, trap.escape[0], depth, keeps_place=False))
            found.append(_Handler(read, behind, absent, depth, keeps_place=False))
            begin = behind
        found.append(_Handler(begin, before, trap.escape[0], depth, keeps_place=False))
    added = next(trap.escape[0] for trap in traps.values())  # where the code's own instructions end
    trapped = list(traps)
    for one in handlers:
        first = _first_of(one.first)
        for before in _covered(trapped, one):
            trap = traps[before]
            found.append(one.over(first, trap.begin))
            found.append(one.over(trap.raises, trap.over))
            first = before
        found.append(one.over(first, added if one.behind is None else _first_of(one.behind)))
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
