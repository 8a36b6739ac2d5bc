"""Whether an exception is one that the program waits for, as in `with pytest.raises(KeyError):`.

The debugger sees `try`, and takes an exception that a `with` statement will swallow for one that
nobody handles. What a context manager will do cannot be known before it does it; those that exist
to swallow are known by their names, and what they swallow by their arguments.
Nothing of the program is called.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_user_code

_EXPECTING = frozenset(("raises", "assertRaises", "assertRaisesRegex", "suppress"))
_trees: dict[str, Any] = {}


def is_expected(error: BaseException, tb: Any) -> bool:
    """Whether a `with` statement of the program's own, on the exception's way, waits for it."""
    while tb is not None:
        frame = tb.tb_frame
        # A file takes long to parse: only for code that has one of the names.
        if not _EXPECTING.isdisjoint(_names_of_code(frame.f_code)) and is_user_code(frame):
            for call in _expecting_calls(frame.f_code.co_filename, tb.tb_lineno):
                if any(_is_a(error, found) for found in _classes(call, frame)):
                    return True
        tb = tb.tb_next
    return False


def _names_of_code(code: Any) -> Iterator[str]:
    return itertools.chain(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)


def _expecting_calls(filename: str, line: int) -> Iterator[Any]:
    for node in _statements_around(source_tree(filename), line):
        if not isinstance(node, (ast.With, ast.AsyncWith)) or line < node.body[0].lineno:
            continue
        for item in node.items:
            if _is_expecting(item.context_expr):
                yield item.context_expr


def _statements_around(node: Any, line: int) -> Iterator[Any]:
    """Those that a line is in, outermost first; a file has many more."""
    for child in ast.iter_child_nodes(node):
        # Cases of a match have no lines of their own.
        if getattr(child, "lineno", line) <= line <= (getattr(child, "end_lineno", line) or line):
            yield child
            yield from _statements_around(child, line)


def _is_expecting(node: Any) -> bool:
    return isinstance(node, ast.Call) and _last_name(node.func) in _EXPECTING


def source_tree(filename: str) -> Any:
    if filename not in _trees:
        _trees[filename] = ast.parse("".join(linecache.getlines(filename)))
    return _trees[filename]


def _last_name(node: Any) -> str | None:
    return getattr(node, "attr", None) or getattr(node, "id", None)


def _classes(call: Any, frame: Any) -> Iterator[Any]:
    """The classes that the call names; what would have to be computed is left out."""
    named = [key.value for key in call.keywords if key.arg == "expected_exception"]
    given = call.args if _last_name(call.func) == "suppress" else call.args[:1]
    for node in [*given, *named]:
        for part in node.elts if isinstance(node, ast.Tuple) else [node]:
            yield _look_up(part, frame)


def _look_up(node: Any, frame: Any) -> Any:
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, vars(sys.modules["builtins"])):
            if node.id in names:
                return names[node.id]
    if isinstance(node, ast.Attribute):
        owner = _look_up(node.value, frame)
        if type(owner) is type(sys):
            return vars(owner).get(node.attr)
    return None


def _is_a(error: BaseException, found: Any) -> bool:
    return any(base is found for base in type.__dict__["__mro__"].__get__(type(error)))
