"""What is done where a thread is about to stop, and when it runs on: in one order, once each.

pydevd stops a thread in one function. Who has something to do there says so here, under a name;
who says it again, as at each attach, takes the place of the first. Refuses to know what is done.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        debugger_threading,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.process.frame_room import with_room_to_stop
    from relay.debuggers.debugpy.debuggee.probe.process.guard import Interrupted
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.stops.own_stops import forget_own_stop

STEP_OVER = 108  # pydevd's number of a step over: what a stop of ours looks like
_ORDER = (
    "traps",  # given to frames that run on, when all else is done and said
    "locals",  # that were looked at: whoever looks has done so by then
    "answer",  # last of those that follow a stop: everything that resuming says is queued by then
    "references",  # what the end of a value runs, the program runs before its next line
    "process",  # before all others: in a forked child that is not debugged nothing else may be done
    "arrival",  # whether it is a stop of its own: all that follows depends on it
    "output",  # what was printed before the stop is out before anybody knows of the stop
    "calls",  # recorded up to here, and what the stop does is none of them
    "writes",  # of a stopped thread are the client's
    "trace",  # ends here, and what the stop says may depend on it
    "data",  # the stop that one is made for is over
    "data lines",
    "place",  # said ahead of pydevd's own word, which follows
    "steps",
    "returns",
    "tracing",
    "questions",  # that came too late are refused before anything else is done
)
_before: dict[str, Callable[..., Any]] = {}
_after: dict[str, Callable[..., Any]] = {}
_postponed: dict[int, list[Callable[[], Any]]] = {}  # of the threads that make a stop, by ident


def hook_suspensions(
    name: str,
    before: Callable[[Any, Any, Any, Any], Any] | None = None,
    after: Callable[[Any, Any, Any], Any] | None = None,
) -> None:
    """Call these around every stop: with the thread, the frame and pydevd's name for the event, and
    `before` with the event's argument, too: of an exception, type, value and traceback.

    name: one of `_ORDER`, the order in which the `before` are called; the `after` are called in
    the reverse. A `before` that answers False has the thread run on, and nobody else called.
    What either raises is lost, but for what strikes from outside, which is the program's.
    """
    if name not in _ORDER:
        raise ValueError("no place in the order of suspensions: " + name)
    for hooks, hook in ((_before, before), (_after, after)):
        if hook is None:
            hooks.pop(name, None)
        else:
            hooks[name] = hook
    patch(debugger(), "do_wait_suspend", _suspended)


def _suspended(
    wait: Any, thread: Any, frame: Any, event: Any, argument: Any, *more: Any, **named: Any
) -> Any:
    about = thread, frame, event, argument, *more
    return with_room_to_stop(make_stop, functools.partial(_stopped_at, wait, *about, **named))


def _stopped_at(
    wait: Any, thread: Any, frame: Any, event: Any, argument: Any, *more: Any, **named: Any
) -> Any:
    for name in _ORDER:
        hook = _before.get(name)
        if hook is not None and _call(hook, thread, frame, event, argument) is False:
            forget_own_stop(thread)
            return None
    result = wait(thread, frame, event, argument, *more, **named)
    for name in reversed(_ORDER):
        hook = _after.get(name)
        if hook is not None:
            _call(hook, thread, frame, event)
    return result


def make_stop(make: Callable[[], Any]) -> Any:
    """Call `make`, which has this thread make a stop, and then what was postponed meanwhile."""
    ident = debugger_threading().get_ident()
    if ident in _postponed:  # a part of a stop, or one in the midst of another
        return make()
    postponed = _postponed[ident] = []
    try:
        result = make()
    finally:
        del _postponed[ident]
    for act in postponed:
        _call(act)
    return result


def postpone_in_stop(act: Callable[[], Any]) -> bool:
    """Call it when the stop that this thread makes just now is over; False if it makes none.

    The collector may run a `__del__` while pydevd holds its locks for a stop: another one there
    would wait for itself, for ever.
    """
    postponed = _postponed.get(debugger_threading().get_ident())
    if postponed is None:
        return False
    postponed.append(act)
    return True


def _call(hook: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return hook(*arguments)
    except Interrupted:
        raise
    except BaseException as error:  # whatever the program's objects raise
        if is_from_outside(error):
            raise
        return None


def forget_suspension_hooks() -> None:
    """In a forked child that joins: they are its parent's, until it says its own."""
    _before.clear()
    _after.clear()
    _postponed.clear()


def suspend_in(frame: Any, event: str) -> Any:
    """Stop this thread in the frame, as at the end of a step; pydevd's state of it, None without one."""
    py_db, thread = debugger(), debugger_threading().current_thread()
    if py_db is None or py_db.pydb_disposed:
        return None
    info = getattr(thread, "additional_info", None)
    if info is None:
        module: Any = sys.modules["_pydevd_bundle.pydevd_additional_thread_info"]
        info = module.set_additional_thread_info(thread)
    if hasattr(sys, "monitoring"):
        info.trace_suspend_type = "sys_monitoring"
    py_db.set_suspend(thread, STEP_OVER)
    py_db.do_wait_suspend(thread, frame, event, None)
    return info
