"""Which database of SQLite a call waits for, and which process has locked it: known by the kernel's table of locks.

SQLite waits for a lock by naps, and tries again. It locks certain bytes of the database, or of its
`-shm` file. No file is opened here: to close one again would let go of SQLite's own locks.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import present_call
    from relay.debuggers.debugpy.debuggee.probe.frames.stored_expressions import stored_result
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import full_name, is_c_method, mro_of
    from relay.debuggers.debugpy.debuggee.probe.waits.file_locks import (
        FCNTL,
        FileLock,
        FileLocks,
        key_of_file,
        lockers_in_words,
    )

_FIRST_LOCKED_BYTE = 0x40000000
"""SQLite's PENDING_BYTE; RESERVED is the next, then come the SHARED ones."""
_SHM = "-shm"
_WRITER_BYTE, _LAST_EXCLUSIVE_BYTE = 120, 122
"""Bytes of the `-shm` file: who writes, checkpoints, recovers."""
_SQLITE_TYPES = frozenset(("sqlite3.Connection", "sqlite3.Cursor", "sqlite3.Blob"))
_SQLITE_CALLS = ("execute", "executemany", "executescript", "commit")


class LockedDatabase(NamedTuple):
    """One that is open here."""

    path: str
    locked_by: str
    """In words."""


class LockedDatabases:
    """Those of one moment on which there are locks that may have another connection wait."""

    def __init__(self, locks: FileLocks) -> None:
        self._locks = locks
        self._found: list[LockedDatabase] | None = None

    def open_here(self) -> list[LockedDatabase]:
        if self._found is None:
            self._found = attempt(_locked_databases, self._locks, default=[])
        return self._found or []


def calls_sqlite(frame: Any, databases: LockedDatabases) -> bool:
    """Whether the frame is in a call of sqlite3, as far as what is stored tells."""
    function, _ = present_call(frame)
    if function[0] != "attribute" or "_sqlite3" not in sys.modules:
        return False
    target = attempt(stored_result, function, frame)
    if target is None:  # of what a call has returned, as in `connect().execute()`
        return function[2] in _SQLITE_CALLS and bool(databases.open_here())
    kinds = [full_name(base) for base in mro_of(type(target.__self__))]
    return is_c_method(target) and not _SQLITE_TYPES.isdisjoint(kinds)


def _locked_databases(seen: FileLocks) -> list[LockedDatabase]:
    open_here = attempt(_open_files, default={})
    locks = [
        (open_here[one.file], one)
        for one in seen.held
        if one.family == FCNTL and open_here.get(one.file)
    ]
    with_log = {path[: -len(_SHM)] for path, _ in locks if path.endswith(_SHM)}
    by_path: dict[str, list[FileLock]] = {}
    for path, one in locks:
        if path.endswith(_SHM):
            if one.writes and _WRITER_BYTE <= one.start <= _LAST_EXCLUSIVE_BYTE:
                by_path.setdefault(path[: -len(_SHM)], []).append(one)
        elif one.start >= _FIRST_LOCKED_BYTE and path not in with_log:
            by_path.setdefault(path, []).append(one)
    found = [LockedDatabase(path, _lockers(seen, of_one)) for path, of_one in by_path.items()]
    return [one for one in found if one.locked_by]


def _lockers(seen: FileLocks, locks: list[FileLock]) -> str:
    """Who writes, else who reads: a writer waits for the end of these."""
    own = seen.own
    others = [one for one in locks if one.pid != own]
    writes = any(one.writes for one in others)
    each = [seen.holders_of(one) for one in others if one.writes == writes]
    names = list(dict.fromkeys(name for names in each for name in names))
    words = []
    if names:
        words = [f"{lockers_in_words(names)} locked it to {'write' if writes else 'read'}"]
    if not writes and any(one.writes and one.pid == own for one in locks):
        words.append("a connection of this program has locked it to write")
    return "; ".join(words)


def _open_files() -> dict[str, str]:
    """The paths of the files that are open here."""
    places = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    keys = ((key_of_file(place), place) for place in places)
    return {key: attempt(os.readlink, place, default="") for key, place in keys if key}
