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

# What Python says of a module that it has loaded, when it is asked to (`-v`). Nothing that raises has
# called it: so a failed import has the traceback that it would have.
_LOADED = "import {!r} # {!r}"
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
    say = bootstrap._verbose_message

    def _verbose_message(message: str, *about: Any, **named: Any) -> None:
        say(message, *about, **named)
        if message == _LOADED:
            _loaded(str(about[0]))

    bootstrap._verbose_message = _verbose_message


def _loaded(name: str) -> None:
    for act in _waiting.pop(name, ()):
        module = sys.modules.get(name)
        if module is not None:
            attempt(act, module)
