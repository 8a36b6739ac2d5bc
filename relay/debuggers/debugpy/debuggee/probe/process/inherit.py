"""Children that are to be debugged, too: each learns, by its environment, where the relay listens.

A new interpreter finds the directory `site` on its PYTHONPATH, and in it a `sitecustomize.py` that
joins the session before any code of the program runs; that one takes both variables away again.
So its command line stays its own, and a Python is found however it is started: by a shell, by a
script with `#!`, by a program that is none. A forked child joins by itself.
Refuses to know how a child joins: that is `pydevd/child.py`.
"""

from __future__ import annotations

import functools
import gc
import itertools
import json
import os
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import forget_suspension_hooks
    from relay.debuggers.debugpy.debuggee.probe.process.children import birth, replace_in_os
    from relay.debuggers.debugpy.debuggee.probe.process.frame_room import forget_room_of_others
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        attempt,
        frame_at,
        leave_no_entry,
        process_id,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.killing import ask_before_kills
    from relay.debuggers.debugpy.debuggee.probe.process.pickled_code import (
        keep_files_of_pickled_code,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.breakpoints import (
        pass_counts,
        reported_hits,
        stopping_names,
        totals,
    )
    from relay.debuggers.debugpy.debuggee.probe.trace.traces import forget_trace
    from relay.debuggers.debugpy.debuggee.probe.values.references import references
    from relay.debuggers.debugpy.debuggee.probe.waits.left_behind import watch_locks_at_forks
    from relay.debuggers.debugpy.debuggee.probe.writes.write_recorder import record_on_in_fork

_VARIABLE = b"DEBUG_RELAY_CHILD"
_PATH = b"PYTHONPATH"
# Helpers of multiprocessing that run no code of the program's.
_NOT_DEBUGGED = ("multiprocessing.resource_tracker", "multiprocessing.semaphore_tracker")
# What runs a part of the program: multiprocessing's ways, execnet's, by which xdist starts, and
# those of trial -j, zope.testrunner -j and stestr.
_WORKERS = (
    "multiprocessing.spawn",
    "multiprocessing.forkserver",
    "--multiprocessing-fork",
    "exec(eval(sys.stdin.readline()))",
    "/twisted/trial/_dist/workertrial.",
    "--resume-layer",
    "stestr.subunit_runner.run",
)
# Whose processes do so, too, whatever their command lines: servers and queues that fork their
# workers, and reloaders, whose only child is the program.
_STARTERS = (
    "/multiprocessing/popen_fork.py",
    "/multiprocessing/forkserver.py",
    "/billiard/popen_fork.py",
    "/gunicorn/arbiter.py",
    "/rq/worker/worker_classes.py",
    "/tornado/process.py",
    "/werkzeug/_reloader.py",
    "/django/utils/autoreload.py",
    "/quart/utils.py",
    "/bottle.py",
    "/hupper/ipc.py",
    "/litestar/cli/commands/core.py",
    "/watchfiles/run.py",
)
_REFERENCES_EACH = 1_000_000


class _Heritage:
    """What every child gets, and the module by which a forked one joins."""

    def __init__(self, spec: dict[str, Any], joining: Any) -> None:
        self.spec = {**spec, "cache": _code_folder[0]}
        self.joining = joining
        self.workers_only = spec["scope"] == "workers"
        self.site = os.fsencode(spec["site"])
        self.text = os.fsencode(json.dumps(self.spec))

    def variables(self, path: bytes | None) -> list[tuple[bytes, bytes]]:
        """The two variables, for an environment whose PYTHONPATH is `path`."""
        return [(_PATH, self.site + b":" + path if path else self.site), (_VARIABLE, self.text)]


_heritage: list[_Heritage] = []
_code_folder: list[str | None] = [None]


def keep_code_in(folder: str | None) -> None:
    """Where this process has kept compiled code, children keep theirs."""
    _code_folder[0] = folder


def debug_children(**spec: str) -> dict[str, Any]:
    """From now on; say it before the program begins. `can_join`: the debugger's version is known.

    join_port: path of the relay's socket; site: the directory for PYTHONPATH; code: that of
    `pydevd/child.py`; debugpy: where one lies for those who have none;
    scope: all, or workers for those only which run a part of this program: of multiprocessing,
    test runners, and servers that start their own.
    """
    # That of a fork knows the link by which it has joined itself.
    joining = _heritage[0].joining if _heritage else _load_joining(spec["code"])
    reason = joining.unfit()
    if reason is not None:
        return {"can_join": False, "reason": reason}
    first = not _heritage
    _heritage[:] = [_Heritage(spec, joining)]
    _number_apart()
    if spec["scope"] == "all":
        attempt(keep_files_of_pickled_code)
    if first:
        _wrap_births()
        ask_before_kills()
        # In this order, and after the hook that takes the debugger of the program itself away.
        os.register_at_fork(after_in_child=_forget_parents_link)
        os.register_at_fork(after_in_child=_join_after_fork)
    watch_locks_at_forks()
    return {"can_join": True}


def _load_joining(directory: str) -> Any:
    import importlib.machinery

    path = os.path.join(directory, "child.py")
    code = importlib.machinery.SourceFileLoader("_debug_relay_child", path).get_code(
        "_debug_relay_child"
    )
    if code is None:
        raise ImportError("no code in " + path)
    module: Any = types.ModuleType("_debug_relay_child")
    module.__file__ = path
    exec(code, module.__dict__)
    module.prepare()
    return module


def _number_apart() -> None:
    """No two processes of a session give the same reference."""
    references.numbers = itertools.count(process_id() * _REFERENCES_EACH + 1000)


# Forks


def _forget_parents_link() -> None:
    attempt(_heritage[0].joining.forget_link)


def _join_after_fork() -> None:
    """A child that is about to become another program joins as that one."""
    if not _heritage or birth.announced:
        return
    if _heritage[0].workers_only and not _starts_worker():
        return
    attempt(_forget_parents_state)
    heritage = _heritage[0]
    # The program's hooks come after this one, and have yet to give back what they took before the fork, as logging does
    # its lock: a finalizer that asks for that, run by the garbage collector in a thread of the debugger's, would wait for
    # this thread, which waits for that one.
    collects = gc.isenabled()
    gc.disable()
    try:
        attempt(heritage.joining.rejoin, heritage.spec, frame_at(1))
        attempt(record_on_in_fork)
    finally:
        if collects:
            gc.enable()


def _starts_worker() -> bool:
    """Whether a library starts a worker here."""
    frame: Any = frame_at(1)
    while frame is not None:
        if frame.f_code.co_filename.endswith(_STARTERS):
            return True
        frame = frame.f_back
    return False


def _forget_parents_state() -> None:
    _number_apart()
    references.release()
    references.stop = -1
    forget_room_of_others()
    attempt(forget_trace)  # who asked for it waits for a stop of the parent
    forget_suspension_hooks()
    for counts in (totals, pass_counts, reported_hits, stopping_names):
        counts.clear()


# New programs. What follows runs in the middle of the program, and calls no Python code of others.


def _wrap_births() -> None:
    for module, name, argv_at, env_at, lay in (
        ("_posixsubprocess", "fork_exec", 0, 5, _in_list),
        ("posix", "posix_spawn", 1, 2, _in_mapping),
        ("posix", "posix_spawnp", 1, 2, _in_mapping),
        ("posix", "execve", 1, 2, _in_mapping),
    ):
        attempt(_wrap_birth, module, name, argv_at, env_at, lay)
    replace_in_os("execv", _execv(os.execv))
    replace_in_os("system", _shell(os.system))


def _wrap_birth(
    module: str, name: str, argv_at: int, env_at: int, lay: Callable[[_Heritage, Any], Any]
) -> None:
    made = __import__(module)
    # `os` may have the wrapper that announces children; it is wrapped once more.
    maker = getattr(os, name, None) or getattr(made, name)
    wrapper = _bequeathing(maker, argv_at, env_at, lay)
    for place, alias in ((made, name), (os, name), (sys.modules.get("subprocess"), "_" + name)):
        if hasattr(place, alias):
            setattr(place, alias, wrapper)


def _bequeathing(
    maker: Callable[..., Any], argv_at: int, env_at: int, lay: Callable[[_Heritage, Any], Any]
) -> Callable[..., Any]:
    @functools.wraps(maker)
    def make(*arguments: Any, **named: Any) -> Any:
        changed = attempt(_changed, arguments, argv_at, env_at, lay, default=arguments)
        try:
            return maker(*changed, **named)
        except BaseException as error:
            leave_no_entry(error)
            raise

    return make


def _changed(
    arguments: tuple[Any, ...], argv_at: int, env_at: int, lay: Callable[[_Heritage, Any], Any]
) -> tuple[Any, ...]:
    """The arguments with an environment that has the heritage in it."""
    if not _heritage or len(arguments) <= env_at or _is_helper(arguments[argv_at]):
        return arguments
    is_worker = _has_word(arguments[argv_at], _WORKERS) or _starts_worker()
    if _heritage[0].workers_only and not is_worker:
        return arguments
    return (*arguments[:env_at], lay(_heritage[0], arguments[env_at]), *arguments[env_at + 1 :])


def _is_helper(argv: Any) -> bool:
    return _has_word(argv, _NOT_DEBUGGED)


def _has_word(argv: Any, parts: tuple[str, ...]) -> bool:
    if type(argv) not in (list, tuple):
        return False
    words = [os.fsdecode(word) for word in argv]
    return any(part in word for word in words for part in parts)


def _own_environment() -> dict[bytes, bytes]:
    data: dict[bytes, bytes] = os.environ._data  # type: ignore[attr-defined]
    return dict(data)


def _in_list(heritage: _Heritage, environment: Any) -> Any:
    """As fork_exec takes it: None, or a sequence of b"NAME=value"."""
    if environment is None:
        items = list(_own_environment().items())
    else:
        items = [(name, value) for name, _, value in [e.partition(b"=") for e in environment]]
    return [name + b"=" + value for name, value in _laid_over(heritage, items)]


def _in_mapping(heritage: _Heritage, environment: Any) -> Any:
    """As execve and posix_spawn take it: a mapping of str or bytes, or None."""
    if environment is None or environment is os.environ:
        return dict(_laid_over(heritage, list(_own_environment().items())))
    items = [(os.fsencode(name), os.fsencode(value)) for name, value in environment.items()]
    return dict(_laid_over(heritage, items))


def _laid_over(heritage: _Heritage, items: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    others = [(name, value) for name, value in items if name not in (_PATH, _VARIABLE)]
    return [*others, *heritage.variables(dict(items).get(_PATH))]


def _execv(execv: Callable[..., Any]) -> Callable[..., Any]:
    """The one exec that takes no environment: what it would take is given."""

    @functools.wraps(execv)
    def run(path: Any, argv: Any, /) -> Any:
        try:
            if _heritage and not _heritage[0].workers_only:
                return os.execve(path, argv, os.environ)
            return execv(path, argv)
        except BaseException as error:
            if isinstance(error, OSError):
                del error.filename  # which execve names, and execv does not
            leave_no_entry(error)
            raise

    return run


def _shell(system: Callable[..., int]) -> Callable[..., int]:
    """os.system takes no environment either, but a shell reads its command."""

    @functools.wraps(system)
    def run(command: Any) -> int:
        try:
            return system(attempt(_exporting, command, default=command))
        except BaseException as error:
            leave_no_entry(error)
            raise

    return run


def _exporting(command: Any) -> Any:
    if not _heritage or _heritage[0].workers_only or type(command) not in (str, bytes):
        return command
    words = [
        name + b"='" + value.replace(b"'", b"'\\''") + b"'"
        for name, value in _heritage[0].variables(_own_environment().get(_PATH))
    ]
    head = b"export " + b" ".join(words) + b"\n"
    return head + command if type(command) is bytes else os.fsdecode(head) + command
