"""What a line of code can change, read from the code: where a cheap record has to look at values.

Most lines only give a value to a local that had none: it is still there at the next look. A look
is needed before such a value can be overwritten, and on both sides of a line that may change a
value in place.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import argument_count, facts_of
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import JUMPS, begun_line
    from relay.debuggers.debugpy.debuggee.probe.trace.line_order import following_lines
    from relay.debuggers.debugpy.debuggee.probe.trace.values import LASTING

_HARMLESS = [
    "BUILD_CONST_KEY_MAP",
    "BUILD_LIST",
    "BUILD_MAP",
    "BUILD_SET",
    "BUILD_SLICE",
    "BUILD_STRING",
    "BUILD_TUPLE",
    "CACHE",
    "CHECK_EXC_MATCH",
    "COMPARE_OP",
    "CONTAINS_OP",
    "COPY",
    "COPY_FREE_VARS",
    "DUP_TOP",
    "DUP_TOP_TWO",
    "END_FOR",
    "EXTENDED_ARG",
    "IS_OP",
    "KW_NAMES",
    "LIST_APPEND",
    "LOAD_ASSERTION_ERROR",
    "LOAD_CLOSURE",
    "LOAD_CONST",
    "LOAD_DEREF",
    "LOAD_FAST",
    "LOAD_FAST_AND_CLEAR",
    "LOAD_FAST_CHECK",
    "LOAD_FAST_LOAD_FAST",
    "LOAD_GLOBAL",
    "MAKE_CELL",
    "MAP_ADD",
    "NOP",
    "POP_BLOCK",
    "POP_EXCEPT",
    "POP_TOP",
    "PUSH_EXC_INFO",
    "PUSH_NULL",
    "RAISE_VARARGS",
    "RERAISE",
    "RESUME",
    "ROT_FOUR",
    "ROT_THREE",
    "ROT_TWO",
    "SETUP_FINALLY",
    "SET_ADD",
    "SWAP",
    "TO_BOOL",
]
_HARMLESS_KINDS = ("JUMP", "POP_JUMP", "RETURN_", "STORE_FAST", "UNARY_", "BINARY_")
_OPERATORS = ("BINARY_", "COMPARE_OP", "UNARY_")
_SHIFTS = ("BINARY_LSHIFT", "BINARY_RSHIFT")  # before 3.11
_SUBSCRIPTS = ("BINARY_SUBSCR", "BINARY_SLICE")  # may be a program's `__getitem__`
_MOST_TYPES = 500  # of what one function is called with, and of what one line finds
_CALLS_TO_SETTLE = 16  # with arguments of the same types: the next are taken to have them, too
_MOST_SETTLED = 3  # types of the arguments of one code, one after the other


class LineFacts:
    """Of one code object, whatever it is called with; or, `is_typed`, with arguments of some types.

    Found by the code's id: to hash a code object takes as long as ten lookups.
    """

    __slots__ = (
        "acts",
        "arguments",
        "binds",
        "binds_onwards",
        "by_types",
        "calls",
        "code",
        "follows",
        "given",
        "is_given_plain",
        "is_typed",
        "loads",
        "quick",
        "quiet",
        "reading",
        "rebinds",
        "rebinds_given",
        "settled",
        "spared",
        "surely_acts",
        "types_given",
        "types_taken",
        "unsettled",
        "values_overwritten",
    )

    def __init__(self, code: Any) -> None:
        """Reads the bytecode once; costs milliseconds for a long function."""
        self.code = code
        flow = _Flow(code)
        # The locals that a line binds, and those of which it takes the values.
        self.binds, self.loads = flow.binds, flow.loads
        self.acts = acting_lines(code)  # may change a value in place, or run other code
        # Those of them that do whatever the types are of the locals that they take.
        self.surely_acts: frozenset[int] = frozenset()
        self.rebinds = flow.lines_that_rebind()  # may overwrite a local that has a value
        self.quiet = flow.lines - self.acts - self.rebinds  # none needs a look
        self.arguments = flow.arguments
        # What a call has from its beginning: arguments, and variables of functions around it.
        self.given = flow.given
        self.rebinds_given = frozenset(
            line for line in self.rebinds if not self.binds[line].isdisjoint(self.given)
        )
        self.types_given = _types_of(self.given)
        self.types_taken = {line: _types_of(self.loads.get(line, ())) for line in self.acts}
        self.values_overwritten = {line: _values_of(self.binds[line]) for line in self.rebinds}
        # Of lines that may only read: whether they do, by the types of the locals that they take.
        self.reading: dict[int, dict[Any, bool]] = {}
        self.quick = self._quick_ways(self.rebinds - self.acts)
        self.by_types: dict[Any, LineFacts] = {}  # those of calls that are given such types
        self.is_typed = self.is_given_plain = False  # plain: nothing of what is given can change
        self.follows = following_lines(code)  # by a line, the one that always runs next
        self.spared = self._quiet_followers()  # lines of which there need be no event
        self.binds_onwards = self._lines_that_bind_onwards()
        # The facts by types that calls are taken to have, when their lines are spared for good.
        self.settled: LineFacts | None = None
        self.unsettled = 0  # so many times a call with other types came then
        self.calls = 0  # that had these types, until that is settled

    def _quick_ways(self, lines: frozenset[int]) -> dict[int, Callable[[Any], Any]]:
        return {
            line: _quick_way(
                line,
                self.binds[line] if line in self.rebinds else (),
                self.loads.get(line, ()),
                self.reading.get(line),
            )
            for line in lines - self.rebinds_given
        }

    def _quiet_followers(self) -> frozenset[int]:
        return self.quiet.intersection(self.follows.values())

    def _lines_that_bind_onwards(self) -> frozenset[int]:
        """The lines, or BEGINNING, that give a value to a local, or lead to quiet ones that do."""
        before = {then: line for line, then in self.follows.items()}
        found = set(self.binds)
        for line in self.binds:
            while line in self.quiet and line in before and before[line] not in found:
                line = before[line]
                found.add(line)
        return frozenset(found)

    def ahead_of(self, line: int, reported: int = 0) -> list[int]:
        """The quiet lines that run after one was reported, until another one is."""
        found: list[int] = []
        following = self.follows.get(line, reported)
        while following != reported and following in self.quiet:
            found.append(following)
            following = self.follows.get(following, reported)
        return found

    def up_to(self, line: int, present: int | None) -> list[int]:
        """The lines that have begun since one was reported, where the frame is at `present`, which is
        None at instructions of no line."""
        found = self.ahead_of(line)
        if present in found:
            return found[: found.index(present) + 1]
        return found if present is None else []

    def typed(
        self, acts: frozenset[int], surely_acts: frozenset[int], is_given_plain: bool
    ) -> LineFacts:
        """The facts of calls of which the types of what is given are known."""
        found = copy.copy(self)
        found.acts, found.surely_acts, found.is_given_plain = acts, surely_acts, is_given_plain
        found.quiet = self.quiet | (self.acts - acts - self.rebinds)
        found.reading = {line: {} for line in acts - surely_acts}
        found.quick = found._quick_ways((self.rebinds | acts) - surely_acts)
        found.by_types, found.is_typed = {}, True
        found.binds_onwards = found._lines_that_bind_onwards()
        return found

    def settle(self, typed: LineFacts) -> None:
        """Take it that the next calls have arguments of these types, if many of them had, and more
        lines are spared then."""
        typed.calls += 1
        if typed.calls == _CALLS_TO_SETTLE and self.unsettled < _MOST_SETTLED:
            spared = typed._quiet_followers()
            if spared != self.spared:
                self.settled, typed.spared = typed, spared

    def unsettle(self) -> None:
        """A call has others: its lines, and those of later ones, are to be events again."""
        assert self.settled is not None
        self.settled.spared, self.settled.calls = self.spared, 0
        self.settled = None
        self.unsettled += 1


class _Flow:
    """Which lines of a code object take and bind which locals, and where it loops."""

    def __init__(self, code: Any) -> None:
        self.arguments: tuple[str, ...] = code.co_varnames[: argument_count(code)]
        self.given = (*self.arguments, *code.co_freevars)  # variables that have values already
        self.stores: list[tuple[int, int, str]] = []  # offset, line, name
        self.loops: list[tuple[int, int]] = []  # offsets: first, last
        lines = {code.co_firstlineno}
        loads: dict[int, dict[str, None]] = {}
        for line, instruction in lines_of_instructions(code):
            lines.add(line)
            self.stores += [(instruction.offset, line, name) for name in stored_names(instruction)]
            taken = taken_names(instruction)
            if taken:
                loads.setdefault(line, {}).update(dict.fromkeys(taken))
            target = instruction.argval
            if instruction.opcode in JUMPS and type(target) is int and target <= instruction.offset:
                self.loops.append((target, instruction.offset))
        binds: dict[int, set[str]] = {}
        for _, line, name in self.stores:
            binds.setdefault(line, set()).add(name)
        self.lines = frozenset(lines)
        self.loads = {line: tuple(names) for line, names in loads.items()}
        self.binds = {line: frozenset(names) for line, names in binds.items()}

    def lines_that_rebind(self) -> frozenset[int]:
        places: dict[str, set[int]] = {name: {0} for name in self.given}
        for _, line, name in self.stores:
            places.setdefault(name, set()).add(line)
        return frozenset(
            line
            for offset, line, name in self.stores
            if len(places[name]) > 1 or any(first <= offset <= last for first, last in self.loops)
        )


def learn(known: dict[Any, Any], types: Any, found: Any) -> Any:
    """Know what was found out for these types, within bounds, and give it."""
    if len(known) >= _MOST_TYPES:
        known.clear()
    known[types] = found
    return found


def _function_of(expression: str) -> Any:
    """What it gives. Compiled first: where a text is evaluated, the interpreter forgets that a
    KeyboardInterrupt has ended the program, as it has when an exit function is traced."""
    return eval(compile(expression, "<string>", "eval"))


def _types_of(names: Iterable[str]) -> Callable[[Any], Any]:
    """A function from locals to the types of these; of one without a value, as if it had None.

    Its code names them, as that of the next does: that takes a fifth of the time of a loop.
    """
    types = "".join(f"type(found[{name!r}]), " for name in names)
    direct: Callable[[Any], Any] = _function_of(f"lambda found: ({types})")

    def types_of(found: Any) -> Any:
        try:
            return direct(found)
        except KeyError:
            return (*map(type, map(found.get, names)),)

    return types_of


def _values_of(names: Iterable[str]) -> Callable[[Any], dict[str, Any]]:
    """A function from locals to the values of these, by name, of those that have one."""
    values = "".join(f"{name!r}: found[{name!r}], " for name in names)
    direct: Callable[[Any], dict[str, Any]] = _function_of(f"lambda found: {{{values}}}")

    def values_of(found: Any) -> dict[str, Any]:
        try:
            return direct(found)
        except KeyError:
            return {name: found[name] for name in names if name in found}

    return values_of


def _quick_way(
    line: int, overwritten: Collection[str], taken: Collection[str], reading: dict[Any, bool] | None
) -> Callable[[Any], Any]:
    """A function from locals to what is kept ahead of a line, where that is simple: the line, with None
    and the values of what it overwrites.

    None if one of those may change, or a local that it needs has no value, or it is not known of
    their types, by `reading`, that the line only reads.
    """
    variables = {name: f"_{at}" for at, name in enumerate({*taken, *overwritten})}
    may_be_missing = [name for name in overwritten if name not in taken and len(overwritten) == 1]
    steps = [
        f"{variable} = found.get({name!r}, missing)"
        if name in may_be_missing
        else f"{variable} = found[{name!r}]"
        for name, variable in variables.items()
    ]
    if reading is not None:
        types = "".join(f"type({variables[name]}), " for name in taken)
        steps.append(f"if not reading.get(({types})): return None")
    steps += [
        f"if {variables[name]} is missing: return {line}, None, {{}}" for name in may_be_missing
    ]
    steps += [f"if type({variables[name]}) not in lasting: return None" for name in overwritten]
    old = ", ".join(f"{name!r}: {variables[name]}" for name in overwritten)
    steps.append(f"return {line}, None, {{{old}}}" if old else f"return {line}")
    text = "\n        ".join(steps)
    text = f"""
def way(found):
    try:
        {text}
    except KeyError:
        return None
"""
    names: dict[str, Any] = {"lasting": LASTING, "reading": reading, "missing": object()}
    exec(compile(text, "<string>", "exec"), names)
    way: Callable[[Any], Any] = names["way"]
    return way


def acting_lines(code: Any, only_reads: Callable[[int, Any], bool] | None = None) -> frozenset[int]:
    """The lines that may change a value in place, or run other code.

    only_reads: of an instruction that may, by its index among all: whether it does not.
    """
    acts = _may_act_at(code)
    lines = {
        line
        for index, (line, instruction) in enumerate(lines_of_instructions(code))
        if acts[index] and (only_reads is None or not only_reads(index, instruction))
    }
    return frozenset(lines.union(_lines_that_jump_to_acts(code, acts)))


def _may_act_at(code: Any) -> list[bool]:
    """Of each instruction, by its index, whether it may change a value in place, or run other code."""
    instructions = facts_of(code)[0]
    following = [instruction.opname for instruction in instructions[1:]]
    return list(map(_may_act, instructions, [*following, ""]))


def _lines_that_jump_to_acts(code: Any, acts: list[bool]) -> Iterator[int]:
    """Those whose jumps lead to instructions of no line: the end of an `except ... as e` deletes it
    on the line from which it is reached, wherever it stands in the code."""
    instructions, index_of, _ = facts_of(code)
    for line, one in lines_of_instructions(code):
        if one.opcode in JUMPS and type(one.argval) is int:
            at = index_of.get(one.argval, len(instructions))
            while at < len(instructions) and _has_no_line(instructions[at]):
                if acts[at]:
                    yield line
                at += 1


def _has_no_line(instruction: Any) -> bool:
    positions = getattr(instruction, "positions", None)  # before 3.11 each has a line
    return positions is not None and positions.lineno is None


def stored_names(instruction: Any) -> tuple[str, ...]:
    """The locals to which an instruction gives a value, of functions around it, too."""
    if instruction.opname == "STORE_DEREF":
        return _local_names(instruction)
    if not instruction.opname.startswith("STORE_FAST"):
        return ()
    found = _local_names(instruction)
    return found[:1] if instruction.opname == "STORE_FAST_LOAD_FAST" else found


def taken_names(instruction: Any) -> tuple[str, ...]:
    """The locals of which an instruction takes the values."""
    if instruction.opname.startswith("LOAD_FAST"):
        return _local_names(instruction)
    return _local_names(instruction)[1:] if instruction.opname == "STORE_FAST_LOAD_FAST" else ()


def _local_names(instruction: Any) -> tuple[str, ...]:
    found = instruction.argval
    return found if type(found) is tuple else (found,)


def lines_of_instructions(code: Any) -> Iterator[tuple[int, Any]]:
    line = code.co_firstlineno
    for instruction in facts_of(code)[0]:
        line = begun_line(instruction) or line
        yield line, instruction


def _may_act(instruction: Any, then: str) -> bool:
    """then: the operation that follows.

    Operators count as reading, but for what makes one a verb: `<<`, `>>`, and where nothing is done
    with what it gives.
    """
    name = instruction.opname
    if name.startswith(_OPERATORS) and then == "POP_TOP":
        return True
    if name == "BINARY_OP":
        return bool(instruction.argrepr.endswith(("=", "<<", ">>")))
    if name in _HARMLESS:
        return False
    return name in (*_SUBSCRIPTS, *_SHIFTS) or not name.startswith(_HARMLESS_KINDS)
