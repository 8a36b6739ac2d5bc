"""Frames that are under way go on in codes of their own: with the traps and checks that their code has by now.

Knows where a frame may do so. Refuses to know why it is to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import GOES_ON_LATER
    from relay.debuggers.debugpy.debuggee.probe.frames.frame_moves import (
        go_on_at_line,
        go_on_in,
        room_for,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.assembly import stack_with_checks
    from relay.debuggers.debugpy.debuggee.probe.traps.entrances import (
        Entrance,
        instruction_of_frame,
    )
    from relay.debuggers.debugpy.debuggee.probe.traps.inserted import entered_at, inserted_in
    from relay.debuggers.debugpy.debuggee.probe.traps.line_checks import LineChecks
    from relay.debuggers.debugpy.debuggee.probe.traps.placing import has_its_traps
    from relay.debuggers.debugpy.debuggee.probe.traps.trapped_codes import (
        TrappedCode,
        code_of_frame,
        is_known_by_others,
    )


def go_on_in_own_code(
    entry: TrappedCode, frame: Any, is_at_line: bool, own: LineChecks | None = None
) -> bool:
    """Have a frame of this thread go on in a code that is made for it. False where that cannot be: it is
    a generator's, whose memory is no larger than it has to be; has called code in C; has no room for it; or
    somebody knows something by its code. With the lock held.

    is_at_line: whether it stands in a trace function of a line; else in what it has called. own: checks that
    no other frame of its code has, in place of those that all have. Raises NoTrapError.
    """
    code = frame.f_code
    if code.co_flags & GOES_ON_LATER or is_known_by_others(code):
        return False
    place = instruction_of_frame(code, entry.original, inserted_in(code), frame.f_lasti)
    room = room_for(frame, stack_with_checks(entry.original))
    if place is None or room is None or place[1] is is_at_line:
        return False
    made = code_of_frame(entry, Entrance(*place, room), own)
    calls, behind = entered_at(made)
    if is_at_line:
        goes_on = go_on_at_line(frame, made, calls, _has_come)
    else:
        goes_on = go_on_in(frame, made, behind)
    if goes_on:
        has_its_traps(frame)
    return bool(goes_on)


def _has_come() -> None:
    """What a frame calls so that the interpreter looks at its code anew."""
