"""Looks whether what is watched has changed, within a code of Python 3.11: where, and of which instructions.

A look stands before lines, with the line that has run before told apart by the way; where the frame is
left by a return or a yield; and where an exception leaves it. It calls a check only if the value is
not what it was. Refuses to know who watches what.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relay.debuggers.debugpy.debuggee.probe.traps.instructions import (
        CodeHandler,
        Instruction,
        covered_by,
        is_line_reported,
        ways_into,
    )

PASSED_OVER = (RecursionError, MemoryError)
_LEAVES_FRAME = ("RETURN_VALUE", "YIELD_VALUE", "SEND")
_LOOKS = ("space", "last", "owner", "__dict__", "absent")  # attributes that a quick check reads


class QuickCheck(NamedTuple):
    """What tells that nothing has changed, without a call."""

    watched: Any
    """It has a dict, list or object, `space`, and what that has under the key if nothing has changed: `last`."""
    key: Any
    has_owner: bool
    """Whether the dict is the `__dict__` of what `owner` gives when it is called, and may get another
    one."""
    is_slot: bool = False
    """Whether there is no dict: what `owner` gives, or else `space`, has the attribute itself."""
    is_local: bool = False
    """Whether it is a variable of the code's own frame."""
    is_absent: bool = False
    """Whether the dict has nothing under the key yet: what reads it would raise an exception each time."""


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
    also: tuple[QuickCheck, ...] = ()
    """Where there are several data breakpoints, those of the others."""
    ends: Callable[[], Any] | None = None
    """What to call where the frame is left, whatever has changed; None: the check, if something has."""


class LaterChecks(NamedTuple):
    """Those of a code that may write, which are found out when it begins for the first time."""

    find: Callable[[], LineChecks | None]
    """None: it cannot write, as it turns out."""


# What has run before


def checked_instructions(
    following: list[Instruction], handlers: list[CodeHandler], checks: LineChecks | None
) -> set[Instruction]:
    """The instructions before which to check: of these lines, and the beginnings of handlers, which
    have no line."""
    if checks is None:
        return set()
    begun = {handler.target for handler in handlers if handler.target.line is None}
    return {one for one in following if one.line in checks.near or one in begun}


class LastLines:
    """Which line that may write has run before an instruction, if it was the last one."""

    def __init__(
        self,
        checks: LineChecks | None,
        near: set[Instruction],
        instructions: list[Instruction],
        handlers: list[CodeHandler],
    ) -> None:
        self.checks, self.near = checks, near
        self.ways: dict[Instruction, list[Any]] = {}
        self.leaving: set[Instruction] = set()
        if checks:
            # The interpreter counts on `SEND` directly before what it leaves the frame by.
            self.leaving = {
                one
                for before, one in itertools.pairwise(instructions)
                if one.name in _LEAVES_FRAME and before.name != "SEND"
            }
            self._check_where_ways_differ(instructions, handlers)

    def _check_where_ways_differ(
        self, instructions: list[Instruction], handlers: list[CodeHandler]
    ) -> None:
        """What has no line may follow several of them: there the last one is known by the way."""
        unknown = [one for one in instructions if one.line is None and one not in self.near]
        self.ways = ways_into(instructions, handlers, unknown)
        # None before it is concerned: a way through it would have had them all.
        for one in list(self.ways):
            if len(self._found(one)) > 1:
                self.near.add(one)
                del self.ways[one]

    def _found(self, one: Instruction) -> set[Any]:
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

    def _is_known(self, one: Instruction) -> bool:
        return self._begins(one) or one.line is not None or one in self.near

    def _line(self, one: Instruction) -> Any:
        if self.checks is None or self._begins(one):
            return None
        return one.line if one.line in self.checks.writes else None

    def _begins(self, one: Instruction) -> bool:
        """Whether nothing of this code has run before, or nothing is checked."""
        return self.checks is None or (one.name == "RESUME" and one.arg == 0)

    def is_near(self, one: Instruction) -> bool:
        return one in self.near

    def left_at(self, one: Instruction) -> list[Any]:
        """Where the frame is left, the line that may write then."""
        return [self.before(one)] if one in self.leaving else []

    def before(self, one: Instruction) -> Any:
        """The line, for what follows this instruction."""
        if self._is_known(one):
            return self._line(one)
        found = self._found(one)
        return found.pop() if found else None


def handlers_by_line(
    instructions: list[Instruction],
    handlers: list[CodeHandler],
    entry: Instruction,
    checks: LineChecks | None,
) -> list[CodeHandler]:
    """Each handler is come to from instructions of one line, or from some that may not write; and
    its line is reported then, or not."""
    if not checks:
        return handlers
    found = []
    following = dict(itertools.pairwise(instructions))
    for handler in handlers:
        covered = covered_by(instructions, handler)

        def kind(one: Instruction, target: Instruction = handler.target) -> Any:
            return _kind_of_line(one, checks), is_line_reported(one, target, entry)

        found += [handler.over(*run) for run in _alike(covered, following, kind)]
    return found


def _kind_of_line(one: Instruction, checks: LineChecks) -> Any:
    return one.line if one.line is None or one.line in checks.writes else 0


def _alike(
    run: list[Instruction], following: dict[Any, Instruction], kind: Callable[[Any], Any]
) -> Iterator[tuple[Instruction, Instruction | None]]:
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


# What is put in


class _QuickNumbers(NamedTuple):
    """Of one quick check: where its constants, the slot's name, and the variable are."""

    watched: int
    key: int
    slot: int
    calls_owner: bool
    is_slot: bool
    is_absent: bool
    variable: int | None


class TrapNumbers:
    """Of what traps use, among the constants and names of a code."""

    def __init__(self, code: Any, trap: Any, checks: LineChecks | None) -> None:
        first = len(code.co_consts)
        self.trap, self.passed_over, self.none, self.check = range(first, first + 4)
        self.constants: list[Any] = [trap, PASSED_OVER, None]
        self.traceback = len(code.co_names)
        self.names: tuple[Any, ...] = ("__traceback__",)
        self.space, self.last, self.owner, self.dict, self.absent = range(
            self.traceback + 1, self.traceback + 1 + len(_LOOKS)
        )
        self.keeps_space = checks is not None and checks.keeps_space
        self.quick: list[_QuickNumbers] = []
        self.ends: int | None = None
        if checks is None:
            return
        self.constants.append(checks.check)
        if checks.ends is not None:
            self.ends = first + len(self.constants)
            self.constants.append(checks.ends)
        if checks.quick is None:
            return
        self.names += _LOOKS
        for one in (checks.quick, *checks.also):
            at, name = first + len(self.constants), self.traceback + len(self.names)
            variable = code.co_varnames.index(one.key) if one.is_local else None
            kinds = one.has_owner, one.is_slot, one.is_absent
            self.quick.append(_QuickNumbers(at, at + 1, name, *kinds, variable))
            self.constants += [one.watched, one.key]
            self.names += (one.key,) if one.is_slot else ()


def trap_call(number: int, place: Any = (None,) * 4) -> list[Instruction]:
    """The call of a constant, at no line if it is to be reported behind it."""
    new = Instruction
    load = new("LOAD_CONST", number, place)
    rest = [new("PRECALL", place=place), new("CALL", place=place), new("POP_TOP", place=place)]
    return [new("PUSH_NULL", place=place), load, *rest]


class LineCheck:
    """One look whether something has changed."""

    def __init__(
        self,
        numbers: TrapNumbers,
        over: Instruction,
        place: Any = (None,) * 4,
        is_first: bool = False,
        leaves: bool = False,
    ) -> None:
        """over: where to go on if nothing has; is_first: whether other code may have run before; leaves:
        whether the frame is about to be left."""
        ends = numbers.ends if leaves else None
        self.call = trap_call(numbers.check if ends is None else ends, place)
        self.made = self.call
        self.reads: list[tuple[Instruction, Instruction, Instruction]] = []
        """What may raise, what is behind it, and where to go on if there is nothing to compare."""
        if not numbers.quick or ends is not None:
            return
        absent = Instruction("POP_TOP", 0, place)
        self.made = []
        is_as_before: list[Instruction] = []  # jumps past what follows
        for quick in numbers.quick:
            calls_owner = quick.calls_owner and (
                quick.is_slot or is_first or not numbers.keeps_space
            )
            begin_at = len(self.made)
            got = _get_space(numbers, quick, calls_owner, place)
            read = _read_value(numbers, quick, calls_owner, place)
            compare, differs = _compare(numbers, quick, place)
            differs.target = self.call[0]
            if quick.is_absent:
                asks = _ask_for_key(numbers, quick, calls_owner, place)
                is_there, *was_absent = _compare_with_none(numbers, quick, place)
                is_there.target, was_absent[-2].target = got[0], self.call[0]
                self.made += [*asks, is_there, *was_absent]
                self.reads.append((asks[-2 if calls_owner else -1], is_there, absent))
            self.made += [*got, *read, *compare, differs]
            begin = next(one for one in read if one.name != "LOAD_CONST")
            self.reads.append((begin, compare[0], absent))
            for one in is_as_before:
                one.target = self.made[begin_at]
            is_as_before = was_absent[-1:] if quick.is_absent else []
        is_same = Instruction("POP_JUMP_FORWARD_IF_TRUE", 0, place)
        for one in [*is_as_before, is_same]:
            one.target = over
        none = Instruction("LOAD_CONST", numbers.none, place)  # in the place of an exception
        self.made = [*self.made[:-1], is_same, none, absent, *self.call]


def _get_space(
    numbers: TrapNumbers, quick: _QuickNumbers, calls_owner: bool, place: Any
) -> list[Instruction]:
    """What has the value."""
    if quick.variable is not None:
        return []
    made = [("LOAD_CONST", quick.watched), ("LOAD_ATTR", numbers.space)]
    if calls_owner:
        made = [("PUSH_NULL", 0), ("LOAD_CONST", quick.watched), ("LOAD_ATTR", numbers.owner)]
        made += [("PRECALL", 0), ("CALL", 0)]
    return [Instruction(name, arg, place) for name, arg in made]


def _read_value(
    numbers: TrapNumbers, quick: _QuickNumbers, calls_owner: bool, place: Any
) -> list[Instruction]:
    if quick.variable is not None:
        return [Instruction("LOAD_FAST", quick.variable, place)]
    if quick.is_slot:
        return [Instruction("LOAD_ATTR", quick.slot, place)]
    made = [("LOAD_ATTR", numbers.dict)] if calls_owner else []
    made += [("LOAD_CONST", quick.key), ("BINARY_SUBSCR", 0)]
    return [Instruction(name, arg, place) for name, arg in made]


def _ask_for_key(
    numbers: TrapNumbers, quick: _QuickNumbers, calls_owner: bool, place: Any
) -> list[Instruction]:
    """Whether the dict has it."""
    key = Instruction("LOAD_CONST", quick.key, place)
    of_owner = [Instruction("LOAD_ATTR", numbers.dict, place)] if calls_owner else []
    space = _get_space(numbers, quick, calls_owner, place)
    return [key, *space, *of_owner, Instruction("CONTAINS_OP", 0, place)]


def _compare_with_none(numbers: TrapNumbers, quick: _QuickNumbers, place: Any) -> list[Instruction]:
    """A jump if the dict has it; else, whether it had nothing before: a jump if it had, and one if not."""
    made = [("POP_JUMP_FORWARD_IF_TRUE", 0)]
    made += [("LOAD_CONST", quick.watched), ("LOAD_ATTR", numbers.last)]
    made += [("LOAD_CONST", quick.watched), ("LOAD_ATTR", numbers.absent), ("IS_OP", 0)]
    made += [("POP_JUMP_FORWARD_IF_FALSE", 0), ("JUMP_FORWARD", 0)]
    return [Instruction(name, arg, place) for name, arg in made]


def _compare(
    numbers: TrapNumbers, quick: _QuickNumbers, place: Any
) -> tuple[list[Instruction], Instruction]:
    """With the last value; and the jump if it is another one."""
    made = [("LOAD_CONST", quick.watched), ("LOAD_ATTR", numbers.last), ("IS_OP", 0)]
    compare = [Instruction(name, arg, place) for name, arg in made]
    return compare, Instruction("POP_JUMP_FORWARD_IF_FALSE", 0, place)


class UnwindingChecks:
    """Checks where an exception leaves the frame."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.handlers: list[CodeHandler] = []
        self.own_handlers: list[CodeHandler] = []
        """Of what a check raises."""
        self.checks: list[tuple[Instruction, Any]] = []

    def add(self, first: Any, behind: Any, line: Any, numbers: TrapNumbers) -> None:
        new = Instruction
        check = numbers.check if numbers.ends is None else numbers.ends
        begin, call = new("PUSH_EXC_INFO"), trap_call(check)
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
        self.handlers.append(CodeHandler(first, behind, begin, 0, keeps_place=True))
        self.own_handlers.append(CodeHandler(call[0], leave[0], raised[0], 3, keeps_place=False))
        self.instructions += [begin, *call, *leave, *raised]


def unwinding_checks(
    instructions: list[Instruction],
    handlers: list[CodeHandler],
    following: list[Instruction],
    numbers: TrapNumbers,
    last: LastLines,
) -> UnwindingChecks:
    """One for each line that may write, and some for the others, for all that no handler covers."""
    found = UnwindingChecks()
    if last.checks:
        covered = {one for handler in handlers for one in covered_by(instructions, handler)}
        free = [one for one in following if one not in covered]
        kind = functools.partial(_kind_of_line, checks=last.checks)
        for first, behind in _alike(free, dict(itertools.pairwise(instructions)), kind):
            found.add(first, behind, last.before(first), numbers)
    return found
