"""The program's code under guard: what it raises is part of an answer, never the end of the probe.

Knows the probe's own two exceptions, and lets the one that interrupts a call through. Refuses to
know what is called.
"""
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact, full_name


frame_at = sys._getframe
"""Bound once: a program may take it out of `sys` for a while, as the tests of attrs do."""
process_id = os.getpid
"""Bound once: tests put a mock in its place, and who looks for a fork would take that for one."""


class Interrupted(BaseException):
    """Raised inside a running call by `interrupt`; never leaves the probe."""


class TroubleError(Exception):
    """An answer of the kind {"error": {"kind", "message", …}}."""

    def __init__(self, kind: str, message: str, **more: Any) -> None:
        self.answer = {"error": dict(more, kind=kind, message=message)}


def attempt(function: Callable[..., Any], *arguments: Any, default: Any = None) -> Any:
    """What the call gives, or `default` if it raises. What strikes from outside goes on."""
    try:
        return function(*arguments)
    except Interrupted:
        raise
    except BaseException as error:
        if is_from_outside(error):
            raise
        return default


def leave_no_entry(error: BaseException) -> None:
    """Take the caller's own entry out of the traceback of what it has caught, and raises again by `raise`.

    A wrapper of the debugger's is then not in what the program prints. Before Python 3.11 a `raise` puts
    it back.
    """
    tb = error.__traceback__
    if tb is not None and tb.tb_frame is frame_at(1):
        error.__traceback__ = tb.tb_next


def exception_line(error: BaseException) -> str:
    """As the last line of a traceback: 'ValueError: bad'."""
    try:
        message = exact(str(error))
    except Interrupted:
        raise
    except BaseException as wrong:
        if is_from_outside(wrong):
            raise
        message = "<str() failed>"
    name = full_name(type(error))
    return f"{name}: {message}" if message else name
