"""What a line of code can change, read from the code: where a cheap record has to look at values.

Most lines only give a value to a local that had none: it is still there at the next look. A look
is needed before such a value can be overwritten, and on both sides of a line that may change a
value in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import argument_count, facts_of
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import JUMPS, begun_line

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
_SUBSCRIPTS = ("BINARY_SUBSCR", "BINARY_SLICE")  # may be a program's `__getitem__`


class LineFacts(NamedTuple):
    """Of one code object, whatever it is called with; or, `is_typed`, with arguments of some types.

    Found by the code's id: to hash a code object takes as long as ten lookups.
    """

    code: Any
    acts: frozenset[int]
    """Lines that may change a value in place, or run other code."""
    rebinds: frozenset[int]
    """Lines that may overwrite a local that has a value."""
    binds: dict[int, frozenset[str]]
    """The locals to which each line gives a value."""
    quiet: frozenset[int]
    """Lines that neither act nor rebind: none needs a look."""
    arguments: tuple[str, ...]
    given: tuple[str, ...]
    """What a call has from its beginning: arguments, and variables of functions around it."""
    loads: dict[int, tuple[str, ...]]
    """The locals of which each line takes the values."""
    by_types: dict[Any, Any]
    """What was found out: the facts by types of what is given; whether a line reads, by its own."""
    is_typed: bool = False
    is_given_plain: bool = False
    """Whether nothing of that can change."""


def line_facts(code: Any) -> LineFacts:
    """Reads the bytecode once; costs milliseconds for a long function."""
    arguments = code.co_varnames[: argument_count(code)]
    stores: list[tuple[int, int, str]] = []  # offset, line, name
    loops: list[tuple[int, int]] = []  # offsets: first, last
    lines = {code.co_firstlineno}
    loads: dict[int, dict[str, None]] = {}
    for line, instruction in lines_of_instructions(code):
        lines.add(line)
        stores += [(instruction.offset, line, name) for name in stored_names(instruction)]
        if instruction.opname.startswith("LOAD_FAST"):
            loads.setdefault(line, {}).update(dict.fromkeys(_local_names(instruction)))
        target = instruction.argval
        if instruction.opcode in JUMPS and type(target) is int and target <= instruction.offset:
            loops.append((target, instruction.offset))
    places: dict[str, set[int]] = {name: {0} for name in arguments}
    binds: dict[int, set[str]] = {}
    for _, line, name in stores:
        places.setdefault(name, set()).add(line)
        binds.setdefault(line, set()).add(name)
    rebinds = {
        line
        for offset, line, name in stores
        if len(places[name]) > 1 or any(first <= offset <= last for first, last in loops)
    }
    acts = acting_lines(code)
    return LineFacts(
        code,
        acts,
        frozenset(rebinds),
        {line: frozenset(names) for line, names in binds.items()},
        frozenset(lines - acts - rebinds),
        arguments,
        (*arguments, *code.co_freevars),
        {line: tuple(names) for line, names in loads.items()},
        {},
    )


def acting_lines(code: Any, only_reads: Callable[[int, Any], bool] | None = None) -> frozenset[int]:
    """The lines that may change a value in place, or run other code.

    only_reads: of an instruction that may, by its index among all: whether it does not.
    """
    return frozenset(
        line
        for index, (line, instruction) in enumerate(lines_of_instructions(code))
        if _may_act(instruction) and (only_reads is None or not only_reads(index, instruction))
    )


def stored_names(instruction: Any) -> tuple[str, ...]:
    """The locals to which an instruction gives a value."""
    if not instruction.opname.startswith("STORE_FAST"):
        return ()
    found = _local_names(instruction)
    return found[:1] if instruction.opname == "STORE_FAST_LOAD_FAST" else found


def _local_names(instruction: Any) -> tuple[str, ...]:
    found = instruction.argval
    return found if type(found) is tuple else (found,)


def lines_of_instructions(code: Any) -> Iterator[tuple[int, Any]]:
    line = code.co_firstlineno
    for instruction in facts_of(code)[0]:
        line = begun_line(instruction) or line
        yield line, instruction


def _may_act(instruction: Any) -> bool:
    name = instruction.opname
    if name == "BINARY_OP":
        return bool(instruction.argrepr.endswith("="))
    if name in _HARMLESS:
        return False
    return name in _SUBSCRIPTS or not name.startswith(_HARMLESS_KINDS)
