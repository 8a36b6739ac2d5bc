"""What the program sees of its threads, and what pydevd keeps of them: neither they nor their frames.

By `sys._current_frames` programs show what each of their threads does (pytest-timeout, watchdogs, samplers): the debugger's threads
are left out, as `threading.enumerate` leaves them out. pydevd looks for a thread's innermost frame in it, and
keeps all of them in a variable of a frame that is one of them, until the garbage collector comes. It keeps each thread
that it has named for as long as the program runs, and so whatever that has: its name is the thread's address.
"""

from __future__ import annotations

import _thread
import itertools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger_threading
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import is_program_thread
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        attempt,
        frame_at,
        process_id,
    )

_OF_PYTHON = "_debug_relay_original"
_NUMBER_OF_THREAD = "_debug_relay_number"
_ident_of_thread = _thread.get_ident  # gevent puts another in its place
_next_number = itertools.count(1).__next__  # no address is as small


def hide_own_threads() -> None:
    """From now on what asks for all threads gets those of the program."""
    if not hasattr(sys._current_frames, _OF_PYTHON):
        setattr(_current_frames, _OF_PYTHON, sys._current_frames)
        sys._current_frames = _current_frames


def show_own_threads() -> None:
    """The interpreter's function again: nobody asks us any more."""
    sys._current_frames = getattr(sys._current_frames, _OF_PYTHON, sys._current_frames)


def _current_frames() -> Any:
    """Return a dict mapping each thread's thread id to its current stack frame.

    This function should be used for specialized purposes only."""
    tops: Any = getattr(_current_frames, _OF_PYTHON)()
    tops[_ident_of_thread()] = frame_at(1)  # in the place of this one, which must not keep itself
    for ident in list(tops):
        if not attempt(is_program_thread, ident, default=True):
            del tops[ident]
    return tops


_current_frames.__module__ = "sys"


def top_frame_of(ident: int) -> Any:
    """The innermost frame of a thread, one of the debugger's too; None of one that has ended.

    Where it is asked of many threads in turn, to leave out those of the debugger each time would take long.
    """
    return innermost_frames().get(ident)


def innermost_frames() -> Any:
    """The innermost frame of each thread by its ident, those of the debugger's too. Who asks from a
    frame that is one of them clears the dict, or it and all that its variables have stays."""
    return getattr(sys._current_frames, _OF_PYTHON, sys._current_frames)()


def keep_no_frames() -> None:
    """From now on frames at which pydevd has looked end as the program leaves them. Compiled by Cython it keeps none."""
    module: Any = sys.modules.get("_pydevd_bundle.pydevd_additional_thread_info_regular")
    if module is not None:
        patch(module.PyDBAdditionalThreadInfo, "get_topmost_frame", _topmost_frame)


def _topmost_frame(topmost_frame: Any, info: Any, thread: Any) -> Any:
    if thread._ident == _ident_of_thread():
        return frame_at(2)
    tops: Any = sys._current_frames()
    found = tops.get(thread._ident)
    tops.clear()  # this function's own is among them
    return found


def keep_no_threads() -> None:
    """From now on a thread that has ended goes when the program lets go of it."""
    constants: Any = sys.modules["_pydevd_bundle.pydevd_constants"]
    patch(constants, "_get_or_compute_thread_id_with_lock", _name_of_thread)
    for thread in list(constants._thread_id_to_thread_found.values()):
        # After an attach some have a name already: what stops first is told by it.
        thread.__dict__.setdefault(_NUMBER_OF_THREAD, id(thread))
    constants._thread_id_to_thread_found.clear()
    monkey: Any = sys.modules["_pydev_bundle.pydev_monkey"]
    patch(monkey._NewThreadStartupWithTrace, "__init__", _ahead_of_new_thread)


def _ahead_of_new_thread(begin: Any, *about: Any) -> Any:
    attempt(_forget_ended_dummies)
    return begin(*about)


def _forget_ended_dummies() -> None:
    """A thread that stands, or is looked at, while it ends has a dummy made for it, which Python keeps under its number.

    The next thread with that number would be known by it, and requests do not find that.
    """
    known = debugger_threading()
    dummies = [
        ident for ident, one in list(known._active.items()) if type(one) is known._DummyThread
    ]
    if dummies:
        tops = innermost_frames()
        running = set(tops)
        tops.clear()
        for ident in dummies:
            if ident not in running:
                known._active.pop(ident, None)


def _name_of_thread(name: Any, thread: Any, is_current_thread: bool) -> Any:
    """As pydevd's, by a number that no other thread gets, so that none has to be kept for its address.

    pydevd forgets the name when it first lists the thread, and asks again: it is to be the same.
    """
    with sys.modules["_pydevd_bundle.pydevd_constants"]._thread_id_lock:
        if getattr(thread, "__pydevd_id__", None) is None:
            number = thread.__dict__.setdefault(_NUMBER_OF_THREAD, _next_number())
            thread.__pydevd_id__ = f"pid_{process_id()}_id_{number}"
        return thread.__pydevd_id__
