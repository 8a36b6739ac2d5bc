"""Stops of threads that meet breakpoints together: each is announced, and over only for who saw it.

pydevd suspends all threads for a stop, and a resume lets all of them go. A thread that comes to a
breakpoint of its own meanwhile has a stop of its own: pydevd announces it while the client looks at
the first, or never; and the resume that is sent for the first ends both. Here one stop is announced
at a time. A resume passes over a thread whose own stop the client cannot have seen as it sent it;
that thread suspends the others again, and announces its stop next. It is a schedule as good as any:
the others ran on, and this one came to its breakpoint at once.

An own stop that is not announced waits for one that is. So nothing stands for ever unannounced:
whatever ends an announced stop, the client's resume or its thread that leaves, lets the next one be
announced, and a thread that waits in pydevd looks five times a second at least. One whose breakpoint
is taken away before its turn is over: it is not to be announced any more.

Knows where pydevd suspends a thread and lets it run. Refuses to know what a stop is for.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        debugger_threading,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import is_patched, patch
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import tracing_state
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import pydevd_thread

_WITH_OTHERS = 105  # pydevd's reason for a thread that stands since another has stopped


class _OwnStop:
    """Of a thread that has met a breakpoint, ended a step, … by itself."""

    __slots__ = ("epoch", "is_wanted", "number", "reason")

    def __init__(self, reason: int, epoch: int) -> None:
        self.reason, self.epoch = reason, epoch
        self.number = 0  # among those announced; 0: it is not yet
        self.is_wanted: Callable[[], bool] = lambda: True  # until what it is for is taken away


class _OwnStops:
    """What was announced, and what is to be."""

    def __init__(self) -> None:
        self.are_kept = False
        self.by_thread: dict[int, _OwnStop] = {}
        self.announced = 0
        self.resumed = 0  # of those, by the client
        self.epoch = 0  # another with each resume: who was suspended before it may run since


_own_stops = _OwnStops()


def keep_own_stops() -> bool:
    """From now on no resume sweeps a stop away. False where suspensions and resumes are unknown."""
    py_db, api = debugger(), sys.modules["_pydevd_bundle.pydevd_api"]
    is_known = is_patched(type(py_db), "set_suspend") and is_patched(
        api.PyDevdAPI, "request_resume_thread"
    )
    if not is_known:
        return False
    lifecycle: Any = sys.modules["_pydevd_bundle.pydevd_thread_lifecycle"]
    patch(lifecycle, "internal_run_thread", _run_if_seen)
    for name in ("internal_step_in_thread", "internal_smart_step_into"):
        patch(api, name, _step_unless_overtaken)
    _own_stops.are_kept = True
    return True


def forget_own_stops() -> None:
    """Nobody is there to hear of any: all threads may run."""
    _own_stops.are_kept = False
    _own_stops.by_thread.clear()
    _own_stops.resumed = _own_stops.announced


# Of one thread


def note_own_stop(
    thread: Any,
    stop_reason: int,
    suspend_other_threads: bool = False,
    is_pause: bool = False,
    original_step_cmd: int = -1,
    suspend_requested: bool = False,
) -> None:
    """pydevd's `set_suspend` is called with this. It notes the reason where others overwrite it."""
    reason = stop_reason if original_step_cmd == -1 else original_step_cmd
    is_own = not (is_pause or suspend_requested) and reason != _WITH_OTHERS
    if not (is_own and _own_stops.are_kept and debugger().multi_threads_single_notification):
        return
    if thread.ident == debugger_threading().get_ident():
        _own_stops.by_thread[thread.ident] = _OwnStop(reason, _own_stops.epoch)


def own_stop_of(thread: Any) -> Any:
    """The stop, if this thread is at one of its own, or about to be."""
    return _own_stops.by_thread.get(thread.ident)


def forget_own_stop(thread: Any) -> None:
    """This thread runs. Where nobody has resumed it, its stop is over all the same."""
    stop = _own_stops.by_thread.pop(thread.ident, None)
    if stop is not None:
        _own_stops.resumed = max(_own_stops.resumed, stop.number)


def is_unseen(thread: Any) -> bool:
    """Whether this thread has a stop of its own that had not been announced to the client when it
    resumed the program last."""
    stop = own_stop_of(thread)
    return stop is not None and not 0 < stop.number <= _own_stops.resumed


def is_overrun(stop: _OwnStop) -> bool:
    """Whether a resume has let threads go that were suspended for this stop."""
    return stop.epoch != _own_stops.epoch


# Of all


def has_own_stops() -> bool:
    """Whether any thread is at a stop of its own, or about to be: others stand for it, unannounced."""
    return bool(_own_stops.by_thread)


def is_stop_looked_at() -> bool:
    """Whether one is announced that the client has not resumed from."""
    return _own_stops.announced > _own_stops.resumed


def count_announced(stop: _OwnStop | None) -> None:
    """A stop is announced: this one, or that of a pause."""
    _own_stops.announced += 1
    if stop is not None:
        stop.number = _own_stops.announced


def note_client_resumes() -> None:
    """The client sends the program on from what has been announced."""
    _own_stops.resumed = _own_stops.announced


def begin_resume() -> None:
    """Threads are about to be let go. To be called, and they let go, under the lock of tracing, as
    each suspension is: so one that comes before is not mistaken for one that comes after."""
    _own_stops.epoch += 1


def resume_epoch() -> int:
    """Another with each resume, as soon as threads are let go."""
    return _own_stops.epoch


def _run_if_seen(run: Any, thread: Any, *arguments: Any, **named: Any) -> None:
    if not is_unseen(thread):
        run(thread, *arguments, **named)


def _step_unless_overtaken(step: Any, *arguments: Any, **named: Any) -> None:
    """Called in the thread that steps. A stop that came before ends the step, as any stop does."""
    with tracing_state.lock:
        if not (is_stop_looked_at() or is_unseen(pydevd_thread())):
            begin_resume()
            step(*arguments, **named)
