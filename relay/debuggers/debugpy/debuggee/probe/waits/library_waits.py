"""What a thread waits for, by the functions of the standard library that it stands in: the first of three witnesses.

Their locals are read where they are stored, and nothing is called.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import present_call
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.frames.stored_expressions import (
        expression_text,
        stored_result,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.types import full_name
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import (
        STANDARD_LIBRARY,
        clipped,
        home_of_trio,
        module_globals,
        stored_field,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.child_processes import process_name
    from relay.debuggers.debugpy.debuggee.probe.waits.connection_pools import (
        StackOfOne,
        wait_for_connection,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.descriptors import DescriptorNames
    from relay.debuggers.debugpy.debuggee.probe.waits.file_locks import (
        FCNTL,
        FLOCK,
        FileLocks,
        path_of_lock,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.found_wait import Wait, note_pipe_of_child
    from relay.debuggers.debugpy.debuggee.probe.waits.holders import (
        Holder,
        Holders,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.known_waits import (
        WAITS_FOR_IO,
        KnownWait,
        known_thread_waits,
        note_of_join,
        plain_length,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.permits import permits_of, taken_by
    from relay.debuggers.debugpy.debuggee.probe.waits.pools import FutureWork, is_pending
    from relay.debuggers.debugpy.debuggee.probe.waits.primitive_states import state_in_words
    from relay.debuggers.debugpy.debuggee.probe.waits.process_pools import (
        results_to_come,
        wait_for_end_of_pool,
        wait_for_pool,
    )

_MOST_LIBRARY_FRAMES = 40
_MOST_FUTURES = 50
_FAMILIES_OF_TRIES = {
    "BaseFileLock.acquire": FLOCK,
    "BaseFileLock._poll_until_acquired": FLOCK,
    "LockAcquisition._poll_until_acquired": FLOCK,
    "Retry.__call__": FCNTL,
}
"""Which locks the functions ask for that try again and again; that of portalocker does as the program has it."""


class LibraryWaits:
    """Finds what the threads of one moment wait for in such functions."""

    def __init__(
        self,
        holders: Holders,
        stacks: dict[int, list[Any]],
        names: Any,
        descriptors: DescriptorNames,
        file_locks: FileLocks,
    ) -> None:
        self._holders = holders
        self._stacks = stacks
        self._names: dict[int, str] = names
        self._descriptors = descriptors
        self._file_locks = file_locks
        self._futures = FutureWork(stacks, names)
        self._known_waits = known_thread_waits()

    def of(self, frames: list[Any]) -> Wait | None:
        """By the outermost of those in which the thread waits; `frames` are its stack."""
        found = None
        for frame in frames[:_MOST_LIBRARY_FRAMES]:
            known = self._known_waits.get(id(frame.f_code))
            if known is not None and known.code is frame.f_code:
                found = self._known(known, frame) or found
            elif not _is_awaiting_code(frame.f_code.co_filename):
                break
        return found

    def _known(self, known: KnownWait, frame: Any) -> Wait | None:
        _, kind, function, local = known
        locals_ = dict(items_of(frame.f_locals))
        subject = locals_.get(local) if local else None
        if function == "Pool.join" and not attempt(results_to_come, subject):
            return None  # but for one of its threads or processes, whose end is told
        wait = Wait(kind, clipped(full_name(type(subject))), subject)
        timeout: Any = locals_.get("timeout")
        wait.timeout = timeout if type(timeout) in (int, float) and timeout >= 0 else None
        if function == "Queue.get" and self._is_for_connection(wait, frame):
            return wait
        describe_wait: Any = getattr(self, "_on_" + kind)
        describe_wait(wait, function, locals_)
        if kind in ("condition", "event", "queue", "lock", "future"):
            text = attempt(_name_of_subject, frame.f_back, subject)
            wait.name = text
            wait.on = wait.on if text is None else f"{text}, {wait.on}"
        return wait

    def _is_for_connection(self, wait: Wait, frame: Any) -> bool:
        """Whether it is for one of SQLAlchemy's pool; then it says so."""
        outermost = _bottom_of_stack(frame)
        stacks = [
            StackOfOne(
                id(stack.frames[-1]),
                self._names.get(stack.ident, "?")
                if stack.task is None
                else stack.who.partition(" ")[2],
                stack.frames,
            )
            for stack in self._holders.stacks
            if stack.frames
        ]
        found = attempt(wait_for_connection, wait.subject, stacks, id(outermost))
        if found is not None:
            wait.on, wait.note = found
        return found is not None

    def _on_condition(self, wait: Wait, function: str, locals_: dict[str, Any]) -> None:
        waiters = stored_field(wait.subject, "_waiters")
        if function == "Barrier.wait":
            state = state_in_words(wait.subject)  # not of one that processes share
            parties = stored_field(wait.subject, "_parties")
            wait.on = f"a barrier: {state}" if state else f"a barrier of {parties}"
            return
        wait.on = "notify of a condition"
        if waiters is not None and plain_length(waiters) > 1:
            wait.on += f", with {plain_length(waiters)} waiting"

    def _on_event(self, wait: Wait, function: str, locals_: dict[str, Any]) -> None:
        wait.on = "an event that is not set"

    def _on_lock(self, wait: Wait, function: str, locals_: dict[str, Any]) -> None:
        if function == "Semaphore.acquire":
            self._on_semaphore(wait)
            return
        wait.on = f"the import of {clipped(stored_field(wait.subject, 'name'))}"
        owner = stored_field(wait.subject, "owner")
        if type(owner) is int:
            wait.held_by = Holder(owner, "the import's lock names its owner")

    def _on_file(self, wait: Wait, function: str, locals_: dict[str, Any]) -> None:
        path = path_of_lock(wait.subject)
        wait.kind, wait.subject = "lock", locals_.get("self")
        wait.on = "a file" if path is None else f"the file {clipped(path)}"
        if path is not None:
            wait.note = attempt(self._file_locks.who_locked, path, _FAMILIES_OF_TRIES.get(function))

    def _on_semaphore(self, wait: Wait) -> None:
        wait.on = f"a semaphore {state_in_words(wait.subject)}"
        inside = self._holders.inside(wait.subject)
        are_all = len(inside) == permits_of(wait.subject) and all(one.is_entered for one in inside)
        if are_all and inside:
            first, *others = dict.fromkeys(one.ident for one in inside)
            tasks = {one.task for one in inside}
            task = inside[0].task if len(tasks) == 1 else None
            wait.held_by = Holder(first, inside[0].known_from, tuple(others), task=task)
        named = [(self._names.get(one.ident, "?"), one.known_from) for one in inside]
        wait.note = taken_by(named, are_all)

    def _on_join(self, wait: Wait, function: str, locals_: dict[str, Any]) -> None:
        if function == "_shutdown":
            self._on_shutdown(wait)
            return
        ident = stored_field(wait.subject, "_ident")
        wait.on = f"the end of thread {clipped(stored_field(wait.subject, '_name'))}"
        if type(ident) is int and ident in self._stacks:
            wait.held_by = Holder(ident, "it is the thread that is joined")

    def _on_shutdown(self, wait: Wait) -> None:
        active = dict(module_globals("threading").get("_active", {}))
        left = [
            ident
            for ident, thread in active.items()
            if ident in self._stacks
            and not stored_field(thread, "_daemonic")
            and type(thread).__name__ != "_MainThread"
        ]
        names = ", ".join(self._names.get(ident, "?") for ident in left[:5])
        wait.subject, wait.on = None, f"the end of threads that are no daemons: {names}"
        if left:
            wait.held_by = Holder(left[0], "the interpreter ends when it has ended")

    def _on_queue(self, wait: Wait, function: str, locals_: dict[str, Any]) -> None:
        subject, verb = wait.subject, function.rpartition(".")[2]
        wait.on = {
            "get": "an item of an empty queue",
            "put": "room in a full queue",
            "join": "task_done of a queue",
        }[verb]
        if verb == "join" and type(left := stored_field(subject, "unfinished_tasks")) is int:
            items = stored_field(subject, "queue")
            size = None if items is None else plain_length(items)
            wait.on = f"{left} x task_done of a queue"
            if size is not None:
                wait.on += f" with {size} items"
            wait.note = note_of_join(left, size) if size == 0 else None
        if verb == "get" and "multiprocessing" in str(type(subject).__module__):
            reader = stored_field(stored_field(subject, "_reader"), "_handle")
            if type(reader) is int:
                wait.on += f", {self._descriptors.of(reader)}"

    def _on_future(self, wait: Wait, function: str, locals_: dict[str, Any]) -> None:
        subject, futures = wait.subject, []
        if function == "AsyncResult.get":
            wait.on = f"the result of celery's task {clipped(stored_field(subject, 'id'))}"
            return
        look: Any = wait_for_end_of_pool if function == "Pool.join" else wait_for_pool
        of_pool = attempt(look, subject, self._stacks, self._names)
        if of_pool is not None:
            wait.on, wait.held_by, wait.note = of_pool
            return
        if type(subject) in (set, frozenset, list, tuple):
            futures = [f for f in list(subject) if is_pending(f)]
            wait.subject = futures[0] if futures else None
        else:
            futures = [subject]
        is_one = len(futures) == 1
        wait.on = "a future" if is_one else f"{len(futures)} futures"
        found = [
            attempt(self._futures.holder_of, one)
            for one in futures[:_MOST_FUTURES]
            if is_pending(one)
        ]
        first = next((one for one in found if one is not None), None)
        if first is not None:
            text, wait.held_by = first
            wait.on += f", {'which' if is_one else 'one of which'} {text}"
            wait.subject = futures[found.index(first)]
        if not is_one and locals_.get("return_when") != "ALL_COMPLETED":
            wait.held_by = _any_of(found) if len(found) == len(futures) else None

    def _on_child(self, wait: Wait, function: str, locals_: dict[str, Any]) -> None:
        popen = stored_field(wait.subject, "_popen") or wait.subject
        pid = stored_field(popen, "pid")
        wait.on = "the end of " + (process_name(pid) if type(pid) is int else "a process")
        if type(pid) is int:
            serves = function == "Popen.communicate"
            note_pipe_of_child(wait, pid, len(self._stacks) == 1 and not serves)

    def _on_io(self, wait: Wait, function: str, locals_: dict[str, Any]) -> None:
        method = stored_field(wait.subject, "_method")
        method = method.decode() if type(method) is bytes else method
        wait.on = WAITS_FOR_IO[function].format(clipped(method))


def _is_awaiting_code(path: str) -> bool:
    """Whether it is of the standard library, trio or celery, below which other waits may be known."""
    homes = (home_of_trio(), _home_of_celery())
    if any(home != STANDARD_LIBRARY and path.startswith(home) for home in homes):
        return True
    return path.startswith((STANDARD_LIBRARY, "<frozen")) and "-packages" not in path


def _name_of_subject(caller: Any, subject: Any) -> str | None:
    """What the calling code calls the object whose method it has called."""
    called, _ = present_call(caller)
    if called[0] == "attribute" and stored_result(called[1], caller) is subject:
        return expression_text(called[1])
    return None


def _any_of(found: list[tuple[str, Holder | None] | None]) -> Holder | None:
    """Who has to act for any of several futures; None where that is not known of each."""
    holders = [None if one is None else one[1] for one in found]
    known = [one for one in holders if one is not None]
    if not known or len(known) < len(holders):
        return None
    first, *others = dict.fromkeys(ident for one in known for ident in (one.ident, *one.others))
    return Holder(
        first,
        "each of the futures is one of theirs" if others else known[0].known_from,
        tuple(others),
    )


def _bottom_of_stack(frame: Any) -> Any:
    while frame.f_back is not None:
        frame = frame.f_back
    return frame


def _home_of_celery() -> str:
    file = module_globals("celery.result").get("__file__")
    return os.path.dirname(file) + os.sep if type(file) is str else STANDARD_LIBRARY
