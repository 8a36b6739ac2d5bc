"""Threads, futures and jobs of a pool whose exception nobody takes; processes of multiprocessing."""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import (
        failed,
        has_run_tests,
        was_shown,
        when_shown,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.imports import when_imported
    from relay.debuggers.debugpy.debuggee.probe.failures.listening import (
        calling_frame,
        error_under_way,
        listen,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import is_own_path
    from relay.debuggers.debugpy.debuggee.probe.failures.raised_frames import compiled_file
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, frame_at
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact


def listen_to_threads() -> None:
    """Those that run, and those that will."""
    make: Any = threading._make_invoke_excepthook  # type: ignore[attr-defined]
    if not getattr(make, "_debug_relay_listens", False):

        def make_invoke_excepthook() -> Any:
            return _listening_hook(make())

        make_invoke_excepthook._debug_relay_listens = True  # type: ignore[attr-defined]
        threading._make_invoke_excepthook = make_invoke_excepthook  # type: ignore[attr-defined]
        for thread in threading.enumerate():
            attempt(_listen_to_thread, thread)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_forget_unread)
    when_shown(_forget_shown)
    when_imported("concurrent.futures._base", _listen_to_futures)
    when_imported("multiprocessing.pool", _listen_to_pools)
    when_imported("multiprocessing.process", _listen_to_processes)


def _listen_to_thread(thread: Any) -> None:
    hook = getattr(thread, "_invoke_excepthook", None)
    if hook is not None:
        thread._invoke_excepthook = _listening_hook(hook)


def _listening_hook(hook: Any) -> Any:
    """What a thread calls with the exception that ends it, before `threading.excepthook`."""

    def invoke_excepthook(thread: Any) -> Any:
        attempt(_thread_failed, thread)
        return hook(thread)

    return invoke_excepthook


def _thread_failed(thread: Any) -> None:
    if not getattr(thread, "is_pydev_daemon_thread", False):
        failed(error_under_way(), "thread", exact(str(thread.name)))


# Results that nobody asks for ------------------------------------------------------------------


class _Asked:
    """In place of an attribute: keeps its value in the instance, and notes that it was read."""

    def __init__(self, name: str, ends: str) -> None:
        self.name = name
        self.ends = ends
        self.unread: dict[int, Any] = {}  # (weak reference to the owner, exception), by its id

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        if owner is None:
            return self
        if id(owner) in self.unread and not _only_shows(frame_at(1).f_code):
            self.unread.pop(id(owner), None)
        try:
            return owner.__dict__[self.name]
        except KeyError:
            raise AttributeError(self.name) from None

    def __set__(self, owner: Any, value: Any) -> None:
        owner.__dict__[self.name] = value
        # The value of a job that went well may be an exception, too.
        if isinstance(value, BaseException) and not owner.__dict__.get("_success"):
            attempt(self._note, owner, value)

    def _note(self, owner: Any, error: BaseException) -> None:
        # A future may keep what was stopped at for longer than that is remembered.
        if _is_of_library(error) or was_shown(error):
            return
        number = id(owner)

        def gone(_: Any) -> None:
            if self.unread.pop(number, None) is not None:
                attempt(lambda: failed(error, self.ends, expectable=True))

        self.unread[number] = (weakref.ref(owner, gone), error)

    def fail_rest(self) -> None:
        """At the program's end: nobody will ask any more."""
        while self.unread:
            _, (_, error) = self.unread.popitem()
            if not has_run_tests():  # else they are what a test has left behind
                attempt(failed, error, self.ends)


def _only_shows(code: Any) -> bool:
    """Whether it reads a result for its text: in the program's log, or among the locals of a stop."""
    return code.co_name == "__repr__" or is_debugger_file(code.co_filename)


def _is_of_library(error: BaseException) -> bool:
    """Whether a library has failed in a future of its own: nothing of the program's was run.

    What the pools and loops of Python itself run may be a library's function, given by the program.
    """
    setter = calling_frame().f_back
    name = setter.f_globals.get("__name__", "") if setter is not None else ""
    if name.split(".")[0] in ("concurrent", "multiprocessing", "asyncio"):
        return False
    if passed_own_code(error):
        return False
    return setter is None or not is_own_path(setter.f_code.co_filename)


def passed_own_code(error: BaseException) -> bool:
    """Whether code of the program's own was left by it."""
    tb = error.__traceback__
    while tb is not None:
        frame = tb.tb_frame
        if is_own_path(compiled_file(frame) or frame.f_code.co_filename):
            return True
        tb = tb.tb_next
    return False


_asked: list[_Asked] = []


def _forget_shown(error: BaseException) -> None:
    for asked in _asked:
        for number, (_, unread) in list(asked.unread.items()):
            if unread is error:
                asked.unread.pop(number, None)


def _listen_to_futures(module: Any) -> None:
    _watch_attribute(module.Future, "_exception", "future")
    # Who calls it off wants no result: so does `Executor.map` with the rest, once one has failed.
    listen(module.Future, "cancel", before=_forget_future)


def _forget_future(future: Any) -> None:
    for asked in _asked:
        asked.unread.pop(id(future), None)


def _listen_to_pools(module: Any) -> None:
    _watch_attribute(module.ApplyResult, "_value", "job")


def _watch_attribute(owner: Any, name: str, ends: str) -> None:
    if type(owner.__dict__.get(name)) is not _Asked:
        asked = _Asked(name, ends)
        setattr(owner, name, asked)
        _asked.append(asked)


def _forget_unread() -> None:
    """In a forked child: they are the business of its parent."""
    for asked in _asked:
        asked.unread.clear()


def fail_unread_results() -> None:
    """The exceptions of futures and jobs that the program never asked for."""
    for asked in _asked:
        asked.fail_rest()


# multiprocessing ---------------------------------------------------------------------------------


def _listen_to_processes(module: Any) -> None:
    """A child that an exception ends asks for its own name, to print it beside the traceback."""
    stock = module.BaseProcess.__dict__["name"]
    if type(stock) is not property or hasattr(stock.fget, "_debug_relay_listens"):
        return

    def name(process: Any) -> Any:
        attempt(_process_failed, process, stock.fget)
        return stock.__get__(process)

    name._debug_relay_listens = True  # type: ignore[attr-defined]
    module.BaseProcess.name = stock.getter(name)


def _process_failed(process: Any, name_of: Any) -> None:
    if error_under_way() is not None and calling_frame().f_code.co_name == "_bootstrap":
        failed(error_under_way(), "process", exact(str(name_of(process))))
