"""Expressions that are asked at each hit of a breakpoint: what `eval` gives, in a fraction of its time.

Where it comes to the same, an expression is a function that reads those variables of a frame which it
names, and no others. Knows where that may mean something else. Refuses to know what the value is
for, and lets through what is raised.
"""

from __future__ import annotations

import ast
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import HAS_FAST_VARIABLES
    from relay.debuggers.debugpy.debuggee.probe.writes.client_writes import as_clients_doing

_OWN_SCOPES = (ast.Lambda, ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_UNLIKE = (*_OWN_SCOPES, ast.NamedExpr) if hasattr(ast, "NamedExpr") else _OWN_SCOPES
"""Parts of expressions that see other names within a function, or bind one."""
_PLAIN_CALLS = (
    *("abs", "bool", "float", "getattr", "hasattr", "id", "int", "isinstance", "len", "max", "min"),
    *("repr", "round", "str", "sum", "type"),
)
"""Names of functions that do not look at their caller; others may, as `locals` and `eval` do."""

NOT_KNOWN: Any = object()
"""What a function gives where a variable has no value yet: `eval` knows what its name means then."""


class AskedExpression:
    """An expression, given as a syntax tree; raises what `compile` does."""

    __slots__ = ("_calls", "_code", "_last", "_tree")

    def __init__(self, tree: ast.Expression, filename: str) -> None:
        self._code = compile(tree, filename, "eval", 0, True)
        self._tree = tree
        self._calls = any(type(node) is ast.Call and not _is_plain(node) for node in ast.walk(tree))
        # Of the code that was asked in last.
        self._last: tuple[Any, Any] = (None, None)

    def value_for_client(self, frame: Any) -> Any:
        """The same as `value_in`; what it calls may write what is watched."""
        return as_clients_doing(self.value_in, frame) if self._calls else self.value_in(frame)

    def value_in(self, frame: Any) -> Any:
        """What it is worth in this frame."""
        code, function = self._last
        if code is not frame.f_code:
            function = self.function_for(frame)
        if function is not None and function.__globals__ is frame.f_globals:
            value = function(frame)
            if value is not NOT_KNOWN:
                return value
        return eval(self._code, frame.f_globals, frame.f_locals)

    def function_for(self, frame: Any) -> Any:
        """What takes a frame of this one's code and globals, and gives the value there or NOT_KNOWN; None
        where that cannot be."""
        code = frame.f_code
        its_own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
        names = {node.id for node in ast.walk(self._tree) if type(node) is ast.Name}
        can_be = code.co_flags & HAS_FAST_VARIABLES and self._is_alike_in_function()
        function = self._reading(sorted(its_own & names), frame.f_globals) if can_be else None
        self._last = code, function
        return function

    def _is_alike_in_function(self) -> bool:
        for node in ast.walk(self._tree):
            if isinstance(node, _UNLIKE):
                return False
            if type(node) is ast.Call and not _is_plain(node):
                return False
        return True

    def _reading(self, names: list[str], space: dict[str, Any]) -> Any:
        file = self._code.co_filename
        made: Any = ast.parse(_FUNCTION.format(reads="\n  ".join(map(_READ.format, names))), file)
        made.body[0].body[-1].value = self._tree.body
        code = compile(ast.fix_missing_locations(made), file, "exec", 0, True)
        inner = next(one for one in code.co_consts if type(one) is types.CodeType)
        return types.FunctionType(inner, space, inner.co_name, (KeyError, NOT_KNOWN))


def _is_plain(call: ast.Call) -> bool:
    return getattr(call.func, "id", None) in _PLAIN_CALLS


_READ = "{0} = _relay_values['{0}']"
_FUNCTION = """\
def asked(_relay_frame, _relay_absent, _relay_not_known):
 try:
  _relay_values = _relay_frame.f_locals
  {reads}
 except _relay_absent:
  return _relay_not_known
 return None
"""
"""Each call of a function takes a tenth of the time of a breakpoint that is asked: this is one."""
