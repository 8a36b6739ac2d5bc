"""What pydevd knows of each code from 3.12 on, its breakpoints and all: for each file by itself.

It keeps that by the code; and functions of one text that begin in the same line are equal, whatever
their files. So of two copies of a file the second had the breakpoints of the first, and none of its
own. Refuses to know what is kept.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import LatestCodes
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import events_module

_INFO_OF_CODES = "_code_to_func_code_info_cache"


class _ByFileAndCode:
    """A mapping as far as pydevd needs it. Equal codes of one file share an entry: a program that
    compiles a text again and again makes it no larger."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, Any], Any] = {}
        self._latest = LatestCodes()  # asked at each event: no code is to be hashed for it

    def __setitem__(self, code: Any, known: Any) -> None:
        self._entries[code.co_filename, code] = self._latest[code] = known

    def get(self, code: Any) -> Any:
        known = self._latest.get(code)
        if known is None:
            known = self._entries.get((code.co_filename, code))
            if known is not None:
                self._latest[code] = known
        return known


def separate_equal_codes() -> None:
    """From now on. KeyError where pydevd keeps it in another way."""
    constants: Any = sys.modules["_pydevd_bundle.pydevd_constants"]
    if constants.PYDEVD_USE_SYS_MONITORING:
        scope = vars(sys.modules[events_module().ThreadInfo.__module__])
        if _INFO_OF_CODES not in scope:
            raise KeyError(_INFO_OF_CODES)
        scope[_INFO_OF_CODES] = _ByFileAndCode()
