"""A call put into a function's bytecode wherever a line begins: a trap. Python 3.11.

A trap stands where the interpreter would report the line to a trace function, and nowhere else: on
the ways into the line from another one, and on those back to its beginning. The instructions of a
trap have no line, so that the line is reported behind it as ever. Where it depends on the run
whether the line is reported, as in some handlers of exceptions, there is no trap, and the caller
hears of it.

A trap that cannot be called, for want of stack or memory, is passed over: the program is to meet
its limits where it would. What else is raised in one, as by a handler of a signal, is raised at the
line, with a traceback that begins there.

Refuses to know what a trap does, and how a code is made of instructions (`instructions.py`).

Where the code may write what is watched (`LineChecks`), other calls are put in ahead of that
(`line_checks.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from relay.debuggers.debugpy.debuggee.probe.traps.entrances import (
        Entrance,
        Way,
        handlers_on,
        offset_behind_call,
        way_in,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.inserted import (
        note_checks,
        note_ends,
        note_inserted_at,
        note_way_in,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.instructions import (
        UNIT_BYTES,
        CodeHandler,
        Instruction,
        NoTrapError,
        covered_by,
        first_inserted,
        handler_bytes,
        is_line_reported,
        place_table,
        settle,
        taken_apart,
        value_depths,
        ways_into,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.line_checks import (
        LastLines,
        LineCheck,
        LineChecks,
        TrapNumbers,
        UnwindingChecks,
        checked_instructions,
        handlers_by_line,
        trap_call,
        unwinding_checks,
    )

_TRAP_STACK = 4  # values that a trap has on the stack at most, its handler's included
_LEAST_STACK = 8  # of a code with checks: what the handler of one that leaves has on it


def with_traps(
    code: Any,
    lines: Collection[int],
    trap: Any,
    checks: LineChecks | None = None,
    entrance: Entrance | None = None,
) -> Any:
    """A code that does the same, and calls `trap` each time that one of the lines is to be reported.

    checks: what else to call, ahead of that. entrance: of a frame that is under way. Raises NoTrapError.
    """
    instructions, handlers = taken_apart(code)
    entry = next(one for one in instructions if one.name == "RESUME")
    depths = value_depths(code, instructions, handlers)
    following = [one for one in instructions if one in depths and one.start > entry.start]
    handlers = handlers_by_line(instructions, handlers, entry, checks)
    near = checked_instructions(following, handlers, checks)
    last = LastLines(checks, near, instructions, handlers)
    within = [one for one in following if one.line in lines or last.is_near(one)]
    ways = ways_into(instructions, handlers, within)
    numbers = TrapNumbers(code, trap, checks)
    traps = {}  # by the instruction that it stands before
    for one in following:
        found = _trap_before(one, ways.get(one, ()), one.line in lines, entry, numbers, last)
        if found is not None:
            traps[one] = found
    if not traps and entrance is None:
        return code
    unwinding = unwinding_checks(instructions, handlers, following, numbers, last)
    _lead_into(traps, instructions, handlers, entry, last)
    table = _handlers_with_traps([*handlers, *unwinding.handlers], traps, depths)
    table += unwinding.own_handlers
    way = entrance and _way_in(entrance, numbers, instructions, traps)
    landing = _landing_before(following[0]) if checks else []
    placed = _laid_out(instructions, entry, way, traps)
    placed += [*unwinding.instructions, *landing]
    settle(placed)
    table += handlers_on(way, table) if way else []
    made = code.replace(
        co_code=b"".join(one.assembled() for one in placed),
        co_consts=(*code.co_consts, *numbers.constants),
        co_names=(*code.co_names, *numbers.names),
        co_stacksize=stack_with_checks(code) if checks else code.co_stacksize + _TRAP_STACK,
        co_linetable=place_table(placed, code.co_firstlineno),
        co_exceptiontable=handler_bytes(table, placed),
    )
    _note_inserted(made, traps, way)
    if way:
        note_way_in(made, way.made[1].here, offset_behind_call(way))
    if checks:
        _note_checks(made, traps, unwinding)
        unwound = range((unwinding.instructions or landing)[0].here, len(made.co_code))
        note_ends(made, unwound, landing[0].here)
    return made


def _laid_out(
    instructions: list[Instruction],
    entry: Instruction,
    way: Way | None,
    traps: dict[Instruction, _Trap],
) -> list[Instruction]:
    """The code's own instructions with what stands before each, and what follows an exception there."""
    placed = []
    for one in instructions:
        placed += [*one.inserted, one]
        if way and one is entry:
            placed += way.made
    return placed + [every for trap in traps.values() for every in trap.escape]


def stack_with_checks(code: Any) -> int:
    """How many values such a code has on the stack at most."""
    return int(max(code.co_stacksize + _TRAP_STACK, _LEAST_STACK))


def _way_in(
    entrance: Entrance,
    numbers: TrapNumbers,
    instructions: list[Instruction],
    traps: dict[Instruction, _Trap],
) -> Way:
    room = numbers.trap + len(numbers.constants)
    numbers.constants.append(entrance.room)
    pasts = {one: trap.past for one, trap in traps.items()}
    return way_in(entrance, room, instructions, pasts)


def _landing_before(first: Instruction) -> list[Instruction]:
    """What takes away what that call has left, and leads to where the code begins."""
    back = Instruction("JUMP_BACKWARD_NO_INTERRUPT")
    back.target = first_inserted(first)
    return [Instruction("POP_TOP"), back]


def _trap_before(
    one: Instruction,
    ways: Collection[Any],
    is_asked: bool,
    entry: Instruction,
    numbers: TrapNumbers,
    last: LastLines,
) -> _Trap | None:
    """What to put before an instruction, to which these ways lead; None for nothing. is_asked: whether
    its line is to have a trap."""
    left = last.left_at(one)
    comers = [before for before, _ in ways if is_line_reported(before, one, entry)]
    is_passed = any(how == "next" and before not in comers for before, how in ways)
    if not last.checks:
        _require_one_way([before in comers for before, how in ways if how == "exception"])
    if comers:
        behind = [last.before(comer) for comer in comers] if last.is_near(one) else []
        is_first = any(before.start <= entry.start for before in comers)
        return _Trap(one, numbers, is_passed, is_asked, behind, left, is_first)
    return _Trap(one, numbers, False, False, [], left) if left else None


def _require_one_way(are_reported: list[bool]) -> None:
    """Raises NoTrapError where it depends on what has raised whether the line of a handler is reported."""
    if len(set(are_reported)) > 1:
        raise NoTrapError


def _lead_into(
    traps: dict[Instruction, _Trap],
    instructions: list[Instruction],
    handlers: list[CodeHandler],
    entry: Instruction,
    last: LastLines,
) -> None:
    """Have jumps and handlers lead into the traps before their targets."""
    comers: list[tuple[Any, Instruction]] = [(one, one) for one in instructions]
    comers += [(one, one.first) for one in handlers]
    for comer, before in comers:
        if comer.target in traps:
            is_reported = is_line_reported(before, comer.target, entry)
            line = last.before(before) if last.is_near(comer.target) else None
            comer.target = traps[comer.target].way_in(is_reported, line)


class _Trap:
    """The instructions of one; those that follow an exception in it stand at the code's end."""

    def __init__(
        self,
        before: Instruction,
        numbers: TrapNumbers,
        is_passed: bool,
        is_trap: bool,
        behind: list[Any],
        left: list[Any],
        is_first: bool = False,
    ) -> None:
        """behind: lines that may have written, by the ways into the line, the next one first; left:
        the one that may write where the frame is left."""
        new = Instruction
        trap = trap_call(numbers.trap) if is_trap else []
        looks = [LineCheck(numbers, before, before.place, leaves=True) for line in left]
        leave = [one for look in looks for one in look.made]
        self.checks: list[tuple[Instruction, Any]]
        self.checks = [(look.call[3], line) for look, line in zip(looks, left, strict=True)]
        # What comes from a line of its own goes there.
        self.past = leave[0] if leave and before.name != "SEND" else before
        last = trap[0] if trap else self.past
        self.ways: dict[Any, Instruction] = {}
        made: list[Instruction] = []
        for line in dict.fromkeys(behind):
            if made:
                over = new("JUMP_FORWARD")
                over.target = last
                made.append(over)
            look = LineCheck(numbers, last, is_first=is_first)
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
        as_they_lie = [*looks[len(left) :], *looks[: len(left)]]
        self.reads = [read for look in as_they_lie for read in look.reads]

    def way_in(self, is_reported: bool, behind: Any) -> Instruction:
        """Where to come from another instruction: whether the line is reported then, and which one
        may have written."""
        return self.ways.get(behind, self.first) if is_reported else self.past


def _handlers_with_traps(
    handlers: list[CodeHandler], traps: dict[Instruction, _Trap], depths: dict[Instruction, int]
) -> list[CodeHandler]:
    """What a trap raises goes to its escape, and what that raises where its line would raise it."""
    found = []
    for before, trap in traps.items():
        begin, depth = trap.begin, depths[before]
        for read, behind, absent in trap.reads:
            found.append(CodeHandler(begin, read, trap.escape[0], depth, keeps_place=False))
            found.append(CodeHandler(read, behind, absent, depth, keeps_place=False))
            begin = behind
        found.append(CodeHandler(begin, before, trap.escape[0], depth, keeps_place=False))
    # Where the code's own instructions end.
    added = next((trap.escape[0] for trap in traps.values()), None)
    trapped = list(traps)
    for one in handlers:
        first = first_inserted(one.first)
        for before in covered_by(trapped, one):
            trap = traps[before]
            found.append(one.over(first, trap.begin))
            found.append(one.over(trap.raises, trap.over))
            first = before
        found.append(one.over(first, added if one.behind is None else first_inserted(one.behind)))
    return found


def _note_inserted(made: Any, traps: dict[Instruction, _Trap], way: Way | None) -> None:
    inserted = [(before, (*before.inserted, *trap.escape)) for before, trap in traps.items()]
    note_inserted(made, [*inserted, (way.one, way.made)] if way else inserted)


def note_inserted(made: Any, inserted: Iterable[tuple[Instruction, Iterable[Instruction]]]) -> None:
    """What was put into a code that is made, each with the instruction that it stands before."""
    at_places = {
        at: before.here
        for before, those in inserted
        for one in those
        for at in range(one.here, one.here + one.size, UNIT_BYTES)
    }
    note_inserted_at(made, at_places)


def _note_checks(made: Any, traps: dict[Instruction, _Trap], unwinding: UnwindingChecks) -> None:
    checks = [*unwinding.checks, *[one for trap in traps.values() for one in trap.checks]]
    lines = {
        at: line for one, line in checks for at in range(one.here, one.here + one.size, UNIT_BYTES)
    }
    passed_over = {
        at
        for trap in traps.values()
        for begin, behind, _ in trap.reads
        for at in range(begin.here, behind.here, UNIT_BYTES)
    }
    note_checks(made, lines, passed_over)
