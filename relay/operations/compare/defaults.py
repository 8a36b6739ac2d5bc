"""Defaults of parameters that two trees write otherwise: a call that was given neither was given the same.

Reads sources, and runs nothing. Only literals are compared: what `RATE` stands for is not known here.
"""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.util import decode_source
from itertools import chain
from typing import NamedTuple

Defaults = Mapping[str, str | None]
"""The parameters of a function, by their names: the value of a default as it is recorded; None where
there is none, or it is no literal."""


class Parameters(NamedTuple):
    """A function that a file defines."""

    name: str
    """Qualified, as Python gives it."""
    defaults: Defaults


class OtherDefault(NamedTuple):
    """A default that one side has and the other has not."""

    text: str
    """Its value, as it is recorded."""
    is_new: bool
    """Whether the other side's function has no such parameter."""


class OtherDefaults:
    """The defaults of one side that the other has not."""

    def __init__(self, folders: Sequence[tuple[str, str]], scripts: tuple[str, str] | None) -> None:
        """Where code of this side lies, and of the other, inner folders first; scripts: that are each
        other's counterpart.
        """
        self._folders, self._scripts = folders, scripts

    def of(self, path: str, line: int) -> Mapping[str, OtherDefault] | None:
        """Those of the function that begins at this line; None if the other side has the same parameters.

        It is empty where only the other side has defaults that this one has not.
        """
        beside = self._path_of_other(path)
        if beside == path:
            return None
        ours = _functions(path).get(line)
        found = [one for one in _functions(beside).values() if ours and one.name == ours.name]
        if ours is None or len(found) != 1 or ours.defaults == found[0].defaults:
            return None
        theirs = found[0].defaults
        return {
            name: OtherDefault(text, name not in theirs)
            for name, text in ours.defaults.items()
            if text is not None and (name not in theirs or theirs[name] not in (None, text))
        }

    def _path_of_other(self, path: str) -> str:
        if self._scripts is not None and os.path.realpath(path) == self._scripts[0]:
            return self._scripts[1]
        for ours, theirs in self._folders:
            below = ours + os.sep
            if path.startswith(below):
                return os.path.join(theirs, path.removeprefix(below))
        return path


@lru_cache(maxsize=2000)
def _functions(path: str) -> Mapping[int, Parameters]:
    """The functions of a file by their lines: that of the first decorator, if there is any."""
    try:
        with open(path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(decode_source(file.read())).body
            return dict(_in(body, ""))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}


def _in(body: Sequence[ast.stmt], owner: str) -> Iterator[tuple[int, Parameters]]:
    for node in chain.from_iterable(map(_definitions, body)):
        name = owner + node.name
        if isinstance(node, ast.ClassDef):
            yield from _in(node.body, f"{name}.")
            continue
        line = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        yield line, Parameters(name, _defaults(node.args))
        yield from _in(node.body, f"{name}.<locals>.")


def _definitions(
    node: ast.AST,
) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Those of a statement that are in no other definition."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node
    elif isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
        for child in ast.iter_child_nodes(node):
            yield from _definitions(child)


def _defaults(arguments: ast.arguments) -> Defaults:
    plain = [*arguments.posonlyargs, *arguments.args]
    found: dict[str, str | None] = {one.arg: None for one in plain}
    given = arguments.defaults
    for one, default in zip(plain[len(plain) - len(given) :], given, strict=True):
        found[one.arg] = _literal(default)
    for one, maybe in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found[one.arg] = None if maybe is None else _literal(maybe)
    return found


def _literal(node: ast.expr) -> str | None:
    try:
        return repr(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
