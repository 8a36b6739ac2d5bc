"""What the start of this interpreter has read, as it is now: the same as then, or not.

A process that waits for its program was started before. Where the files by which Python finds and
makes its modules have changed since, a process that starts now would come out otherwise, and must
be started. Knows what `site` and the import system read before a program runs. Does not know which
program that is.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import os
import sys
from typing import Any

OPTIONAL = {"sitecustomize", "usercustomize", "debugpy", "gevent", "eventlet"}
"""Modules that change the start by being there."""

CLOCK = "/etc/localtime"
_FOLDER = "in "  # ahead of the path of one, among what was seen


def look() -> dict[str, Any]:
    """By path what matters of it; equal to another look where nothing has changed."""
    names = OPTIONAL.union(name.partition(".")[0] for name in sys.modules)
    files = {_file_of(module) for module in list(sys.modules.values())}
    site = sys.modules.get("site")
    folders = [*sys.path, getattr(site, "USER_SITE", None)]
    configuration = [os.path.join(sys.prefix, "pyvenv.cfg"), sys.executable, CLOCK]
    seen: dict[str, Any] = {path: _state(path) for path in [*files, *configuration] if path}
    for folder in folders:
        if isinstance(folder, str):
            seen[_FOLDER + folder] = _entries(folder, names)
    return seen


def has_changed_since(moment: int, seen: dict[str, Any]) -> bool:
    """Whether anything in this look has a time of that moment or later: nanoseconds, as files have them.

    What changed before the first look of a process, while it was loading, shows in no second look.
    """
    for key, state in seen.items():
        states = _states_in(key[len(_FOLDER) :], state, moment) if type(state) is dict else [state]
        if any(_is_since(moment, one) for one in states):
            return True
    return False


def forget_caches() -> None:
    """Have the next import look at the folders again, as the first one of a new process does."""
    for finder in list(sys.path_importer_cache.values()):
        if hasattr(finder, "_path_mtime"):  # of folders; who finds elsewhere has other caches
            finder.invalidate_caches()  # type: ignore[union-attr]


def _file_of(module: Any) -> str | None:
    # Not by its own attributes: one that loads itself when it is used stays as it is.
    try:
        path = object.__getattribute__(module, "__dict__").get("__file__")
    except AttributeError:
        return None
    return path if isinstance(path, str) else None


def _state(path: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino, found.st_dev, found.st_ctime_ns


def _is_since(moment: int, state: tuple[int, ...] | None) -> bool:
    return state is not None and state[-1] >= moment


def _states_in(folder: str, entries: dict[str, Any], moment: int) -> list[tuple[int, ...] | None]:
    """Of the entries that a start would read; of modules only if one may have come since."""
    if _is_since(moment, _state(folder)):
        return [_state(os.path.join(folder, name)) for name in entries]
    return list(entries.values())


def _entries(folder: str, names: set[str]) -> Any:
    """Of a folder the entries that a start would read; of an archive whether it is the same."""
    try:
        found = os.listdir(folder)
    except (OSError, ValueError):
        return _state(folder)
    return {
        name: _state(os.path.join(folder, name)) if name.endswith(".pth") else None
        for name in found
        if name.endswith(".pth") or name.partition(".")[0] in names
    }
