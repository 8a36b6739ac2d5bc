"""Files with a relative name, as of code that a template engine compiles, where the current directory is gone.

pydevd makes the name absolute as it first meets the file, in the program's own call: there is nothing to
begin with, and its error would be the program's. Refuses to know what a file is.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch


def place_files_of_lost_directory() -> None:
    """Where pydevd looks for a relative name that leads nowhere, they are found, or taken for a library's."""
    patch(
        sys.modules["pydevd_file_utils"],
        "_apply_func_and_normalize_case",
        _absolute_without_directory,
        calling=_where_it_fails,
    )


def _where_it_fails(original: Any, slot: list[Any]) -> Any:
    """Only there something else is called: below a program that has hardly room, each call counts."""

    def absolute_name(name: str, make: Any, is_absolute: bool, *options: Any) -> Any:
        """make: makes the name absolute, by the current directory."""
        try:
            return original(name, make, is_absolute, *options)
        except OSError:
            if is_absolute:
                raise
            return original(slot[0](name), make, True, *options)

    return absolute_name


def _absolute_without_directory(name: str) -> str:
    rooms = [one for one in sys.path if type(one) is str and os.path.isabs(one)]
    places = [os.path.join(room, name) for room in rooms]
    library: str = sys.modules["pydevd_file_utils"]._library_dir
    return next(filter(os.path.exists, places), os.path.join(library, name))
