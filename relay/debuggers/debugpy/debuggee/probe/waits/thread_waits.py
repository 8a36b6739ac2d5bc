"""What a thread waits for: known by the functions of the standard library that it stands in, by the
call of C code that its innermost frame makes, or by the system call.

Locals are read where they are stored, and nothing of the program is run. What none of the three
says is not known.
"""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import present_call
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.frames.stored_expressions import (
        expression_text,
        stored_result,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        full_name,
        is_c_method,
        mro_of,
        namespace_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        clipped,
        module_globals,
        stored_field,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.child_processes import process_name
    from relay.debuggers.debugpy.debuggee.probe.waits.databases import (
        LockedDatabases,
        calls_sqlite,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.descriptors import (
        CALLS_FOR_SIGNALS,
        OF_ONE_DESCRIPTOR,
        DescriptorNames,
        descriptors_of,
        path_opened,
        registered,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.file_locks import FileLocks
    from relay.debuggers.debugpy.debuggee.probe.waits.found_wait import Wait, note_pipe_of_child
    from relay.debuggers.debugpy.debuggee.probe.waits.holders import (
        Holders,
        OwnedLock,
        PlainLock,
        is_lock,
        lock_below,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.left_behind import left_with
    from relay.debuggers.debugpy.debuggee.probe.waits.library_waits import LibraryWaits
    from relay.debuggers.debugpy.debuggee.probe.waits.pipes import (
        PIPE_CALLS,
        WRITING_CALLS,
        pipe_text,
        served_by,
    )

SLEEPS = ("nanosleep", "clock_nanosleep")
_FILE_CALLS = ("read", "write", "pread", "pwrite", "readv", "writev", "sendfile", "flock", "lockf")
_CHILD_CALLS = ("waitpid", "wait", "wait3", "wait4", "waitid")
_LOCKED_FIRST = (
    # (module, class, function that takes a lock, the lock's field; None for the one of a condition)
    ("threading", "Condition", "__enter__", None),
    ("threading", "Condition", "_acquire_restore", None),
    ("multiprocessing.synchronize", "SemLock", "__enter__", "_semlock"),
    ("multiprocessing.synchronize", "Condition", "wait", "_lock"),
)
_SHARED_LOCK = "_multiprocessing.SemLock"


class WaitFinder:
    """Finds what the threads of one moment wait for."""

    def __init__(self, holders: Holders, stacks: dict[int, list[Any]], names: Any) -> None:
        self._holders = holders
        self._stacks = stacks
        self._names: dict[int, str] = names
        self._descriptors = DescriptorNames()
        self._file_locks = FileLocks()
        self._databases = LockedDatabases(self._file_locks)
        self._library_waits = LibraryWaits(
            holders, stacks, names, self._descriptors, self._file_locks
        )

    def of(self, ident: int, frames: list[Any], call: tuple[str, list[int]] | None) -> Wait | None:
        """What the thread waits for; `frames` are its stack, `call` its system call."""
        if not frames:
            return None
        top = frames[0]
        function, arguments = attempt(present_call, top, default=(("unknown",), []))
        target = attempt(stored_result, function, top)
        if call is not None and call[0] in SLEEPS and attempt(calls_sqlite, top, self._databases):
            return self._database(top)
        found = self._reacquiring(target)
        found = found or attempt(self._by_library, frames, target)
        found = found or attempt(self._by_call, top, function, arguments, target, call)
        if found is None and call is not None:
            found = attempt(self._by_system_call, call)
        return found

    # By the functions of the standard library ----------------------------------------------

    def _reacquiring(self, target: Any) -> Wait | None:
        """A condition that was notified, and now needs its lock back."""
        lock = target.__self__ if is_c_method(target) else None
        if type(lock) is OwnedLock and target.__name__ == "_acquire_restore":
            return self._lock(lock, None)
        return None

    def _by_library(self, frames: list[Any], target: Any) -> Wait | None:
        found = self._library_waits.of(frames)
        lock = attempt(_lock_asked_for, frames[0], target)
        if lock is None:
            return found
        if found is None:
            text = attempt(_name_of_entered, frames[1])
        else:
            whole = "semaphore" if found.kind == "lock" else found.kind
            text = f"{found.name}, the lock inside of it" if found.name else None
            text = text or f"the lock inside of {'an' if whole == 'event' else 'a'} {whole}"
        if full_name(type(lock)) == _SHARED_LOCK:
            return self._shared_lock(lock, text or "a lock", [])
        return self._lock(lock, text)

    # By the call of C code -----------------------------------------------------------------

    def _by_call(
        self,
        frame: Any,
        function: Any,
        arguments: list[Any],
        target: Any,
        call: tuple[str, list[int]] | None,
    ) -> Wait | None:
        if type(target) is types.MethodType:
            return None  # of Python: it would have a frame
        owner = target.__self__ if is_c_method(target) else None
        name = target.__name__ if owner is not None else None
        given = [attempt(stored_result, one, frame) for one in arguments]
        if type(target) in _UNBOUND and target.__name__ == "__enter__" and is_lock(given[0]):
            return self._lock(given[0], None)  # of an ExitStack
        if is_lock(owner):
            wait = self._lock(owner, expression_text(function[1]))
            wait.timeout = _timeout_of(given)
            return wait
        if name == "sleep":
            wait = Wait("sleep", "time.sleep")
            wait.timeout = given[0] if given and type(given[0]) in (int, float) else None
            return wait
        if name in _CHILD_CALLS and owner is sys.modules.get("posix"):
            pid = given[0] if given and type(given[0]) is int else -1
            named = process_name(pid) if pid > 0 else "any child process"
            wait = Wait("child", f"the end of {named}")
            if pid > 0:
                note_pipe_of_child(wait, pid, len(self._stacks) == 1)
            return wait
        of_file = name in _FILE_CALLS and owner in map(sys.modules.get, ("posix", "fcntl"))
        if of_file and given and type(given[0]) is int:
            if name in ("flock", "lockf"):
                return self._file_lock(name, given[0], call)
            return Wait("io", f"{name} of {self._descriptors.of(given[0])}")
        text = expression_text(function[1]) if function[0] == "attribute" else None
        return None if owner is None else self._by_owner(owner, str(name), given, text)

    def _by_owner(self, owner: Any, name: str, given: list[Any], text: str | None) -> Wait | None:
        """By the object whose method of C is called."""
        kinds = [full_name(base) for base in mro_of(type(owner))]
        if "_socket.socket" in kinds:
            number: int = module_globals("_socket")["socket"].fileno(owner)
            wait = Wait("io", f"{name} of {self._descriptors.of(number)}", owner)
            timeout = attempt(module_globals("_socket")["socket"].gettimeout, owner)
            wait.timeout = timeout if type(timeout) is float else None
            return wait
        if kinds[0] == "_queue.SimpleQueue":
            wait = Wait("queue", f"{text or 'a queue'}, an item of an empty queue", owner)
            wait.timeout = _timeout_of(given)
            return wait
        if kinds[0] in ("_thread._ThreadHandle", "_thread._thread_handle"):
            return Wait("join", "the end of a thread", owner)
        if kinds[0] in ("select.epoll", "select.devpoll"):
            watched = registered(attempt(owner.fileno, default=-1))
            return Wait("io", f"any of {self._descriptors.of_all(watched)}", owner)
        if kinds[0] == _SHARED_LOCK:
            return self._shared_lock(owner, text or "a lock", given)
        return None

    def _database(self, frame: Any) -> Wait:
        """A call of sqlite3 that naps: it tries for a lock again and again."""
        function, _ = present_call(frame)
        target = attempt(stored_result, function, frame)
        wait = Wait("lock", "", target.__self__ if is_c_method(target) else None)
        locked = self._databases.open_here()
        if not locked:
            wait.on = "a database of SQLite"
            wait.note = "which one, and who has locked it, is not known"
        elif len(locked) == 1:
            wait.on, wait.note = f"the database {locked[0].path}", locked[0].locked_by
        else:
            wait.on = f"one of the databases {', '.join(one.path for one in locked)}"
            wait.note = "; ".join(f"{one.path}: {one.locked_by}" for one in locked)
        return wait

    def _shared_lock(self, lock: Any, text: str, given: list[Any]) -> Wait:
        wait = Wait("lock", f"{text}, shared by processes", lock)
        wait.note = "which process holds it is not known"
        wait.timeout = _timeout_of(given)
        return wait

    def _lock(self, lock: Any, text: str | None) -> Wait:
        kind = "RLock" if type(lock) is not PlainLock else "Lock"
        wait = Wait("lock", text or f"{kind} at {hex(id(lock))}", lock)
        held_by = attempt(self._holders.of, lock)
        if held_by is None or held_by.ident not in self._stacks:
            wait.note = attempt(left_with, lock)
            if wait.note is not None:
                return wait
        wait.held_by = held_by
        if held_by is None:
            wait.note = (
                "who holds it is not known: a plain lock has no owner, and no thread stands "
            )
            wait.note += "inside a `with` on it"
            generator = attempt(self._holders.where_suspended, lock)
            if generator is not None:
                wait.note = f"a generator that no thread runs now holds it at {generator}"
        return wait

    # By the system call --------------------------------------------------------------------

    def _by_system_call(self, call: tuple[str, list[int]]) -> Wait | None:
        name, arguments = call
        if name in SLEEPS:
            return Wait("sleep", name)
        if name in ("wait4", "waitid"):
            pid = arguments[0 if name == "wait4" else 1] & 0xFFFFFFFF
            known = 0 < pid < 1 << 31 and (name == "wait4" or arguments[0] == 1)
            named = process_name(pid) if known else "any child process"
            wait = Wait("child", f"the end of {named}")
            if known:
                note_pipe_of_child(wait, pid, len(self._stacks) == 1)
            return wait
        if name in CALLS_FOR_SIGNALS:
            return Wait("event", "a signal")
        opened = path_opened(call)
        if opened is not None:
            return Wait("io", f"open of {clipped(opened)}")
        found = descriptors_of(call)
        if name in ("flock", "fcntl"):
            return self._file_lock(name, found[0], call)
        if not found:
            return None
        what = self._descriptors.of_all(found)
        wait = Wait("io", f"{name} of {what}" if name in OF_ONE_DESCRIPTOR else f"any of {what}")
        if name in PIPE_CALLS:
            self._on_pipe(wait, found[0], name in WRITING_CALLS)
        return wait

    def _file_lock(self, name: str, descriptor: int, call: tuple[str, list[int]] | None) -> Wait:
        wait = Wait("lock", f"{name} of {self._descriptors.of(descriptor)}")
        if call is not None and call[0] in ("flock", "fcntl"):
            wait.note = attempt(self._file_locks.who_holds_up, call)
        return wait

    def _on_pipe(self, wait: Wait, descriptor: int, writes: bool) -> None:
        """The child at its other end may wait at another pipe, whose other end this process has."""
        found = attempt(served_by, descriptor, writes)
        if found is not None:
            wait.note = pipe_text(*found)
            if len(self._stacks) == 1:
                wait.circle = f"{wait.on}, {wait.note}"


_UNBOUND = (types.MethodDescriptorType, types.WrapperDescriptorType)


def _timeout_of(given: list[Any]) -> float | None:
    """Of `acquire(blocking, timeout)` and `get(block, timeout)`, as far as it is known."""
    found = [one for one in given if type(one) in (int, float) and type(one) is not bool]
    return float(found[-1]) if found and found[-1] >= 0 else None


def _lock_asked_for(frame: Any, target: Any) -> Any:
    """The lock that a condition, or a queue that processes share, needs before it can wait, or go
    on when it has; None where the frame asks for none. `target` is the C code that it is in.
    """
    subject = dict(items_of(frame.f_locals)).get("self")
    for module, kind, function, field in _LOCKED_FIRST:
        owner = module_globals(module).get(kind)
        if attempt(lambda o=owner, f=function: namespace_of(o)[f].__code__) is not frame.f_code:
            continue
        if field is None:
            return lock_below(subject)
        lock = stored_field(subject, field)
        if function == "wait":  # in which it waits for more than its lock
            lock = stored_field(lock, "_semlock")
            return lock if is_c_method(target) and target.__self__ is lock else None
        return lock
    return None


def _name_of_entered(frame: Any) -> str | None:
    """What the code calls the object of its `with`, which it is about to enter."""
    function, _ = present_call(frame)
    return expression_text(function[1]) if function[0] == "attribute" else None
