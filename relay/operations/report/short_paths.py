"""Paths as reports show them: relative to the project, and of a library without its home."""

from __future__ import annotations

import os
import re

from relay.session.own_code import is_user_code, own_roots
from relay.session.session import Session

_INSTALLED = re.compile(r".*/(?:site|dist)-packages/|.*/lib(?:64)?/python[\d.]+/")


def is_own(session: Session, path: str | None) -> bool:
    """Whether the file is the program's own: below its roots, and not installed there."""
    return is_user_code(path, set(own_roots(session)))


def short_path(session: Session, path: str | None) -> str | None:
    """Relative to the project, or to where the program runs; of a library, without its home."""
    if path is None:
        return None
    for root in sorted(set(own_roots(session)), key=len):
        if path.startswith(root.rstrip("/") + "/") and is_user_code(path, {root}):
            return os.path.relpath(path, root)
    return without_home(path)


def is_of_library(path: str) -> bool:
    """Whether the file is installed, or no file at all, by its path alone."""
    return path.startswith("<") or _INSTALLED.match(path) is not None


def without_home(path: str) -> str:
    """The path of a library's file, from where libraries are installed on."""
    return _INSTALLED.sub("", path)
