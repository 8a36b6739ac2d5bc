"""Children that this process is about to end by a signal: they say what only they know before.

A pool of multiprocessing ends its workers so, in the midst of their waiting. The relay is told whom it is about, asks
that process for what it has recorded and counted, and lets the signal go. Refuses to know what that is.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import LateEvent
    from relay.debuggers.debugpy.debuggee.probe.process.children import replace_in_os
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        attempt,
        leave_no_entry,
        process_id,
    )

KILLS_EVENT = "relayKills"
_KILL_SECONDS = 1.0  # at most, before the signal is sent
_ENDING_SIGNALS = frozenset(
    (signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT)
)
# By the number of a process: what waits until the relay has asked it. C's own, as the program may have replaced
# what `queue` has.
_kills_asked: dict[int, Any] = {}


def ask_before_kills() -> None:
    """From now on. Before the program begins."""
    replace_in_os("kill", _killing(os.kill))


def kill_answered(pid: int) -> dict[str, Any]:
    """The process was asked, or there is none of this number to be asked. For pydevd's own thread."""
    turn = _kills_asked.get(pid)
    if turn is not None:
        turn.put(None)
    return {}


def _killing(kill: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(kill)
    def run(*arguments: Any, **named: Any) -> None:
        attempt(_await_last_words, *arguments)
        try:
            kill(*arguments, **named)
        except BaseException as error:
            leave_no_entry(error)
            raise

    return run


def _await_last_words(pid: Any = None, number: Any = None, *_: Any) -> None:
    py_db = debugger()
    if type(pid) is not int or pid <= 0 or pid == process_id() or number not in _ENDING_SIGNALS:
        return
    if py_db is None or py_db.writer is None or not py_db.writer.is_alive():
        return  # a forked child, or nobody listens
    turn = _kills_asked[pid] = sys.modules["_queue"].SimpleQueue()
    try:
        py_db.writer.add_command(LateEvent(KILLS_EVENT, functools.partial(dict, pid=pid)))
        attempt(turn.get, True, _KILL_SECONDS)
    finally:
        _kills_asked.pop(pid, None)
