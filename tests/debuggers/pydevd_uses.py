"""Which names of pydevd a file uses, as far as its text shows: by following pydevd's objects."""

from __future__ import annotations

import ast
import queue
import re
import threading
from pathlib import Path

import debugpy

VENDORED = Path(debugpy.__file__).parent / "_vendored" / "pydevd"
FOLDERS = ("_pydevd_bundle", "_pydev_bundle", "_pydevd_sys_monitoring")
OBJECTS = frozenset({"py_db", "pydevd", "info"})
"""Variables and attributes that are so called hold objects of pydevd's everywhere."""

BY_CALL = frozenset({"debugger", "events_module"})
TAKE_A_NAME = frozenset({"getattr", "hasattr", "setattr", "patch", "is_patched"})
COMMON = frozenset().union(
    *map(dir, (dict, list, str, set, type, threading.Thread, threading.Event(), queue.Queue))
)
"""What any object might have: it says nothing of pydevd."""


def words_of_pydevd() -> frozenset[str]:
    """Every identifier in its sources."""
    files = [*VENDORED.glob("*.py"), *(f for d in FOLDERS for f in (VENDORED / d).rglob("*.py"))]
    return frozenset().union(*(re.findall(r"\w+", file.read_text("utf-8")) for file in files))


def _set_on_self(node: ast.ClassDef) -> set[str]:
    return {
        one.attr
        for one in ast.walk(node)
        if isinstance(one, ast.Attribute)
        and isinstance(one.ctx, ast.Store)
        and ast.unparse(one.value) == "self"
    }


class Uses(ast.NodeVisitor):
    """The names in one file."""

    def __init__(self, words: frozenset[str]) -> None:
        self._words = words
        self._objects = set(OBJECTS)
        self._own: set[str] = set()  # attributes that a class of ours has set itself
        self.names: set[str] = set()

    @classmethod
    def of(cls, path: Path, words: frozenset[str]) -> set[str]:
        uses = cls(words)
        uses.visit(ast.parse(path.read_text()))
        return uses.names

    def _note(self, name: str) -> None:
        if name in self._words and name not in COMMON and not name.startswith("__"):
            self.names.add(name)

    # What holds an object of pydevd's

    def _is_pydevds(self, node: ast.AST | None) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self._objects
        if isinstance(node, ast.Attribute):
            if node.attr == "_debug_relay_probe" or node.attr in self._own:
                return False
            return node.attr in ("py_db", "pydevd", "additional_info") or self._is_pydevds(
                node.value
            )
        if isinstance(node, ast.Subscript):
            return self._is_module(node.value, node.slice) or self._is_pydevds(node.value)
        if isinstance(node, ast.BoolOp):
            return any(map(self._is_pydevds, node.values))
        if isinstance(node, ast.IfExp):
            return self._is_pydevds(node.body) or self._is_pydevds(node.orelse)
        return isinstance(node, ast.Call) and self._is_pydevds_call(node)

    def _is_pydevds_call(self, node: ast.Call) -> bool:
        function = node.func
        if isinstance(function, ast.Name):
            if function.id in ("getattr", "list", "type"):
                named = [a.value for a in node.args if isinstance(a, ast.Constant)]
                return "additional_info" in named or self._is_pydevds(node.args[0])
            return function.id in BY_CALL or function.id in self._objects
        if isinstance(function, ast.Attribute) and function.attr == "get" and node.args:
            return self._is_module(function.value, node.args[0]) or self._is_pydevds(function)
        return self._is_pydevds(function)

    @staticmethod
    def _is_module(owner: ast.AST, key: ast.AST) -> bool:
        """Whether it is `sys.modules[…]` of one of pydevd's."""
        name = key.value if isinstance(key, ast.Constant) else None
        return (
            ast.unparse(owner) == "sys.modules"
            and isinstance(name, str)
            and name.lstrip("_").startswith("pydev")
        )

    # Where such objects go

    def visit_Assign(self, node: ast.Assign) -> None:
        if self._is_pydevds(node.value):
            self._take(*node.targets)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if self._is_pydevds(node.value):
            self._take(node.target)
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        if self._is_pydevds(node.iter):
            self._take(node.target)
        self.generic_visit(node)

    def _take(self, *targets: ast.AST) -> None:
        names = [n for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
        self._objects |= {name.id for name in names if isinstance(name.ctx, ast.Store)}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._within(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """One that is made of a class of pydevd's replaces methods, and is such an object itself."""
        if any(isinstance(base, ast.Name) and base.id in ("stock", "base") for base in node.bases):
            for part in node.body:
                if isinstance(part, ast.FunctionDef):
                    self._note(part.name)
            outside, self._own = self._own, _set_on_self(node)
            self._within(node, "self")
            self._own = outside
        else:
            self._within(node)

    def _within(self, node: ast.AST, *more: str) -> None:
        outside = set(self._objects)
        self._objects |= set(more)
        self.generic_visit(node)
        self._objects = outside

    # Names

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr not in self._own and self._is_pydevds(node.value):
            self._note(node.attr)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in TAKE_A_NAME and len(node.args) > 1:
            owner, name = node.args[:2]
            if self._is_pydevds(owner) and isinstance(name, ast.Constant):
                self._note(str(name.value))
        self.generic_visit(node)
