"""Expressions of names, attributes, items, sums of whole numbers and the `len` of what Python itself
has: looked up where the values are stored, and as text.

Nothing of the program is run for them. `bytecode.py` makes them, of tuples: the kind, then its parts.
"""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.frames.static_lookup import (
        Computed,
        attribute_behind,
        attribute_of,
        stored_item,
    )


_SUM_FUNCTIONS: dict[str, Any] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "^": operator.xor,
}
_HAVE_LENGTH = (list, tuple, dict, set, str)


def stored_result(expression: Any, frame: Any) -> Any:
    """The value of an expression now; raises LookupError or AttributeError if it is not stored."""
    kind = expression[0]
    if kind == "constant":
        return expression[1]
    if kind in ("local", "name", "global"):
        spaces = [] if kind == "global" else [dict(items_of(frame.f_locals))]
        if kind != "local":
            spaces += [frame.f_globals, sys.modules["builtins"].__dict__]
        for space in spaces:
            if expression[1] in space:
                return space[expression[1]]
        raise LookupError(expression[1])
    if kind == "attribute":
        name = str(expression[2])
        if expression[1][0] == "call" and stored_result(expression[1][1], frame) is super:
            cls, value = _given_to_super(expression[1][2][1:], frame)
            found = attribute_behind(cls, value, name)
        else:
            found = attribute_of(stored_result(expression[1], frame), name)
        if type(found) is Computed:
            raise LookupError(expression[2])
        return found
    if kind == "item":
        return stored_item(stored_result(expression[1], frame), stored_result(expression[2], frame))
    if kind == "arithmetic":
        return _whole_number(expression[1], *(stored_result(one, frame) for one in expression[2:]))
    if kind == "call":
        return _stored_length(
            *(stored_result(one, frame) for one in (expression[1], *expression[2][1:]))
        )
    raise LookupError(kind)


def _given_to_super(given: Any, frame: Any) -> list[Any]:
    """The class and the object; without arguments they are those of the method."""
    code = frame.f_code
    if not given and code.co_argcount:
        given = ("local", "__class__"), ("local", code.co_varnames[0])
    if len(given) != 2:
        raise LookupError("super")
    return [stored_result(one, frame) for one in given]


def _whole_number(operation: str, left: Any, right: Any) -> int:
    is_plain = type(left) is int and type(right) is int
    if not is_plain or (right == 0 and operation in ("//", "%")):
        raise LookupError(operation)
    return int(_SUM_FUNCTIONS[operation](left, right))


def _stored_length(function: Any, *arguments: Any) -> int:
    """Of a call of `len`; no other call has a result that is stored."""
    if function is not len or len(arguments) != 1 or type(arguments[0]) not in _HAVE_LENGTH:
        raise LookupError("call")
    length: int = len(arguments[0])
    return length


def expression_text(expression: Any) -> str | None:
    """As it is written in the source; None if a part of it is not known."""
    kind = expression[0]
    if kind in ("local", "name", "global"):
        return str(expression[1])
    if kind == "constant":
        value = expression[1]
        return repr(value) if type(value) in (int, str, float, bool, type(None)) else None
    if kind == "attribute":
        base = expression_text(expression[1])
        return None if base is None else f"{base}.{expression[2]}"
    if kind == "item":
        base, key = expression_text(expression[1]), expression_text(expression[2])
        return None if base is None or key is None else f"{base}[{key}]"
    if kind == "arithmetic":
        left, right = (_operand_text(one) for one in expression[2:])
        return None if left is None or right is None else f"{left} {expression[1]} {right}"
    if kind == "call":
        base = expression_text(expression[1])
        known = [text for text in map(expression_text, expression[2][1:]) if text is not None]
        arguments = ", ".join(known) if len(known) == len(expression[2]) - 1 else "…"
        return None if base is None else f"{base}({arguments})"
    return None


def _operand_text(expression: Any) -> str | None:
    text = expression_text(expression)
    return f"({text})" if text is not None and expression[0] == "arithmetic" else text
