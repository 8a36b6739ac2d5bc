"""Expressions in a frame: compiled as if they stood there, run, and what they assign written back.

Knows how Python looks names up, private ones of classes too. Refuses to know what is answered, and
lets through what is raised.
"""

from __future__ import annotations

import ast
import dis
import sys
import textwrap
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.post_mortem import lost_locals
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of, local_items
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import write_locals
    from relay.debuggers.debugpy.debuggee.probe.process.guard import TroubleError, exception_line
    from relay.debuggers.debugpy.debuggee.probe.values.types import mro_of, name_of, namespace_of


_LOADS = ("LOAD_NAME", "LOAD_GLOBAL")


def is_path(source: str) -> bool:
    """Whether it is names and dots alone: what is appended to it needs no parentheses."""
    return all(part.isidentifier() for part in source.split("."))


def compile_source(source: str, statements: bool, frame: Any) -> tuple[Any, Any]:
    """(statements or None, last expression or None) as code objects."""
    name = "<evaluate>"
    try:
        if not statements:
            owner = _mangling_class(source, frame)
            # A tree is made of Python objects, and takes longer than the whole compiler.
            text: Any = source.strip()
            code = mangle_names(ast.parse(text, name, "eval"), owner) if owner else text
            return None, compile(code, name, "eval", 0, True)
        tree = mangled(ast.parse(textwrap.dedent(source).strip("\n"), name, "exec"), source, frame)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        body = compile(tree, name, "exec", 0, True) if tree.body else None
        return body, last and compile(ast.Expression(last.value), name, "eval", 0, True)
    except SyntaxError as error:
        where = {"line": error.lineno, "offset": error.offset, "text": error.text}
        raise TroubleError("syntax", str(error.msg), **where) from None
    except (ValueError, MemoryError, RecursionError, OverflowError) as error:
        raise TroubleError("syntax", exception_line(error), line=None, offset=None) from None


def mangled(tree: Any, source: str, frame: Any) -> Any:
    """The tree with private names as the compiler would write them in the frame's class."""
    return mangle_names(tree, _mangling_class(source, frame))


def _mangling_class(source: str, frame: Any) -> str:
    """The class whose private names the source may have; empty if there is none."""
    return (frame is not None and "__" in source and _class_name(frame)) or ""


def mangle_names(tree: Any, owner: str) -> Any:
    """The tree with private names as the compiler would write them in the class; "": in none."""
    if not owner:
        return tree
    for node in ast.walk(tree):
        for field in ("attr", "id"):
            name = getattr(node, field, "")
            if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
                setattr(node, field, "_{}{}".format(owner.lstrip("_"), name))
    return tree


def _class_name(frame: Any) -> str | None:
    """The class in whose body the frame's code was written: its private names are mangled."""
    code = frame.f_code
    qualified = getattr(code, "co_qualname", None)
    if qualified is not None:
        parts = qualified.split(".")
        pairs = zip(parts[-2::-1], parts[:0:-1])  # noqa: B905
        return next((a for a, b in pairs if a != "<locals>" and b != "<locals>"), None)
    first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
    for cls in mro_of(first if type(first) is type else type(first)):
        for found in namespace_of(cls).values():
            if getattr(found, "__code__", None) is code:
                return str(name_of(cls))
    return None


def run_code(codes: tuple[Any, Any], frame: Any) -> Any:
    """Run statements, then give the value of the expression; without a frame, in `__main__`."""
    if frame is None:
        return _execute(codes, sys.modules["__main__"].__dict__)
    _require_known_names(codes, frame)
    f_globals, f_locals = frame.f_globals, frame.f_locals
    if f_locals is f_globals:
        return _execute(codes, f_globals)
    # Lambdas and comprehensions see globals only: give them one namespace with everything.
    space = dict(f_globals)
    space.update(items_of(f_locals))
    space.setdefault("globals", lambda: frame.f_globals)
    space.setdefault("locals", lambda: dict(local_items(frame)))
    before = dict(space)
    del f_locals
    try:
        return _execute(codes, space)
    finally:
        _write_back(frame, before, space, _declared_globals(codes))


def _require_known_names(codes: tuple[Any, Any], frame: Any) -> None:
    """Raise NameError for a local that is lost: a global of its name is another variable."""
    lost = lost_locals(frame)
    if lost is None:
        return
    code = frame.f_code
    if type(code) is types.CodeType:
        gone = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    else:  # only a place is known
        gone = _names_with(codes, _LOADS)
        gone -= _names_with(codes, ("STORE_NAME", "STORE_GLOBAL"))
        gone -= {*frame.f_locals, *frame.f_globals, *frame.f_builtins}
    missing = sorted(gone & _names_with(codes, _LOADS))
    if missing:
        raise NameError(f"name {missing[0]!r} is not known: {lost}")


def _names_with(codes: tuple[Any, Any], operations: tuple[str, ...]) -> set[str]:
    """The names that these operations use, also within functions and comprehensions."""
    found: set[str] = set()
    waiting = [code for code in codes if code is not None]
    while waiting:
        code = waiting.pop()
        waiting += [one for one in code.co_consts if type(one) is types.CodeType]
        found.update(i.argval for i in dis.get_instructions(code) if i.opname in operations)
    return found


def _execute(codes: tuple[Any, Any], space: dict[str, Any]) -> Any:
    statements, expression = codes
    if statements is not None:
        exec(statements, space)
    return eval(expression, space) if expression is not None else None


def _declared_globals(codes: tuple[Any, Any]) -> frozenset[str]:
    """Names under a `global` statement: STORE_GLOBAL at the top level of the code."""
    if codes[0] is None:
        return frozenset()
    found = dis.get_instructions(codes[0])
    return frozenset(i.argval for i in found if i.opname == "STORE_GLOBAL")


def _write_back(frame: Any, before: dict[str, Any], space: dict[str, Any], declared: Any) -> None:
    """Carry what has changed in `space` over to the frame's locals and globals."""
    changed = {n: v for n, v in space.items() if n not in before or before[n] is not v}
    removed = [name for name in before if name not in space]
    changed.pop("__builtins__", None)
    if not changed and not removed:
        return
    mine = {name for name, _ in items_of(frame.f_locals)}.union(
        *(getattr(frame.f_code, part, ()) for part in ("co_varnames", "co_cellvars", "co_freevars"))
    )
    f_globals = frame.f_globals
    local = {}
    for name, value in changed.items():
        # A name that the frame's code reads as a global means that global.
        if name in declared or (name not in mine and name in f_globals):
            f_globals[name] = value
        else:
            local[name] = value
    for name in removed:
        if name not in mine:
            f_globals.pop(name, None)
    write_locals(frame, local, [name for name in removed if name in mine])
