"""The functions of libraries in which threads and tasks wait, known by their code objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.values.types import mro_of, namespace_of
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import module_globals

_THREAD_WAITS = (
    # (kind, module, function, the local that is waited for)
    ("condition", "threading", "Condition.wait", "self"),
    ("condition", "threading", "Condition.wait_for", "self"),
    ("condition", "threading", "Barrier.wait", "self"),
    ("event", "threading", "Event.wait", "self"),
    ("lock", "threading", "Semaphore.acquire", "self"),
    ("join", "threading", "Thread.join", "self"),
    ("join", "threading", "_shutdown", None),
    ("queue", "queue", "Queue.get", "self"),
    ("queue", "queue", "Queue.put", "self"),
    ("queue", "queue", "Queue.join", "self"),
    ("queue", "sqlalchemy.util.queue", "Queue.get", "self"),
    ("queue", "multiprocessing.queues", "Queue.get", "self"),
    ("queue", "multiprocessing.queues", "SimpleQueue.get", "self"),
    ("queue", "multiprocessing.queues", "JoinableQueue.join", "self"),
    ("condition", "multiprocessing.synchronize", "Condition.wait", "self"),
    ("event", "multiprocessing.synchronize", "Event.wait", "self"),
    ("future", "concurrent.futures._base", "Future.result", "self"),
    ("future", "concurrent.futures._base", "Future.exception", "self"),
    ("future", "concurrent.futures._base", "wait", "fs"),
    ("future", "concurrent.futures._base", "as_completed", "fs"),
    (
        "future",
        "asgiref.current_thread_executor",
        "CurrentThreadExecutor.run_until_future",
        "future",
    ),
    ("future", "multiprocessing.pool", "ApplyResult.wait", "self"),
    ("future", "multiprocessing.pool", "ApplyResult.get", "self"),
    ("future", "multiprocessing.pool", "IMapIterator.next", "self"),
    ("future", "multiprocessing.pool", "Pool.join", "self"),
    ("future", "celery.result", "AsyncResult.get", "self"),
    ("child", "subprocess", "Popen.wait", "self"),
    ("child", "subprocess", "Popen.communicate", "self"),
    ("child", "multiprocessing.popen_fork", "Popen.wait", "self"),
    ("child", "multiprocessing.process", "BaseProcess.join", "self"),
    ("io", "asyncio.base_events", "BaseEventLoop._run_once", "self"),
    ("io", "trio._core._run", "run", "runner"),
    ("io", "trio._core._run", "unrolled_run", "runner"),
    ("io", "tkinter", "Misc.mainloop", "self"),
    ("io", "tkinter", "Misc.wait_variable", "self"),
    ("io", "tkinter", "Misc.wait_window", "self"),
    ("io", "grpc._channel", "_UnaryUnaryMultiCallable._blocking", "self"),
    ("io", "grpc._channel", "_StreamUnaryMultiCallable._blocking", "self"),
    ("lock", "importlib._bootstrap", "_ModuleLock.acquire", "self"),
    ("file", "filelock", "BaseFileLock.acquire", "lock_filename"),  # until 3.0
    ("file", "filelock._api", "BaseFileLock.acquire", "lock_filename"),  # until 3.32
    ("file", "filelock._api", "BaseFileLock._poll_until_acquired", "lock_filename"),
    ("file", "filelock._core._acquire", "LockAcquisition._poll_until_acquired", "lock_filename"),
    ("file", "fasteners._utils", "Retry.__call__", "fn"),
    ("file", "portalocker.utils", "LockBase._timeout_generator", "self"),
)
"""Those of the kind `file` nap, and try again to lock a file."""
WAITS_FOR_IO = {
    "BaseEventLoop._run_once": "asyncio event loop: whatever comes first, see its tasks",
    "run": "trio run: whatever comes first, see its tasks",
    "unrolled_run": "trio run: whatever comes first, see its tasks",
    "Misc.mainloop": "events of Tk (mainloop)",
    "Misc.wait_variable": "events of Tk (wait_variable)",
    "Misc.wait_window": "events of Tk (wait_window)",
    "_UnaryUnaryMultiCallable._blocking": "the answer to {}, a call of gRPC",
    "_StreamUnaryMultiCallable._blocking": "the answer to {}, a call of gRPC",
}
"""What those of the kind `io` wait for, by their functions; `{}` stands for the method that is called."""
_TASK_WAITS = (
    # (kind, module, function, what is waited for in a few words)
    ("lock", "asyncio.locks", "Lock.acquire", "a lock"),
    ("event", "asyncio.locks", "Event.wait", "an event that is not set"),
    ("condition", "asyncio.locks", "Condition.wait", "notify of a condition"),
    ("condition", "asyncio.locks", "Barrier.wait", "a barrier"),
    ("semaphore", "asyncio.locks", "Semaphore.acquire", "a semaphore"),
    ("queue", "asyncio.queues", "Queue.get", "an item of an empty queue"),
    ("queue", "asyncio.queues", "Queue.put", "room in a full queue"),
    ("queue", "asyncio.queues", "Queue.join", "task_done of a queue"),
    ("sleep", "asyncio.tasks", "sleep", "asyncio.sleep"),
    ("io", "asyncio.streams", "StreamReader._wait_for_data", "data of a stream"),
    ("child", "asyncio.subprocess", "Process.wait", "the end of a process"),
    ("lock", "anyio._core._synchronization", "Lock.acquire", "a lock"),  # until 4.4
    ("semaphore", "anyio._core._synchronization", "Semaphore.acquire", "a semaphore"),
    ("lock", "anyio._backends._asyncio", "Lock.acquire", "a lock"),
    ("semaphore", "anyio._backends._asyncio", "Semaphore.acquire", "a semaphore"),
    ("semaphore", "anyio._backends._asyncio", "CapacityLimiter.acquire_on_behalf_of", "a limiter"),
    # Of those made before an event loop runs; then of trio's, in anyio's hull.
    ("lock", "anyio._core._synchronization", "LockAdapter.acquire", "a lock"),
    ("lock", "anyio._core._synchronization", "LockAdapter.__aenter__", "a lock"),
    ("event", "anyio._core._synchronization", "EventAdapter.wait", "an event that is not set"),
    ("semaphore", "anyio._core._synchronization", "SemaphoreAdapter.acquire", "a semaphore"),
    ("lock", "anyio._backends._trio", "Lock.acquire", "a lock"),
    ("semaphore", "anyio._backends._trio", "Semaphore.acquire", "a semaphore"),
    ("semaphore", "anyio._backends._trio", "CapacityLimiter.__aenter__", "a limiter"),
    ("semaphore", "anyio._core._synchronization", "CapacityLimiterAdapter.__aenter__", "a limiter"),
    ("event", "anyio._backends._trio", "Event.wait", "an event that is not set"),
    ("event", "anyio._backends._asyncio", "Event.wait", "an event that is not set"),
    ("condition", "anyio._core._synchronization", "Condition.wait", "notify of a condition"),
    ("queue", "anyio.streams.memory", "MemoryObjectSendStream.send", "room in a stream"),
    ("queue", "anyio.streams.memory", "MemoryObjectReceiveStream.receive", "an item of a stream"),
    ("child", "anyio._backends._asyncio", "Process.wait", "the end of a process"),
    ("child", "anyio._backends._trio", "Process.wait", "the end of a process"),
    ("io", "anyio._backends._asyncio", "SocketStream.receive", "data of a socket"),
    ("io", "anyio._backends._asyncio", "SocketStream.send", "room to write"),
    (
        "thread",
        "anyio._backends._asyncio",
        "AsyncIOBackend.run_sync_in_worker_thread",
        "a function that runs in a thread",
    ),
    ("lock", "trio._sync", "_LockImpl.acquire", "a lock"),
    ("event", "trio._sync", "Event.wait", "an event that is not set"),
    ("condition", "trio._sync", "Condition.wait", "notify of a condition"),
    ("semaphore", "trio._sync", "Semaphore.acquire", "a semaphore"),
    ("semaphore", "trio._sync", "CapacityLimiter.acquire_on_behalf_of", "a capacity limiter"),
    ("queue", "trio._channel", "MemorySendChannel.send", "room in a channel"),
    ("queue", "trio._channel", "MemoryReceiveChannel.receive", "an item of a channel"),
    ("child", "trio._subprocess", "Process.wait", "the end of a process"),
    ("sleep", "trio._timeouts", "sleep_until", "trio.sleep"),
    ("sleep", "trio._timeouts", "sleep_forever", "trio.sleep_forever"),
    ("thread", "trio._threads", "to_thread_run_sync", "a function that runs in a thread"),
    ("io", "trio._core._io_epoll", "EpollIOManager.wait_readable", "something to read"),
    ("io", "trio._core._io_epoll", "EpollIOManager.wait_writable", "room to write"),
    ("sleep", "gevent.hub", "sleep", "gevent.sleep"),
    ("io", "gevent._socket3", "socket.accept", "a client of a socket"),
    ("io", "gevent._socket3", "socket.connect", "a connection of a socket"),
    ("io", "gevent._socket3", "socket.recv", "data of a socket"),
    ("io", "gevent._socket3", "socket.recv_into", "data of a socket"),
    ("io", "gevent._socket3", "socket.recvfrom", "data of a socket"),
    ("sleep", "eventlet.greenthread", "sleep", "eventlet.sleep"),
    ("event", "eventlet.event", "Event.wait", "an event that is not set"),
    ("semaphore", "eventlet.semaphore", "Semaphore.acquire", "a semaphore"),
    ("queue", "eventlet.queue", "LightQueue.get", "an item of an empty queue"),
    ("queue", "eventlet.queue", "LightQueue.put", "room in a full queue"),
)


class KnownWait(NamedTuple):
    """A function of a library in which threads or tasks wait, by its code object."""

    code: Any
    kind: str
    function: str
    what: str | None
    """Of a thread the local that is waited for; of a task what it waits for, in a few words."""


def note_of_join(left: int, size: int | None) -> str | None:
    """Of a queue whose end is waited for: how many calls of task_done are missing, where it has so many items."""
    if size == 0:
        items = "item was" if left == 1 else "items were"
        return f"{left} {items} taken out, and task_done was not called for {'it' if left == 1 else 'them'}"
    return None if size is None else f"{left} x task_done of a queue with {size} items"


def known_thread_waits() -> dict[int, KnownWait]:
    """Those in which threads wait, by the ids of their code."""
    return _by_code(_THREAD_WAITS)


def tries_to_lock_a_file(frame: Any) -> bool:
    """Whether a frame is one of those that nap, and try again."""
    return any(
        kind == "file" and _waiting_code(module, function) is frame.f_code
        for kind, module, function, _ in _THREAD_WAITS
    )


def known_task_waits() -> dict[int, KnownWait]:
    """The same for tasks of asyncio and trio, of anyio on top of them, and for greenlets."""
    return _by_code(_TASK_WAITS)


def _by_code(table: Any) -> dict[int, KnownWait]:
    found = {}
    for kind, module, function, what in table:
        code = _waiting_code(module, function)
        if code is not None:
            found[id(code)] = KnownWait(code, kind, function, what)
    return found


def _waiting_code(module: str, function: str) -> Any:
    """None if the module is not loaded, or has no such function."""
    outer, _, inner = function.partition(".")
    name = "_frozen_importlib" if module == "importlib._bootstrap" else module
    value: Any = module_globals(name).get(outer)
    if inner and isinstance(value, type):
        # gevent puts a class of its own in the place of `threading.Thread`.
        spaces = [namespace_of(base) for base in mro_of(value)]
        value = next((space[inner] for space in spaces if inner in space), None)
    return getattr(getattr(value, "__wrapped__", value), "__code__", None)


def plain_length(value: Any) -> int:
    """Items of one of Python's own containers, whatever a subclass says."""
    for base in mro_of(type(value)):
        if base.__module__ in ("builtins", "collections") and "__len__" in namespace_of(base):
            return int(base.__len__(value))
    return -1
