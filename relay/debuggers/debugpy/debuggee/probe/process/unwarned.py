"""Warnings that are none of the program's doing, left out while the debugger is at work in it.

`warnings.catch_warnings` would not do: it has Python forget which warnings it has shown, so that
those which are shown once are shown again; and it takes back what an expression of a client's has
set. So here a filter stands in front of the program's own, in its very list, and goes again.
"""

from __future__ import annotations

import re
import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch


_ANY = re.compile("(?:)")
"""Any text. Not None: so no filter of the program's is equal to one of these."""


class Unwarned:
    """A context. Of several at once each takes away what it has put there itself.

    category, message: of the warnings that are left out; message is a compiled pattern.
    """

    def __init__(self, category: type[Warning] = Warning, message: Any = _ANY) -> None:
        self._filter = ("ignore", message, category, None, 0)
        self._filters: Any = None

    def __enter__(self) -> None:
        self._filters = warnings.filters
        if type(self._filters) is list:
            self._filters.insert(0, self._filter)

    def __exit__(self, *_: object) -> None:
        self._take_from(self._filters)
        if warnings.filters is not self._filters:  # replaced by a copy, or by another list
            self._take_from(warnings.filters)

    def _take_from(self, filters: Any) -> None:
        if type(filters) is list:
            for place, one in enumerate(filters):
                if one is self._filter:
                    del filters[place]
                    return


def keep_filters() -> None:
    """Where pydevd looks at values itself, too."""
    for name in ("pydevd_constants", "pydevd_comm"):
        patch(sys.modules["_pydevd_bundle." + name], "filter_all_warnings", lambda _: Unwarned())
