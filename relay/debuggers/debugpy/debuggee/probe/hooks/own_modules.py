"""pydevd's modules in `sys.modules`, where the program has taken them out: tests empty it for a while."""

from __future__ import annotations

import sys
from typing import Any

_ONE_OF_PYDEVD = "_pydevd_bundle.pydevd_constants"
_OWN = ("pydevd", "_pydevd", "_pydev_")

_own_modules: dict[str, Any] = {}


def keep_own_modules() -> None:
    """Those that are there now."""
    _own_modules.update(
        {name: module for name, module in list(sys.modules.items()) if name.startswith(_OWN)}
    )


def give_back_own_modules() -> None:
    """An import would make second copies of them, which know nothing of the session."""
    modules = sys.modules
    if _ONE_OF_PYDEVD not in modules:
        for name, module in _own_modules.items():
            modules.setdefault(name, module)
