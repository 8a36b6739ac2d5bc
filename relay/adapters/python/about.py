"""Python programs under debugpy: what that can do, and which one the relay itself carries."""

from __future__ import annotations

import importlib.util
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from relay.adapters import Ability, Adapter

PYTHON = Adapter(
    name="python",
    languages=("Python",),
    suffixes=(".py", ".pyw"),
    can=frozenset(Ability),
    types={
        "int": "int",
        "float": "float",
        "str": "string",
        "bool": "bool",
        "NoneType": "nil",
        **dict.fromkeys(("list", "tuple", "set", "frozenset", "deque", "array"), "array"),
        **dict.fromkeys(("dict", "OrderedDict", "defaultdict", "Counter", "mappingproxy"), "map"),
    },
    pauses_any_thread=True,
)


DEBUGGER = "debugpy"
OLDEST_DEBUGGER = "1.8.20"


def health() -> dict[str, Any]:
    """What `/health` tells of the debugger. Source: API section 3.1."""
    return {"debugpy_available": debugpy_version() is not None}


def information() -> dict[str, Any]:
    """What `/info` tells of the debugger. Source: API section 3.1."""
    return {"debugpy_version": debugpy_version()}


@cache
def debugpy_version() -> str | None:
    """Version of the relay's own debugpy, or None if it is missing."""
    try:
        return version("debugpy")
    except PackageNotFoundError:
        return None


@cache
def debugpy_directory() -> Path:
    """The directory of the relay's own debugpy package; raises ImportError if it is missing."""
    spec = importlib.util.find_spec("debugpy")
    if spec is None or spec.origin is None:
        raise ImportError("debugpy is not installed beside the relay")
    return Path(spec.origin).parent
