"""Paths that clients give: relative ones start at the project root."""

from __future__ import annotations

import difflib
import os
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
    of close names, else in the nearest one that there is.
    """
    directory, name = os.path.split(path)
    if not os.path.isdir(directory or "."):
        return _in_other_folders(directory, name)[:limit]
    stem, suffix = os.path.splitext(name)
    stems: dict[str, str] = {}
    for other in _names_in(directory, os.path.isfile):
        other_stem, other_suffix = os.path.splitext(other)
        if suffix in ("", other_suffix) or other_stem == stem:
            stems.setdefault(other_stem, other)
    close = difflib.get_close_matches(stem, stems, n=limit)
    return [os.path.join(directory, stems[match]) for match in close]


def _in_other_folders(directory: str, name: str) -> list[str]:
    parent, folder = os.path.split(directory)
    below = name  # the folder
    while not os.path.isdir(parent or ".") and parent != os.path.dirname(parent):
        below = os.path.join(folder, below)
        parent, folder = os.path.split(parent)
    folders = difflib.get_close_matches(folder, _names_in(parent, os.path.isdir))
    found = [os.path.join(parent, one, below) for one in folders]
    return [one for one in found if is_there(one)] or [
        one for one in [os.path.join(parent, name)] if is_there(one)
    ]


def _names_in(directory: str, is_meant: Callable[[str], bool]) -> list[str]:
    try:
        names = os.listdir(directory or ".")
    except OSError:
        return []
    return [name for name in names if is_meant(os.path.join(directory, name))]
