"""The files of the state directory: written whole or not at all, and set aside when damaged.

Knows bytes, names and the file system. Refuses to know what the files say. Everything
here blocks: call it in a worker thread. Files are for their owner's eyes only, since the
environment of a program may hold secrets.
"""

from __future__ import annotations

import contextlib
import logging
import os
from datetime import UTC, datetime
from pathlib import Path

log = logging.getLogger("relay.store")

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600


def write_whole(path: Path, data: bytes, mode: int = FILE_MODE) -> None:
    """Replace the file's content so that a crash at any moment leaves the old or the new.

    Written beside, flushed to the disk, renamed; `mode` is the file's then. Raises OSError; the
    file is as it was.
    """
    path.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with open(beside, "wb", opener=_private) as file:
            if mode != FILE_MODE:
                os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    _flush_directory(path.parent)


def remove(path: Path) -> None:
    """Delete the file for good; one that is not there is no fault. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
        _flush_directory(path.parent)


def set_aside(path: Path, why: object) -> None:
    """Move a damaged file out of the way, where its owner can look at it, and say so."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    try:
        path.rename(aside)
    except OSError as error:
        log.warning("%s is damaged (%s) and cannot be moved aside: %s", path, why, error)
    else:
        log.warning("%s is damaged (%s); moved to %s, starting fresh", path, why, aside.name)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, FILE_MODE)


def _flush_directory(directory: Path) -> None:
    # A rename is in the directory, not in the file. Not every file system can do this.
    with contextlib.suppress(OSError):
        fd = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
