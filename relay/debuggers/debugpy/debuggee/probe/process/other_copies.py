"""Files that a client has named and the program has not loaded, while it has another copy of the module.

A breakpoint in the sources of `shop.cart` is never hit, if the tests import the `shop.cart` that is installed.
Told at the end of the program, of breakpoints, traces and recordings of calls that name files.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relay.debuggers.debugpy.debuggee.probe.calls.recordings import focused_paths
    from relay.debuggers.debugpy.debuggee.probe.frames.modules import loaded_modules
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import send_event
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.paths import is_file, real_path
    from relay.debuggers.debugpy.debuggee.probe.stops.functions import function_files
    from relay.debuggers.debugpy.debuggee.probe.trace.traces import traced_files

_COPIES_EVENT = "relayCopies"
_PACKAGE = "__init__.py"


def report_other_copies() -> None:
    """The program ends: say what it has in place of files that were named; nothing, if there is none."""
    py_db = debugger()
    if py_db is None:
        return
    named = [*py_db.breakpoints, *function_files()]
    paths = {*named, *traced_files(), *focused_paths()}
    copies = attempt(_other_copies, paths, default={})
    if copies:
        send_event(py_db, _COPIES_EVENT, {"copies": copies})


def _other_copies(paths: Iterable[str]) -> dict[str, Any]:
    """By real path: the module that it would be, and the file that the program has it from."""
    named = {real_path(path): attempt(_module_name, path, default="") for path in paths if path}
    if not any(name in sys.modules for name in named.values()):
        return {}
    loaded = {
        one["name"]: real_path(one["path"]) for one in loaded_modules()["modules"] if one["path"]
    }
    files = set(loaded.values())
    return {
        path: {"module": name, "path": loaded[name]}
        for path, name in named.items()
        if name in loaded and _source(path) not in files
    }


def _source(path: str) -> str:
    return str(real_path(path if path.endswith(".py") else os.path.join(path, _PACKAGE)))


def _module_name(path: str) -> str:
    """The name in dots of a source, or of a package's folder, by the packages that it lies in; empty for others."""
    source = _source(path)
    if not is_file(source):
        return ""
    folder, base = os.path.split(source)
    parts = [] if base == _PACKAGE else [base[: -len(".py")]]
    while is_file(os.path.join(folder, _PACKAGE)):
        folder, base = os.path.split(folder)
        parts.insert(0, base)
    return ".".join(parts)
