"""What it may cost to give codes their checks as they begin, before Python 3.12: a small share of the time.

To make checks takes as long as thousands of events of tracing. Refuses to know how they are made.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import operations_named

_LOOPS = operations_named(("JUMP_BACKWARD",))
_EVENTS_A_BYTE = 10  # of tracing, that take as long as to give so much of a code its checks
_LEAST_SECONDS, _SHARE = 0.05, 1 / 8  # that may go into it, and how much of all time


class CheckCosts:
    """Since some data breakpoints are watched."""

    def __init__(self) -> None:
        self._begun: set[Any] = (
            set()
        )  # what is known of each code that has begun without its checks
        self._fresh = 0  # bytes of those that did so since it was asked, and go on without
        self._seconds = 0.0  # that it has taken so far, of processor time
        self._since = time.perf_counter()

    def is_worth(self, entry: Any, code: Any, relies: bool) -> bool:
        """Whether a frame that begins had better have checks than be traced: all other code has them, or
        it may last, or begins once more. And only if that takes a small share of the time."""
        is_fresh = entry not in self._begun
        self._begun.add(entry)
        may_last = not is_fresh or relies or not _LOOPS.isdisjoint(code.co_code[::2])
        gone = time.perf_counter() - self._since
        if may_last and self._seconds <= _LEAST_SECONDS + gone * _SHARE:
            return True
        self._fresh += len(code.co_code) if is_fresh else 0
        return False

    def spend(self, function: Any, *arguments: Any) -> Any:
        """What a call gives that makes checks."""
        began = time.thread_time()
        try:
            return function(*arguments)
        finally:
            self._seconds += time.thread_time() - began

    def events_of_fresh(self) -> int:
        """How many events of tracing would cost as much as checks for what has begun without since the
        last time."""
        fresh, self._fresh = self._fresh, 0
        return fresh * _EVENTS_A_BYTE
