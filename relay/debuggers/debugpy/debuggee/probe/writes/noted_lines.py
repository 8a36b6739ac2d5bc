"""In which line that may write each frame stands, noted by the events of lines, for the next one to know what has written.

Kept in `data_state.at`, by thread and frame. As long as nothing changes none is noted (`quiet_events.py`).
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        frames_of_all_threads,
        frames_of_others_at_work,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import DataWatch, data_state
    from relay.debuggers.debugpy.debuggee.probe.writes.lines_behind import line_behind
    from relay.debuggers.debugpy.debuggee.probe.writes.write_exits import WriteExits

_MOST_NOTED_LINES = 10_000
UNSURE = 0
"""In the place of a line: a frame has run on, or may have, while no places were noted."""


def is_quiet_at(frame: Any, watches: list[DataWatch], lines: Any) -> bool:
    """Whether nothing has changed before this line; if it writes, that is noted. The usual case."""
    if frame in data_state.pending:
        return False
    for watch in watches:
        if watch.kind == "local" and watch.owner() is not frame:
            continue
        if watch.peek() is not watch.last:
            return False
    ident = threading.get_ident()
    if ident in data_state.left:
        return False
    if frame.f_lineno in lines.writes:
        if len(data_state.at) > _MOST_NOTED_LINES:
            data_state.at.clear()
        data_state.at[ident, id(frame)] = frame.f_lineno
    else:
        data_state.at.pop((ident, id(frame)), None)  # the line before has not written
    return True


def leaves_quietly(frame: Any, watches: list[DataWatch]) -> bool:
    """Whether nothing has changed before this frame is left, and nothing ends with it."""
    for watch in watches:
        if watch.kind == "local":
            if watch.owner() is frame:
                return False
        elif watch.peek() is not watch.last:
            return False
    ident = threading.get_ident()
    data_state.at.pop((ident, id(frame)), None)
    return frame not in data_state.pending and ident not in data_state.left


def note_line(frame: Any, lines: Any) -> None:
    """The frame goes on in the middle of a line, which may be one that writes."""
    if frame.f_lineno in lines.writes:
        data_state.at[threading.get_ident(), id(frame)] = frame.f_lineno


def note_lines(lines_of: Any) -> None:
    """Frames may stand in the very statement that writes: `lines_of` a code, or None."""
    for ident, frame in frames_of_all_threads():
        lines = lines_of(frame.f_code)
        if lines is not None and frame.f_lineno in lines.writes:
            data_state.at[ident, id(frame)] = frame.f_lineno


def note_lines_of_running(lines_of: Any) -> None:
    """The same while other threads run on. Where one is at an event, which line it comes from is not known."""
    at_events = {id(frame) for _, frame, is_at_event in frames_of_others_at_work() if is_at_event}
    for ident, frame in frames_of_all_threads():
        lines = lines_of(frame.f_code)
        if lines is None or not lines.writes:
            continue
        if id(frame) in at_events:
            data_state.at.setdefault((ident, id(frame)), UNSURE)
        elif frame.f_lineno in lines.writes:
            data_state.at.setdefault((ident, id(frame)), frame.f_lineno)


def line_stood_in(ident: int, frame: Any) -> int | None:
    """The line in which a frame stands that has called others, if it may write."""
    line = data_state.at.get((ident, id(frame)))
    at: int | None = frame.f_lineno if line == UNSURE else line
    return at


def note_line_behind(
    event: str, frame: Any, last: int, offset: int, exits: WriteExits, writes: frozenset[int]
) -> None:
    """The frame is at an event, and which line it comes from was not noted: it is read from the code.

    event, last, offset, exits: as `line_behind` has them. writes: the lines of its code that may write.
    """
    place = threading.get_ident(), id(frame)
    line = line_behind(event, frame, last, offset, exits)
    if line in writes:
        data_state.at[place] = line
    else:
        data_state.at.pop(place, None)
