"""Which states an expression may name at a place of the program, known before any of it has run.

Read from source alone, so it may be several: whether `a.x` is an attribute or a global of a module
is seen only where the program stands. Refuses what depends on values.
"""

from __future__ import annotations

import ast
import dis
import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import variable_kind
    from relay.debuggers.debugpy.debuggee.probe.frames.expressions import mangle_names
    from relay.debuggers.debugpy.debuggee.probe.process.guard import TroubleError, exception_line
    from relay.debuggers.debugpy.debuggee.probe.process.paths import real_path
    from relay.debuggers.debugpy.debuggee.probe.writes.write_sites import WatchedState

_CODE = type(dis.get_instructions.__code__)
_HAS_FAST_LOCALS = 0x1  # of a code's flags


class _Scope(NamedTuple):
    """A code at a place, and the class in which it is written; "" for none."""

    code: Any
    owner: str


def states_at(
    expression: str, path: str = "", line: int = 0, function: str = ""
) -> list[WatchedState]:
    """What `expression` may name at this line of a file, or in functions of this name.

    Raises TroubleError ("syntax" or "unwatchable") for what cannot be known before.
    """
    path = real_path(path) if path else ""
    scopes = _scopes_at(path, line) if path else []
    owners = {scope.owner for scope in scopes} or {function.rpartition(".")[0].rpartition(".")[2]}
    states: list[WatchedState] = []
    for owner in sorted(owners):
        node = _node_of(expression, owner)
        if isinstance(node, ast.Name):
            here = [scope.code for scope in scopes if scope.owner == owner]
            for code in here:
                states += _variables_in(code, node.id, path)
            states += [] if here else _variables_anywhere(node.id, function)
        elif isinstance(node, ast.Attribute):
            states.append(WatchedState("attribute", node.attr))
        else:
            states += _item_states(node, expression)
    return states


def _node_of(expression: str, owner: str) -> Any:
    try:
        tree = ast.parse(expression.strip(), "<record>", "eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise TroubleError("syntax", exception_line(error), line=None, offset=None) from None
    node: Any = mangle_names(tree, owner).body
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return node
    raise TroubleError(
        "unwatchable",
        f"{expression} is not a name, an attribute or an item: name what it is made of",
    )


def _item_states(node: Any, expression: str) -> list[WatchedState]:
    index = node.slice
    index = index.value if type(index).__name__ == "Index" else index  # Python 3.8
    try:
        key = ast.literal_eval(index)
    except (ValueError, TypeError):
        key = None
    if key is None or not _is_known_key(key):
        raise TroubleError(
            "unwatchable",
            f"{expression}: before the program runs, only an item under a number, a text or a tuple"
            " of them is known",
        )
    states = [WatchedState("item", key)]
    if type(key) is int and key >= 0:
        states.append(WatchedState("list_item", key))
    if isinstance(node.value, ast.Attribute) and node.value.attr == "__dict__" and type(key) is str:
        states.append(WatchedState("attribute", key))  # or what a thread has in a `threading.local`
    return states


def _is_known_key(key: Any) -> bool:
    if type(key) is tuple:
        return all(map(_is_known_key, key))
    return type(key) in (str, bytes, int, float, bool, type(None))


# Variables


def _variables_in(code: Any, name: str, path: str) -> list[WatchedState]:
    kind = variable_kind(code, name)
    if kind == "cell":
        return [WatchedState("cell", name)]
    local = WatchedState("local", name, path, code.co_name, code.co_firstlineno)
    if kind == "local":
        return [local]
    is_class = not code.co_flags & _HAS_FAST_LOCALS and code.co_name != "<module>"
    return [*([local] if is_class else []), WatchedState("global", name)]


def _variables_anywhere(name: str, function: str) -> list[WatchedState]:
    """Of functions by that name, wherever they are: what kind of variable is not known."""
    local = WatchedState("local", name, function=function)
    return [local, WatchedState("cell", name), WatchedState("global", name)]


def _scopes_at(path: str, line: int) -> list[_Scope]:
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", 0, True)
    except (OSError, SyntaxError, ValueError) as error:
        raise TroubleError("unwatchable", f"{path}: {exception_line(error)}") from None
    found = [scope for scope in _scopes_in(code, "") if line in _lines_of_code(scope.code)]
    if not found:
        raise TroubleError("unwatchable", f"{os.path.basename(path)} has no code at line {line}")
    return found


def _scopes_in(code: Any, owner: str) -> list[_Scope]:
    """The code and all within it."""
    is_class = not code.co_flags & _HAS_FAST_LOCALS and code.co_name != "<module>"
    inner = code.co_name if is_class else owner
    found = [_Scope(code, owner)]
    for constant in code.co_consts:
        if type(constant) is _CODE:
            found += _scopes_in(constant, inner)
    return found


def _lines_of_code(code: Any) -> frozenset[int]:
    return frozenset(line for _, line in dis.findlinestarts(code) if line)
