"""Changes at data breakpoints: from a write that is reported, or found at a line, to what is told of it.

The frame that wrote is known, or the nearest one that has source. The stop is made there, when its
statement is over (`data_stops.py`).
"""
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import facts_of
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import items_of
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.frames.state_targets import ABSENT
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        attempt,
        exception_line,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.writes.client_writes import as_clients_doing
    from relay.debuggers.debugpy.debuggee.probe.writes.data_breakpoints import (
        is_debugged,
        release_watch,
        watch_by_dict,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import (
        DATA_GONE,
        DataWatch,
        PendingWrite,
        SeenChange,
        data_state,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.dict_watch import DictWrite
    from relay.debuggers.debugpy.debuggee.probe.writes.line_stores import ELSEWHERE, UNSAID
    from relay.debuggers.debugpy.debuggee.probe.writes.noted_lines import line_stood_in
    from relay.debuggers.debugpy.debuggee.probe.writes.value_equality import are_equal
    from relay.debuggers.debugpy.debuggee.probe.writes.write_claims import (
        can_write,
        claim_of,
        has_passed_write,
        is_left_to_rival,
        is_of_another_thread,
        may_write_in,
        rival_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import body_start

_LONGEST_CLAIM = 2.0  # seconds
_MOST_UNDER_WAY = 1000  # writes of one statement that are told each
_KINDS_COMPARED_AT_ONCE = frozenset((str, int, bool, float, bytes, type(None)))
# Debugger's functions that run code of the program: what that writes is the client's doing.
_CONDITIONS = frozenset(
    (
        "breakpoint_holds",
        "captures_here",
        "_condition_holds",
        "handle_breakpoint_condition",
        "_data_condition",
        "_text_of_log_point",
    )
)
_ASKS = _CONDITIONS | frozenset(("do_wait_suspend", "run_code"))


# Writes that a dict watcher reports


def on_write(watch: DataWatch, write: DictWrite) -> None:
    """In the middle of the write: note what is there, and have its statement's end reported."""
    if write.event == "gone":
        old = watch.read()
        watch.pointer, watch.handle = 0, None
        if watch.owner() is None:
            watch.ended = DATA_GONE
        elif write.frame is not None:  # another `__dict__` has come in its place
            _note_write(watch, old, write.frame)
        return
    if write.frame is None:
        return
    old = dict.get(write.space, watch.key, ABSENT)
    new = _new_value(write, watch.key)
    if old is new or (type(old) in _KINDS_COMPARED_AT_ONCE and are_equal(old, new)):
        return
    _note_write(watch, old, write.frame)


def _new_value(write: DictWrite, key: Any) -> Any:
    if write.event in ("added", "modified"):
        return write.new
    return dict.get(write.key, key, ABSENT) if write.event == "cloned" else ABSENT


def _note_write(watch: DataWatch, old: Any, frame: Any) -> None:
    """A write by this frame has begun; the stop is due when its statement is over."""
    frame = frame_with_source(frame)
    if frame is None or is_asked(frame):
        return
    listener = data_state.listener
    if listener is not None:
        listener.arm(frame)
        _begin_writes_before(frame)
    _begin_write(watch, old, frame)


def _begin_writes_before(frame: Any) -> None:
    """What is compared at lines, and was written before in a statement that is not over, comes first."""
    changed = [watch for watch in data_state.lines() if watch.peek() is not watch.last]
    for watch in changed:
        old, new = watch.last, watch.read()
        if old is new or watch.kind == "local" or watch.owner() is None:
            continue
        writer, line = _frame_behind_write(watch, frame, is_top=True) or (None, 0)
        if writer is not None:
            _close_writes(watch, old)
            watch.keep(new)
            data_state.pending.setdefault(writer, []).append(PendingWrite(watch, old, line))


def _begin_write(watch: DataWatch, old: Any, frame: Any) -> None:
    """What was under way before has led to `old`. Of very many in one statement the newest are one."""
    writes = data_state.pending.setdefault(frame, [])
    if len(writes) >= _MOST_UNDER_WAY:
        for one in writes:
            if one.watch is watch and not one.closed:
                one.merged = True
                return
    _close_writes(watch, old)
    writes.append(PendingWrite(watch, old, frame.f_lineno))


def begin_found_writes(frame: Any, line: int) -> None:
    """A check of this frame has found what this line of it has written: its next event tells."""
    if frame_with_source(frame) is not frame:
        return
    with data_state.lock:
        for watch in data_state.lines():
            old, new, owner = watch.last, watch.read(), watch.owner()
            if old is new or owner is None or (watch.kind == "local" and owner is not frame):
                continue
            if not can_write(watch, frame, line):
                continue  # an event of the thread that has written it tells
            _close_writes(watch, old)
            watch.keep(new)
            data_state.pending.setdefault(frame, []).append(PendingWrite(watch, old, line))


def settle_before(frame: Any) -> None:
    """This frame is about to write: what has changed before, and was not found yet, is reported first."""
    changes: list[SeenChange] = []
    with Claiming():
        for watch in data_state.lines():
            old, new = watch.last, watch.read()
            if old is new or watch.kind == "local" or watch.owner() is None:
                continue
            here = frame_with_source(frame)
            if here is None or is_asked(frame):
                watch.keep(new)
                continue
            caller = _caller_that_writes(watch, frame)
            if caller is None and is_of_another_thread(watch):
                continue
            watch.keep(new)
            writer, line = caller or (here, here.f_lineno)
            changes += _change(watch, old, new, writer, line, caller is not None)
        if changes:
            changes = _written_by_callers(frame) + changes
    changes = _that_hold(changes)
    if changes:
        data_state.left.setdefault(threading.get_ident(), []).extend(changes)


def _close_writes(watch: DataWatch, value: Any) -> None:
    """What is under way has led to this value, before it is written anew."""
    for writes in list(data_state.pending.values()):
        for one in writes:
            if one.watch is watch and not one.closed:
                one.new, one.closed = value, next(data_state.times)


def frame_with_source(frame: Any) -> Any:
    """The nearest frame whose code is in a file; None in what the debugger does itself."""
    while frame is not None:
        file = frame.f_code.co_filename
        if is_debugger_file(file):
            return None
        if file[:1] != "<":
            return frame
        frame = frame.f_back
    return None


def is_asked(frame: Any) -> bool:
    """Whether a client has had this code run: by an expression, at a stop."""
    return _is_called_by(_ASKS, frame)


def is_asked_for_condition(frame: Any) -> bool:
    """Whether it is by a condition or an expression to capture, which defines no function that stays."""
    return _is_called_by(_CONDITIONS, frame)


def _is_called_by(names: frozenset[str], frame: Any) -> bool:
    while frame is not None:
        code = frame.f_code
        if code.co_name in names and is_debugger_file(code.co_filename):
            return True
        frame = frame.f_back
    return False


# What a statement has changed


def changes_in(frame: Any) -> list[SeenChange]:
    """What the statement that is over in this frame has changed, and was not stopped for yet."""
    ident = threading.get_ident()
    before = data_state.left.pop(ident, [])
    if not data_state.watches or not is_debugged():
        data_state.at.pop((ident, id(frame)), None)
        return before
    changes: list[SeenChange] = []
    at = data_state.at.get((ident, id(frame)))  # another thread may be about to clear them
    with Claiming():  # until then others are to see which line this thread comes from
        data_state.at.pop((ident, id(frame)), None)
        last = next(data_state.times)
        for watch in dict.fromkeys(write.watch for write in data_state.pending.get(frame, ())):
            changes += _closed_before(watch)
        for write in data_state.pending.pop(frame, ()):
            changes += _settled(write, frame)
            last = write.began
        compared: list[SeenChange] = []
        for watch in data_state.lines():
            compared += _compared(watch, frame, at)
        if compared:
            last = next(data_state.times)
        changes += compared
        if changes:
            changes = _written_by_callers(frame, last) + changes
    return before + _that_hold(changes)


def _written_by_callers(frame: Any, last: int | None = None) -> list[SeenChange]:
    """What those who have called this frame have written in statements that are not over, before the
    last of what this one tells: that comes first. last: the time of that, now where it is left out."""
    found, frame = [], frame.f_back
    while frame is not None and data_state.pending:
        for one in data_state.pending.pop(frame, ()):
            if last is None or one.began < last:
                found.append((one.began, one, frame))
            else:
                data_state.pending.setdefault(frame, []).append(one)
        frame = frame.f_back
    found.sort(key=lambda entry: entry[0])
    return [change for _, one, writer in found for change in _settled(one, writer)]


class Claiming:
    """While it is found out what has changed, no other thread does the same, or takes the change for
    its own. It waits for another no longer than that may take: a handler of a signal may come in between."""

    def __enter__(self) -> None:
        self._is_held = data_state.lock.acquire(timeout=_LONGEST_CLAIM)

    def __exit__(self, *_: Any) -> None:
        if self._is_held:
            data_state.lock.release()


def _closed_before(watch: DataWatch) -> list[SeenChange]:
    """What was written before the last write, by this frame's statement and by those further up the
    stack that are not over.

    They are stopped for now, ahead of what was written after them.
    """
    found = []
    for frame, writes in list(data_state.pending.items()):
        found += [(one.closed, one, frame) for one in writes if one.watch is watch and one.closed]
        writes[:] = [one for one in writes if one.watch is not watch or not one.closed]
        if not writes:
            data_state.pending.pop(frame, None)
    found.sort(key=lambda entry: entry[0])
    return [change for _, one, frame in found for change in _settled(one, frame)]


def _settled(write: PendingWrite, frame: Any) -> list[SeenChange]:
    watch = write.watch
    if watch.ended:
        return []
    if not write.closed:
        write.new = watch.last if watch.how == "lines" else _value_after(watch)
    changes = _change(watch, write.old, write.new, frame, write.line, True)
    return [change._replace(merged=write.merged) for change in changes]


def _value_after(watch: DataWatch) -> Any:
    """The value behind a write, also where the object has another `__dict__` now."""
    target = watch.target()
    if target is not None and watch.how == "dict" and not watch.pointer:
        attempt(watch_by_dict, watch, target)
    return watch.read()


def _compared(watch: DataWatch, frame: Any, at: int | None) -> list[SeenChange]:
    owner = watch.owner()
    if owner is None:
        release_watch(watch, DATA_GONE)  # the end of the object is no change
        return []
    if watch.kind == "local" and owner is not frame:
        return []
    old, new = watch.last, watch.read()
    if old is new or watch.ended:
        watch.left_since = 0.0
        if watch.kind == "attribute" and watch.peek() is not new:  # the object has another dict
            watch.find_space()
        return []
    here = None if is_asked(frame) else frame_with_source(frame)
    if here is None:
        watch.keep(new)
        return []
    claim = ELSEWHERE if at is None else claim_of(watch, frame, at)
    if claim == ELSEWHERE:
        at = None
    caller = None
    if at is None and _is_at_first_line(frame):
        caller = _caller_that_writes(watch, frame)
    elif at is None and not may_write_in(watch, frame):
        caller = _frame_behind_write(watch, frame.f_back)
    rival = ELSEWHERE
    if claim == UNSAID:
        rival = rival_of(watch)
        if is_left_to_rival(watch, rival):
            return []
    elif at is None and caller is None and is_of_another_thread(watch):
        return []
    watch.keep(new)
    if here is not frame:  # code without a file: its caller's statement is not over yet
        _begin_write(watch, old, here)
        data_state.listener.arm(here)
        return []
    _close_writes(watch, old)
    changes = _closed_before(watch)
    if caller is not None:
        return changes + _change(watch, old, new, *caller, True)
    line = at if at is not None else frame.f_lineno
    is_sure = at is not None and rival == ELSEWHERE
    return changes + _change(watch, old, new, frame, line, is_sure)


def _is_at_first_line(frame: Any) -> bool:
    """Whether nothing of the function's own lines has run."""
    start = body_start(frame.f_code)[0]
    return bool(frame.f_lasti <= start) and start not in facts_of(frame.f_code)[2]


def _caller_that_writes(watch: DataWatch, frame: Any) -> tuple[Any, int] | None:
    """The nearest frame that stands in a line which may write to what is watched, and that line."""
    ident, frame = threading.get_ident(), frame.f_back
    while frame is not None:
        line = line_stood_in(ident, frame)
        if line is not None and can_write(watch, frame, line):
            return frame, line
        frame = frame.f_back
    return None


def _frame_behind_write(
    watch: DataWatch, frame: Any, is_top: bool = False
) -> tuple[Any, int] | None:
    """The nearest frame, from this one on, that stands behind an instruction which may write to what is
    watched, in a line that is not over; and that line. is_top: as `has_passed_write` has it, of the first."""
    ident = threading.get_ident()
    while frame is not None:
        line = line_stood_in(ident, frame)
        if line is not None and can_write(watch, frame, line):
            return (frame, line) if has_passed_write(watch, frame, line, is_top) else None
        frame, is_top = frame.f_back, False
    return None


def _change(
    watch: DataWatch, old: Any, new: Any, frame: Any, line: int, exact: bool
) -> list[SeenChange]:
    """The change, if it is one."""
    return [] if are_equal(old, new) else [SeenChange(watch, old, new, frame, line, exact)]


def _that_hold(changes: list[SeenChange]) -> list[SeenChange]:
    """Those of them whose conditions hold."""
    found = []
    for change in changes:
        holds, complaint = _data_condition(change.watch, change.old, change.new, change.frame)
        if holds:
            found.append(change._replace(complaint=complaint))
    return found


def _data_condition(watch: DataWatch, old: Any, new: Any, frame: Any) -> tuple[bool, str | None]:
    if watch.condition is None:
        return True, None
    space = dict(items_of(frame.f_locals))
    space["old"], space["new"] = (None if v is ABSENT else v for v in (old, new))
    try:
        value = as_clients_doing(eval, watch.condition, dict(frame.f_globals, **space))
        return bool(value), None
    except BaseException as error:
        if is_from_outside(error):
            raise
        return True, attempt(exception_line, error, default=type(error).__name__)
