"""A directory of one comparison, which is gone afterwards; and what killed ones have left.

Who is killed leaves its directory behind; the next comparison takes it away. A lock that the kernel
lets go of with its process tells those from the ones that are in use.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from relay.errors import NotSupported

PREFIX = "relay-diff-"
LOCK = "lock"


@contextmanager
def scratch_directory() -> Iterator[str]:
    """A new one, by its real path, for as long as the block runs. Raises NotSupported for want of one."""
    try:
        _clear_abandoned()
        home = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX))
    except OSError as error:
        raise NotSupported(
            f"no directory can be made to record in: {error}",
            suggestion="Give a temporary directory that can be written: TMPDIR",
        ) from None
    try:
        with _locked(home):
            yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def _locked(home: str) -> Iterator[None]:
    """The file has its name only once it is locked: without it, nobody takes the directory away."""
    path = os.path.join(home, LOCK)
    with open(path + ".new", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        os.rename(path + ".new", path)
        yield


def _clear_abandoned() -> None:
    with os.scandir(tempfile.gettempdir()) as entries:
        found = [entry.path for entry in entries if entry.name.startswith(PREFIX)]
    for home in found:
        with contextlib.suppress(OSError), open(os.path.join(home, LOCK)) as file:
            _clear(home, file)


def _clear(home: str, file: IO[str]) -> None:
    """Raises OSError (BlockingIOError) for one that is in use."""
    if os.fstat(file.fileno()).st_uid == os.getuid():
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(home, ignore_errors=True)
