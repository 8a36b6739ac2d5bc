"""Modules: those that are loaded, the one of each frame, and the source as its loader gives it.

Reads what is stored; nothing is imported, and no code of the program runs but its own loader's.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        find_frame,
        find_live_frame,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import own_dict
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact, plan_of

_DEBUGGER_MODULES = ("_pydev", "pydev", "debugpy", "_debug_relay")
_LONGEST_SOURCE = 4_000_000


def modules(frames: list[int]) -> dict[str, Any]:
    """The name of the module of each frame, by frame id; a frame without one is left out."""
    found = ((frame_id, find_live_frame(frame_id)) for frame_id in frames)
    names = [(key, frame.f_globals.get("__name__")) for key, frame in found if frame is not None]
    return {"modules": {str(key): exact(name) for key, name in names if _is_text(name)}}


def stack_modules(frame: int) -> dict[str, Any]:
    """The same for each frame of the stack that this one is in; null where the debugger keeps none."""
    manager = debugger().suspended_frames_manager
    thread = manager.get_thread_id_for_variable_reference(id(find_frame(frame)))
    stack = None if thread is None else manager.get_frames_list(thread)
    if stack is None:
        return {"modules": None}
    schema: Any = sys.modules["_pydevd_bundle._debug_adapter.pydevd_base_schema"].BaseSchema
    names = [(schema._translate_id_to_dap(id(one)), one.f_globals.get("__name__")) for one in stack]
    return {"modules": {str(key): exact(name) for key, name in names if _is_text(name)}}


def loaded_modules() -> dict[str, Any]:
    """What is in sys.modules, by name; the debugger's own modules are left out."""
    found: list[dict[str, Any]] = []
    for name, module in list(sys.modules.items()):
        if type(name) is not str or name.startswith(_DEBUGGER_MODULES):
            continue
        plan = plan_of(module)
        own = own_dict(module, plan) if plan.family == "module" else {}
        path, version = own.get("__file__"), own.get("__version__")
        path = path if type(path) is str else None
        if path is not None and is_debugger_file(path):
            continue
        version = version[:100] if type(version) is str else None
        found.append({"name": name, "path": path, "version": version})
    found.sort(key=lambda module: module["name"])
    return {"modules": found}


def source(frame: int) -> dict[str, Any]:
    """The source of a frame as the program's own loader gives it: in a zip, or made up at run."""
    import linecache

    found = find_frame(frame)
    name = found.f_code.co_filename
    with sources_not_kept():
        linecache.lazycache(name, found.f_globals)
        text = "".join(linecache.getlines(name, found.f_globals))
    return {
        "path": name,
        "source": text[:_LONGEST_SOURCE],
        "truncated": len(text) > _LONGEST_SOURCE,
    }


@contextlib.contextmanager
def sources_not_kept() -> Iterator[None]:
    """What is read of sources within is not left to the program in `linecache`: code that was compiled
    by itself has the source of the module whose globals it runs in, where they are asked.
    """
    import linecache

    known = set(linecache.cache)
    try:
        yield
    finally:
        for name in set(linecache.cache) - known:
            if not name.startswith("<"):  # another thread may have made that up: nobody reads it
                linecache.cache.pop(name, None)


def _is_text(value: Any) -> bool:
    return plan_of(value).family == "text"
