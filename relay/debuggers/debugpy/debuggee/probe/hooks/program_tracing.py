"""Trace functions of the program's own, beside the debugger's. Before Python 3.12.

A thread has one place for both. What the program sets by `sys.settrace` is put there with the
debugger's before it, and gets the same events as alone; `sys.gettrace` answers with its own
only. When it takes it out, the debugger's stays. pydevd would print a warning, and be gone.

Extensions that set theirs in C, as coverage does, are not asked: they take the place.
"""

from __future__ import annotations

import _thread
import sys
import threading
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        frames_of_all_threads,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import (
        begin_thread,
        set_trace,
        trace_call,
        tracing_state,
        wanted_trace_function,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.coming import is_at_work

_ORIGINAL = "_debug_relay_original"
_own_tracing: Any = _thread._local()  # `both`: what this thread has, if the program traces in it
_shared: Any = weakref.WeakValueDictionary()  # the same by the thread's ident, while it lives

real_gettrace: Any = getattr(sys.gettrace, _ORIGINAL, sys.gettrace)
"""The interpreter's, which answers with the debugger's function, too."""


def share_trace_functions() -> None:
    """From now on the program's trace functions and the debugger's do not drive each other out."""
    for function, replaced in (
        (_settrace_of_program, real_settrace()),
        (_gettrace_of_program, real_gettrace),
    ):
        setattr(function, _ORIGINAL, replaced)
    sys.settrace, sys.gettrace = _settrace_of_program, _gettrace_of_program


def unshare_trace_functions() -> None:
    """Only the program's are left, if it has any; nobody asks us any more."""
    if sys.gettrace is _gettrace_of_program:
        sys.settrace, sys.gettrace = real_settrace(), real_gettrace


def real_settrace() -> Any:
    """The interpreter's; pydevd has put a function that warns in its place."""
    tracing: Any = sys.modules["pydevd_tracing"]
    return tracing._original_settrace


def function_of_program() -> Any:
    """What is to be this thread's trace function while the program traces in it; else None."""
    return getattr(_own_tracing, "both", None)


def threads_that_share() -> list[int]:
    """Threads in which the program traces: each by its ident."""
    return list(_shared)


@contextmanager
def frames_shared_on() -> Iterator[None]:
    """Whatever trace functions frames are given meanwhile, the program's own hear of all as before."""
    frames = [frame for _, frame in frames_of_all_threads()] if _shared else []
    shared = [(one, one.f_trace) for one in frames if type(one.f_trace) is SharedFrame]
    try:
        yield
    finally:
        for frame, local in shared:
            if frame.f_trace is not local:
                local.go_on(frame, frame.f_trace)
                frame.f_trace = local


def _settrace_of_program(function: Any) -> None:
    """Set the global debug tracing function.  It will be called on each
    function call.  See the debugger chapter in the library manual."""
    real = real_settrace()
    if function is begin_thread or function is trace_call:  # `threading` does, in a new thread
        real(function)
        return
    real(None)  # the program's sees nothing of the rest
    if function is None:
        _own_tracing.both = None
        _shared.pop(threading.get_ident(), None)
        set_trace(_function_of_debugger())
        return
    both = _own_tracing.both = _shared[threading.get_ident()] = _Both(function)
    real(both)


def _gettrace_of_program() -> Any:
    """Return the global debug tracing function set with sys.settrace.
    See the debugger chapter in the library manual."""
    both = function_of_program()
    if both is not None:
        return both.theirs
    found = real_gettrace()
    return None if is_trace_function_of_debugger(found) else found


def _function_of_debugger() -> Any:
    holder = tracing_state.holder
    return wanted_trace_function() if holder is None else holder.on_call


def is_trace_function_of_debugger(found: Any) -> bool:
    """Whether it is the debugger's, and not one that the program or an extension has set."""
    home: Any = getattr(getattr(found, "__func__", found), "__globals__", None)
    if home is not None:
        return home is globals() or str(home.get("__name__")).startswith(("pydevd", "_pydevd"))
    return type(found).__module__.startswith("_pydevd")


class _Both:
    """The trace function of a thread in which the program traces."""

    def __init__(self, theirs: Any) -> None:
        self.theirs = theirs

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        if is_debugger_file(frame.f_code.co_filename) or is_at_work():
            return None  # called by the functions above, at a stop, or where a check is placed
        ours = _function_of_debugger()
        inner = None if ours is None else ours(frame, event, arg)
        is_wanted_by_inner = inner is not None and frame.f_trace_lines
        frame.f_trace_lines = True  # as the program's finds it alone
        local = self.theirs(frame, event, arg)
        if local is None:
            frame.f_trace_lines = is_wanted_by_inner
            return inner
        return SharedFrame(frame, inner, local, is_wanted_by_inner)


class SharedFrame:
    """The trace function of a frame that the program traces, and perhaps the debugger, too.

    Both may say of a frame whether they want its lines, in one place: each finds there what it has
    said itself.
    """

    def __init__(self, frame: Any, inner: Any, theirs: Any, is_wanted_by_inner: bool) -> None:
        self.inner, self.theirs = inner, theirs
        self.inner_wants_lines, self.wants_lines = is_wanted_by_inner, frame.f_trace_lines
        self._share_lines(frame)

    def go_on(self, frame: Any, inner: Any) -> None:
        """With this one of the debugger's from now on."""
        self.inner, self.inner_wants_lines = inner, inner is not None
        self._share_lines(frame)

    def _share_lines(self, frame: Any) -> None:
        frame.f_trace_lines = self.wants_lines or self.inner_wants_lines

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        is_line = event == "line"
        if self.inner is not None and (self.inner_wants_lines or not is_line):
            frame.f_trace_lines = self.inner_wants_lines
            self.inner = self.inner(frame, event, arg) or self.inner
            self.inner_wants_lines = frame.f_trace_lines
        is_wanted = self.theirs is not None and (self.wants_lines or not is_line)
        if is_wanted and function_of_program() is not None:  # else it has been taken out
            frame.f_trace_lines = self.wants_lines
            self.theirs = self.theirs(frame, event, arg) or self.theirs
            self.wants_lines = frame.f_trace_lines
        self._share_lines(frame)
        return self
