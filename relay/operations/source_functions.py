"""Which functions a source file of Python defines, and where else those are that it does not.

Reads sources, and runs nothing. Functions are known by their qualified names, as Python gives them
to their code: `Cart.add`, `outer.<locals>.inner`.
"""

from __future__ import annotations

import ast
import difflib
import os
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.util import decode_source
from types import CodeType
from typing import Any, NamedTuple

LOCALS = ".<locals>"

_MOST_BASES = 20
"""Classes above each other, and names that are names of others, which are followed."""

_IS_FUNCTION = 0x3  # CO_OPTIMIZED, CO_NEWLOCALS: else the body of a module or class
_MADE = "__annotate__"  # by the compiler, since Python 3.14


class Defined(NamedTuple):
    """A function. `line` is where its code begins: at its first decorator, if it has any."""

    name: str
    line: int
    code: CodeType


class Elsewhere(NamedTuple):
    """A function that goes by another name in another place. `path` is None where it is unknown."""

    why: str
    path: str | None
    name: str
    line: int = 0
    is_inherited: bool = False


@lru_cache(maxsize=8)
def functions_of(source: str) -> tuple[Defined, ...]:
    """Every function that has a name, in the order of their lines; raises SyntaxError or ValueError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            whole = compile(source, "<source>", "exec", dont_inherit=True)
        except (RecursionError, MemoryError):
            raise ValueError("it is nested too deeply") from None
    return tuple(sorted(_functions_in(whole), key=lambda one: one.line))


def _functions_in(code: CodeType) -> Iterator[Defined]:
    for one in code.co_consts:
        if not isinstance(one, CodeType):
            continue
        is_named = one.co_name[0] != "<" and one.co_name != _MADE
        if is_named and one.co_flags & _IS_FUNCTION == _IS_FUNCTION:
            yield Defined(one.co_qualname, one.co_firstlineno, one)
        yield from _functions_in(one)


def fits(qualified: str, name: str) -> bool:
    """Whether `name` is the qualified name, whole; its `<locals>` may be left out, all of them."""
    return name in (qualified, shortened(qualified))


def shortened(qualified: str) -> str:
    """The name as it is shown: `outer.inner`."""
    return qualified.replace(LOCALS, "")


# What is not defined there -------------------------------------------------------------------


class SourceNames:
    """The classes of one file, and what its names stand for.

    roots: folders below which modules are looked for, besides that of the file's own package.
    """

    def __init__(self, path: str, source: str, roots: Sequence[str]) -> None:
        self.path, self._roots = path, roots
        self.functions = functions_of(source)
        body = ast.parse(source).body
        self._scopes: dict[str, list[ast.stmt]] = {"": body}
        self._bases: dict[str, list[str]] = {}
        self._enter("", body)

    def _enter(self, owner: str, body: Sequence[ast.stmt]) -> None:
        for node in _statements(body):
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            name = f"{owner}.{node.name}".lstrip(".")
            if isinstance(node, ast.ClassDef):
                self._scopes[name] = node.body
                self._bases[name] = [one for one in map(_dotted, node.bases) if one]
            self._enter(name, node.body)

    @property
    def shown(self) -> list[str]:
        """Names of its functions, in the order of their lines."""
        return list(dict.fromkeys(shortened(one.name) for one in self.functions))

    def similar(self, name: str, limit: int = 3) -> list[str]:
        """Names of its functions that are nearly so: first those of the same last part."""
        last = name.rpartition(".")[2]
        bare = {one.rpartition(".")[2]: one for one in reversed(self.shown)}
        near = [one for one in self.shown if one.rpartition(".")[2] == last]
        near += difflib.get_close_matches(name, self.shown, n=limit, cutoff=0.6)
        near += [bare[one] for one in difflib.get_close_matches(last, bare, n=limit)]
        return list(dict.fromkeys(near))[:limit]

    @property
    def classes(self) -> Sequence[str]:
        """Qualified names of those that the file defines."""
        return tuple(self._bases)

    def is_class(self, name: str) -> bool:
        """Whether the file defines a class of this name."""
        return name in self._bases

    def is_decorated(self, name: str) -> bool:
        """Whether a decorator may have given the class functions that no source has."""
        owner, _, last = name.rpartition(".")
        found = [
            node
            for node in _statements(self._scopes.get(owner, []))
            if isinstance(node, ast.ClassDef) and node.name == last
        ]
        return any(node.decorator_list for node in found)

    def elsewhere(self, name: str, depth: int = 0) -> Elsewhere | None:
        """Where the function is that goes by this name here and is not defined by it."""
        if depth > _MOST_BASES:
            return None
        owner, _, last = name.rpartition(".")
        if owner in self._scopes and (bound := self._bound(owner, last)) is not None:
            return self._follow(bound[0], bound[1], owner, depth)
        if owner in self._bases:
            return self._inherited(owner, last, depth)
        first, _, rest = name.partition(".")
        if rest and (bound := self._bound("", first)) is not None:
            return self._follow(bound[0], f"{bound[1]}.{rest}", "", depth)
        return None

    def _inherited(self, owner: str, last: str, depth: int) -> Elsewhere | None:
        for base in self._bases[owner]:
            why = f"{owner} inherits {last} from {base}"
            if (found := self._defined(f"{base}.{last}", depth + 1)) is not None:
                return found._replace(why=why, is_inherited=True)
        unknown = [base for base in self._bases[owner] if self._leads_away(base, depth)]
        if not unknown:
            return None
        why = f"{owner} may inherit {last} from {' or '.join(unknown)}"
        whole = f"{self._whole(unknown[0])}.{last}"
        return Elsewhere(why, None, whole, is_inherited=True)

    def _defined(self, name: str, depth: int) -> Elsewhere | None:
        """The function that this name means here, defined or not; None if that is not seen."""
        for one in self.functions:
            if fits(one.name, name):
                return Elsewhere("", self.path, name, one.line)
        found = self.elsewhere(name, depth)
        return found if found is not None and found.path is not None else None

    def _leads_away(self, base: str, depth: int) -> bool:
        """Whether a base class is one whose source is not found."""
        if base == "object" or base in self._bases:
            return base in self._bases and any(
                self._leads_away(one, depth + 1) for one in self._bases[base] if depth < _MOST_BASES
            )
        bound = self._bound("", base.partition(".")[0])
        return bound is not None and bound[0] is not None and self._file_of(bound[0]) is None

    def _whole(self, name: str) -> str:
        """The name with the module from which its first part comes."""
        first, dot, rest = name.partition(".")
        bound = self._bound("", first)
        if bound is None or bound[0] is None:
            return name
        return ".".join(filter(None, [bound[0].lstrip("."), bound[1], rest if dot else ""]))

    def _follow(self, module: str | None, name: str, owner: str, depth: int) -> Elsewhere | None:
        """What a name stands for: something of a module, or of this file under another name."""
        if module is None:
            for whole in dict.fromkeys((f"{owner}.{name}".lstrip("."), name)):
                if (found := self._defined(whole, depth + 1)) is not None:
                    return found._replace(why=f"it is another name of {whole}")
            return None
        name = name.strip(".")
        why = f"it is imported from {module}"
        path = self._file_of(module)
        if path is None and name:  # `from kit import parts` may name a module
            first, _, rest = name.partition(".")
            path = self._file_of(f"{module}.{first}")
            name = rest if path else name
        if path is None or path == self.path:
            return Elsewhere(why, None, f"{module.lstrip('.')}.{name}")
        names = names_in(path, self._roots)
        there = None if names is None or not name else names._defined(name, depth + 1)
        return there and there._replace(why=why)

    def _bound(self, owner: str, name: str) -> tuple[str | None, str] | None:
        """What a name is bound to in a scope: a module and a name in it, or a name of this file."""
        for node in _statements(self._scopes.get(owner, [])):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return "." * node.level + (node.module or ""), alias.name
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if (alias.asname or alias.name.partition(".")[0]) == name:
                        return (alias.name if alias.asname else name), ""
            elif isinstance(node, ast.Assign):
                targets = [one.id for one in node.targets if isinstance(one, ast.Name)]
                if name in targets and (other := _named_value(node.value)) not in (None, name):
                    return None, str(other)
        return None

    def _file_of(self, module: str) -> str | None:
        """The file of a module, looked for as the imports of this file look for it."""
        dots = len(module) - len(module.lstrip("."))
        parts = [part for part in module[dots:].split(".") if part]
        folder = os.path.dirname(self.path)
        if dots:
            starts = [os.path.normpath(os.path.join(folder, *[".."] * (dots - 1)))]
        else:
            starts = [folder, *_above_packages(folder), *self._roots]
        for start in dict.fromkeys(starts):
            whole = os.path.join(start, *parts)
            for path in (f"{whole}.py", os.path.join(whole, "__init__.py")):
                if os.path.isfile(path):
                    return path
        return None


def names_in(path: str, roots: Sequence[str]) -> SourceNames | None:
    """The names of a file; None for one that is no source of Python."""
    try:
        with open(path, "rb") as file:
            return SourceNames(path, decode_source(file.read()), roots)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Those of one scope, those inside of `if`, `try`, `with` and loops, too."""
    for node in body:
        yield node
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for field in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(node, field, []))
        for inner in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            yield from _statements(inner.body)


def _dotted(node: Any) -> str | None:
    """`Base`, `module.Base` and `Base[int]` as a name."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := _dotted(node.value)) is not None:
        return f"{before}.{node.attr}"
    return None


def _named_value(node: ast.expr) -> str | None:
    """The function of `other`, `property(other)` or `decorator(other)`."""
    if isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    return _dotted(node)


def _above_packages(folder: str) -> Iterator[str]:
    """Folders above it in which a name of a module may begin."""
    for _ in range(_MOST_BASES):
        if not os.path.isfile(os.path.join(folder, "__init__.py")):
            return
        folder = os.path.dirname(folder)
        yield folder
