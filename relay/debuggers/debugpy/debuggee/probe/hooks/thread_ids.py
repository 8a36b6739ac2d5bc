"""What pydevd calls a thread: a number of its own, in the place of the object's address.

So that no address comes twice, pydevd keeps each thread of the program for ever. A program that has
weak references to its threads can tell (before Python 3.9 the end of one with a process pool
printed a traceback), and one with a thread for each request grows. Refuses to know who asks.
"""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch

_THREAD_NUMBER = "__pydevd_number__"  # beside pydevd's own `__pydevd_id__`, which it may take away

_THREAD_COUNTER = "_debug_relay_threads"  # in pydevd: the next client's probe goes on with it


def let_threads_go() -> None:
    """From now on. Threads that have a name by now keep it, and are kept."""
    constants: Any = sys.modules["_pydevd_bundle.pydevd_constants"]
    vars(constants).setdefault(_THREAD_COUNTER, itertools.count(1))
    patch(constants, "_get_or_compute_thread_id_with_lock", _lasting_thread_id)


def _lasting_thread_id(_original: Any, thread: Any, *_: Any, **__: Any) -> Any:
    """Its name, the same each time in one process."""
    constants: Any = sys.modules["_pydevd_bundle.pydevd_constants"]
    with constants._thread_id_lock:
        known = getattr(thread, "__pydevd_id__", None)
        if known is None:
            number = getattr(thread, _THREAD_NUMBER, None)
            if number is None:
                number = next(vars(constants)[_THREAD_COUNTER])
                setattr(thread, _THREAD_NUMBER, number)
            known = thread.__pydevd_id__ = f"pid_{constants.get_pid()}_thread_{number}"
    return known
