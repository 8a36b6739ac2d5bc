"""Paths that clients give: relative ones start at the project root."""

from __future__ import annotations

import difflib
import os


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
    """Existing files whose names are closest to the one that does not exist."""
    directory, name = os.path.split(path)
    while directory and not os.path.isdir(directory) and directory != os.path.dirname(directory):
        directory = os.path.dirname(directory)
    try:
        with os.scandir(directory or ".") as entries:
            names = [entry.name for entry in entries if _is_file(entry)]
    except OSError:
        return []
    close = difflib.get_close_matches(name, names, n=limit, cutoff=0.5)
    return [os.path.join(directory, match) for match in close]


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a symbolic link to itself, say
        return False
