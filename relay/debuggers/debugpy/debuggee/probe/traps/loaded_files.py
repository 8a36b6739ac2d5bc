"""LoadedFiles: the files of the modules that are loaded as the program begins.

There are over two hundred, and to follow the symbolic links of each would take longer than all else that a
launch waits for. Only those are followed that a path may mean: that have its name, or are links.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.traps.trapped_codes import path_of

_SEPARATOR = os.sep  # a program may put a mock in the place of os.path


class LoadedFiles:
    """They are as they were when this was made."""

    def __init__(self, files: Iterable[str]) -> None:
        self._paths: set[Any] = set()
        self._unfollowed: dict[str, list[str]] = {}
        """By the name that their path has, too."""
        for file in files:
            if os.path.isabs(file) and not os.path.islink(file):
                self._unfollowed.setdefault(_stem(file), []).append(file)
            else:
                self._paths.add(attempt(path_of, file))

    def among(self, paths: Iterable[str]) -> set[str]:
        """Those of the paths, as pydevd files its breakpoints, that are such a file's."""
        found = set(paths)
        for name in {_stem(path) for path in found}:
            for file in self._unfollowed.pop(name, ()):
                self._paths.add(attempt(path_of, file))
        return found.intersection(self._paths)


def _stem(path: str) -> str:
    """The name of a file, whatever follows it, and whatever becomes of capitals."""
    return path.rpartition(_SEPARATOR)[2].partition(".")[0].lower()
