"""Who has written what a thread finds changed, where several threads run: threads may switch between a
write and what comes next in the one that wrote.

A line claims what it can write itself, and not where it plainly stores to other objects, or under another key.
What it cannot is left to a thread that stands behind such a write, and that finds it next. So is what it may have
written or not, if that thread surely has; where that one may have or not, too, it is told as inexact.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import (
        facts_of,
        index_at,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import begun_line
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import frames_of_others_at_work
    from relay.debuggers.debugpy.debuggee.probe.writes.data_breakpoints import has_one_thread
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import DataWatch, data_state
    from relay.debuggers.debugpy.debuggee.probe.writes.line_stores import (
        ELSEWHERE,
        THERE,
        UNSAID,
        where_line_stored,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.noted_lines import UNSURE, line_stood_in
    from relay.debuggers.debugpy.debuggee.probe.writes.write_exits import may_come_next
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import (
        WriteLines,
        lines_in_order,
        watched_lines_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_sites import CALL_OPERATIONS

_LONGEST_LEFT = 0.2  # seconds, after which whoever finds a change reports it


def can_write(watch: DataWatch, frame: Any, line: int) -> bool:
    """Whether this line, which the frame has run, may have written what is watched."""
    return claim_of(watch, frame, line) != ELSEWHERE


def claim_of(watch: DataWatch, frame: Any, line: int) -> str:
    """THERE if this line, which the frame has run, has written what is watched, ELSEWHERE if it cannot have,
    UNSAID if it may have.

    In one thread it was a line that may, wherever it stores: its objects may have changed since.
    """
    if line not in _writes_of(watch, frame):
        return ELSEWHERE
    return THERE if has_one_thread() else _where_stored(watch, frame, line)


def may_write_in(watch: DataWatch, frame: Any) -> bool:
    """Whether any line of the frame's code may write what is watched."""
    return bool(_writes_of(watch, frame))


def _writes_of(watch: DataWatch, frame: Any) -> frozenset[int]:
    code = frame.f_code
    if code not in watch.known_lines:
        watch.known_lines[code] = watched_lines_of(code, [watch], frame)
    writes: frozenset[int] = watch.known_lines.get(code).writes
    return writes


def _where_stored(watch: DataWatch, frame: Any, line: int, is_own: bool = True) -> str:
    sites = _lines_known_of(watch, frame).sites
    return where_line_stored(watch, sites, frame, line, is_own)


def rival_of(watch: DataWatch) -> str:
    """Whether another thread may have written what this one may have, too: THERE if it surely stored there,
    UNSAID if it may have, ELSEWHERE if there is no such thread."""
    rivals = {_where_rival_stored(watch, *one) for one in _others_behind_write(watch)}
    return next((one for one in (THERE, UNSAID) if one in rivals), ELSEWHERE)


def is_left_to_rival(watch: DataWatch, rival: str) -> bool:
    """Whether another thread, which surely stored there, is to find the change: for a short while only."""
    return rival == THERE and _is_time_left(watch)


def _where_rival_stored(watch: DataWatch, frame: Any, line: int | None) -> str:
    return UNSAID if line is None else _where_stored(watch, frame, line, False)


def is_of_another_thread(watch: DataWatch) -> bool:
    """Whether what has changed there is to be found by another thread, which has written it.

    For a short while only: it might have been none of them.
    """
    is_another = any(True for _ in _others_behind_write(watch))
    if not is_another:
        watch.left_since = 0.0
    return is_another and _is_time_left(watch)


def _is_time_left(watch: DataWatch) -> bool:
    """Whether the change may still be left to another thread."""
    since, now = watch.left_since, time.perf_counter()
    if since and now - since >= _LONGEST_LEFT:
        watch.left_since = 0.0
        return False
    watch.left_since = since or now
    return True


def _others_behind_write(watch: DataWatch) -> Iterator[tuple[Any, int | None]]:
    """The frames of other threads that stand behind an instruction which may write, and the line where it is;
    None if it is one of several."""
    for ident, innermost, is_at_event in frames_of_others_at_work():
        frame, is_top = innermost, not is_at_event
        if is_at_event and _has_left_write(watch, frame):
            yield frame, data_state.at.get((ident, id(frame)), UNSURE) or None
        while frame is not None:
            line = line_stood_in(ident, frame)
            if line is not None and has_passed_write(watch, frame, line, is_top):
                yield frame, line
            frame, is_top = frame.f_back, False


def _lines_known_of(watch: DataWatch, frame: Any) -> WriteLines:
    """Those of another thread's frame are kept apart: less is known of what they may write."""
    code = frame.f_code
    lines: WriteLines | None = watch.known_lines.get(code) or watch.known_of_others.get(code)
    if lines is None:
        lines = watch.known_of_others[code] = watched_lines_of(code, [watch], frame)
    return lines


def has_passed_write(watch: DataWatch, frame: Any, line: int, is_top: bool) -> bool:
    """Whether a frame that stands in this line, or where it is over, is behind an instruction that may write.

    is_top: it calls nothing of Python's, and so what it has called may be over.
    """
    code = frame.f_code
    found, here, lines = facts_of(code)[0], index_at(code, frame.f_lasti), lines_in_order(code)
    sites = [site for site in _lines_known_of(watch, frame).sites if lines[site] == line]
    if here is None or lines[here] != line:
        return bool(sites)
    return any(
        site <= here if _stores(found[site]) else _calls_between(found, site, here + is_top)
        for site in sites
    )


def _has_left_write(watch: DataWatch, frame: Any) -> bool:
    """Whether a frame at which the debugger looks just now comes from such an instruction."""
    code = frame.f_code
    lines, here = _lines_known_of(watch, frame), index_at(code, frame.f_lasti)
    if here is None or not lines.sites:
        return False
    if here - 1 in lines.sites:
        return True  # a look at what it has written
    one = facts_of(code)[0][here]
    return bool(begun_line(one)) and any(
        may_come_next(code, line, one.offset) for line in lines.writes
    )


def _stores(one: Any) -> bool:
    """Whether it writes itself, and does not only name what does."""
    return not one.opname.startswith("LOAD_")


def _calls_between(found: list[Any], start: int, end: int) -> bool:
    return any(one.opname in CALL_OPERATIONS for one in found[start + 1 : end])
