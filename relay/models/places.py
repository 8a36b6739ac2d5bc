"""A place as people and agents write it: a line of a file, or a function, and what stands behind it.

The one parser for every face. Knows the spelling; whether the place exists is the operations'
business. Imports nothing that takes time: commands read their options with it.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

PART = r"(?:[^\W\d]\w*|<locals>)"

NAME = rf"[^\W\d]\w*(?:(?:\.|::){PART})*"
"""Identifiers with dots or two colons between them, of any alphabet."""

FUNCTION_NAME = rf"^(?:[^\x00\n]+::?)?{NAME}(?:\[[^\x00]*\])?$"
"""A function's name, or a file and the name of a function in it, as pytest's ids have it too."""

_SOURCE = re.compile(r"[^\n]*\.(?:py|pyw|pyi|ipynb|pl|pm|cpp)")
_DRIVE = re.compile(r"[A-Za-z]:(?=[\\/])")
_TAIL = re.compile(r"(?:\s+if\s+(?P<condition>.+)|:(?!:)(?P<text>.*))?", re.DOTALL)
_LINE = re.compile(r"(?P<line>[0-9]{1,1000})(?P<tail>(?![0-9]).*)", re.DOTALL)
_IN_FILE = re.compile(rf":?(?P<name>{NAME})(?P<rest>(?![\w.]).*)", re.DOTALL)
_BARE = re.compile(rf"(?P<name>{NAME})(?P<rest>(?![\w.]).*)", re.DOTALL)
_CONDITION = re.compile(r"\s+if\s")


class NamedPlace(NamedTuple):
    """FILE:LINE, FUNCTION or FILE:FUNCTION; behind it ` if CONDITION` or `:TEXT`."""

    file: str | None = None
    line: int | None = None
    function: str | None = None
    """Its qualified name, with dots; between parts that no file stands before, as it was written."""
    parameter: str | None = None
    """Of a test's id, as in `test_x.py::test_y[1]`; it names no function of its own."""
    condition: str | None = None
    text: str | None = None

    @property
    def spelled(self) -> str:
        """The place alone, as the parser reads it again."""
        if self.function is None:
            return f"{self.file}:{self.line}"
        named = self.function if self.file is None else f"{self.file}:{self.function}"
        return named if self.parameter is None else f"{named}[{self.parameter}]"


def parse_place(text: str) -> NamedPlace | None:
    """The place that a text names; None for none.

    A name before the first colon that is no file's is a function's: what follows is its text. A
    line is digits, with the end, a colon or ` if ` behind them.
    """
    bare = _BARE.fullmatch(text)
    if bare is not None and is_file(bare["name"].partition("::")[0]):
        bare = None
    if bare is not None and (not bare["rest"] or _CONDITION.match(bare["rest"])):
        return _with_tail(NamedPlace(function=bare["name"]), bare["rest"])
    if bare is not None and bare["rest"][0] != ":":
        bare = None
    for at in _colons(text):
        head, rest = text[:at], text[at + 1 :]
        if not head or "\n" in head:
            return None
        found = _line(head, rest)
        if found is None and _names_file(head):
            found = _in_file(head, rest)
        if found is None and bare is not None:
            return _with_tail(NamedPlace(function=bare["name"]), bare["rest"])
        if found is not None:
            return found
    return None


def parse_function(text: str) -> NamedPlace | None:
    """FUNCTION or FILE:FUNCTION with nothing behind it; None for anything else."""
    found = parse_place(text)
    if found is None or found.function is None:
        return None
    return found if found.condition is None and found.text is None else None


def parameter_of(place: str) -> str | None:
    """The parameter of a test's id, whatever stands behind it."""
    found = parse_place(place) if "[" in place else None
    return None if found is None else found.parameter


def without_parameter(function: str) -> str:
    """What names a function, without a test's parameter, which names no function of its own."""
    found = parse_function(function) if function.endswith("]") else None
    return function if found is None else found._replace(parameter=None).spelled


def path_and_name(function: str) -> tuple[str | None, str]:
    """The file, if there is one, and the name, of what names a function; without a parameter."""
    found = parse_function(function)
    return (None, function) if found is None else (found.file, found.function or "")


def is_file(text: str) -> bool:
    """Whether the name of a function is that of a source file, of which a line is missing."""
    return _SOURCE.fullmatch(text) is not None


def condition_and_text(condition: str) -> tuple[str, str | None]:
    """`COND:TEXT` apart, at the first colon before which there is an expression."""
    pieces = condition.split(":")
    for count in range(1, len(pieces) + 1):
        first = ":".join(pieces[:count]).strip()
        if _is_expression(first):
            return first, ":".join(pieces[count:]) if count < len(pieces) else None
    return pieces[0].strip(), ":".join(pieces[1:]) or None


def _colons(text: str) -> Iterator[int]:
    """Where a file may end: not behind a drive's letter, nor inside of two colons."""
    drive = _DRIVE.match(text)
    for found in re.finditer(":", text):
        at = found.start()
        if (drive is None or at > 1) and text[at - 1 : at] != ":":
            yield at


def _names_file(head: str) -> bool:
    return is_file(head) or "/" in head or "\\" in head


def _line(head: str, rest: str) -> NamedPlace | None:
    found = _LINE.fullmatch(rest)
    return (
        None if found is None else _with_tail(NamedPlace(head, int(found["line"])), found["tail"])
    )


def _in_file(head: str, rest: str) -> NamedPlace | None:
    found = _IN_FILE.fullmatch(rest)
    if found is None:
        return None
    place = NamedPlace(head, function=found["name"].replace("::", "."))
    if not found["rest"].startswith("["):
        return _with_tail(place, found["rest"])
    return _with_parameter(place, found["rest"])


def _with_parameter(place: NamedPlace, rest: str) -> NamedPlace | None:
    """A parameter may have brackets and colons, and so may what stands behind it.

    It ends at the first bracket with nothing or an expression behind it, else where it can.
    """
    likely: NamedPlace | None = None
    for bracket in re.finditer("]", rest):
        end = bracket.start()
        found = _with_tail(place._replace(parameter=rest[1:end]), rest[end + 1 :])
        if found is None:
            continue
        behind = found.condition if found.text is None else found.text
        if behind is None or _is_expression(behind.strip()):
            return found
        likely = likely or found
    return likely


def _with_tail(place: NamedPlace, rest: str) -> NamedPlace | None:
    found = _TAIL.fullmatch(rest)
    if found is None:
        return None
    return place._replace(condition=found["condition"], text=found["text"])


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def is_in_file(function: str) -> bool:
    """Whether a function is named with the absolute path of its file, as the operations name it."""
    return os.path.isabs(function)
