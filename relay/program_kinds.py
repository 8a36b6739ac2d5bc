"""What a program is written in, by its name and its first line: which debugger suits it, and whether it is
a command of another kind than Python's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Protocol, TypeVar

_FIRST_LINE = re.compile(rb"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?)?(?:\S*/)?([A-Za-z]+)")
_LONGEST_FIRST_LINE = 256


class Suits(Protocol):
    """What is said of a debugger."""

    @property
    def suffixes(self) -> Sequence[str]:
        """How the names of its programs end."""

    @property
    def languages(self) -> Sequence[str]:
        """What they are written in."""


T = TypeVar("T")


def suiting(program: str, known: Iterable[tuple[T, Suits]]) -> T | None:
    """Of debuggers the one for a program: by how its name ends, else by the language that its first line names.

    One whose name has no end, such as those of `node_modules/.bin`, may be a link to one that has.
    """
    each = list(known)
    suffix = PurePath(program).suffix or PurePath(os.path.realpath(program)).suffix
    for key, one in each:
        if suffix and suffix in one.suffixes:
            return key
    language = _named_language(program)
    for key, one in each:
        if language in [spoken.lower() for spoken in one.languages]:
            return key
    return None


def is_no_python(path: str) -> bool:
    """Whether the system runs the file without Python, as far as its beginning says: a binary, or a script
    whose first line names something else. Some of these start Python: `make`, `uv`, a script of a shell's.
    """
    if PurePath(path).suffix in _NAMED_AS_PYTHON or not os.path.isfile(path):
        return False
    if not os.access(path, os.X_OK):
        return False
    try:
        with open(path, "rb") as file:
            beginning = file.read(4)
    except OSError:
        return False
    if beginning in _BINARY:
        return True
    language = _named_language(path)
    return language is not None and language not in _OF_PYTHON


_BINARY = (
    b"\x7fELF",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
)  # of Linux; of macOS, for one processor and for several
_OF_PYTHON = ("python", "pypy")
_NAMED_AS_PYTHON = (".py", ".pyw", ".pyc", ".pyz")


def _named_language(path: str) -> str | None:
    """What runs a script by its first line, without a version: `perl`, `python`; None without one.

    A pipe is not read: it is for the program.
    """
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            found = _FIRST_LINE.match(file.readline(_LONGEST_FIRST_LINE))
    except OSError:
        return None
    return None if found is None else found[1].decode().lower()
