"""Processes that this one is about to end, itself among them: they say what only they know before.

A pool of multiprocessing ends its workers so, in the midst of their waiting; an exec ends the program that called it. The
relay is told whom it is about, asks those processes for what they have recorded and counted, and lets it go on. Refuses
to know what that is.
"""

from __future__ import annotations

import functools
import itertools
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
_KILL_SECONDS = 1.0  # at most, before it goes on
_ENDING_SIGNALS = frozenset(
    (signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT)
)
# By the number of the question: several threads may kill the same process. What waits until the relay has asked it: C's
# own queue, as the program may have replaced what `queue` has.
_kills_asked: dict[int, Any] = {}
_kill_numbers = itertools.count(1)
_own_group = getattr(os, "getpgrp", int)  # bound once, as `process_id`
_signal_handler: Any = sys.modules["_signal"].getsignal


def ask_before_kills() -> None:
    """From now on. Before the program begins."""
    replace_in_os("kill", _killing(os.kill, _ask_killed))
    if hasattr(os, "killpg"):
        replace_in_os("killpg", _killing(os.killpg, _ask_killed_group))
    places: tuple[Any, ...] = (sys.modules["_signal"], signal)
    if hasattr(signal, "raise_signal"):
        raising = _killing(signal.raise_signal, _ask_struck)
        for place in places:
            place.raise_signal = raising


def kill_answered(number: int) -> dict[str, Any]:
    """They were asked, or there is none to be asked. For pydevd's own thread."""
    turn = _kills_asked.get(number)
    if turn is not None:
        turn.put(None)
    return {}


def ask_before_exec() -> None:
    """This process is about to become another program."""
    _await_last_words(0, None, itself=True)


def _killing(kill: Callable[..., None], ask: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(kill)
    def run(*arguments: Any, **named: Any) -> None:
        try:
            attempt(ask, *arguments)
        finally:  # though the handler of a signal has raised meanwhile
            try:
                kill(*arguments, **named)
            except BaseException as error:
                leave_no_entry(error)
                raise

    return run


def _ask_killed(pid: Any = None, number: Any = None, *_: Any) -> None:
    if type(pid) is not int or number not in _ENDING_SIGNALS:
        return
    if pid > 0:
        if pid != process_id():
            _await_last_words(pid, number, itself=False)
        else:
            _ask_struck(number)
    elif pid != -1:  # that would be every process there is
        _ask_killed_group(-pid, number)


def _ask_killed_group(group: Any = None, number: Any = None, *_: Any) -> None:
    if type(group) is int and group >= 0 and number in _ENDING_SIGNALS:
        group = group or _own_group()
        itself = group == _own_group() and _ends_itself(number)
        _await_last_words(-group, number, itself=itself)


def _ask_struck(number: Any = None, *_: Any) -> None:
    if number in _ENDING_SIGNALS and _ends_itself(number):
        _await_last_words(0, number, itself=True)


def _ends_itself(number: int) -> bool:
    return number == signal.SIGKILL or _signal_handler(number) == signal.SIG_DFL


def _await_last_words(pid: int, number: int | None, *, itself: bool) -> None:
    """pid: of a process, or minus that of a group; 0: this one alone."""
    py_db = debugger()
    if py_db is None or py_db.writer is None or not py_db.writer.is_alive():
        return  # a forked child, or nobody listens
    kill = next(_kill_numbers)
    turn = _kills_asked[kill] = sys.modules["_queue"].SimpleQueue()
    sent = None if number is None else int(number)
    about: Any = functools.partial(dict, kill=kill, pid=pid, signal=sent, itself=itself)
    try:
        py_db.writer.add_command(LateEvent(KILLS_EVENT, about))
        attempt(turn.get, True, _KILL_SECONDS)
    finally:
        _kills_asked.pop(kill, None)
