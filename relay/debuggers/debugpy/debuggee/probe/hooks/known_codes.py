"""What pydevd asks of each frame that it walks past, told at once of a code that was asked about before.

It keeps whether a code is the debugger's, a library's or the program's by the code's value: to hash that takes
as long as the code is, at each frame of the stack, several times a step. Here it is found by the object.
"""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import LatestCodes
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch

_NOT_ASKED = object()


class _KnownCodes:
    """Of one `mtime` of pydevd's, which `_clear_caches` counts on as soon as it has forgotten what pydevd itself
    knew. What a thread finds out meanwhile it notes here, and nobody reads it any more."""

    def __init__(self, mtime: Any) -> None:
        self.mtime = mtime
        self.file_types, self.scopes = LatestCodes(), LatestCodes()


_known_codes: Any = None


def know_codes_at_once() -> None:
    """From now on, until pydevd is told anew what it is to debug."""
    owner = type(debugger())
    patch(owner, "get_file_type", _file_type_of)
    patch(owner, "in_project_scope", _is_in_project_scope)


def _present_codes(py_db: Any) -> Any:
    global _known_codes
    known, mtime = _known_codes, py_db.mtime
    if known is None or known.mtime != mtime:
        known = _known_codes = _KnownCodes(mtime)
    return known


def _file_type_of(look: Any, py_db: Any, frame: Any, *names: Any, **named: Any) -> Any:
    table = _present_codes(py_db).file_types
    return _found_in(table, look, py_db, frame, names, named)


def _is_in_project_scope(look: Any, py_db: Any, frame: Any, *names: Any, **named: Any) -> Any:
    table = _present_codes(py_db).scopes
    return _found_in(table, look, py_db, frame, names, named)


def _found_in(table: Any, look: Any, py_db: Any, frame: Any, names: Any, named: Any) -> Any:
    code = frame.f_code
    found = table.get(code, _NOT_ASKED)
    if found is _NOT_ASKED:
        found = look(py_db, frame, *names, **named)
        if type(code) is types.CodeType:  # else of a frame that is made to be shown
            table[code] = found
    return found
