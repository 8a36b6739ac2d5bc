"""Memory that this process has freed becomes the system's again.

glibc keeps what lies between two pieces that live, and tens of megabytes at the end of its heap once
something large was there: a relay through which a flood went would have the most that it ever needed.
"""

from __future__ import annotations

import gc
import sys


def give_back() -> None:
    """Takes some milliseconds, and one for ten megabytes. Other C libraries are left to themselves."""
    gc.collect()  # who is gone is mostly part of a circle
    if sys.platform != "linux":
        return
    import ctypes  # not before the first time

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
