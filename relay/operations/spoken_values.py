"""Values in words that no language owns: int, float, string, bool, array, map, nil.

For faces whose clients know no Python. The table of types belongs to the session's
adapter, which a program's name chooses; what is in none of its rows is called by its class.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import get_args

from relay.errors import NotSupported
from relay.models.sessions import SessionSettings

SUFFIXES = {".pl": "perl", ".pm": "perl", ".t": "perl"}
"""Names of programs that are not Python's, and the adapter that debugs them."""


def adapter_of(program: str) -> str:
    """The adapter for a program, by its name; raises NotSupported if the relay has none."""
    suffix = PurePath(program).suffix
    wanted = SUFFIXES.get(suffix, "python")
    known = get_args(SessionSettings.model_fields["adapter"].annotation)
    if wanted not in known:
        raise NotSupported(f"programs like *{suffix} cannot be debugged by this relay")
    return wanted


_PYTHON = {
    "int": "int",
    "float": "float",
    "str": "string",
    "bool": "bool",
    "NoneType": "nil",
    **dict.fromkeys(("list", "tuple", "set", "frozenset", "deque", "array"), "array"),
    **dict.fromkeys(("dict", "OrderedDict", "defaultdict", "Counter", "mappingproxy"), "map"),
}

TYPES: Mapping[str, Mapping[str, str]] = {"python": _PYTHON}
"""By adapter: the language's own name of a type, and the common one."""


def spoken(adapter: str, value: str, type_name: str) -> tuple[str, str]:
    """(value, type) for a value as its debugger shows it. Texts are put in double quotes."""
    name = type_name.rpartition(".")[2]
    kind = TYPES.get(adapter, {}).get(name, name)
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
