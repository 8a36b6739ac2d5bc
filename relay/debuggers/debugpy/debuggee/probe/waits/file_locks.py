"""Which processes have locked a file: known by the kernel's table of locks.

No file is opened here: to close one again would let go of the program's own locks on records.
"""

from __future__ import annotations

import os
import types
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, process_id
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import stored_field
    from relay.debuggers.debugpy.debuggee.probe.waits.child_processes import process_name
    from relay.debuggers.debugpy.debuggee.probe.waits.descriptors import proc_text

_MOST_LOCKERS = 3
_LARGEST_TABLE_OF_LOCKS = 4_000_000
_MOST_POSSIBLE_HOLDERS = 5_000
FLOCK, FCNTL = "flock", "fcntl"
"""Families of locks that know nothing of each other: of whole files, and of ranges of them."""


class FileLock(NamedTuple):
    """One line of the table."""

    family: str
    is_waited_for: bool
    writes: bool
    pid: int
    """Of who has asked for it; -1 where that is not known. One of the family FLOCK may be a fork's by now."""
    file: str
    """Its device and inode, as `key_of_file` has it."""
    start: int
    end: float

    def holds_up(self, other: FileLock) -> bool:
        """Whether the other one has to wait for this one, wherever they are."""
        is_same_kind = self.family == other.family and (self.writes or other.writes)
        return is_same_kind and self.start <= other.end and other.start <= self.end


def key_of_file(place: str | int) -> str | None:
    """Of a path or a descriptor; None where there is no such file."""
    stat = attempt(os.stat, place)
    if stat is None:
        return None
    return f"{os.major(stat.st_dev):02x}:{os.minor(stat.st_dev):02x}:{stat.st_ino}"


def file_locks() -> list[FileLock]:
    """All that are held or waited for, of any process that this one may know of."""
    found = []
    for line in proc_text("/proc/locks", _LARGEST_TABLE_OF_LOCKS).splitlines():
        one = attempt(_file_lock, line.split()[1:])
        if one is not None:
            found.append(one)
    return found


def _file_lock(words: list[str]) -> FileLock | None:
    is_waited_for = words[0] == "->"
    kind, _, mode, pid, file, start, end = words[1:] if is_waited_for else words
    if kind not in ("FLOCK", "POSIX", "OFDLCK"):
        return None
    family = FLOCK if kind == "FLOCK" else FCNTL
    last = float("inf") if end == "EOF" else int(end)
    return FileLock(family, is_waited_for, mode == "WRITE", int(pid), file, int(start), last)


def path_of_lock(lock: Any) -> str | None:
    """The file of a lock of fasteners or portalocker, of a method of one, or a path; None where it is not known."""
    owner = lock.__self__ if type(lock) is types.MethodType else lock
    kept: Any = (owner, stored_field(owner, "path"), stored_field(owner, "filename"))
    for path in kept:
        if type(path) in (str, bytes) or type(path).__module__.partition(".")[0] == "pathlib":
            return os.fsdecode(path)
    return None


def who_locked(place: str | int) -> str | None:
    """Who holds up this process at a file, given as path or descriptor, in words; None where nobody is known to.

    Where this process waits in a call of the system, just those whose lock is in the way of the one
    that it asks for; where it tries again and again, all who have locked the file.
    """
    key = key_of_file(place)
    locks = [one for one in file_locks() if one.file == key]
    own = process_id()
    asked = [one for one in locks if one.is_waited_for and one.pid == own]
    held = [one for one in locks if not one.is_waited_for]
    if asked:
        held = [one for one in held if any(one.holds_up(other) for other in asked)]
    pids = sorted({pid for one in held for pid in _holders_of(one)})
    if not pids:
        return None
    if own in pids:
        return "this program itself has locked it"
    return f"{lockers_in_words(pids)} locked it"


def lockers_in_words(pids: list[int]) -> str:
    """`process 12 (sleep 60) has`; of many the first ones."""
    names = [process_name(pid) if pid > 0 else "a process elsewhere" for pid in pids]
    more = f" and {len(names) - _MOST_LOCKERS} more" if len(names) > _MOST_LOCKERS else ""
    return f"{', '.join(names[:_MOST_LOCKERS])}{more} {'has' if len(names) == 1 else 'have'}"


def _holders_of(lock: FileLock) -> list[int]:
    """Who has it now: what `flock` has locked is shared with forks, and stays when who asked for it lets go."""
    if lock.family != FLOCK or _has(lock.pid, lock.file):
        return [lock.pid]
    every = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
    now = [pid for pid in every[:_MOST_POSSIBLE_HOLDERS] if _has(pid, lock.file)]
    return now or [lock.pid]


def _has(pid: int, file: str) -> bool:
    """Whether a process has a descriptor by which that file is locked as a whole."""
    home = f"/proc/{pid}/fdinfo"
    return any(
        words[:1] == ["lock:"] and "FLOCK" in words and file in words
        for name in attempt(os.listdir, home, default=())
        for words in map(str.split, proc_text(f"{home}/{name}").splitlines())
    )
