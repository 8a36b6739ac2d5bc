"""Sources of traced code that is in no file: in an archive, in a cell of a notebook, made up at run time.

As the program has them: from `linecache`, or from the loader of the module that is said to be that file.
"""

from __future__ import annotations

import linecache
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.modules import (
        loaded_modules,
        sources_not_kept,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.paths import is_file
    from relay.debuggers.debugpy.debuggee.probe.trace.record import FrameTrace

_MOST_UNFILED, _LONGEST_UNFILED = 20, 200_000


def unfiled_sources(trace: FrameTrace) -> dict[str, str]:
    """By the paths that the record has, of the program's own code; without those that nobody has."""
    known = [(code.co_filename, trace.codes.get(code)) for code in trace.codes]
    names = {path: name for name, (_, path, is_own) in known if is_own}
    unfiled = [(path, name) for path, name in names.items() if not is_file(name)][:_MOST_UNFILED]
    modules = {one["path"]: one["name"] for one in loaded_modules()["modules"]} if unfiled else {}
    with sources_not_kept():
        texts = {path: attempt(_text_kept, name, modules, default="") for path, name in unfiled}
    return {path: text[:_LONGEST_UNFILED] for path, text in texts.items() if text}


def _text_kept(name: str, modules: dict[str, str]) -> str:
    if name not in linecache.cache and name in modules:
        linecache.lazycache(name, vars(sys.modules[modules[name]]))
    return "".join(linecache.getlines(name)) if name in linecache.cache else ""
