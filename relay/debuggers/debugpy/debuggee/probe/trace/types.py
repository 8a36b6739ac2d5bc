"""What lines can change where the types of a function's arguments are known.

Most lines only read: an attribute that is stored, an item of a list, a `len`. Without the types each of
them may run any code; with them it is known which do. Operators count as reading, but for those that
`lines.py` names, and so does what they ask of a type: comparison, hash, arithmetic.
"""

from __future__ import annotations

import builtins
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import call_at, facts_of, pushed
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import JUMPS
    from relay.debuggers.debugpy.debuggee.probe.trace.lines import (
        LineFacts,
        acting_lines,
        lines_of_instructions,
        stored_names,
        taken_names,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.values import UNCHANGING
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        is_heap_type,
        lookup,
        module_of,
        mro_of,
    )

_INDEXED = frozenset((list, tuple, dict, str, bytes, range))
_ITERATED = frozenset((*_INDEXED, set, frozenset))
"""Whose iteration runs no code of the program."""
_LAZY = (enumerate, zip)  # iterate over what they were given

# What they give; None where that depends on what they are given.
_FUNCTIONS: dict[str, Any] = dict.fromkeys(("len", "ord", "id", "hash"), int)
_FUNCTIONS.update(dict.fromkeys(("isinstance", "issubclass", "callable", "bool"), bool))
_FUNCTIONS.update(chr=str, abs=None, divmod=None, round=None, int=int, float=float, range=range)
_ITERATING: dict[str, Any] = dict.fromkeys(("min", "max", "sum"))
_ITERATING.update(dict.fromkeys(("any", "all"), bool), sorted=list, list=list, tuple=tuple)
_ITERATING.update(set=set, frozenset=frozenset, dict=dict, enumerate=enumerate, zip=zip)
_TEXT_METHODS: dict[str, Any] = {
    **dict.fromkeys(("split", "rsplit", "splitlines"), list),
    **dict.fromkeys(("partition", "rpartition"), tuple),
    **dict.fromkeys(("find", "rfind", "index", "rindex", "count"), int),
    **dict.fromkeys(("startswith", "endswith", "isdigit", "isalpha", "isalnum", "isspace"), bool),
    **dict.fromkeys(("upper", "lower", "strip", "lstrip", "rstrip", "title", "casefold"), str),
    **dict.fromkeys(("replace", "removeprefix", "removesuffix", "zfill", "ljust", "rjust"), str),
    "encode": bytes,
}
_METHODS: dict[Any, dict[str, Any]] = {
    str: _TEXT_METHODS,
    list: {"index": int, "count": int, "copy": list},
    tuple: {"index": int, "count": int},
    dict: {"get": None, "copy": dict, "keys": None, "values": None, "items": None},
    set: {"copy": set},
}
_BOUND_KINDS = (types.FunctionType, types.MemberDescriptorType, classmethod, staticmethod)
_CALLED = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_HANDING_ON = (types.ModuleType, super)
_MOST_INSTRUCTIONS = 2_000


def facts_of_types(facts: LineFacts, found: dict[str, Any], names: dict[str, Any]) -> LineFacts:
    """The facts of code that is called with values of these types; takes a millisecond.

    found: what was given, by name, none of it bound anew so far. names: the globals.
    """
    is_plain = UNCHANGING.issuperset(map(type, found.values()))
    acts, instructions = facts.acts, facts_of(facts.code)[0]
    surely_acts: frozenset[int] = frozenset()
    if len(instructions) <= _MOST_INSTRUCTIONS:
        stores = _places_of_stores(instructions)
        arguments = {name: found[name] for name in facts.arguments if name in found}
        typed = _TypedCode(facts.code, arguments, stores, names)
        known = set(typed.types)
        for name, places in stores.items():
            if len(places) == 1 and name not in facts.arguments:
                typed.learn(name, places[0])
        acts = acting_lines(facts.code, typed.only_reads)
        surely_acts = frozenset(
            line for line in acts if known.issuperset(facts.loads.get(line, ()))
        )
    return facts.typed(acts, surely_acts, is_plain)


def line_only_reads(
    facts: LineFacts, line: int, found: dict[str, Any], names: dict[str, Any]
) -> bool:
    """Whether a line changes nothing where it finds values of these types; takes a millisecond.

    found: the locals that it takes, as they are now.
    """
    instructions = facts_of(facts.code)[0]
    if len(instructions) > _MOST_INSTRUCTIONS:
        return False
    typed = _TypedCode(facts.code, found, _bound_before_use(facts.code, line), names)
    return line not in acting_lines(
        facts.code,
        lambda index, one: typed.lines[index] != line or typed.only_reads(index, one),
    )


def _bound_before_use(code: Any, line: int) -> set[str]:
    """The locals to which the line may give a value before it takes theirs; `x += 1` does not."""
    bound: set[str] = set()
    again: set[str] = set()
    first = None
    for of_line, one in lines_of_instructions(code):
        if of_line != line:
            continue
        first = one.offset if first is None else first
        again |= bound.intersection(taken_names(one))
        bound.update(stored_names(one))
        if one.opcode in JUMPS and type(one.argval) is int and first <= one.argval <= one.offset:
            return bound  # a loop within the line
    return again


def _places_of_stores(instructions: list[Any]) -> dict[str, list[int]]:
    stores: dict[str, list[int]] = {}
    for index, one in enumerate(instructions):
        for name in stored_names(one):
            stores.setdefault(name, []).append(index)
    return stores


class _TypedCode:
    """Code of which the types of some locals are known, as long as they are not bound anew."""

    def __init__(
        self, code: Any, found: dict[str, Any], bound_anew: Any, names: dict[str, Any]
    ) -> None:
        self.code, self.names = code, names
        self.instructions = facts_of(code)[0]
        self.lines = [line for line, _ in lines_of_instructions(code)]
        unknown = {*bound_anew, *code.co_cellvars}
        self.types = {name: type(value) for name, value in found.items() if name not in unknown}

    def learn(self, name: str, index: int) -> None:
        """The type of a local that gets its only value from this instruction, if it can be told."""
        if self.instructions[index].opname == "STORE_FAST":
            self.types[name] = self.type_of(pushed(self.code, index, 0))

    def type_of(self, expression: Any) -> Any:
        """The type of what an expression gives; None if it cannot be told."""
        kind = expression[0]
        if kind == "constant":
            return type(expression[1])
        if kind == "local":
            return self.types.get(expression[1])
        return self._result(expression[1]) if kind == "call" else None

    def _result(self, function: Any) -> Any:
        if function[0] == "global" and self._is_builtin(function[1]):
            return _FUNCTIONS.get(function[1]) or _ITERATING.get(function[1])
        if function[0] == "attribute":
            return _METHODS.get(self.type_of(function[1]), {}).get(function[2])
        return None

    def only_reads(self, index: int, one: Any) -> bool:
        """Whether an instruction that may act does not, given the types."""
        name = one.opname
        if name in ("LOAD_ATTR", "LOAD_METHOD"):
            return _is_read(self._operand(index, 0), one.argval)
        if name in ("BINARY_SUBSCR", "BINARY_SLICE"):
            return self._operand(index, 1 if name == "BINARY_SUBSCR" else 2) in _INDEXED
        if name == "BINARY_OP":
            return self._operand(index, 1) in UNCHANGING
        if name == "PRECALL":
            return True  # the call follows
        if name in ("CALL", "CALL_KW"):
            return self._is_reading_call(index)
        if name == "GET_ITER":
            kind, before = self._operand(index, 0), self.instructions[index - 1]
            is_call = before.opname == "CALL"
            return kind in _ITERATED or (
                kind in _LAZY and is_call and self._is_reading_call(index - 1)
            )
        if name == "FOR_ITER":
            before = self.instructions[index - 1]
            return before.opname == "GET_ITER" and self.only_reads(index - 1, before)
        if name in ("FORMAT_VALUE", "FORMAT_SIMPLE"):
            return not (name == "FORMAT_VALUE" and one.arg & 4) and (
                self._operand(index, 0) in UNCHANGING
            )
        return False

    def _operand(self, index: int, depth: int) -> Any:
        return self.type_of(pushed(self.code, index, depth))

    def _is_reading_call(self, index: int) -> bool:
        function, arguments = call_at(self.code, index)
        if function[0] == "attribute":
            return function[2] in _METHODS.get(self.type_of(function[1]), ())
        if function[0] != "global" or not self._is_builtin(function[1]):
            return False
        if function[1] in _FUNCTIONS:
            return True
        return function[1] in _ITERATING and all(map(self._is_harmless_argument, arguments))

    def _is_harmless_argument(self, argument: Any) -> bool:
        """Of a function that iterates over it, or calls it as its key."""
        if argument[0] == "global":
            return self._is_builtin(argument[1]) and argument[1] in _FUNCTIONS
        kind = self.type_of(argument)
        return kind in _ITERATED or (kind in UNCHANGING and kind not in _CALLED)

    def _is_builtin(self, name: str) -> bool:
        return name not in self.names and hasattr(builtins, name)


def _is_read(kind: Any, name: str) -> bool:
    """Whether an attribute of this type's instances is only looked up."""
    if kind is None or issubclass(kind, type):
        return False
    if not is_heap_type(kind):  # in C, which may hand on to an object of the program
        return module_of(kind) == "builtins" and kind not in _HANDING_ON
    mro = mro_of(kind)
    if lookup(mro, "__getattribute__") is not object.__getattribute__:
        return False
    found = lookup(mro, name)
    if found is None:
        return lookup(mro, "__getattr__") is None
    return type(found) in _BOUND_KINDS or lookup(mro_of(type(found)), "__get__") is None
