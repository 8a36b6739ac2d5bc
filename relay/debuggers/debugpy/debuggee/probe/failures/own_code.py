"""Which code is the program's own: what lies below its roots, and is not installed there.

The relay says the roots when it asks for failures. The rules are the relay's own for reports.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.process.paths import absolute_path

_INSTALLED = frozenset(("site-packages", "dist-packages", "node_modules", ".tox", ".nox"))
_own_roots: list[str] = []
# As ipykernel and IPython name what a cell, a line or a `%time` was compiled to.
_CELL = re.compile(r".*/ipykernel_\d+/\d+\.py|<(ipython-input-|timed (exec|eval)>).*", re.DOTALL)


def own_roots(roots: list[str]) -> None:
    """From now on these directories hold the program's own code."""
    _own_roots[:] = [root.rstrip(os.sep) + os.sep for root in roots]


def is_own_path(path: str) -> bool:
    """Whether a file is the program's; a cell of a notebook is, wherever it was written to."""
    if is_debugger_file(path):
        return False
    if is_cell_path(path):
        return True
    real = absolute_path(path) if path[:1] != "<" else path
    if not any(real.startswith(one) and not is_installed(real[len(one) :]) for one in _own_roots):
        return False
    return not _is_command_of_environment(real)


def is_cell_path(path: str) -> bool:
    """Whether IPython has named code of a cell or of a line so: it is no file, or none for long."""
    return _CELL.fullmatch(path) is not None


def _is_command_of_environment(path: str) -> bool:
    """Whether a file lies beside the Python of this virtual environment, as a launcher of pytest does."""
    in_environment = sys.prefix != sys.base_prefix
    return in_environment and os.path.dirname(path) == os.path.dirname(sys.executable)


def is_installed(inside: str) -> bool:
    parts = inside.split(os.sep)
    if not _INSTALLED.isdisjoint(parts):
        return True
    pairs = zip(parts, parts[1:])  # noqa: B905, RUF007  not in Python 3.8
    return any(a in ("lib", "lib64") and b.startswith("python") for a, b in pairs)


def own_frame(entries: list[Any], home: str | None = None) -> int | None:
    """Position of the innermost entry of the program's own code.

    home: a directory whose code counts as the program's where none else does, as that of an
    installed package whose own tests are run.
    """
    for position in range(len(entries) - 1, -1, -1):
        if is_own_path(entries[position].frame.f_code.co_filename):
            return position
    if home is None:
        return None
    inside = home.rstrip(os.sep) + os.sep
    for position in range(len(entries) - 1, -1, -1):
        if entries[position].frame.f_code.co_filename.startswith(inside):
            return position
    return None
