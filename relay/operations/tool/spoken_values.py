"""Values in words that no language owns: int, float, string, bool, array, map, nil.

For faces whose clients know no Python. The table of types belongs to the session's
adapter, which a program's name chooses; what is in none of its rows is called by its class.
"""

from __future__ import annotations

import ast
import json
import re

from relay.session.debugger import Debugger

INT = re.compile(r"-?(0|[1-9][0-9]*)")
FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?|-?Inf|NaN")


def spoken(debugger: Debugger, value: str, type_name: str) -> tuple[str, str]:
    """(value, type) for a value as its debugger shows it. Texts are put in double quotes."""
    if type_name in debugger.scalars:
        return _scalar(value)
    name = type_name.rpartition(".")[2]
    kind = debugger.types.get(name, name)
    return (_as_json(value) if kind == "string" else value), kind


def _scalar(shown: str) -> tuple[str, str]:
    """A value that is a number to its language if it looks like one."""
    if shown == "undef":
        return shown, "nil"
    if INT.fullmatch(shown):
        return shown, "int"
    if FLOAT.fullmatch(shown) and not re.match(r"-?0[0-9]", shown):
        return shown, "float"
    return _quoted(shown), "string"


def _as_json(shown: str) -> str:
    """A Python literal as JSON writes it; what is none (masked, say) stays as it is."""
    try:
        text = ast.literal_eval(shown)
    except (ValueError, SyntaxError, MemoryError):
        return shown
    if not isinstance(text, str):
        return shown
    return _quoted(text)


def _quoted(text: str) -> str:
    lone = any("\ud800" <= character <= "\udfff" for character in text)
    return json.dumps(text, ensure_ascii=lone)  # surrogates have no UTF-8
