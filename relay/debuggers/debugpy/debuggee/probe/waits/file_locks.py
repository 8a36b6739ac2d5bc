"""Which processes have locked a file: known by the kernel's table of locks.

No file is opened here: to close one again would let go of the program's own locks on records.
"""

from __future__ import annotations

import os
import struct
import types
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import stored_field
    from relay.debuggers.debugpy.debuggee.probe.waits.child_processes import process_name
    from relay.debuggers.debugpy.debuggee.probe.waits.descriptors import memory_at, proc_text

_MOST_LOCKERS = 3
_LARGEST_TABLE_OF_LOCKS = 4_000_000
_MOST_DESCRIPTORS_READ = 20_000
"""Of all processes together."""
FLOCK, FCNTL = "flock", "fcntl"
"""Families of locks that know nothing of each other: of whole files, and of ranges of them."""
_OF_PROCESS = "POSIX"
"""The kind of lock that belongs to a process; others belong to an open file, which forks share."""
_FAMILIES_OF_LOCKS = {"FLOCK": FLOCK, _OF_PROCESS: FCNTL, "OFDLCK": FCNTL}
_KINDS_ASKED_FOR = {7: _OF_PROCESS, 38: "OFDLCK"}
"""By the command of `fcntl`: F_SETLKW, and F_OFD_SETLKW."""
_RECORD = struct.Struct("hhqq")
"""The beginning of a `struct flock`: type, from where, start, length."""
_LOCKS_TO_WRITE, _OPERATIONS = 1, 3
"""Of what `fcntl` asks for, F_WRLCK; of what `flock` does, those that ask: LOCK_SH, and LOCK_EX."""
_SHARES = 1


class FileLock(NamedTuple):
    """One line of the table."""

    kind: str
    writes: bool
    pid: int
    """Of who has asked for it; -1 where the kernel does not keep it. Only one of the kind POSIX is still its."""
    file: str
    """Its device and inode, as `key_of_file` has it."""
    start: int
    end: float

    @property
    def family(self) -> str:
        return _FAMILIES_OF_LOCKS[self.kind]

    def holds_up(self, other: FileLock) -> bool:
        """Whether the other one has to wait for this one, wherever they are."""
        if self.file != other.file or (self.kind, self.pid) == (_OF_PROCESS, other.pid):
            return False
        is_same_kind = self.family == other.family and (self.writes or other.writes)
        return is_same_kind and self.start <= other.end and other.start <= self.end


def key_of_file(place: str | int) -> str | None:
    """Of a path or a descriptor; None where there is no such file."""
    stat = attempt(os.stat, place)
    if stat is None:
        return None
    return f"{os.major(stat.st_dev):02x}:{os.minor(stat.st_dev):02x}:{stat.st_ino}"


def path_of_lock(lock: Any) -> str | None:
    """The file of a lock of fasteners or portalocker, of a method of one, or a path; None where it is not known."""
    owner = lock.__self__ if type(lock) is types.MethodType else lock
    kept: Any = (owner, stored_field(owner, "path"), stored_field(owner, "filename"))
    for path in kept:
        if type(path) in (str, bytes) or type(path).__module__.partition(".")[0] == "pathlib":
            return os.fsdecode(path)
    return None


class FileLocks:
    """Those of one moment, of any process that this one may know of; the kernel is asked once."""

    def __init__(self) -> None:
        self._table: tuple[list[FileLock], list[FileLock]] | None = None
        self._of_processes: dict[FileLock, list[int]] | None = None
        self._holders: dict[FileLock, list[int | str]] = {}
        # As /proc calls this process: it may show the processes of another namespace.
        self.own = attempt(lambda: int(os.readlink("/proc/self")), default=0)

    @property
    def held(self) -> list[FileLock]:
        return self._read()[0]

    def who_holds_up(self, call: tuple[str, list[int]]) -> str | None:
        """Whose locks are in the way of a system call that waits for one, in words; None where that is not known."""
        name, (descriptor, command, address, *_) = call
        file = key_of_file(descriptor)
        kind = "FLOCK" if name == "flock" else _KINDS_ASKED_FOR.get(command, "")
        pid = -1 if kind == "OFDLCK" else self.own
        asked = [
            one for one in self._read()[1] if (one.kind, one.pid, one.file) == (kind, pid, file)
        ]
        if kind == "FLOCK":
            asked = [one for one in asked if one.writes == (command & _OPERATIONS != _SHARES)]
        else:
            asked = [one for one in asked if _may_be_asked_for(one, memory_at(address, 24))]
        held = [one for one in self.held if one.file == file]
        changed = (
            _locks_by_descriptor(f"/proc/self/fdinfo/{descriptor}") if kind == "OFDLCK" else []
        )
        for one in changed:  # what the same open file has is not waited for
            if one in held:
                held.remove(one)
        found = {tuple(one for one in held if one.holds_up(other)) for other in set(asked)}
        # Which of several is this call's may be open: then it is said only if it makes no difference.
        return self._in_words(found.pop(), changed) if len(found) == 1 else None

    def who_locked(self, path: str, family: str | None) -> str | None:
        """The same of who tries to lock the whole file again and again; family: of its lock, where that is known."""
        file = key_of_file(path)
        held = [
            one
            for one in self.held
            if one.file == file
            and family in (None, one.family)
            and (one.kind, one.pid) != (_OF_PROCESS, self.own)
        ]
        if len({one.family for one in held}) > 1:
            return None  # one of them is asked for
        return self._in_words(held)

    def _in_words(self, locks: Iterable[FileLock], changed: Sequence[FileLock] = ()) -> str | None:
        names: dict[int | str, None] = {}
        for one in locks:
            # Of two open files with equal locks the own one is that which is to be changed.
            others = [pid for pid in self.holders_of(one) if one not in changed or pid != self.own]
            names.update(dict.fromkeys(others))
        if not names:
            return None
        others = [one for one in names if one != self.own]
        if self.own not in names:
            return f"{lockers_in_words(others)} locked it"
        if not others:
            return "this program itself has locked it"
        return f"this program itself has locked it, and {lockers_in_words(others)}, too"

    def holders_of(self, lock: FileLock) -> list[int | str]:
        """The processes that have it now; in words one that is not known for sure."""
        if lock not in self._holders:
            self._holders[lock] = self._find_holders_of(lock)
        return self._holders[lock]

    def _find_holders_of(self, lock: FileLock) -> list[int | str]:
        if lock.kind == _OF_PROCESS:
            return [lock.pid if lock.pid > 0 else "a process elsewhere"]
        home = f"/proc/{lock.pid}/fdinfo"
        descriptors = attempt(os.listdir, home) if lock.pid > 0 else None
        if any(lock in _locks_by_descriptor(f"{home}/{name}") for name in descriptors or ()):
            return [lock.pid]
        if self._of_processes is None:
            self._of_processes = _locks_of_processes()
        now = self._of_processes.get(lock)
        if now:
            return list(now)
        # Those of another user are not for us to look into.
        is_hidden = descriptors is None and lock.pid > 0 and os.path.exists(f"/proc/{lock.pid}")
        return [
            f"{process_name(lock.pid)} or a fork of it"
            if is_hidden
            else "a process that is not known"
        ]

    def _read(self) -> tuple[list[FileLock], list[FileLock]]:
        """What is held, and what is waited for."""
        if self._table is None:
            self._table = ([], [])
            for line in proc_text("/proc/locks", _LARGEST_TABLE_OF_LOCKS).splitlines():
                words = line.split()[1:]
                is_waited_for = words[:1] == ["->"]
                one = _file_lock(words[1:] if is_waited_for else words)
                if one is not None:
                    self._table[is_waited_for].append(one)
        return self._table


def lockers_in_words(lockers: list[int | str]) -> str:
    """`process 12 (sleep 60) has`; of many the first ones."""
    shown = sorted(lockers, key=lambda one: (type(one) is str, one))[:_MOST_LOCKERS]
    names = [one if isinstance(one, str) else process_name(one) for one in shown]
    more = f" and {len(lockers) - len(shown)} more" if len(lockers) > len(shown) else ""
    return f"{', '.join(names)}{more} {'has' if len(lockers) == 1 else 'have'}"


def _file_lock(words: list[str]) -> FileLock | None:
    if not words or words[0] not in _FAMILIES_OF_LOCKS or len(words) != 7:
        return None
    kind, _, mode, pid, file, start, end = words
    last = float("inf") if end == "EOF" else int(end)
    return FileLock(kind, mode == "WRITE", int(pid), file, int(start), last)


def _locks_by_descriptor(description: str) -> list[FileLock]:
    """What is locked by way of a descriptor, whose file of `fdinfo` is given."""
    lines = [line for line in proc_text(description).splitlines() if line.startswith("lock:")]
    found = [_file_lock(line.split()[2:]) for line in lines]
    return [one for one in found if one is not None]


def _locks_of_processes() -> dict[FileLock, list[int]]:
    """Who has those locks that belong to open files."""
    found: dict[FileLock, list[int]] = {}
    left = _MOST_DESCRIPTORS_READ
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        home = f"/proc/{pid}/fdinfo"
        names = attempt(os.listdir, home, default=())
        left -= len(names)
        if left < 0:
            break
        for one in {one for name in names for one in _locks_by_descriptor(f"{home}/{name}")}:
            found.setdefault(one, []).append(pid)
    return found


def _may_be_asked_for(lock: FileLock, record: bytes) -> bool:
    """Whether it is what a call of `fcntl` asks for, by the record that it was given, as far as that tells."""
    if len(record) < _RECORD.size:
        return True
    how, whence, start, length = _RECORD.unpack(record[: _RECORD.size])
    if lock.writes != (how == _LOCKS_TO_WRITE):
        return False
    if whence != os.SEEK_SET:
        return True
    if length < 0:
        start, length = start + length, -length
    return (lock.start, lock.end) == (start, start + length - 1 if length else float("inf"))
