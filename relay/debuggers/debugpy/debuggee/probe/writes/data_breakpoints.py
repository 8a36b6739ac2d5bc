"""Data breakpoints: the program stops after the statement that changed what one watches.

A dict watcher reports a write before it is done; where there is none, the value is compared at the
lines of code that can write it. Who gives the events of lines is one of two listeners:
`data_monitor.py` and `data_settrace.py`.
"""
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import signal
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import GOES_ON_LATER
    from relay.debuggers.debugpy.debuggee.probe.frames.expressions import compile_source
    from relay.debuggers.debugpy.debuggee.probe.frames.named_targets import (
        note_of_class,
        note_within,
        resolve_target,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        find_frame,
        frames_of_all_threads,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.state_targets import (
        ABSENT,
        StateTarget,
        dict_of_target,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import shown_place
    from relay.debuggers.debugpy.debuggee.probe.hooks.idle_events import is_every_line_wanted
    from relay.debuggers.debugpy.debuggee.probe.hooks.limitations import require_purpose
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import is_program_thread
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        Interrupted,
        TroubleError,
        attempt,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.interrupts import WAKING_SIGNAL
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.process.tracked_objects import (
        objects_of,
        referrers_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.trapped_codes import FUNCTION, GOING_ON
    from relay.debuggers.debugpy.debuggee.probe.traps.write_hooks import CAN_HAVE_HOOKS
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import (
        MASK,
        hides,
        is_secret_expression,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.text import text_of
    from relay.debuggers.debugpy.debuggee.probe.values.types import plan_of
    from relay.debuggers.debugpy.debuggee.probe.writes.data_changes import on_write
    from relay.debuggers.debugpy.debuggee.probe.writes.data_monitor import DataMonitor
    from relay.debuggers.debugpy.debuggee.probe.writes.data_settrace import DataSettrace
    from relay.debuggers.debugpy.debuggee.probe.writes.data_stops import forget_shown
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import (
        DATA_GONE,
        DataWatch,
        Strong,
        data_state,
        quick_read,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.dict_watch import (
        HAS_DICT_WATCHERS,
        object_at,
        prepare_attributes,
        unwatch_dict,
        watch_dict,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.writer_names import (
        hands_on,
        may_replace_namespace,
    )

_handler_of: Any = sys.modules["_signal"].getsignal  # the C function
_EMPTY_HANDLER = "_sighandler_noop"  # asyncio's, which has a signal wake its event loop
_IN_DICTS = ("attribute", "global", "item")
_MOST_WATCHED = 100
_LONGEST_VALUE = 1000


# Calls of the relay


def data_set(
    number: str, expression: str, frame: int, condition: str | None = None
) -> dict[str, Any]:
    """Watch what the expression names in the frame, from now on."""
    require_purpose("data breakpoints")
    found = find_frame(frame)
    code = condition and compile_source(condition, False, found)[1]
    if len(data_state.watches) >= _MOST_WATCHED:
        raise TroubleError("unwatchable", f"There are {_MOST_WATCHED} data breakpoints already")
    target = resolve_target(expression, found, may_come=True)
    with data_state.lock:
        watch = DataWatch(number, target, code)
        watch.note_of_class = note_of_class(target)
        watch.note_within = attempt(note_within, target, default="")
        if target.kind in _IN_DICTS and may_watch_dicts() and _keeps_dict(target):
            watch_by_dict(watch, target)
        data_state.watches[number] = watch
        try:
            _begin_listening()
        except BaseException:
            _drop_watch(number)
            raise
    return dict(_watch_state(watch), text=watch.text)


def data_delete(number: str) -> dict[str, Any]:
    with data_state.lock:
        found = number in data_state.watches
        _drop_watch(number)
    return {"deleted": found}


def data_states() -> dict[str, Any]:
    """Of each data breakpoint, whether it still watches."""
    with data_state.lock:
        if data_state.listener is not None:
            data_state.listener.look_closely()  # else it keeps what is watched
        for watch in data_state.watches.values():
            _look_for_end(watch)
        return {"states": {w.number: _watch_state(w) for w in data_state.watches.values()}}


def data_change(frame: int, reveal_values: bool = False) -> dict[str, Any]:
    """What the thread of this frame has stopped for, with the values as texts."""
    find_frame(frame)
    change = data_state.shown.get(threading.get_ident())
    if change is None:
        return {"change": None}
    watch, place = change.watch, shown_place(change.frame, change.line, True)
    texts = {
        name: _text_of_value(watch, value, reveal_values)
        for name, value in (("old", change.old), ("new", change.new))
    }
    answer = {
        "id": watch.number,
        "expression": watch.text,
        "location": {
            "path": place.path,
            "line": place.line,
            "column": 0,
            "function": place.name,
        },
        "function": place.name,
    }
    if change.complaint:
        answer["condition_error"] = change.complaint
    if not change.exact:
        answer["inexact"] = True
    if change.ended:
        answer["ended"] = True
    if change.merged:
        answer["merged"] = True
    return {"change": dict(answer, **texts)}


def _text_of_value(watch: DataWatch, value: Any, reveal: bool) -> str | None:
    if value is ABSENT:
        return None
    name = watch.key if type(watch.key) is str else ""
    if not reveal and (hides(name, value) or is_secret_expression(watch.text)):
        return MASK
    try:
        return str(text_of(value, plan_of(value), _LONGEST_VALUE)[0])
    except Interrupted:
        raise
    except BaseException as error:
        if is_from_outside(error):
            raise
        return f"<{plan_of(value).name}: {type(error).__name__}>"


def _watch_state(watch: DataWatch) -> dict[str, Any]:
    is_of_class = watch.note_of_class and watch.read() is ABSENT
    notes = [watch.note, watch.note_of_class if is_of_class else "", watch.note_within]
    return {
        "how": watch.how,
        "ended": watch.ended or None,
        "note": "; ".join(filter(None, notes)) or None,
    }


# Beginning and ending


def watch_by_dict(watch: DataWatch, target: StateTarget) -> None:
    space = dict_of_target(target)
    if target.kind == "attribute" and plan_of(target.owner).family != "class":
        attempt(prepare_attributes, target.owner, space)
    try:
        is_asked = CAN_HAVE_HOOKS and not is_every_line_wanted()
        busy = partial(_on_busy_dict, watch) if is_asked else None
        watch.handle = watch_dict(space, lambda write: on_write(watch, write), (watch.key,), busy)
    except TroubleError as trouble:
        watch.note = str(trouble.answer["error"]["message"])
        return
    watch.how, watch.pointer, watch.last, watch.peek = "dict", id(space), None, watch.read
    if type(watch.owner) is Strong:
        watch.owner = Strong(None)  # the dict is enough, and ends with its owner


def may_watch_dicts() -> bool:
    """Whether Python tells of writes, and nothing may come in between one and its report."""
    return HAS_DICT_WATCHERS and has_one_thread() and not _handles_signals()


def has_one_thread() -> bool:
    """Of the program's own. A watcher's callback lets other threads run in the middle of a write:
    one that writes to the same dict then would crash the interpreter."""
    return sum(map(is_program_thread, list(sys._current_frames()))) <= 1


def _handles_signals() -> bool:
    """Whether a handler of the program's may come in the middle of a write. What it raises as a watcher's
    callback begins would be lost: nothing of Python can catch it there."""
    numbers = range(1, signal.NSIG)
    return any(is_handler(number, _handler_of(number)) for number in numbers)


def is_handler(number: int, handler: Any) -> bool:
    """Whether it is one of the program's that may raise. That of a Ctrl-C is there in every program."""
    is_common = number in (signal.SIGINT, WAKING_SIGNAL)
    is_empty = getattr(handler, "__name__", "") == _EMPTY_HANDLER
    return not is_common and callable(handler) and not is_empty


def _keeps_dict(target: StateTarget) -> bool:
    """Whether nothing that runs may give the object another `__dict__`."""
    return not is_of_object(target) or not any(
        attempt(may_replace_namespace, frame.f_code, default=True)
        for _, frame in frames_of_all_threads()
    )


def is_of_object(place: StateTarget | DataWatch) -> bool:
    """Whether it lies in the `__dict__` of an object that may get another one."""
    if place.kind != "attribute":
        return False
    owner = place.owner() if type(place) is DataWatch else place.owner
    return owner is None or plan_of(owner).family != "class"


def leave_dicts_of_objects() -> None:
    """Code begins that may give an object another `__dict__`."""
    with data_state.lock:
        watches = list(data_state.watches.values())
        _leave_dicts([one for one in watches if one.handle is not None and is_of_object(one)])


def leave_dicts() -> None:
    """Compare at lines what was watched by its dict: something may come in between a write and its
    report from now on."""
    with data_state.lock:
        watches = list(data_state.watches.values())
        _leave_dicts([one for one in watches if one.handle is not None])


def leave_busy_dicts(watches: list[DataWatch]) -> None:
    """The same for dicts to which much is written beside, where lines that may write say so.

    Between two statements of the program only.
    """
    with data_state.lock:
        left = [w for w in watches if w.handle is not None and attempt(_is_written_by_name, w)]
        for watch in left:
            watch.is_busy = True
        _leave_dicts(left)


def go_back_to_dicts() -> None:
    """Something writes to them that does not say so, perhaps."""
    with data_state.lock:
        back = [watch for watch in data_state.lines() if watch.is_busy]
        for watch in back:
            watch.is_busy, target = False, watch.target()
            if target is not None and may_watch_dicts() and _keeps_dict(target):
                attempt(watch_by_dict, watch, target)
                watch.may_be_busy = False
        if back and data_state.listener is not None:
            data_state.listener.watch(data_state.lines())


def _leave_dicts(watches: list[DataWatch]) -> None:
    for watch in watches:
        handle, watch.handle = watch.handle, None
        if watch.target() is None and watch.pointer:
            _find_owner(watch)
        watch.how, watch.pointer = "lines", 0
        target = watch.target()
        if target is not None:
            watch.peek = quick_read(watch, target)
        watch.keep(watch.read())
        attempt(unwatch_dict, handle)
    if watches and data_state.listener is not None:
        data_state.listener.watch(data_state.lines())


def _find_owner(watch: DataWatch) -> None:
    """Of what cannot be referred to weakly only the dict was known: to compare at lines, the object is needed,
    since a line that writes to an attribute of it does not say that a dict's item is written."""
    space = object_at(watch.pointer)
    if watch.kind == "attribute":
        owners = [o for o in referrers_of(space) if attempt(_namespace_of, o) is space]
        if owners:
            watch.owner = Strong(owners[0])
            return
        watch.kind = "item"
        watch.known_lines.clear()
    watch.owner = Strong(space)


def _on_busy_dict(watch: DataWatch, frame: Any) -> None:
    listener = data_state.listener
    if watch.may_be_busy and listener is not None:
        watch.may_be_busy = False  # it is asked once
        listener.leave_dict_after(frame, watch)


def _is_written_by_name(watch: DataWatch) -> bool:
    """Whether nobody has the dict who may write to it without saying so: under the name of another
    dict, or of an attribute."""
    if watch.kind == "item":
        space = object_at(watch.pointer)
        return not any(attempt(_namespace_of, one) is space for one in referrers_of(space))
    if watch.kind == "attribute":
        holders = sys.getrefcount(object_at(watch.pointer)) - 1  # without the argument
        if holders > 1:
            return False
    codes = [one.__code__ for one in objects_of(FUNCTION)]
    codes += [frame.f_code for _, frame in frames_of_all_threads()]
    return not any(map(hands_on, codes))


def _namespace_of(owner: Any) -> Any:
    if type(owner) is FUNCTION:
        return owner.__globals__
    return plan_of(owner).dictionary.__get__(owner)


def _begin_listening() -> None:
    if data_state.listener is None:
        data_state.listener = DataMonitor() if hasattr(sys, "monitoring") else DataSettrace()
        hook_suspensions("data", after=forget_shown)
    data_state.listener.watch(data_state.lines())


def _drop_watch(number: str) -> None:
    watch = data_state.watches.pop(number, None)
    if watch is None:
        return
    release_watch(watch)
    for writes in list(data_state.pending.values()):
        writes[:] = [one for one in writes if one.watch is not watch]
    if not data_state.watches:
        _end_listening()
    elif data_state.listener is not None:
        data_state.listener.watch(data_state.lines())


def release_watch(watch: DataWatch, ended: str = "deleted") -> None:
    handle, watch.handle = watch.handle, None
    watch.ended, watch.pointer = ended, 0
    watch.owner, watch.last, watch.peek, watch.space = Strong(None), None, Strong(None), {}
    if handle is not None:
        attempt(unwatch_dict, handle)


def _end_listening() -> None:
    listener, data_state.listener = data_state.listener, None
    data_state.pending.clear()
    data_state.at.clear()
    data_state.left.clear()
    if listener is not None:
        attempt(listener.stop)


def forget_data_breakpoints() -> None:
    """Nobody debugs this process any more, or it is a forked child."""
    for watch in list(data_state.watches.values()):
        attempt(release_watch, watch)
    data_state.watches.clear()
    data_state.shown.clear()
    _end_listening()


def forget_data_breakpoints_at_fork() -> None:
    """In a forked child: watch nothing, since the data breakpoints are the parent's."""
    data_state.lock = threading.RLock()
    forget_data_breakpoints()


def _look_for_end(watch: DataWatch) -> None:
    """Whether anybody but the debugger still has what is watched."""
    if watch.ended:
        return
    owner = watch.owner()
    is_gone = owner is None and not watch.pointer
    if owner is not None and type(watch.owner) is Strong and watch.kind != "local":
        ours = 3 + (type(watch.peek) is partial)  # with this variable, and the argument
        ours += watch.space is owner
        is_gone = sys.getrefcount(owner) <= ours
    elif watch.kind == "local" and owner.f_code.co_flags & GOES_ON_LATER:
        is_gone = not _may_go_on(owner)  # from 3.13 on one that is let go of has no event
    if is_gone:
        release_watch(watch, DATA_GONE)


def _may_go_on(frame: Any) -> bool:
    """Whether a frame of a generator or coroutine runs, or that is still there."""
    if any(one is frame for _, one in frames_of_all_threads()):
        return True
    return any(type(one) in GOING_ON for one in referrers_of(frame))


def is_debugged() -> bool:
    py_db = debugger()
    if py_db is not None and not py_db.pydb_disposed:
        return True
    forget_data_breakpoints()
    return False
