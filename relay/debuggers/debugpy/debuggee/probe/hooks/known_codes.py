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

_file_types = LatestCodes()
_scopes = LatestCodes()
_NOT_ASKED = object()


def know_codes_at_once() -> None:
    """From now on, until pydevd is told anew what it is to debug."""
    owner = type(debugger())
    patch(owner, "get_file_type", _file_type_of)
    patch(owner, "in_project_scope", _is_in_project_scope)
    patch(owner, "_clear_caches", _forget_codes)


def _file_type_of(look: Any, py_db: Any, frame: Any, *names: Any, **named: Any) -> Any:
    code = frame.f_code
    found = _file_types.get(code, _NOT_ASKED)
    if found is _NOT_ASKED:
        found = look(py_db, frame, *names, **named)
        if type(code) is types.CodeType:  # else of a frame that is made to be shown
            _file_types[code] = found
    return found


def _is_in_project_scope(look: Any, py_db: Any, frame: Any, *names: Any, **named: Any) -> Any:
    code = frame.f_code
    found = _scopes.get(code, _NOT_ASKED)
    if found is _NOT_ASKED:
        found = look(py_db, frame, *names, **named)
        if type(code) is types.CodeType:
            _scopes[code] = found
    return found


def _forget_codes(clear: Any, py_db: Any) -> None:
    _file_types.clear()
    _scopes.clear()
    clear(py_db)
