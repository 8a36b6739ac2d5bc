"""Which files pydevd leaves alone: those of the standard library that it is made of, by their place.

It goes by the name alone. So it would leave out any file called queue, socket, io and the like,
whosever it is: no breakpoint there is hit, and no step leads there. Refuses to know the debugger's
own files, whose names nobody else has.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch

_PYTHONS_OWN = os.path.dirname(os.__file__)
_PYTHONS_ROOMS = frozenset(
    os.path.normcase(make(room))
    for room in (_PYTHONS_OWN, os.path.join(_PYTHONS_OWN, "encodings"))
    for make in (os.path.abspath, os.path.realpath)
)


def hide_by_place() -> None:
    """Before a file of the program is run: pydevd keeps what it has found out of each."""
    pydevd: Any = sys.modules["pydevd"]
    patch(pydevd.PyDB, "_internal_get_file_type", _file_type)


def _file_type(original: Any, py_db: Any, names: Sequence[str]) -> Any:
    """names: of the file, absolute, as it is on the disk, and without its directory."""
    found = original(py_db, names)
    if found is None or found == py_db.PYDEV_FILE:
        return found
    is_pythons_own = os.path.normcase(os.path.dirname(names[0])) in _PYTHONS_ROOMS
    return found if is_pythons_own else None
