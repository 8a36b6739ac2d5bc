"""Who has written what a thread finds changed, where several threads run: threads may switch between a
write and what comes next in the one that wrote.

A line claims what it can write itself. What it cannot is left to a thread that stands behind such a
write, and that finds it next.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import facts_of, index_at
    from relay.debuggers.debugpy.debuggee.probe.frames.opcodes import begun_line
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import is_debugger_file
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import DataWatch, data_state
    from relay.debuggers.debugpy.debuggee.probe.writes.write_exits import may_come_next
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import (
        WriteLines,
        lines_in_order,
        watched_lines_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_sites import CALL_OPERATIONS

_LONGEST_LEFT = 0.2  # seconds, after which whoever finds a change reports it


def can_write(watch: DataWatch, frame: Any, line: int) -> bool:
    """Whether this line of the frame's code may write what is watched."""
    code = frame.f_code
    if code not in watch.known_lines:
        watch.known_lines[code] = watched_lines_of(code, [watch], frame)
    return line in watch.known_lines.get(code).writes


def may_write_in(watch: DataWatch, frame: Any) -> bool:
    """Whether any line of the frame's code may write what is watched."""
    return can_write(watch, frame, frame.f_lineno) or bool(
        watch.known_lines.get(frame.f_code).writes
    )


def is_of_another_thread(watch: DataWatch) -> bool:
    """Whether what has changed there is to be found by another thread, which has written it.

    For a short while only: it might have been none of them.
    """
    since, watch.left_since = watch.left_since, 0.0
    if not _is_another_behind_write(watch):
        return False
    now = time.perf_counter()
    if since and now - since >= _LONGEST_LEFT:
        return False
    watch.left_since = since or now
    return True


def _is_another_behind_write(watch: DataWatch) -> bool:
    here, lines_at = threading.get_ident(), dict(data_state.at)
    frames: Any = sys._current_frames()
    frames.pop(here, None)
    while frames:
        ident, top = frames.popitem()
        frame = top
        while frame is not None and is_debugger_file(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is not None and frame is not top and _has_left_write(watch, frame):
            return True
        while frame is not None:
            line = lines_at.get((ident, id(frame)))
            if line is not None and has_passed_write(watch, frame, line, frame is top):
                return True
            frame = frame.f_back
    return False


def _lines_known_of(watch: DataWatch, frame: Any) -> WriteLines:
    """Those of another thread's frame are not kept: less is known of what they may write."""
    lines: WriteLines | None = watch.known_lines.get(frame.f_code)
    return watched_lines_of(frame.f_code, [watch], frame) if lines is None else lines


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
