"""Modules that are there as compiled code only, whose code has a relative name for the source it was made of.

So `python -m compileall -b .` names it. pydevd looks for the source, and takes what is not found for a
library's: no function of it had a breakpoint. Refuses to know what the file is.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.process.paths import is_file


def place_absent_sources() -> None:
    """From now on such a source is where its compiled code lies."""
    files = sys.modules["pydevd_file_utils"]
    patch(files, "_get_relative_filename_abs_path", _beside_compiled_code)


def _beside_compiled_code(original: Any, name: str, make: Any, *options: Any) -> Any:
    """make: makes a name absolute, by the current directory."""
    found = original(name, make, *options)
    if name.endswith(".py") and not is_file(found):
        rooms = ["", *(one for one in sys.path if type(one) is str)]
        places = [make(os.path.join(room, name)) for room in rooms]
        return next((one for one in places if is_file(one + "c")), found)
    return found
