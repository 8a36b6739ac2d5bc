"""Where code takes a function that writes a state: to a call, under a name, or elsewhere.

A writer that is only called where it is loaded, and bound to names alone, writes nothing unseen: whoever
calls it says its name. Known from instructions: each load is followed to what takes the value.
"""

from __future__ import annotations

import dis
import sys
import types
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.writes.writer_names import (
        SETTERS,
        names_setter,
    )


class WriterFlow(NamedTuple):
    """Of one code object."""

    calls: frozenset[int]
    """Offsets of the calls of a writer, and of those that are given one."""
    kept: frozenset[str]
    """Names of variables and attributes that it is bound to, and other code may have."""
    given: dict[int, int]
    """Offsets where one goes elsewhere, such as into a list: how deep it lies on the stack there."""


NO_FLOW = WriterFlow(frozenset(), frozenset(), {})
_REFLECTIVE = ("getattr", "methodcaller", "attrgetter")


def writer_flow(
    code: Any,
    found: list[Any],
    is_writer: Callable[[str], bool],
    *,
    follows_results: bool = True,
) -> WriterFlow:
    """found: the code's instructions, as `dis` lists them, without caches and extended arguments.

    follows_results: whether what a writer returns may be one; what calls of others return that are given one may be
    in any case.
    """
    flow, reads_by_text = _FollowedWriters(found, follows_results), reads_setter_by_text(code)
    while True:
        known = len(flow.variables)
        for place, one in enumerate(found):
            for depth, name in names_loaded(one, reads_by_text):
                if is_writer(name) or (name in flow.variables and "FAST" in one.opname):
                    flow.follow(place + 1, depth)
        if len(flow.variables) == known:
            return WriterFlow(frozenset(flow.calls), frozenset(flow.kept), flow.given)


def reads_setter_by_text(code: Any) -> bool:
    """Whether it may have a setter by its name as text, as by `getattr(object, "__setattr__")`."""
    if not any(name in code.co_names for name in _REFLECTIVE):
        return False
    return any(type(text) is str and text in SETTERS for text in code.co_consts)


def names_loaded(one: Any, reads_by_text: bool) -> list[tuple[int, str]]:
    """What an instruction loads by name, and how deep that lies below the top then."""
    operation, named = one.opname, one.argval
    if operation == "LOAD_CONST":
        return [(0, named)] if reads_by_text and type(named) is str and named in SETTERS else []
    if not operation.startswith(("LOAD_", "STORE_FAST_LOAD_")) and operation != "IMPORT_FROM":
        return []
    if type(named) is not tuple:
        return [(0, named)] if type(named) is str else []
    loaded = named if operation.startswith("LOAD_") else named[1:]
    return [(len(loaded) - 1 - place, name) for place, name in enumerate(loaded)]


class _FollowedWriters:
    """What was found of one code so far."""

    def __init__(self, found: list[Any], follows_results: bool) -> None:
        self.found, self.follows_results = found, follows_results
        self.places = {one.offset: place for place, one in enumerate(found)}
        self.calls: set[int] = set()
        self.kept: set[str] = set()
        self.given: dict[int, int] = {}
        self.variables: set[str] = set()
        """Local ones, which no other code has."""
        self.seen: set[tuple[int, int]] = set()

    def follow(self, start: int, depth: int) -> None:
        """Find what becomes of a value that lies so deep when the instruction at `start` begins."""
        todo, from_top = [(start, depth)], depth
        while todo:
            place, depth = todo.pop()
            if (place, depth) in self.seen or place >= len(self.found):
                continue
            self.seen.add((place, depth))
            one = self.found[place]
            taken = _values_taken(one)
            if taken is None or (taken > depth and not self._use(place, depth)):
                self.given[self.found[start].offset] = from_top
            elif taken <= depth:
                todo += self._next(place, depth)
            elif one.opname in _KEEP_IF_JUMP and depth == 0:
                todo.append((self.places[one.argval], 0))

    def _next(self, place: int, depth: int) -> list[tuple[int, int]]:
        """Where the value lies when it was not touched."""
        one, argument = self.found[place], self.found[place].arg or 0
        operation, after = one.opname, place + 1
        if operation in ("COPY", "DUP_TOP") and max(argument, 1) == depth + 1:
            return [(after, 0), (after, depth + 1)]
        if operation == "SWAP":
            return [(after, {0: argument - 1, argument - 1: 0}.get(depth, depth))]
        if operation in ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"):
            return []
        jumps = one.argval if one.opcode in _ALL_JUMPS else None
        ways = []
        if jumps is not None:
            ways.append((self.places[jumps], depth + _stack_change(one, True)))
        if jumps is None or not operation.startswith((*_ALWAYS_JUMP, "FOR_ITER", "SEND")):
            ways.append((after, depth + _stack_change(one, False)))
        return ways

    def _use(self, place: int, depth: int) -> bool:
        """Note what takes the value; False if no name says where it goes."""
        one = self.found[place]
        operation, named = one.opname, one.argval
        if operation.startswith("CALL") and not operation.startswith("CALL_INTRINSIC"):
            self.calls.add(one.offset)
            # What it returns may be a writer, as of `partial` or `getattr`.
            if self.follows_results or depth < _first_argument(one):
                self.follow(place + 1, 0)
            return True
        if operation.startswith("STORE_FAST"):
            names = named if type(named) is tuple else (named,)
            self.variables.add(names[min(depth, len(names) - 1)])
            return True
        if operation in ("STORE_NAME", "STORE_GLOBAL", "STORE_DEREF"):
            self.kept.add(named)
            return True
        if operation == "STORE_ATTR":
            self.kept.update((named,) if depth == 1 else ())
            return True
        if operation == "STORE_SUBSCR":  # as the namespace of code that is made by its text
            key = self.found[place - 1].argval
            is_name = depth == 2 and type(key) is str and names_setter(key)
            self.kept.update((key,) if is_name else ())
            return is_name
        if operation in ("LOAD_ATTR", "LOAD_METHOD"):
            if named in ("__get__", "__call__", "func"):
                self.follow(place + 1, 0)
            return True
        if operation in ("BUILD_TUPLE", "BUILD_MAP", "BUILD_CONST_KEY_MAP"):
            made = self._function_with_default(place + 1)
            if made is not None:
                self.kept.update(
                    _argument_with_default(made, depth if operation == "BUILD_TUPLE" else None)
                )
            return made is not None
        return bool(operation.startswith(_LET_GO))

    def _function_with_default(self, place: int) -> Any:
        """The code of the function for which the tuple that is on top now has defaults."""
        made = None
        for one in self.found[place : place + _MOST_BEHIND_DEFAULTS]:
            if type(one.argval) is types.CodeType:
                made = one.argval
            elif made is None and not one.opname.startswith(("LOAD_", "BUILD_")):
                return None
            elif one.opname == "MAKE_FUNCTION" and sys.version_info < (3, 13):
                return made if (one.arg or 0) & 3 else None
            elif one.opname == "SET_FUNCTION_ATTRIBUTE" and (one.arg or 0) & 3:
                return made
        return None


_MOST_BEHIND_DEFAULTS = 20  # instructions between the defaults of a function and what makes it
_ALL_JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
_ALWAYS_JUMP = ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE")
_KEEP_IF_JUMP = ("JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP")
_LET_GO = (
    *("IS_OP", "COMPARE_OP", "CONTAINS_OP", "POP_TOP", "UNARY_NOT", "TO_BOOL"),
    *("POP_JUMP", "JUMP_IF"),
)


def _argument_with_default(code: Any, depth: int | None) -> tuple[str, ...]:
    """The argument whose default lies so deep, the last on top; None: those that go by keyword."""
    count, arguments = code.co_argcount, code.co_varnames
    if depth is None:
        return tuple(arguments[count : count + code.co_kwonlyargcount])
    return tuple(arguments[count - 1 - depth : count - depth]) if depth < count else ()


def _first_argument(call: Any) -> int:
    """How deep on the stack what is called lies at least. Python 3.12 and later."""
    if call.opname == "CALL_FUNCTION_EX":
        return 1 + int(call.arg & 1)
    return int(call.arg) + int(call.opname == "CALL_KW")


def _stack_change(one: Any, jump: bool) -> int:
    argument = one.arg if one.opcode >= dis.HAVE_ARGUMENT else None
    return dis.stack_effect(one.opcode, argument, jump=jump)


def _values_taken(one: Any) -> int | None:
    """How many values an instruction takes from the stack; None where that is not known here."""
    operation, argument = one.opname, one.arg or 0
    if operation in _VALUES_TAKEN:
        return _VALUES_TAKEN[operation]
    if operation in _VALUES_BESIDE_ARGUMENT:
        return argument + _VALUES_BESIDE_ARGUMENT[operation]
    if operation == "BUILD_MAP":
        return 2 * argument
    if operation == "CALL_FUNCTION_EX":
        if sys.version_info >= (3, 14):
            return 4
        return 2 + (argument & 1) + (sys.version_info >= (3, 11))
    if operation == "MAKE_FUNCTION":
        given = 0 if sys.version_info >= (3, 13) else bin(argument & 15).count("1")
        return given + (1 if sys.version_info >= (3, 11) else 2)
    if operation == "FORMAT_VALUE":
        return 1 + bool(argument & 4)
    if operation.startswith(
        ("LOAD_", "DELETE_FAST", "DELETE_NAME", "DELETE_GLOBAL", "IMPORT_FROM")
    ):
        return 0
    if operation.startswith(("UNARY_", "POP_JUMP", "JUMP_IF", "STORE_")):
        return 1
    if operation.startswith(("BINARY_", "INPLACE_")):
        return 2
    return 0 if operation.startswith("JUMP_") else None


_VALUES_TAKEN = {
    **dict.fromkeys(("LOAD_ATTR", "LOAD_METHOD", "POP_TOP", "GET_ITER", "TO_BOOL"), 1),
    **dict.fromkeys(("RETURN_VALUE", "YIELD_VALUE", "GET_AWAITABLE", "LIST_TO_TUPLE"), 1),
    **dict.fromkeys(("FORMAT_SIMPLE", "CONVERT_VALUE", "CALL_INTRINSIC_1", "BEFORE_WITH"), 1),
    **dict.fromkeys(("LIST_APPEND", "SET_ADD", "LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE"), 1),
    **dict.fromkeys(("DICT_MERGE", "FOR_ITER", "SEND", "DELETE_ATTR", "UNPACK_SEQUENCE"), 1),
    **dict.fromkeys(("COMPARE_OP", "IS_OP", "CONTAINS_OP", "STORE_ATTR", "MAP_ADD"), 2),
    **dict.fromkeys(("FORMAT_WITH_SPEC", "STORE_FAST_STORE_FAST", "DELETE_SUBSCR"), 2),
    **dict.fromkeys(("SET_FUNCTION_ATTRIBUTE", "END_SEND", "IMPORT_NAME"), 2),
    **dict.fromkeys(("LOAD_SUPER_ATTR", "STORE_SUBSCR", "BINARY_SLICE"), 3),
    **dict.fromkeys(("PUSH_NULL", "NOP", "RESUME", "PRECALL", "KW_NAMES", "MAKE_CELL"), 0),
    **dict.fromkeys(("COPY", "SWAP", "DUP_TOP", "RETURN_CONST", "GET_LEN"), 0),
    "STORE_SLICE": 4,
    "END_FOR": 2 if sys.version_info < (3, 13) else 1,
}
_VALUES_BESIDE_ARGUMENT = {
    **dict.fromkeys(("BUILD_TUPLE", "BUILD_LIST", "BUILD_SET", "BUILD_STRING", "BUILD_SLICE"), 0),
    **dict.fromkeys(("BUILD_CONST_KEY_MAP", "CALL_FUNCTION", "CALL_FUNCTION"), 1),
    **dict.fromkeys(("CALL", "CALL_METHOD", "CALL_FUNCTION_KW"), 2),
    "CALL_KW": 3,
}
