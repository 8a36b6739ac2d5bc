"""Threads that are near the limit of frames are not traced. Before Python 3.12.

A thread that comes to the limit with a trace function is not what it is without one: it comes there earlier, the
interpreter takes the function out for good, and under pydevd's way of setting it the `RecursionError` may be lost: the program
ends by a SystemError. So it is traced no more shortly before, and is again as soon as a frame is gone that is not far above.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.hooks.program_tracing import (
        function_of_program,
        real_gettrace,
        real_settrace,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import is_program_thread
    from relay.debuggers.debugpy.debuggee.probe.process.frame_room import TOO_DEEP
    from relay.debuggers.debugpy.debuggee.probe.trace.record import PAUSES

_CAN_GO_ON = sys.version_info >= (3, 10)
"""Whether a thread may go deeper once it was told that it is at the limit. Before, the interpreter ends the process then."""

_FRAMES_LEFT, _FRAMES_ABOVE = 25 if _CAN_GO_ON else 12, 60
"""With how few left a thread is near the limit, and how far above it is traced again. Where it cannot go on it has
those frames less than without us."""


def _nested(levels: int) -> Any:
    return (_nested(levels - 1),) if levels else int


AS_MANY_LEVELS = _nested(_FRAMES_LEFT)
"""What `isinstance` raises a RecursionError for near the limit: the interpreter counts the levels of a tuple as it counts frames.
That is the quickest way to ask."""


def stand_back(frame: Any, regain: Callable[[], None]) -> None:
    """This thread is near the limit, where the frame begins. `regain` has it traced again: where it is not, and is to be.

    Raises RecursionError in place of the program, where that cannot go on.
    """
    is_shared = function_of_program() is not None  # the program's own trace function stays
    if not is_shared:
        above = frame
        for _ in range(_FRAMES_ABOVE):
            above = above.f_back or above
        while above is not None and above.f_code.co_flags & PAUSES:
            above = above.f_back
        if above is not None:
            _put_witness(above, regain)
    if not _CAN_GO_ON:
        raise RecursionError(TOO_DEEP)
    if not is_shared:
        real_settrace()(None)


def _put_witness(frame: Any, regain: Callable[[], None]) -> None:
    """It is seen from now on when this frame is gone."""
    if hasattr(type(frame.f_trace), "witness"):  # ours, which no other frame has
        frame.f_trace.witness = _Witness(regain)
    else:
        frame.f_trace = _Witness(regain, frame.f_trace)


class _Witness:
    """Dies with a frame, as its trace function or with that: hands on to `inner`, and says when it is gone."""

    __slots__ = ("inner", "regain")

    def __init__(self, regain: Callable[[], None], inner: Any = None) -> None:
        self.regain, self.inner = regain, inner

    def __call__(self, frame: Any, event: str, arg: Any) -> Any:
        if self.inner is not None:
            self.inner = self.inner(frame, event, arg) or self.inner
        return self

    def __del__(self) -> None:
        try:
            is_untraced = real_gettrace() is None and function_of_program() is None
            if is_untraced and is_program_thread(threading.get_ident()):
                self.regain()
        except BaseException:  # noqa: BLE001  at the interpreter's end all names may be gone
            pass
