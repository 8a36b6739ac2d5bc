"""Modules of the program's: what is to be done in one as soon as it is there.

A module that is loaded already is taken at once; another when its import has run it to the end.
`sys.meta_path` and the tracebacks of the program's imports stay as they are.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt

# Under the name of the file that Python leaves out of the tracebacks of failed imports.
_LOADER = """\
def _load_unlocked(spec):
    module = load(spec)
    loaded(spec)
    return module
"""
_waiting: dict[str, list[Any]] = {}
_hooked: list[bool] = []


def when_imported(name: str, act: Callable[[Any], Any]) -> None:
    """Call `act` with the module, now or once it is imported; what that raises is dropped."""
    module = sys.modules.get(name)
    if module is not None and not _is_being_loaded(module):
        attempt(act, module)
        return
    _waiting.setdefault(name, []).append(act)
    if not _hooked:
        _hooked.append(True)
        _hook_imports()


def _is_being_loaded(module: Any) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))


def _hook_imports() -> None:
    bootstrap: Any = sys.modules["_frozen_importlib"]
    namespace = {"load": bootstrap._load_unlocked, "loaded": _loaded}
    exec(compile(_LOADER, "<frozen importlib._bootstrap>", "exec"), namespace)
    bootstrap._load_unlocked = namespace["_load_unlocked"]


def _loaded(spec: Any) -> None:
    for act in _waiting.pop(str(getattr(spec, "name", "")), ()):
        module = sys.modules.get(spec.name)
        if module is not None:
            attempt(act, module)
