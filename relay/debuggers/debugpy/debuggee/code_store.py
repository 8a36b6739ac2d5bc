"""CodeStore: the compiled code of the files that run in a debuggee, all in one file for each Python.

A start needs nearly all of them. Where Python has a .pyc of each, it has as many files to find; where
it may not write any (PYTHONDONTWRITEBYTECODE, an installation that is read only) it compiles all of
them each time. So a start that finds no store leaves one, in a directory of the relay's own.

A store is used whole or not at all: if it was made of the very same files. What else makes it
trustworthy is the business of `kept_file.py`.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import importlib.machinery
import marshal
import os
from typing import Any


class CodeStore:
    """The code of the files below `root`, kept in `folder`. kept: the module `kept_file`."""

    def __init__(self, kept: Any, folder: str, root: str) -> None:
        self._kept = kept
        self._path = os.path.join(folder, kept.name_for("code", root))
        self._codes: dict[str, Any] = {}
        self._states: dict[str, Any] = {}
        """Of each file of which there is code, as it was when it was read."""
        self._is_new = False
        self._open()

    def code(self, path: str) -> Any:
        """The compiled code of a file. Raises OSError, SyntaxError."""
        if path not in self._codes:
            state = self._kept.state_of(path)
            self._codes[path] = importlib.machinery.SourceFileLoader(path, path).get_code(path)
            self._states[path] = state
            self._is_new = True
        return self._codes[path]

    def keep(self) -> None:
        """Have the next start find what this one has compiled."""
        if self._is_new:
            self._kept.write(self._path, marshal.dumps((self._states, self._codes)))

    def _open(self) -> None:
        body = self._kept.read(self._path)
        if body is None:
            return
        states, codes = marshal.loads(body)
        if all(self._kept.state_of(path) == state for path, state in states.items()):
            self._states, self._codes = states, codes
