"""What calls returned while the program was stepped, as pydevd records it among a frame's locals.

With sys.settrace a frame that an exception leaves is reported as one that returns None, and pydevd
takes it for that. So before a step it is given the record to write into, which looks first.
"""

from __future__ import annotations

import dis
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        find_frame,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, frame_at
    from relay.debuggers.debugpy.debuggee.probe.values.members import Member
    from relay.debuggers.debugpy.debuggee.probe.values.references import references
    from relay.debuggers.debugpy.debuggee.probe.values.variables import describe

RETURN_VALUES = "__pydevd_ret_val_dict"


_LEAVING = frozenset(
    number
    for number, name in enumerate(dis.opname)
    if name.startswith(("RETURN", "YIELD", "SEND", "RESUME", "GET_AWAITABLE"))
)


class Returns(dict):  # type: ignore[type-arg]  # 3.8
    """A record of what calls returned: those that an exception has left are left out."""

    def __setitem__(self, name: Any, value: Any) -> None:
        if value is not None or _returns(frame_at(1)):
            dict.__setitem__(self, name, value)


def _returns(frame: Any) -> bool:
    """Whether the innermost frame of the program is at an instruction that leaves it."""
    while frame is not None and is_debugger_file(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or frame.f_lasti < 0:
        return True
    return frame.f_code.co_code[frame.f_lasti] in _LEAVING


def patch_returns() -> bool:
    """From now on no call that raised is said to have returned None. True where there was need."""
    constants = sys.modules["_pydevd_bundle.pydevd_constants"]
    if getattr(constants, "PYDEVD_USE_SYS_MONITORING", False):
        return False
    hook_suspensions("returns", after=_lay_out)
    return True


def _lay_out(thread: Any, frame: Any, event: Any) -> None:
    """Before a step: in the frame that stands, and in the one to which it may return."""
    if getattr(thread.additional_info, "pydev_step_cmd", -1) == -1:
        return
    for one in (frame, frame.f_back):
        if one is not None and type(one.f_locals.get(RETURN_VALUES)) is not Returns:
            one.f_locals[RETURN_VALUES] = Returns()


def return_values(frame: int, max_value: int = 1000) -> dict[str, Any]:
    """What calls returned in this frame since it ran last, as pydevd recorded while stepping."""
    return {"return_values": returned_values(find_frame(frame), max_value)}


def returned_values(frame: Any, room: int) -> list[dict[str, Any]]:
    """The same, of a frame that is at hand; forgotten when the program runs on."""
    values = attempt(lambda: frame.f_locals.get(RETURN_VALUES))
    if type(values) not in (dict, Returns):
        return []
    if not any(known is values for known in references.returned):
        references.returned.append(values)
    children = [Member(str(name), value, None) for name, value in list(values.items())]
    return [describe(child, None, frame, room) for child in children]
