"""Paths and files, by functions that are the standard library's whatever the program has made of them.

Tests put mocks in the place of those of `os.path`, and blockbuster has those of `os` raise within an
event loop. Knows how `os.path` is written: its functions call each other, and those of `os`.
"""

from __future__ import annotations

import os
import stat
import types
from typing import Any


def _functions_of(module: Any) -> dict[str, Any]:
    """The module's functions as they are now, which call each other and `os` as it is now."""
    space = dict(vars(module), os=types.SimpleNamespace(**vars(os)))
    for name, one in vars(module).items():
        if isinstance(one, types.FunctionType) and one.__globals__ is vars(module):
            given = one.__name__, one.__defaults__, one.__closure__
            space[name] = types.FunctionType(one.__code__, space, *given)
            space[name].__kwdefaults__ = one.__kwdefaults__
    return space


_path_functions = _functions_of(os.path)
_stat_function = os.stat

absolute_path: Any = _path_functions["abspath"]
real_path: Any = _path_functions["realpath"]


def is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(_stat_function(path).st_mode)
    except (OSError, ValueError):
        return False
