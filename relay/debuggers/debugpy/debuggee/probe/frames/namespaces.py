"""The variables of a frame: its locals and its globals, in the order of definition.

Leaves out what the debugger has put there, and Python's own hidden variables.
"""

from __future__ import annotations

import re
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import is_cell_path
    from relay.debuggers.debugpy.debuggee.probe.values.types import dunders_last, exact, mro_of

_ARTEFACTS = frozenset(
    ("__pydevd_ret_val_dict", "__exception__", "__builtins__", "_pydev_stop_at_break", "__class__")
)
_NAMES_OF_SHELL = re.compile(r"_{1,3}|_i{1,3}|_i?\d+|_(ih|oh|dh)|In|Out|exit|quit|open|get_ipython")


def items_of(namespace: Any) -> list[tuple[Any, Any]]:
    """Not every namespace is a dict: 3.13 has proxies, and a metaclass may prepare anything."""
    if any(base is dict for base in mro_of(type(namespace))):
        return list(dict.items(namespace))
    return [(name, namespace[name]) for name in list(namespace.keys())]


def local_items(frame: Any) -> list[tuple[Any, Any]]:
    """(name, value) in the order of definition, without the debugger's own."""
    items = items_of(frame.f_locals)
    # "." begins the names of comprehensions' arguments, "@" those that pytest's rewriting makes.
    found = [(n, v) for n, v in items if n not in _ARTEFACTS and n[:1] not in (".", "@")]
    code = frame.f_code
    if is_cell_path(code.co_filename):
        found = [one for one in found if not _is_of_shell(*one)]
    names = getattr(code, "co_varnames", ()) + getattr(code, "co_cellvars", ())
    names += getattr(code, "co_freevars", ())
    if names:
        order = {name: index for index, name in reversed(list(enumerate(names)))}
        found.sort(key=lambda item: order.get(item[0], len(order)))
    return dunders_last(found)


def _is_of_shell(name: Any, value: Any) -> bool:
    """Whether IPython has put it into the namespace of its cells: what was typed, and what came of it."""
    if type(name) is not str or _NAMES_OF_SHELL.fullmatch(name) is None:
        return False
    if name not in ("exit", "quit", "open"):
        return True
    is_function = type(value) is types.FunctionType
    home = value.__globals__.get("__name__") if is_function else type(value).__module__
    return exact(str(home)).startswith("IPython.")  # or they are the program's


def global_items(frame: Any) -> list[tuple[Any, Any]]:
    return dunders_last([(n, v) for n, v in items_of(frame.f_globals) if n not in _ARTEFACTS])
