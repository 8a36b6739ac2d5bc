"""The standard streams of a process that speaks a protocol on them, and nothing else."""

from __future__ import annotations

import os
import sys


def own_streams() -> tuple[int, int]:
    """Our own standard input and output, which nobody else can touch from now on.

    What is left under their numbers is an empty input, and standard error: whatever else
    of this process prints, or is started by it, does not meet the client's lines.
    """
    sys.stdout.flush()
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reading, writing
