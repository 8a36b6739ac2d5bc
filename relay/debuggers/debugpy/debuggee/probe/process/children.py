"""Child processes as the probe sees them: each is announced when it is made, with its pid.

Knows the few places in which CPython makes a process, and says so to the debugger's client in
an event of the relay's own, on pydevd's writer: in order with the stops. Refuses to know what
becomes of a child. Processes that C code makes by itself are not seen here.

A fork is seen by hooks, and its child found in /proc: a wrapper around os.fork would be the
place that Python's warning about threads names. The others are wrapped where they lie.
"""

from __future__ import annotations

import functools
import os
import queue
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        debugger_threading,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import (
        LateEvent,
        wait_until_answered,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.process.descriptors import is_connected
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        attempt,
        frame_at,
        leave_no_entry,
        process_id,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.killing import ask_before_exec

CHILD_EVENT = "relaySubprocess"
BECOMES_EVENT = "relayBecomes"
_SAYING_SECONDS = 2.0  # at most, before this process becomes another program
_MOST_WORDS = 100
_LONGEST_WORD = 1000


class _Birth(threading.local):
    """What this thread is making."""

    announced = False  # whoever makes it will announce it
    before: frozenset[int] = frozenset()


birth = _Birth()
_children_watched: list[bool] = []


def announce_children() -> bool:
    """Announce every child from now on; before the program begins, if it is to miss none."""
    py_db = debugger()
    _hide_own_files(py_db)
    _queue_in_c(py_db.writer)
    if not _children_watched:
        _children_watched.append(True)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent)
        _wrap_makers()
    return True


# What follows runs in the middle of the program: no step may lead into it, so it must not call
# Python code of others, the standard library's included.


def _hide_own_files(py_db: Any) -> None:
    hidden = py_db.dont_trace_external_files
    starts, ends = getattr(hidden, "start_patterns", ()), getattr(hidden, "end_patterns", ())
    # Where the probe's rooms are, or are said to be: this file is in one.
    room = os.path.dirname(announce_children.__code__.co_filename)
    own = os.path.join(os.path.dirname(room), "")
    if own not in starts:
        api = sys.modules["pydevd"].PyDevdAPI()
        api.set_dont_trace_start_end_patterns(py_db, (*starts, own), ends)


def _queue_in_c(writer: Any) -> None:
    """Give pydevd's writer a queue whose `put` is no Python code; nothing queued is lost."""
    old = writer._cmd_queue
    if type(old) is not queue.Queue:
        return
    new: Any = queue.SimpleQueue()
    with old.mutex:
        old._put = new.put  # type: ignore[method-assign]  # for whoever is on its way into the old one
        while old.queue:
            new.put(old.queue.popleft())
        writer._cmd_queue = new
        # The writer waits at the old one for 0.1 s at a time: this ends it, and it looks anew.
        old._qsize, old._get = _look_anew, _find_nothing  # type: ignore[method-assign]
        old.not_empty.notify_all()


def _look_anew() -> int:
    return 1


def _find_nothing() -> Any:
    raise queue.Empty


def stop_here_only() -> None:
    """Neither a forked child nor who has closed the debugger's connection stops: nothing could resume it.

    A child's hooks drop the debugger, but those of others run first, and a fork made by C code runs
    none at all.
    """
    own = process_id()
    hook_suspensions("process", before=lambda *_: process_id() == own and is_connected())


def _report_child(pid: int | None, argv: Any) -> None:
    """Queue the event. Never fails: the program is in the middle of something."""
    attempt(_queue_child, pid, argv)


def _queue_child(pid: int | None, argv: Any) -> None:
    py_db = debugger()
    if py_db is not None and py_db.writer is not None:  # else a forked child, or nobody listens
        words = tuple(argv) if type(argv) in (list, tuple) else None
        body = functools.partial(_child_body, pid, words)
        py_db.writer.add_command(LateEvent(CHILD_EVENT, body))


def _child_body(pid: int | None, argv: tuple[Any, ...] | None) -> dict[str, Any]:
    return {"pid": pid, "argv": None if argv is None else attempt(_words, argv)}


def _words(argv: tuple[Any, ...]) -> list[str]:
    return [
        os.fsdecode(word).encode("utf-8", "backslashreplace").decode()[:_LONGEST_WORD]
        for word in argv[:_MOST_WORDS]
    ]


# Forks


def _before_fork() -> None:
    if debugger() is not None:
        attempt(_quiet_fork_warning)
    if not birth.announced:
        birth.before = attempt(_own_children, default=frozenset())


def _after_fork_in_parent() -> None:
    """The newborn is the one that was not there before, if need be as a zombie."""
    if not birth.announced:
        born = attempt(_own_children, default=frozenset()) - birth.before
        if len(born) == 1:
            _report_child(next(iter(born)), None)


class _ForkWarning:
    """Stands for a pattern in warnings.filters: "multi-threaded, use of fork() may deadlock".

    Matches while the only other threads are pydevd's, which the child stops to need.
    """

    def match(self, text: str) -> bool:
        if "is multi-threaded, use of fork" not in text:
            return False
        # Beside gevent the debugger has a `threading` of its own, and its threads are in that alone.
        modules: Any = {id(one): one for one in (threading, debugger_threading())}.values()
        running = [group for one in modules for group in (one._active, one._limbo)]
        threads = {one.ident or one: one for group in running for one in list(group.values())}
        own = sum(bool(getattr(one, "is_pydev_daemon_thread", False)) for one in threads.values())
        return _thread_count(len(threads)) - own == 1


def _thread_count(known: int) -> int:
    """As Python counts: the system's, those of C libraries among them, or those that `threading` knows."""
    try:
        with open("/proc/self/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[17])
    except (OSError, ValueError, IndexError):
        return known


_QUIET_FORK: Any = ("ignore", _ForkWarning(), DeprecationWarning, None, 0)


def _quiet_fork_warning() -> None:
    """Python 3.12 and later warn of every fork beside threads: not of one beside pydevd's.

    Said before each fork: debugpy, and some programs, put back the filters that they found.
    """
    filters: list[Any] = warnings.filters  # type: ignore[assignment]
    if sys.version_info >= (3, 12) and _QUIET_FORK not in filters:
        filters.insert(0, _QUIET_FORK)


def _own_children() -> frozenset[int]:
    """The children that this thread has made, and that nobody has waited for."""
    with open(f"/proc/self/task/{threading.get_native_id()}/children", "rb") as file:
        return frozenset(map(int, file.read().split()))


# The other ways


def _wrap_makers() -> None:
    for module, name, argv_at in (
        ("_posixsubprocess", "fork_exec", 0),
        ("posix", "posix_spawn", 1),
        ("posix", "posix_spawnp", 1),
    ):
        attempt(_wrap_maker, module, name, argv_at)
    replace_in_os("system", _system(os.system))
    for name in ("execv", "execve"):
        replace_in_os(name, _becoming(getattr(os, name)))


def replace_in_os(name: str, wrapper: Callable[..., Any]) -> None:
    """Where the program finds the function, and where that says it lives: there pickle looks."""
    for place in (os, sys.modules[wrapper.__module__]):
        setattr(place, name, wrapper)


def _wrap_maker(module: str, name: str, argv_at: int) -> None:
    made = __import__(module)
    maker = getattr(made, name)
    wrapper = _announcing(maker, argv_at)
    # Where it lives, and where the standard library has it under a name of its own.
    for place, alias in ((made, name), (os, name), (sys.modules.get("subprocess"), "_" + name)):
        if getattr(place, alias, None) is maker:
            setattr(place, alias, wrapper)


def _announcing(maker: Callable[..., int], argv_at: int) -> Callable[..., int]:
    @functools.wraps(maker)
    def make(*arguments: Any, **named: Any) -> int:
        # With a preexec_fn, fork_exec runs the hooks of a fork as well.
        birth.announced = True
        try:
            pid = maker(*arguments, **named)
        except BaseException as error:
            leave_no_entry(error)
            raise
        finally:
            birth.announced = False
        argv = arguments[argv_at] if len(arguments) > argv_at else named.get("argv", ())
        _report_child(pid, argv)
        attempt(_watch_fork_server)
        return pid

    return make


def _system(system: Callable[..., int]) -> Callable[..., int]:
    """os.system is C and gives no pid: the relay is asked to look for itself."""

    @functools.wraps(system)
    def run(*arguments: Any, **named: Any) -> int:
        command = arguments[0] if arguments else named.get("command")
        _report_child(None, ("sh", "-c", command))
        try:
            return system(*arguments, **named)
        except BaseException as error:
            leave_no_entry(error)
            raise

    return run


def _becoming(become: Callable[..., Any]) -> Callable[..., Any]:
    """An exec that works does not return, and takes what is queued with it."""

    @functools.wraps(become)
    def run(*arguments: Any, **named: Any) -> Any:
        argv = arguments[1] if len(arguments) > 1 else named.get("argv", ())
        attempt(_say_becoming, argv)
        try:
            return become(*arguments, **named)
        except BaseException as error:
            leave_no_entry(error)
            raise
        finally:
            attempt(_say_becoming, None)

    return run


def _say_becoming(argv: Any) -> None:
    """argv: of the program that this process becomes; None: it has not."""
    py_db = debugger()
    if py_db is None or py_db.writer is None:  # a forked child, or nobody listens
        return
    if argv is not None:
        attempt(ask_before_exec)
    words = tuple(argv) if type(argv) in (list, tuple) else None
    py_db.writer.add_command(LateEvent(BECOMES_EVENT, functools.partial(_becomes_body, words)))
    if argv is not None:
        wait_until_answered(py_db, _SAYING_SECONDS)


def _becomes_body(argv: tuple[Any, ...] | None) -> dict[str, Any]:
    return {"argv": None if argv is None else attempt(_words, argv, default=[])}


def _watch_fork_server() -> None:
    """multiprocessing's fork server makes children for this process, and says their pids."""
    server = sys.modules.get("multiprocessing.forkserver")
    read = getattr(server, "read_signed", None)
    if server is None or read is None or hasattr(read, "__wrapped__"):
        return

    def read_signed(fd: int) -> int:
        number: int = read(fd)
        # Exit codes come by the same way.
        if frame_at(1).f_code.co_name == "_launch":
            _report_child(number, None)
        return number

    read_signed.__wrapped__ = read  # type: ignore[attr-defined]
    server.read_signed = read_signed  # type: ignore[attr-defined]
