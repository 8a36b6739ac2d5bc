"""What a frame's code is about to do: the call that it stands in, and what that takes from the stack.

Reads bytecode of Python 3.8 and later, and gives expressions: names, attributes and items, which
`stored_expressions.py` looks up without running anything. What is computed, or depends on the way that the
program took, is unknown: no expression is guessed.
"""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_reading import instructions_of
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import AskedOnce
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import (
        JUMPS,
        begun_line,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.inserted import inserted_in, unwinding_in

UNKNOWN: Any = ("unknown",)
_NAME_LOADS = {
    "LOAD_FAST": "local",
    "LOAD_FAST_CHECK": "local",
    "LOAD_FAST_BORROW": "local",
    "LOAD_FAST_AND_CLEAR": "local",
    "LOAD_DEREF": "local",
    "LOAD_CLASSDEREF": "local",
    "LOAD_GLOBAL": "global",
    "LOAD_NAME": "name",
}
_PAIR_LOADS = ("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW")
_COPIED_BEFORE_311 = {"DUP_TOP": 1, "DUP_TOP_TWO": 2}
_ROTATED_BEFORE_311 = {"ROT_TWO": 2, "ROT_THREE": 3, "ROT_FOUR": 4}
_QUIET_OPS = ("NOP", "CACHE", "RESUME", "EXTENDED_ARG", "KW_NAMES", "PRECALL", "NOT_TAKEN")
_CALL_OPS = (
    "CALL",
    "PRECALL",
    "CALL_FUNCTION",
    "CALL_METHOD",
    "CALL_FUNCTION_KW",
    "CALL_KW",
    "CALL_FUNCTION_EX",
)
WITH_OPERATIONS = ("SETUP_WITH", "BEFORE_WITH", "SETUP_ASYNC_WITH", "BEFORE_ASYNC_WITH")
AWAIT_OPERATIONS = (
    "GET_AWAITABLE",
    "LOAD_CONST",
    "YIELD_FROM",
    "SEND",
    "YIELD_VALUE",
    "RESUME",
    "JUMP_BACKWARD_NO_INTERRUPT",
    "CLEANUP_THROW",
    "END_SEND",
    "CACHE",
    "EXTENDED_ARG",
)
_STORES = (
    "STORE_FAST",
    "STORE_NAME",
    "STORE_GLOBAL",
    "STORE_DEREF",
    "STORE_ATTR",
    "DELETE_",
)
_ARITHMETIC = {  # up to Python 3.10
    "BINARY_ADD": "+",
    "BINARY_SUBTRACT": "-",
    "BINARY_MULTIPLY": "*",
    "BINARY_FLOOR_DIVIDE": "//",
    "BINARY_MODULO": "%",
    "BINARY_XOR": "^",
}
_WHOLE_NUMBER_OPERATORS = frozenset(_ARITHMETIC.values())
_LONGEST_LOOKBACK = 400
GOES_ON_LATER = 0x20 | 0x80 | 0x200
"""Of a code's flags: of generators and coroutines, whose frames are left and come back to."""
HAS_FAST_VARIABLES = 0x1  # of a code's flags: a function's, whose variables are in no dict
_GLOBAL_OPS = ("LOAD_GLOBAL", "STORE_GLOBAL", "DELETE_GLOBAL")

_code_facts: dict[int, tuple[Any, list[Any], dict[int, int], frozenset[int]]] = {}
"""Of each code object: itself, its instructions, their indices, the targets of its jumps."""


def facts_of(code: Any) -> tuple[list[Any], dict[int, int], frozenset[int]]:
    """Its instructions, without those of traps; their indices by offset, where a trap counts as what
    it stands before; the offsets that jumps lead to."""
    known = _code_facts.get(id(code))
    if known is None or known[0] is not code:
        inserted, passed = inserted_in(code), unwinding_in(code)
        found = instructions_of(code)
        if inserted or passed:
            found = [
                one._replace(argval=inserted[one.argval])
                if one.opcode in JUMPS and one.argval in inserted
                else one
                for one in found
                if one.offset not in inserted and one.offset not in passed
            ]
        indices = {one.offset: index for index, one in enumerate(found)}
        indices.update({at: indices[behind] for at, behind in inserted.items()})
        jumps = frozenset(one.argval for one in found if one.opcode in JUMPS)
        if len(_code_facts) > 500:
            _code_facts.clear()
        known = _code_facts[id(code)] = code, found, indices, jumps
    return known[1], known[2], known[3]


def names_bound_anew(code: Any) -> frozenset[str]:
    """Variables that the code binds or deletes, or functions inside of it do."""
    found: set[str] = set()
    for one in facts_of(code)[0]:
        if one.opname in ("STORE_FAST", "DELETE_FAST", "STORE_DEREF", "DELETE_DEREF"):
            found.add(one.argval)
        elif one.opname == "STORE_FAST_STORE_FAST":
            found.update(one.argval)
        elif one.opname == "STORE_FAST_LOAD_FAST":
            found.add(one.argval[0])
    for inner in code.co_consts:
        if type(inner) is types.CodeType:
            found |= names_bound_anew(inner).intersection(inner.co_freevars)
    return frozenset(found)


def argument_count(code: Any) -> int:
    """How many of its variables are arguments: the first ones."""
    stars = bool(code.co_flags & 4) + bool(code.co_flags & 8)  # *args, **kwargs
    return int(code.co_argcount + code.co_kwonlyargcount + stars)


def attributes_stored_by(code: Any) -> list[str]:
    """Attributes, of whatever objects, that the code binds, in its order."""
    return [one.argval for one in facts_of(code)[0] if one.opname == "STORE_ATTR"]


def variable_kind(code: Any, name: str) -> str:
    """ "local", "cell" for one that functions share, or "" for what is no variable of this code.

    A comprehension that runs in the code's frame (3.12 and later) has its variables there, too,
    which is told from those of the code itself where these are kept elsewhere.
    """
    if name in code.co_freevars:
        return "cell"
    if not code.co_flags & HAS_FAST_VARIABLES:
        return ""  # of a module or class: all its own are in a dict
    kind = "cell" if name in code.co_cellvars else "local" if name in code.co_varnames else ""
    if kind and name in code.co_names:
        found = facts_of(code)[0]
        if any(one.argval == name and one.opname in _GLOBAL_OPS for one in found):
            return ""
    return kind


def index_at(code: Any, offset: int) -> int | None:
    """The instruction at an offset; 3.11 and 3.12 count a call's caches to the call.

    Before 3.11 a frame stands at what makes the argument longer that its instruction is given.
    """
    found, indices, _ = facts_of(code)
    for back in range(0, 40, 2):
        if offset - back in indices:
            index = indices[offset - back]
            while found[index].opname == "EXTENDED_ARG":
                index += 1
            return index
    return None


# ---------------------------------------------------------------------------- the stack


def _effect(one: Any) -> tuple[int, int] | None:
    """How many values an instruction takes and gives; None where it is not known here."""
    name, arg = one.opname, one.arg or 0
    if name in _QUIET_OPS:
        return 0, 0
    if name == "LOAD_GLOBAL":
        return 0, 2 if sys.version_info >= (3, 11) and arg & 1 else 1
    if name in _NAME_LOADS or name in ("LOAD_CONST", "LOAD_SMALL_INT", "LOAD_CLOSURE", "PUSH_NULL"):
        return 0, 1
    if name in _PAIR_LOADS:
        return 0, 2
    if name == "STORE_FAST_LOAD_FAST":
        return 1, 1
    if name == "LOAD_ATTR":
        return 1, 2 if sys.version_info >= (3, 12) and arg & 1 else 1
    if name == "LOAD_METHOD":
        return 1, 2
    if name == "LOAD_SUPER_ATTR":
        return 3, 2 if arg & 1 else 1
    if name == "BINARY_SLICE":
        return 3, 1
    if name.startswith(("BINARY_", "INPLACE_")) or name in ("COMPARE_OP", "IS_OP", "CONTAINS_OP"):
        return 2, 1
    if name.startswith("UNARY_") or name in ("TO_BOOL", "FORMAT_SIMPLE", "CONVERT_VALUE"):
        return 1, 1
    if name == "FORMAT_VALUE":
        return (2 if arg & 4 else 1), 1
    if name in ("BUILD_TUPLE", "BUILD_LIST", "BUILD_SET", "BUILD_STRING", "BUILD_SLICE"):
        return arg, 1
    if name in ("DICT_MERGE", "DICT_UPDATE", "LIST_EXTEND", "SET_UPDATE"):
        return 1, 0  # into what lies below
    if name in ("BUILD_MAP", "BUILD_CONST_KEY_MAP"):
        return (2 * arg if name == "BUILD_MAP" else arg + 1), 1
    taken = taken_by_call(one)
    return None if taken is None else (taken, 1)


def taken_by_call(one: Any) -> int | None:
    """How many values a call takes from the stack, the function among them."""
    name, arg = one.opname, one.arg or 0
    if name == "CALL_FUNCTION":
        return arg + 1
    if name in ("CALL_METHOD", "CALL_FUNCTION_KW", "CALL"):
        return arg + 2
    if name == "PRECALL":  # a specialised one makes the call itself
        return arg + 2
    if name == "CALL_KW":
        return arg + 3
    if name == "CALL_FUNCTION_EX":
        if sys.version_info >= (3, 14):
            return 4
        return (arg & 1) + (3 if sys.version_info >= (3, 11) else 2)
    return None


def pushed(code: Any, index: int, depth: int) -> Any:
    """The expression whose value lies `depth` below the top just before instruction `index`."""
    pusher = _pusher(code, index, depth)
    return UNKNOWN if pusher is None else _expression(code, *pusher)


def stacked(code: Any, index: int, depth: int) -> Any:
    """The same, also of what was copied or moved on the stack meanwhile, as by `cart.total += 1`."""
    pusher = _pusher(code, index, depth, _depth_before_move)
    return UNKNOWN if pusher is None else _expression(code, *pusher)


def operation_behind(code: Any, index: int, depth: int) -> str:
    """The name of the instruction that gave the value `depth` below the top there; "" if unknown."""
    pusher = _pusher(code, index, depth)
    return "" if pusher is None else facts_of(code)[0][pusher[0]].opname


def _depth_before_move(one: Any, depth: int) -> int | None:
    """How deep a value lay before an instruction that copies or moves values; None if it does not."""
    name, arg = one.opname, one.arg or 0
    if name == "COPY":
        return depth - 1 if depth else arg - 1
    if name == "SWAP":
        return {0: arg - 1, arg - 1: 0}.get(depth, depth)
    if name in _COPIED_BEFORE_311:
        copied = _COPIED_BEFORE_311[name]
        return depth if depth < copied else depth - copied
    if name in _ROTATED_BEFORE_311:
        rotated = _ROTATED_BEFORE_311[name]
        return depth if depth >= rotated else (depth + 1) % rotated
    return None


def _pusher(
    code: Any, index: int, depth: int, before_move: Any = lambda *_: None
) -> tuple[int, int] | None:
    """The index of the instruction that gave a value, and which of those that it gave it is."""
    found, _, jumps = facts_of(code)
    for at in range(index - 1, max(-1, index - 1 - _LONGEST_LOOKBACK), -1):
        if found[at + 1].offset in jumps:
            return None  # another way leads here, which may have left something else
        one = found[at]
        moved_from = before_move(one, depth)
        if moved_from is not None:
            depth = moved_from
            continue
        effect = None if one.opcode in JUMPS else _effect(one)
        if effect is None:
            return None
        taken, given = effect
        if depth < given:
            return at, given - 1 - depth
        depth += taken - given
    return None


def _expression(code: Any, at: int, position: int) -> Any:
    """What an instruction gives, as an expression; `position` counts its values from below."""
    one = facts_of(code)[0][at]
    name = one.opname
    if name == "LOAD_GLOBAL" and one.arg is not None and _effect(one) == (0, 2):
        # Up to 3.12 the mark of a plain function lies below it, from 3.13 on above.
        value_at = 0 if sys.version_info >= (3, 13) else 1
        return ("global", _argname(one)) if position == value_at else UNKNOWN
    if name in _NAME_LOADS:
        return _NAME_LOADS[name], _argname(one)
    if name in _PAIR_LOADS or name == "STORE_FAST_LOAD_FAST":
        names = one.argval
        at_name = position if name in _PAIR_LOADS else 1
        return ("local", names[at_name]) if type(names) is tuple else UNKNOWN
    if name in ("LOAD_CONST", "LOAD_SMALL_INT"):
        return "constant", one.argval
    if name in ("LOAD_ATTR", "LOAD_METHOD"):
        return "attribute", pushed(code, at, 0), one.argval
    if name == "LOAD_SUPER_ATTR":  # from 3.12 on; before there is a call of `super`
        given = [pushed(code, at, depth) for depth in (1, 0)] if (one.arg or 0) & 2 else []
        return "attribute", ("call", pushed(code, at, 2), ("arguments", *given)), one.argval
    if name == "BINARY_SUBSCR" or (name == "BINARY_OP" and "[" in str(one.argrepr)):
        return "item", pushed(code, at, 1), pushed(code, at, 0)
    operator = _ARITHMETIC.get(name, one.argrepr if name == "BINARY_OP" else "")
    if operator in _WHOLE_NUMBER_OPERATORS:
        return "arithmetic", operator, pushed(code, at, 1), pushed(code, at, 0)
    if taken_by_call(one) is not None:
        function, arguments = call_at(code, at)
        return "call", function, ("arguments", *arguments)
    return UNKNOWN


def _argname(one: Any) -> str:
    return str(one.argval)


def call_at(code: Any, index: int) -> tuple[Any, list[Any]]:
    """The function that a call calls, and its arguments by position; both are expressions."""
    one = facts_of(code)[0][index]
    name, count = one.opname, one.arg or 0
    taken = taken_by_call(one)
    if taken is None:
        return UNKNOWN, []
    if name == "CALL_FUNCTION_EX":
        below = 2 if sys.version_info >= (3, 14) else 1 + (count & 1)
        candidates = [pushed(code, index, depth) for depth in (below, below + 1)]
        return next((one for one in candidates if one != UNKNOWN), UNKNOWN), []
    extra = 1 if name in ("CALL_KW", "CALL_FUNCTION_KW") else 0
    arguments = [pushed(code, index, extra + count - 1 - n) for n in range(count)]
    below = extra + count
    candidates = [pushed(code, index, depth) for depth in (below, below + 1)]
    if name in ("CALL_FUNCTION", "CALL_FUNCTION_KW"):
        return candidates[0], arguments
    # Function and mark, or method and object, in either order: whichever is the function.
    functions = [one for one in candidates if one != UNKNOWN]
    methods = [one for one in functions if one[0] == "attribute"]
    function = (methods or functions or [UNKNOWN])[0]
    return function, arguments


# ---------------------------------------------------------------------------- what stands


def present_call(frame: Any) -> tuple[Any, list[Any]]:
    """The call that the frame is in: the function and its arguments, as expressions.

    The start of a `with` is a call of `__enter__`.
    """
    code = frame.f_code
    found = facts_of(code)[0]
    index = index_at(code, frame.f_lasti)
    if index is None:
        return UNKNOWN, []
    one = found[index]
    if one.opname in WITH_OPERATIONS:
        return ("attribute", pushed(code, index, 0), "__enter__"), []
    if one.opname in _CALL_OPS:
        manager = manager_of_special(code, index)
        if manager is not None:
            return ("attribute", manager, "__enter__"), []
        return call_at(code, index)
    if one.opname == "FOR_ITER":
        repeated = (
            UNKNOWN if dict.__contains__(frame.f_globals, "iter") else repeated_call(code, index)
        )
        return ("attribute", UNKNOWN, "__next__") if repeated == UNKNOWN else repeated, []
    return UNKNOWN, []


def repeated_call(code: Any, index: int) -> Any:
    """The function that `for item in iter(function, end)` calls for each item, as an expression.

    Unknown where the loop stores a name of it: then it may mean another one by now.
    """
    found = facts_of(code)[0]
    before = [
        place for place in range(max(0, index - 8), index) if found[place].opname not in _QUIET_OPS
    ]
    if len(before) < 2 or found[before[-1]].opname != "GET_ITER":
        return UNKNOWN
    if found[before[-2]].opname not in _CALL_OPS:
        return UNKNOWN
    function, arguments = call_at(code, before[-2])
    if function != ("global", "iter") or len(arguments) != 2:
        return UNKNOWN
    name = arguments[0]
    while name[0] == "attribute":
        name = name[1]
    stored = {
        each
        for one in found[index:]
        if one.opname.startswith(("STORE_", "DELETE_"))
        for each in (one.argval if type(one.argval) is tuple else (one.argval,))
    }
    is_name = name[0] in ("local", "global", "name")
    return arguments[0] if is_name and name[1] not in stored else UNKNOWN


def awaited_call(frame: Any) -> Any:
    """The function whose result a suspended frame awaits, as an expression.

    The start of an `async with` is a call of `__aenter__`.
    """
    return _call_awaited_at(frame.f_code, frame.f_lasti)


@AskedOnce
def _call_awaited_at(code: Any, offset: int) -> Any:
    found, index = facts_of(code)[0], _index_ahead_of_await(code, offset)
    if index is None:
        return UNKNOWN
    if found[index].opname in WITH_OPERATIONS:
        return "attribute", pushed(code, index, 0), "__aenter__"
    if found[index].opname in _CALL_OPS:
        manager = manager_of_special(code, index)
        return call_at(code, index)[0] if manager is None else ("attribute", manager, "__aenter__")
    return UNKNOWN


def awaited_value(frame: Any) -> Any:
    """What a suspended frame awaits, as an expression."""
    return _value_awaited_at(frame.f_code, frame.f_lasti)


@AskedOnce
def _value_awaited_at(code: Any, offset: int) -> Any:
    index = _index_ahead_of_await(code, offset)
    return UNKNOWN if index is None else pushed(code, index + 1, 0)


def _index_ahead_of_await(code: Any, offset: int) -> int | None:
    """Of the instruction that gave what a frame awaits that is suspended there; None if that is not known."""
    found, index = facts_of(code)[0], index_at(code, offset)
    while index is not None and index > 0 and found[index].opname in AWAIT_OPERATIONS:
        index -= 1
    return index


def manager_of_special(code: Any, index: int) -> Any:
    """What `with` is about to enter by a call at `index`, as Python 3.14 does it; else None."""
    found = facts_of(code)[0]
    names = [one.opname for one in found[max(0, index - 5) : index] if one.opname != "CACHE"]
    if names[-1:] != ["LOAD_SPECIAL"] or "COPY" not in names:
        return None
    copy = next(at for at in range(index, -1, -1) if found[at].opname == "COPY")
    return pushed(code, copy, 0)


def may_have_changed(code: Any, expression: Any, start: int, here: int) -> bool:
    """Whether a name in the expression may have been given another value on the way from
    instruction `start` to `here`.
    """
    found, indices, _ = facts_of(code)
    last = here
    for at in range(here, len(found)):  # a loop that has been round before
        if found[at].opcode in JUMPS and start < indices.get(found[at].argval, -1) <= here:
            last = at
    names = _names_in(expression)
    on_the_way = (*found[start + 1 : here], *found[here + 1 : last])
    return any(not names.isdisjoint(_names_stored(one)) for one in on_the_way)


def _names_in(expression: Any) -> frozenset[str]:
    """Of variables and attributes."""
    kind, *parts = expression
    if kind in ("constant", "unknown"):
        return frozenset()
    inner = frozenset().union(*(_names_in(part) for part in parts if type(part) is tuple))
    return inner | {part for part in parts if type(part) is str}


def _names_stored(one: Any) -> tuple[str, ...]:
    if not one.opname.startswith(_STORES):
        return ()
    names = one.argval if type(one.argval) is tuple else (one.argval,)
    return names[:1] if one.opname == "STORE_FAST_LOAD_FAST" else names


def line_at(found: list[Any], index: int) -> int:
    for one in reversed(found[: index + 1]):
        line = begun_line(one)
        if line:
            return line
    return 0
