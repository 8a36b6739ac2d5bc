"""A directory for sockets that only this user can enter."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

LONGEST_PATH = 100
"""Bytes; the kernel takes 107."""


def private_directory(longest_name: int = 15) -> Path:
    """A new directory, mode 0700, with a path short enough for sockets with names of so many bytes.

    Raises OSError where none can be made.
    """
    for place in _places():
        if len(os.fsencode(place)) < LONGEST_PATH - 15 - longest_name:
            with contextlib.suppress(OSError):
                return Path(tempfile.mkdtemp(prefix="relay-", dir=place))
    return Path(tempfile.mkdtemp(prefix="relay-"))


def _places() -> Iterator[str]:
    with contextlib.suppress(OSError):  # there is none: all that is mounted is read-only, say
        yield tempfile.gettempdir()
    yield "/tmp"
    # What a container without a temporary directory has all the same.
    yield "/dev/shm"
