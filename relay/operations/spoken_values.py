"""Values in words that no language owns: int, float, string, bool, array, map, nil.

For faces whose clients know no Python. The table of types belongs to the session's
adapter, which a program's name chooses; what is in none of its rows is called by its class.
"""

from __future__ import annotations

import ast
import json

from relay.adapters import Adapter


def spoken(adapter: Adapter, value: str, type_name: str) -> tuple[str, str]:
    """(value, type) for a value as its debugger shows it. Texts are put in double quotes."""
    name = type_name.rpartition(".")[2]
    kind = adapter.types.get(name, name)
    return (_as_json(value) if kind == "string" else value), kind


def _as_json(shown: str) -> str:
    """A Python literal as JSON writes it; what is none (masked, say) stays as it is."""
    try:
        text = ast.literal_eval(shown)
    except (ValueError, SyntaxError, MemoryError):
        return shown
    if not isinstance(text, str):
        return shown
    lone = any("\ud800" <= character <= "\udfff" for character in text)
    return json.dumps(text, ensure_ascii=lone)  # surrogates have no UTF-8
