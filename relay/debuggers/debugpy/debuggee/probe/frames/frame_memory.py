"""What lies in memory: the cells of a frame, the values that an instruction is about to take, and
whose values a dict shows.

Python shows neither to anybody, so they are read from memory, whose layout each version of CPython
has in its own way.
"""

from __future__ import annotations

import dis
import functools
import gc
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import facts_of
    from relay.debuggers.debugpy.debuggee.probe.frames.code_reading import (
        instructions_of,
        names_of_variables,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import JUMPS, handler_table
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import objects_that_end_at
    from relay.debuggers.debugpy.debuggee.probe.traps.inserted import inserted_in, unwinding_in

WORD_SIZE = 8
INNER_AT = 3 * WORD_SIZE
"""In a frame object, from 3.11 on: the address of the interpreter's frame."""
CODE_AT = 4 * WORD_SIZE if sys.version_info < (3, 12) else 0
"""In an interpreter's frame: its code."""
TOP_AT = 8 * WORD_SIZE
"""In an interpreter's frame: on 3.11 how many values it has, variables included; from 3.14 on the
address above them, while it calls something."""
VALUES_AT = (10 if sys.version_info >= (3, 14) else 9) * WORD_SIZE
"""In an interpreter's frame: its variables, then its stack."""
_OWNER_AT = 70
"""In an interpreter's frame, on 3.12 and 3.13: who owns it."""
_IS_ITS_OWN = 2
"""As an owner: the frame object alone. A generator has let go of it."""
_REFERENCE_MARKS = 3 if sys.version_info >= (3, 14) else 0
"""Bits of a word in an interpreter's frame that are no part of an address: who counts the reference."""
_NUMBER_MARK = 3
"""The marks of a word that is a number, and no object."""
_DICT_VALUES_AT = 5 * WORD_SIZE
"""In a dict, from 3.13 on: the address of its values, if they are apart from the keys."""
_STACK_VERSIONS = ((3, 8), (3, 14))
_ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "INTERPRETER_EXIT")
_ALWAYS_JUMPS = ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")

_known_depths: Any = CodeTable()
_known_tops: Any = CodeTable()
_known_effects: dict[tuple[int, Any, bool], int] = {}
"""On the depth of the stack: of an operation, with its argument, that jumps or does not."""
_MOST_EFFECTS = 10_000


def can_read_stack() -> bool:
    """Whether the layout of frames is known here."""
    oldest, newest = _STACK_VERSIONS
    plain = sys.implementation.name == "cpython" and object.__basicsize__ == 2 * WORD_SIZE
    return plain and oldest <= sys.version_info[:2] <= newest


def stack_values(frame: Any, offset: int, count: int) -> list[Any]:
    """The uppermost values, the top first, as the instruction at `offset` finds them.

    To be asked from an event of that very instruction only.
    """
    if sys.version_info < (3, 11):  # noqa: UP036  also run by the debuggee's Python
        # What the collector is shown ends with the stack.
        return gc.get_referents(frame)[: -count - 1 : -1]
    inner = _memory_reader(0)(id(frame) + INNER_AT).value
    if sys.version_info >= (3, 12) and not _REFERENCE_MARKS:
        # Where it ends is in a register, and so worked out.
        top = inner + _tops_of(frame.f_code)[offset]
        try:
            return _memory_reader(count)(top - count * WORD_SIZE)[::-1]  # type: ignore[no-any-return]
        except ValueError:  # one of them is NULL
            pass
    import ctypes

    if sys.version_info >= (3, 14):
        top = word_at(ctypes, inner + TOP_AT)
    elif sys.version_info < (3, 12):
        height = ctypes.c_int.from_address(inner + TOP_AT).value
        top = inner + VALUES_AT + height * WORD_SIZE
    return [referred_object(ctypes, top - place * WORD_SIZE) for place in range(1, count + 1)]


@functools.lru_cache(None)
def _memory_reader(count: int) -> Any:
    """What reads so many objects from an address, as is done for each event of a record; 0: a word."""
    import ctypes

    kind: Any = ctypes.py_object * count if count else ctypes.c_void_p
    return kind.from_address


def _tops_of(code: Any) -> dict[int, int]:
    """Where the stack ends before each instruction, counted from the beginning of the interpreter's frame."""
    known: dict[int, int] | None = _known_tops.get(code)
    if known is None:
        variables = len(names_of_variables(code))
        known = _known_tops[code] = {
            offset: VALUES_AT + (variables + depth) * WORD_SIZE
            for offset, depth in stack_depths(code).items()
        }
    return known


def referred_object(ctypes: Any, place: int) -> Any:
    """What a word of an interpreter's frame refers to; None if that is no object."""
    if not _REFERENCE_MARKS:
        try:
            return ctypes.py_object.from_address(place).value
        except ValueError:  # it is NULL
            return None
    word = word_at(ctypes, place)
    address = word & ~_REFERENCE_MARKS
    if not address or word & _REFERENCE_MARKS == _NUMBER_MARK:
        return None
    return ctypes.cast(address, ctypes.py_object).value


def owners_of_inline_values(space: dict[Any, Any]) -> list[Any]:
    """The object in which the values of its `__dict__` lie: since 3.13 it does not refer to the dict."""
    lie_inline = sys.version_info >= (3, 13)
    if not lie_inline or not can_read_stack():
        return []
    import ctypes

    values = word_at(ctypes, id(space) + _DICT_VALUES_AT)
    if not values:
        return []
    return objects_that_end_at(values)


def can_read_cells() -> bool:
    """Whether `cell_of` knows: before 3.11 a frame has its variables elsewhere."""
    return can_read_stack() and sys.version_info >= (3, 11)


def cell_of(frame: Any, name: str) -> Any:
    """The cell of a variable that functions share; None if it is not made yet.

    Python hands it out only to functions made in there.
    """
    found = _variables_at(frame, [names_of_variables(frame.f_code).index(name)])
    return found[0] if found and type(found[0]) is types.CellType else None


def variables_at_start(frame: Any) -> dict[str, Any]:
    """The arguments and the shared variables of a frame that begins; empty before 3.11.

    `f_locals` would keep them alive as long as the frame.
    """
    code = frame.f_code
    if not can_read_cells() or not code.co_flags & 1:
        return {}
    names = names_of_variables(code)
    count = code.co_argcount + code.co_kwonlyargcount
    wanted = [*range(count), *range(len(names) - len(code.co_freevars), len(names))]
    values = _variables_at(frame, wanted)
    return {names[at]: _content_of(value) for at, value in zip(wanted, values)}  # noqa: B905


def unshared_local(frame: Any, name: str, unknown: Any) -> Any:
    """The object that a local has which no other function shares; `unknown` where that cannot be read, as before 3.11.

    None if it has none. As of `variables_at_start`, nothing is kept alive.
    """
    code = frame.f_code
    if not can_read_cells() or name not in code.co_varnames or name in code.co_cellvars:
        return unknown
    found = _variables_at(frame, [code.co_varnames.index(name)])
    return found[0] if found else unknown


def _variables_at(frame: Any, places: list[int]) -> list[Any]:
    """What the frame has at these places among its variables; empty if it has another layout than is known."""
    import ctypes

    inner = word_at(ctypes, id(frame) + INNER_AT)
    if not is_frame_of(ctypes, inner, frame.f_code):
        return []
    return [referred_object(ctypes, inner + VALUES_AT + at * WORD_SIZE) for at in places]


def _content_of(value: Any) -> Any:
    if type(value) is not types.CellType:
        return value
    try:
        return value.cell_contents
    except ValueError:  # it is empty
        return None


def referent_of(proxy: Any) -> Any:
    """What a weak proxy stands for; the proxy itself if that is gone.

    Python shows only its attributes.
    """
    import ctypes

    found = referred_object(ctypes, id(proxy) + object.__basicsize__)
    return proxy if found is None else found


def is_frame_of(ctypes: Any, inner: int, code: Any) -> bool:
    """Whether an interpreter's frame is laid out as is known here, and has this code."""
    return word_at(ctypes, inner + CODE_AT) & ~_REFERENCE_MARKS == id(code)


def has_lost_generator(frame: Any) -> bool:
    """Whether the generator or coroutine that the frame belonged to is over.

    From Python 3.13 on no event says so where it is closed and would handle nothing. Its variables are
    freed memory then: on 3.13.0 that ends the process that reads `f_locals`.
    """
    if sys.version_info >= (3, 14):
        return frame.f_generator is None
    is_laid_out_so = sys.version_info >= (3, 12)
    if not is_laid_out_so or not can_read_stack():
        return False
    import ctypes

    inner = word_at(ctypes, id(frame) + INNER_AT)
    is_known = is_frame_of(ctypes, inner, frame.f_code)
    return is_known and ctypes.c_byte.from_address(inner + _OWNER_AT).value == _IS_ITS_OWN


def word_at(ctypes: Any, address: int) -> int:
    return ctypes.c_void_p.from_address(address).value or 0


def stack_depths(code: Any) -> dict[int, int]:
    """How many values lie on the stack before each instruction, by its offset; from 3.12 on."""
    known: dict[int, int] | None = _known_depths.get(code)
    if known is None:
        known = _known_depths[code] = _worked_out_depths(code)
    return known


def _worked_out_depths(code: Any) -> dict[int, int]:
    has_traps = inserted_in(code) or unwinding_in(code)  # which are no facts, and take values too
    found = instructions_of(code) if has_traps else facts_of(code)[0]
    places = {one.offset: place for place, one in enumerate(found)}
    depths: dict[int, int] = {}
    begins = [(0, 0)]
    begins += [(one.target, one.depth + 1 + bool(one.lasti)) for one in handler_table(code)]
    while begins:
        offset, depth = begins.pop()
        for one in _run_from(found, places[offset]):
            if one.offset in depths:
                break
            depths[one.offset] = depth
            if one.opcode in JUMPS:
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
    key = one.opcode, one.arg, jumps
    known = _known_effects.get(key)
    if known is None:
        if len(_known_effects) > _MOST_EFFECTS:
            _known_effects.clear()
        known = _known_effects[key] = _worked_out_effect(one, jumps)
    return known


def _worked_out_effect(one: Any, jumps: bool) -> int:
    if one.opname == "RETURN_GENERATOR":
        return 1  # the value that is sent
    if one.opname == "EXTENDED_ARG":
        return 0
    argument = one.arg if one.opcode >= dis.HAVE_ARGUMENT else None
    return dis.stack_effect(one.opcode, argument, jump=jumps)
