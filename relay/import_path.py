"""Where this process imports from: what is meant for the program that is debugged comes last.

A shell's PYTHONPATH, and the directory in which `python -m relay` is said, lead to that program's
modules. The relay would run a library that is under repair there, and break with it.
"""

from __future__ import annotations

import contextlib
import os
import sys


def import_own_first() -> None:
    """For entry points, before anything else is imported: of a program that embeds the relay, the
    path is its own."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    with contextlib.suppress(OSError):  # the directory is gone
        meant = {os.path.abspath(one) for one in (*given, ".")}
        sys.path.sort(key=lambda one: os.path.abspath(one) in meant)
