"""Paths that clients give: relative ones start at the project root."""

from __future__ import annotations

import difflib
import os
from collections import defaultdict
from collections.abc import Callable


def resolve(path: str, root: str) -> str:
    """An absolute, normalised path. Symbolic links stay: the program sees them too."""
    return os.path.normpath(os.path.join(root, os.path.expanduser(path)))


def is_there(path: str) -> bool:
    """Whether it is a file."""
    return os.path.isfile(path)


def is_file_or_folder(path: str) -> bool:
    """Whether there is anything."""
    return os.path.exists(path)


def similar_files(path: str, limit: int = 3) -> list[str]:
    """Existing files that may have been meant by one that does not exist, the closest first.

    In its folder those of a close name; if there is no such folder, files of that very name: in folders
    of close names, else in the nearest one that there is. Small and capital letters count as equal.
    """
    directory, name = os.path.split(path)
    if not os.path.isdir(directory or "."):
        return _in_other_folders(directory, name)[:limit]
    stem, suffix = os.path.splitext(name.casefold())
    by_stem: dict[str, list[str]] = defaultdict(list)
    for other in _names_in(directory, os.path.isfile):
        other_stem, other_suffix = os.path.splitext(other.casefold())
        if suffix in ("", other_suffix) or other_stem == stem:
            by_stem[other_stem].append(other)
    return [os.path.join(directory, one) for one in _close(stem, by_stem)][:limit]


def _in_other_folders(directory: str, name: str) -> list[str]:
    parent, folder = os.path.split(directory)
    below = name  # the folder
    while not os.path.isdir(parent or ".") and parent != os.path.dirname(parent):
        below = os.path.join(folder, below)
        parent, folder = os.path.split(parent)
    by_name: dict[str, list[str]] = defaultdict(list)
    for other in _names_in(parent, os.path.isdir):
        by_name[other.casefold()].append(other)
    found = [os.path.join(parent, one, below) for one in _close(folder.casefold(), by_name)]
    return [one for one in found if is_there(one)] or [
        one for one in [os.path.join(parent, name)] if is_there(one)
    ]


def _close(name: str, names: dict[str, list[str]]) -> list[str]:
    """What is kept under names close to this one, the closest first."""
    return [one for near in difflib.get_close_matches(name, names) for one in names[near]]


def _names_in(directory: str, is_meant: Callable[[str], bool]) -> list[str]:
    try:
        names = sorted(os.listdir(directory or "."))
    except OSError:
        return []
    return [name for name in names if is_meant(os.path.join(directory, name))]
