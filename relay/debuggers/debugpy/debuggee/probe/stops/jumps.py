"""The next line of a frame, set by a client: which lines there are, and a jump without a warning.

Knows where pydevd sets it.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import find_frame
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.process.unwarned import Unwarned

_ABOUT_JUMPS = re.compile(r"assigning None to \d+ unbound local")
"""What Python 3.12 and later warn of: variables that have no value at a jump."""


def jump_lines(frame: int) -> dict[str, Any]:
    """The lines of a frame's own code: where its next line can be set."""
    code = find_frame(frame).f_code
    return {"name": code.co_name, "lines": sorted(_lines_of(code))}


def _lines_of(code: Any) -> set[int]:
    if hasattr(code, "co_lines"):
        return {line for _, _, line in code.co_lines() if line}  # None, and 0 for RESUME
    import dis

    return {line for _, line in dis.findlinestarts(code) if line}


def jump_without_warning() -> None:
    """The warning would be printed as the program's, or, where warnings are errors, be raised in it."""
    pydevd: Any = sys.modules["pydevd"]
    patch(pydevd.PyDB, "set_next_statement", _jump)


def _jump(original: Any, *arguments: Any, **named: Any) -> Any:
    with Unwarned(RuntimeWarning, _ABOUT_JUMPS):
        return original(*arguments, **named)
