"""CodeStore: the compiled code of the files that run in a debuggee, all in one file for each Python.

A start needs nearly all of them. Where Python has a .pyc of each, it has as many files to find; where
it may not write any (PYTHONDONTWRITEBYTECODE, an installation that is read only) it compiles all of
them each time. So a start that finds no store leaves one, in a directory of the relay's own.

A store is used whole or not at all: if it was made of the very same files, by this very Python, and
nobody else can have written it.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import _imp
import importlib.machinery
import importlib.util
import marshal
import os
import stat
import sys
from typing import Any

SIGN = 8
"""Bytes of the checksum in front: marshal does not survive a damaged file."""


class CodeStore:
    """The code of the files below `root`, kept in `folder`; without one, that of their .pyc files."""

    def __init__(self, folder: str | None, root: str) -> None:
        self._folder = folder
        self._path = folder and os.path.join(folder, _name_for(root))
        self._codes: dict[str, Any] = {}
        self._states: dict[str, Any] = {}
        """Of each file of which there is code, as it was when it was read."""
        self._is_new = False
        self._open()

    def code(self, path: str) -> Any:
        """The compiled code of a file. Raises OSError, SyntaxError."""
        if path not in self._codes:
            state = _state(path)
            self._codes[path] = importlib.machinery.SourceFileLoader(path, path).get_code(path)
            self._states[path] = state
            self._is_new = True
        return self._codes[path]

    def keep(self) -> None:
        """Have the next start find what this one has compiled, if there is a place for it."""
        if not self._is_new or not self._path or not self._folder:
            return
        body = marshal.dumps((self._states, self._codes))
        beside = f"{self._path}.{os.getpid()}"
        try:
            if not os.path.isdir(self._folder):
                os.mkdir(self._folder, 0o700)  # only where the relay has a state directory already
            file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                with open(file, "wb") as writer:
                    writer.write(_sign(body) + body)
                os.replace(beside, self._path)
            except OSError:
                os.unlink(beside)
                raise
        except OSError:
            pass  # then the next start reads the files, as this one did

    def _open(self) -> None:
        body = _read(self._path) if self._path else None
        if body is None:
            return
        states, codes = marshal.loads(body)
        if all(_state(path) == state for path, state in states.items()):
            self._states, self._codes = states, codes


def _name_for(root: str) -> str:
    """Another one for each Python and each installation: none takes another's place in turns."""
    tag = f"{sys.implementation.cache_tag}-{sys.flags.optimize}"
    return f"{tag}-{_sign(os.fsencode(root)).hex()}.code"


def _sign(data: bytes) -> bytes:
    """Of the bytes and of the version of Python's bytecode."""
    return _imp.source_hash(int.from_bytes(importlib.util.MAGIC_NUMBER, "little"), data)


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return None
            sign, body = file.read(SIGN), file.read()
    except OSError:
        return None
    return body if sign == _sign(body) else None


def _state(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
