"""The instructions of a code, as `dis` lists them, in a quarter of its time: a record of writes reads thousands of codes.

Tells what is asked of instructions here. Refuses what is asked of none: where in a line it is, and the
text of its argument, but for the sign of an operator.
"""

from __future__ import annotations

import dis
import sys
from typing import Any, NamedTuple


class CodeInstruction(NamedTuple):
    """One instruction, without its caches. The fields are those of `dis.Instruction`."""

    opname: str
    opcode: int
    arg: int | None
    argval: Any
    argrepr: str
    """The sign of a BINARY_OP; else empty."""
    offset: int
    starts_line: int | None
    """The line that begins here."""


def instructions_of(code: Any) -> list[Any]:
    """All of a code; on other Pythons than 3.11 to 3.13 by `dis` itself."""
    if not _IS_READ_HERE:
        return list(dis.get_instructions(code))
    text, lines, extended = code.co_code, dict(dis.findlinestarts(code)), 0
    values: Any = code.co_consts, code.co_names, names_of_variables(code), dis.cmp_op
    found, behind, make = [], 0, tuple.__new__
    for offset in range(0, len(text), 2):
        if offset < behind:
            continue  # a cache
        operation = text[offset]
        name, caches, kind, shift = _OPERATION_FACTS[operation]
        behind = offset + 2 + caches
        argument = value = None
        sign = ""
        if kind is not _IS_NOTHING:
            argument = text[offset + 1] | extended
            extended = argument << 8 if operation == _EXTENDED else 0
            if kind >= 0:
                value = values[kind][argument >> shift]
            elif kind is _IS_NUMBER:
                value = argument
            elif kind is _IS_JUMP:
                value = behind + argument * shift
            elif kind is _IS_SIGN:
                value, sign = argument, _SIGNS_OF_OPERATORS[argument]
            else:
                value = _SPECIAL_ARGUMENTS[name](argument, values[_IS_VARIABLE])
        line = lines.get(offset)
        found.append(make(CodeInstruction, (name, operation, argument, value, sign, offset, line)))
    return found


_IS_READ_HERE = (3, 11) <= sys.version_info[:2] <= (3, 13)
_IS_CONSTANT, _IS_NAME, _IS_VARIABLE, _IS_COMPARISON = range(4)
"""Where the argument's value is to be looked up."""
_IS_NOTHING, _IS_NUMBER, _IS_JUMP, _IS_SIGN, _IS_SPECIAL = range(-5, 0)
_EXTENDED = dis.EXTENDED_ARG
_SIGNS_OF_OPERATORS: list[str] = [sign for _, sign in getattr(dis, "_nb_ops", ())]
_NAME_SHIFTS = {"LOAD_GLOBAL": 1, "LOAD_SUPER_ATTR": 2}
if sys.version_info >= (3, 12):
    _NAME_SHIFTS["LOAD_ATTR"] = 1
_COMPARISON_SHIFT = {(3, 12): 4, (3, 13): 5}.get(sys.version_info[:2], 0)


def _pair_of_variables(argument: int, variables: list[str]) -> tuple[str, str]:
    return variables[argument >> 4], variables[argument & 15]


_SPECIAL_ARGUMENTS: dict[str, Any] = {
    **dict.fromkeys(
        ("LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST"), _pair_of_variables
    ),
    "FORMAT_VALUE": lambda argument, _: ((None, str, repr, ascii)[argument & 3], argument > 3),
    "CONVERT_VALUE": lambda argument, _: (None, str, repr, ascii)[argument],
}


def _facts_of_operation(code: int) -> tuple[str, int, int, int]:
    """Its name, the bytes of its caches, what its argument is, and the shift (of a jump: bytes a step)."""
    name = dis.opname[code]
    entries: Any = dis._inline_cache_entries  # type: ignore[attr-defined]
    caches = 2 * (entries.get(name, 0) if type(entries) is dict else entries[code])
    has_argument = code in dis.hasarg if hasattr(dis, "hasarg") else code >= dis.HAVE_ARGUMENT
    if not has_argument:
        return name, caches, _IS_NOTHING, 0
    if name in _SPECIAL_ARGUMENTS:
        return name, caches, _IS_SPECIAL, 0
    if code in dis.hasconst and name != "KW_NAMES":  # of which `dis` tells nothing either
        return name, caches, _IS_CONSTANT, 0
    if code in dis.hasname:
        return name, caches, _IS_NAME, _NAME_SHIFTS.get(name, 0)
    if code in dis.haslocal or code in dis.hasfree:
        return name, caches, _IS_VARIABLE, 0
    if code in dis.hascompare:
        return name, caches, _IS_COMPARISON, _COMPARISON_SHIFT
    if code in dis.hasjrel:
        return name, caches, _IS_JUMP, -2 if "JUMP_BACKWARD" in name else 2
    return name, caches, _IS_SIGN if name == "BINARY_OP" else _IS_NUMBER, 0


_OPERATION_FACTS = [_facts_of_operation(code) for code in range(256)] if _IS_READ_HERE else []


def names_of_variables(code: Any) -> list[str]:
    """The frame's variables in the order in which it has them, from 3.11 on."""
    cells = [name for name in code.co_cellvars if name not in code.co_varnames]
    return [*code.co_varnames, *cells, *code.co_freevars]
