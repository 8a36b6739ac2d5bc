"""Interrupts: a call that takes too long is cut short, and nothing of that reaches the program.

Knows threads and signals. Refuses to know what is called and answered.
"""

from __future__ import annotations

import collections
import itertools
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import Interrupted, process_id

# The C functions: the wrappers in `signal` look up enumerations, ten times as slow.
_c_signal: Any = sys.modules["_signal"]
_get_handler, _set_handler = _c_signal.getsignal, _c_signal.signal
_send_signal = os.kill  # that in C, before another is put in its place
# A realtime signal is the program's neither by custom nor by default, and wakes a blocked
# main thread just as well as SIGINT: an interrupted call can then not be taken for Ctrl-C.
WAKING_SIGNAL = int(signal.SIGRTMAX) - 2 if hasattr(signal, "SIGRTMAX") else int(signal.SIGINT)


class RunningCall:
    """One call under way. `open` while it may be interrupted."""

    def __init__(self, call: Any) -> None:
        self.call = call
        self.ident = threading.get_ident()
        self.main = self.ident == threading.main_thread().ident
        self.open = False
        self.pending = False
        self.sigint = False
        self.saved: list[tuple[int, Any, Any]] = []

    def begin(self) -> None:
        """From here on an interrupt may reach this thread."""
        if self.main:
            self._handle(WAKING_SIGNAL, self._on_interrupt)
            if WAKING_SIGNAL != signal.SIGINT:
                self._handle(signal.SIGINT, self._on_sigint)
        self.open = True
        if self.call is not None:
            _running[self.call] = self

    def _handle(self, number: int, handler: Any) -> None:
        previous = _get_handler(number)
        if previous is not None:  # else it was set in C, and could not be restored
            _set_handler(number, handler)
            self.saved.append((number, previous, handler))

    def _on_interrupt(self, number: int, frame: Any) -> None:
        if not self.pending:
            self.sigint = True  # one number for both, and this one was the program's
            return
        self.pending = False
        if self.open:
            raise Interrupted

    def _on_sigint(self, number: int, frame: Any) -> None:
        self.sigint = True

    def interrupt(self) -> bool:
        """Under the lock, from another thread. True if the call was still there."""
        if not self.open:
            return False
        if not self.main:
            self.pending = True
            raise_in(self.ident, Interrupted)
        elif any(number == WAKING_SIGNAL for number, _, _ in self.saved):
            self.pending = True
            signal.pthread_kill(self.ident, WAKING_SIGNAL)
        else:
            return False
        return True

    def interrupted(self) -> None:
        """The interrupted call has noticed it: another may be sent."""
        self.pending = False

    def end(self) -> None:
        """No interrupt reaches this thread after this. May itself be interrupted: repeat it."""
        got = _lock.acquire(timeout=1)
        try:
            self.open = False
            if _running.get(self.call) is self:
                del _running[self.call]
        finally:
            if got:
                _lock.release()
        # What is still under way must land here, not in the program. It cannot be taken back: a
        # thread of 3.11 whose pending exception was cleared misses its next step, or spins.
        deadline = time.monotonic() + 1
        while self.pending and time.monotonic() < deadline:
            time.sleep(0.0005)
        while self.saved:
            number, previous, handler = self.saved[-1]
            if _get_handler(number) == handler:  # the expression may have set its own
                _set_handler(number, previous)
            self.saved.pop()
        if self.sigint:
            self.sigint = False
            _hold_sigint()


_running: dict[Any, RunningCall] = {}
_lock = threading.Lock()


def raise_in(ident: int, error: type[BaseException]) -> None:
    """Make another thread raise at its next bytecode."""
    import ctypes

    set_async_exc = ctypes.pythonapi.PyThreadState_SetAsyncExc
    set_async_exc(ctypes.c_ulong(ident), ctypes.py_object(error))


_held_sigints: list[bool] = []


def _hold_sigint() -> None:
    """A Ctrl-C that came during a call is the program's: kept until it runs on."""
    # asyncio knows of it already, through its wakeup socket.
    if getattr(_get_handler(signal.SIGINT), "__name__", "") != "_sighandler_noop":
        _held_sigints[:] = [True]


def hand_over_sigint() -> None:
    """Send the program its Ctrl-C a moment after it has been resumed.

    By a thread that runs C functions only: one that ran Python would be known to the debugger
    and to `threading`, and late ones leave an error message at the end on 3.13.
    """
    if not _held_sigints:
        return
    _held_sigints.clear()
    module: Any = sys.modules["_thread"]
    start = getattr(module, "_original_start_new_thread", module.start_new_thread)
    nap = itertools.starmap(time.sleep, [(0.1,)])
    send = itertools.starmap(_send_signal, [(process_id(), signal.SIGINT)])
    start(collections.deque, (itertools.chain(nap, send), 0))


def interrupt(target: Any) -> dict[str, Any]:
    """Interrupt the running call with this id, and nothing else. For pydevd's own thread.

    A thread other than the main one notices when it next runs Python code: no Python can wake
    it from a sleep or from C.
    """
    got = _lock.acquire(timeout=1)
    try:
        running = _running.get(target)
        return {"interrupted": running is not None and running.interrupt()}
    finally:
        if got:
            _lock.release()
