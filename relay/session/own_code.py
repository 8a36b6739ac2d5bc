"""Which directories hold the program's own code: its project, where it runs, and its script's."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from relay.environments import is_command_of_environment

if TYPE_CHECKING:
    from relay.session.session import Session

_INSTALLED = frozenset({"site-packages", "dist-packages", "node_modules", ".tox", ".nox"})
"""Directories inside a project that hold other people's code."""

_CELL = re.compile(r".*/ipykernel_\d+/\d+\.py|<(ipython-input-|timed (exec|eval)>).*", re.DOTALL)
"""How ipykernel and IPython name what a cell, a line or a `%time` was compiled to."""


def own_roots(session: Session) -> list[str]:
    """The directories, absolute and without repetition; what is installed in them is not its own."""
    roots, launched = [session.config.project_root], session.launched
    if launched is not None:
        roots.append(launched.cwd)
        if launched.own_folder:
            roots.append(launched.own_folder)
    return list(dict.fromkeys(root for root in roots if root))


def is_user_code(path: str | None, roots: set[str]) -> bool:
    """Whether the file lies below one of the directories, and is not installed there.

    A cell of a notebook is the program's own, wherever it was written to.
    """
    if path is None:
        return False
    if _CELL.fullmatch(path):
        return True
    pure = PurePath(path)
    for root in roots:
        if pure.is_relative_to(root):
            inside = pure.relative_to(root).parts
            if _INSTALLED.intersection(inside) or _is_library(inside):
                return False
            return not is_command_of_environment(path)
    return False


def _is_library(parts: tuple[str, ...]) -> bool:
    """lib/python3.11 of a virtual environment, or of Python itself."""
    return any(a in ("lib", "lib64") and b.startswith("python") for a, b in zip(parts, parts[1:]))  # noqa: B905, RUF007
