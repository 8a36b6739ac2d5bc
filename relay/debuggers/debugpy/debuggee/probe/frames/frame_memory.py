"""What lies in memory: the cells of a frame, the values that an instruction is about to take, and
whose values a dict shows.

Python shows neither to anybody, so they are read from memory, whose layout each version of CPython
has in its own way.
"""

from __future__ import annotations

import dis
import gc
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import JUMPS, handler_table
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at

_WORD_SIZE = 8
_INNER_AT = 3 * _WORD_SIZE
"""In a frame object, from 3.11 on: the address of the interpreter's frame."""
_CODE_AT = 4 * _WORD_SIZE if sys.version_info < (3, 12) else 0
"""In an interpreter's frame: its code."""
_TOP_AT = 8 * _WORD_SIZE
"""In an interpreter's frame: on 3.11 how many values it has, variables included; from 3.14 on the
address above them, while it calls something."""
_VALUES_AT = (10 if sys.version_info >= (3, 14) else 9) * _WORD_SIZE
"""In an interpreter's frame: its variables, then its stack."""
_BEFORE_AT, _PLACE_AT, _ENTRY_AT = 6 * _WORD_SIZE, 7 * _WORD_SIZE, 68
"""In an interpreter's frame, on 3.11: the frame that has called it, the instruction that has begun last, and
whether it was called by code in C."""
_RECURSION_LIMIT_AT = 36
"""In the state of a thread, on 3.11: the limit of its recursion."""
_TRACING_AT = 44
"""There: in how many trace functions, of the debugger or others, it is."""
_REFERENCE_MARKS = 3 if sys.version_info >= (3, 14) else 0
"""Bits of a word in an interpreter's frame that are no part of an address: who counts the reference."""
_NUMBER_MARK = 3
"""The marks of a word that is a number, and no object."""
_DICT_VALUES_AT = 5 * _WORD_SIZE
"""In a dict, from 3.13 on: the address of its values, if they are apart from the keys."""
_STACK_VERSIONS = ((3, 8), (3, 14))
_ENDS = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "INTERPRETER_EXIT")
_ALWAYS_JUMPS = ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")

_known_depths: dict[Any, dict[int, int]] = {}


def can_read_stack() -> bool:
    """Whether the layout of frames is known here."""
    oldest, newest = _STACK_VERSIONS
    plain = sys.implementation.name == "cpython" and object.__basicsize__ == 2 * _WORD_SIZE
    return plain and oldest <= sys.version_info[:2] <= newest


def stack_values(frame: Any, offset: int, count: int) -> list[Any]:
    """The uppermost values, the top first, as the instruction at `offset` finds them.

    To be asked from an event of that very instruction only.
    """
    if sys.version_info < (3, 11):  # noqa: UP036  also run by the debuggee's Python
        # What the collector is shown ends with the stack.
        return gc.get_referents(frame)[: -count - 1 : -1]
    import ctypes

    inner = _word_at(ctypes, id(frame) + _INNER_AT)
    if sys.version_info >= (3, 14):
        top = _word_at(ctypes, inner + _TOP_AT)
    elif sys.version_info < (3, 12):
        height = ctypes.c_int.from_address(inner + _TOP_AT).value
        top = inner + _VALUES_AT + height * _WORD_SIZE
    else:  # it is in a register, and so worked out
        code = frame.f_code
        height = len(_variable_names(code)) + stack_depths(code)[offset]
        top = inner + _VALUES_AT + height * _WORD_SIZE
    return [_object_at(ctypes, top - place * _WORD_SIZE) for place in range(1, count + 1)]


def _object_at(ctypes: Any, place: int) -> Any:
    """What a word of an interpreter's frame refers to; None if that is no object."""
    word = _word_at(ctypes, place)
    address = word & ~_REFERENCE_MARKS
    if not address or (_REFERENCE_MARKS and word & _REFERENCE_MARKS == _NUMBER_MARK):
        return None
    return ctypes.cast(address, ctypes.py_object).value


def owners_of_inline_values(space: dict[Any, Any]) -> list[Any]:
    """The object in which the values of its `__dict__` lie: since 3.13 it does not refer to the dict."""
    lie_inline = sys.version_info >= (3, 13)
    if not lie_inline or not can_read_stack():
        return []
    import ctypes

    values = _word_at(ctypes, id(space) + _DICT_VALUES_AT)
    if not values:
        return []
    size_of = type.__dict__["__basicsize__"].__get__
    return [one for one in gc.get_objects() if id(one) + size_of(type(one)) == values]


def function_of(frame: Any) -> Any:
    """The function that a frame runs, on 3.11."""
    import ctypes

    return _object_at(ctypes, _word_at(ctypes, id(frame) + _INNER_AT))


def go_on_in(frame: Any, code: Any, offset: int) -> bool:
    """Have a frame that calls this thread's go on in another code, at this offset. False where it cannot.

    For Python 3.11, where a function in Python that is called by such a one leaves it nothing but the
    frame to go on by. The codes have the same variables, and the frame is to have stack enough.
    """
    import ctypes

    callee: Any = frame_at()
    while callee.f_back is not frame:
        callee = callee.f_back
    inner, called = (_word_at(ctypes, id(one) + _INNER_AT) for one in (frame, callee))
    place = inner + _PLACE_AT
    before = frame.f_code
    if (
        not _is_frame_of(ctypes, inner, before)
        or _word_at(ctypes, place) != _text_of_code(before) + frame.f_lasti
        or _word_at(ctypes, called + _BEFORE_AT) != inner
        or ctypes.c_bool.from_address(called + _ENTRY_AT).value
    ):
        return False
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))
    ctypes.c_void_p.from_address(inner + _CODE_AT).value = id(code)
    ctypes.c_void_p.from_address(place).value = _text_of_code(code) + offset - 2
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(before))
    return True


def _text_of_code(code: Any) -> int:
    """The address of its instructions."""
    return id(code) + types.CodeType.__basicsize__


def can_read_cells() -> bool:
    """Whether `cell_of` knows: before 3.11 a frame has its variables elsewhere."""
    return can_read_stack() and sys.version_info >= (3, 11)


def cell_of(frame: Any, name: str) -> Any:
    """The cell of a variable that functions share; None if it is not made yet.

    Python hands it out only to functions made in there.
    """
    import ctypes

    inner = _word_at(ctypes, id(frame) + _INNER_AT)
    if not _is_frame_of(ctypes, inner, frame.f_code):
        return None  # another layout than is known
    index = _variable_names(frame.f_code).index(name)
    found = _object_at(ctypes, inner + _VALUES_AT + index * _WORD_SIZE)
    return found if type(found) is types.CellType else None


def variables_at_start(frame: Any) -> dict[str, Any]:
    """The arguments and the shared variables of a frame that begins; empty before 3.11.

    `f_locals` would keep them alive as long as the frame.
    """
    if not can_read_cells():
        return {}
    import ctypes

    code, inner = frame.f_code, _word_at(ctypes, id(frame) + _INNER_AT)
    if not code.co_flags & 1 or not _is_frame_of(ctypes, inner, code):
        return {}
    names = _variable_names(code)
    count = code.co_argcount + code.co_kwonlyargcount
    shared = range(len(names) - len(code.co_freevars), len(names))
    places = ((at, inner + _VALUES_AT + at * _WORD_SIZE) for at in (*range(count), *shared))
    values = {names[at]: _object_at(ctypes, place) for at, place in places}
    return {name: _content_of(value) for name, value in values.items()}


def _content_of(value: Any) -> Any:
    if type(value) is not types.CellType:
        return value
    try:
        return value.cell_contents
    except ValueError:  # it is empty
        return None


def is_in_trace_function() -> bool:
    """Whether this thread calls a trace function, a profiler or an audit hook, on 3.11: what that calls
    is not traced."""
    import ctypes

    get_state = ctypes.pythonapi.PyThreadState_Get
    get_state.restype = ctypes.c_void_p
    state = get_state()
    limit = ctypes.c_int.from_address(state + _RECURSION_LIMIT_AT).value
    is_known = limit == sys.getrecursionlimit()
    return is_known and ctypes.c_int.from_address(state + _TRACING_AT).value > 0


def referent_of(proxy: Any) -> Any:
    """What a weak proxy stands for; the proxy itself if that is gone.

    Python shows only its attributes.
    """
    import ctypes

    found = _object_at(ctypes, id(proxy) + object.__basicsize__)
    return proxy if found is None else found


def _is_frame_of(ctypes: Any, inner: int, code: Any) -> bool:
    """Whether an interpreter's frame is laid out as is known here, and has this code."""
    return _word_at(ctypes, inner + _CODE_AT) & ~_REFERENCE_MARKS == id(code)


def _word_at(ctypes: Any, address: int) -> int:
    return ctypes.c_void_p.from_address(address).value or 0


def _variable_names(code: Any) -> list[str]:
    """The frame's variables in the order in which it has them, from 3.11 on."""
    cells = [name for name in code.co_cellvars if name not in code.co_varnames]
    return [*code.co_varnames, *cells, *code.co_freevars]


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
    if one.opname == "RETURN_GENERATOR":
        return 1  # the value that is sent
    if one.opname == "EXTENDED_ARG":
        return 0
    argument = one.arg if one.opcode >= dis.HAVE_ARGUMENT else None
    return dis.stack_effect(one.opcode, argument, jump=jumps)
