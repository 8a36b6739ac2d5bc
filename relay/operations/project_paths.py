"""Paths that must stay inside of a project: relative, without `..`, no link leads out."""

from __future__ import annotations

import os
from pathlib import PurePath

from relay.errors import InvalidRequest


def inside(field: str, path: str, root: str) -> str:
    """The absolute path of an existing file below `root`.

    Raises InvalidRequest, naming `field`, for an absolute path, one with `..`, one that a
    symbolic link leads out of the root, and one that is no file.
    """
    pure = PurePath(path)
    if pure.is_absolute() or path.startswith("~"):
        raise _refusal(field, path, "must be relative to the project root")
    if ".." in pure.parts:
        raise _refusal(field, path, "must not contain '..'")
    found = os.path.join(root, os.path.normpath(path))
    real, real_root = os.path.realpath(found), os.path.realpath(root)
    if os.path.commonpath([real, real_root]) != real_root:
        raise _refusal(field, path, "leads out of the project root")
    if not os.path.isfile(found):
        raise _refusal(field, path, "no such file in the project")
    return found


def _refusal(field: str, path: str, message: str) -> InvalidRequest:
    shown = path[:200]
    return InvalidRequest.of_field(
        field,
        message,
        shown,
        text=f"{field}: {message}: {shown!r}",
        suggestion=f"Give {field} as a path of an existing file below the project root",
    )
