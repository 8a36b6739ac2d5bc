"""Which line of a frame has run before an event of `sys.monitoring`, where no event has noted it.

At an event the interpreter does not say. It is read from the code, from where the frame stands, and from the exception
that is being handled.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.writes.data_breakpoints import has_one_thread
    from relay.debuggers.debugpy.debuggee.probe.writes.write_exits import WriteExits, may_come_next
    from relay.debuggers.debugpy.debuggee.probe.writes.write_lines import line_of_offset


def line_behind(event: str, frame: Any, last: int, offset: int, exits: WriteExits) -> int | None:
    """Which line of the frame has run before this event, if that may write.

    last: that of the code's last event of a line, if it is known. offset: of the event, which
    for lines has none. exits: of the code.
    """
    code = frame.f_code
    if event in ("JUMP", "BRANCH"):
        return line_of_offset(code, offset)
    if event != "LINE":
        here: int | None = frame.f_lineno
        return last if here is None else here
    return _line_before(frame, last, exits)


def _line_before(frame: Any, last: int, exits: WriteExits) -> int | None:
    """Of a frame that is about to begin a line: which has run before, if that is known for sure."""
    code, at = frame.f_code, frame.f_lasti
    lines = {line for line, offset in exits.ways if offset == at}
    raised = line_that_raised(frame) if at in exits.others else 0
    if raised in lines:
        # It may be the exception that has led here, or one that is being handled for longer.
        lines = {raised, exits.falls.get(at, raised)}
    if last in lines and (len(lines) == 1 or has_one_thread()):
        return last
    if last and may_come_next(code, last, at):
        return None
    # The last event was of a call of the same code, which has been left since.
    return lines.pop() if len(lines) == 1 else None


def line_that_raised(frame: Any) -> int:
    """Of a frame that handles an exception that came out of it; 0 if it is not known."""
    error = sys.exc_info()[2]
    return error.tb_lineno if error is not None and error.tb_frame is frame else 0
