"""The values that an instruction is about to take: what lies on top of its frame's stack.

Python shows the stack of a running frame to nobody, so it is read from memory, whose layout each
version of CPython has in its own way. To be asked from an event of that very instruction only.
"""

from __future__ import annotations

import dis
import gc
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.bytecode import HAS_TABLE

_WORD_SIZE = 8
_INNER_AT = (
    3 * _WORD_SIZE
)  # in a frame object, from 3.11 on: the address of the interpreter's frame
_TOP_AT = (
    8 * _WORD_SIZE
)  # in an interpreter's frame: how many values it has, variables included (3.11)
_VALUES_AT = 9 * _WORD_SIZE  # in an interpreter's frame: variables, then the stack
_STACK_VERSIONS = ((3, 8), (3, 13))
_ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "INTERPRETER_EXIT")
_ALWAYS_JUMPS = ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
_JUMP_CODES = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)

_known_depths: dict[Any, dict[int, int]] = {}


def can_read_stack() -> bool:
    """Whether the layout of frames is known here."""
    oldest, newest = _STACK_VERSIONS
    plain = sys.implementation.name == "cpython" and object.__basicsize__ == 2 * _WORD_SIZE
    return plain and oldest <= sys.version_info[:2] <= newest


def stack_values(frame: Any, offset: int, count: int) -> list[Any]:
    """The uppermost values, the top first, as the instruction at `offset` finds them."""
    if sys.version_info < (3, 11):  # noqa: UP036  also run by the debuggee's Python
        # What the collector is shown ends with the stack.
        return gc.get_referents(frame)[: -count - 1 : -1]
    import ctypes

    inner = ctypes.c_void_p.from_address(id(frame) + _INNER_AT).value or 0
    if sys.version_info < (3, 12):
        height = ctypes.c_int.from_address(inner + _TOP_AT).value
    else:  # it is in a register, and so worked out
        code = frame.f_code
        height = _count_of_variables(code) + stack_depths(code)[offset]
    top = inner + _VALUES_AT + height * _WORD_SIZE
    return [_stacked_object(ctypes, top - place * _WORD_SIZE) for place in range(1, count + 1)]


def _stacked_object(ctypes: Any, place: int) -> Any:
    try:
        return ctypes.py_object.from_address(place).value
    except ValueError:  # no object
        return None


def variable_at(frame: Any, index: int) -> Any:
    """One of the frame's own variables, from 3.11 on, as it is stored: a cell as the cell."""
    import ctypes

    inner = ctypes.c_void_p.from_address(id(frame) + _INNER_AT).value or 0
    address = ctypes.c_void_p.from_address(inner + _VALUES_AT + index * _WORD_SIZE).value
    return address and ctypes.cast(address, ctypes.py_object).value


def variable_names(code: Any) -> list[str]:
    """The frame's variables in the order in which it has them, from 3.11 on."""
    cells = [name for name in code.co_cellvars if name not in code.co_varnames]
    return [*code.co_varnames, *cells, *code.co_freevars]


def _count_of_variables(code: Any) -> int:
    return len(variable_names(code))


def stack_depths(code: Any) -> dict[int, int]:
    """How many values lie on the stack before each instruction, by its offset; from 3.12 on."""
    known = _known_depths.get(code)
    if known is None:
        known = _known_depths[code] = _worked_out_depths(code)
    return known


def _worked_out_depths(code: Any) -> dict[int, int]:
    found = list(dis.get_instructions(code))
    places = {one.offset: place for place, one in enumerate(found)}
    depths: dict[int, int] = {}
    begins = [(0, 0)]
    if HAS_TABLE:
        table: Any = dis._parse_exception_table(code)  # type: ignore[attr-defined]
        begins += [(entry.target, entry.depth + 1 + bool(entry.lasti)) for entry in table]
    while begins:
        offset, depth = begins.pop()
        for one in _run_from(found, places[offset]):
            if one.offset in depths:
                break
            depths[one.offset] = depth
            if one.opcode in _JUMP_CODES:
                begins.append((one.argval, depth + _effect_on_depth(one, True)))
                if one.opname in _ALWAYS_JUMPS:
                    break
            depth += _effect_on_depth(one, False)
    return depths


def _run_from(found: list[Any], place: int) -> Iterator[Any]:
    for one in found[place:]:
        yield one
        if one.opname in _ENDS:
            return


def _effect_on_depth(one: Any, jumps: bool) -> int:
    if one.opname == "RETURN_GENERATOR":
        return 1  # the value that is sent
    if one.opname == "EXTENDED_ARG":
        return 0
    argument = one.arg if one.opcode >= dis.HAVE_ARGUMENT else None
    return dis.stack_effect(one.opcode, argument, jump=jumps)
