"""Expressions of names, attributes and items: looked up where the values are stored, and as text.

Nothing of the program is run for them. `bytecode.py` makes them, of tuples: the kind, then its parts.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.scopes import items_of
    from relay.debuggers.debugpy.debuggee.probe.frames.static_lookup import (
        Computed,
        attribute_of,
        stored_item,
    )


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
        found = attribute_of(stored_result(expression[1], frame), str(expression[2]))
        if type(found) is Computed:
            raise LookupError(expression[2])
        return found
    if kind == "item":
        return stored_item(stored_result(expression[1], frame), stored_result(expression[2], frame))
    raise LookupError(kind)


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
    if kind == "call":
        base = expression_text(expression[1])
        return None if base is None else f"{base}()"
    return None
