"""Code at whose beginning what is watched goes another way: by lines, no longer by its dict, or back.

By its dict what is watched costs nothing, as long as the program has one thread, no handler of a signal may
come in between, nobody writes without saying so, and the object keeps the dict. Refuses to know how
lines are watched.
"""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.writes.data_breakpoints import (
        go_back_to_dicts,
        is_handler,
        is_of_object,
        leave_dicts,
        leave_dicts_of_objects,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.data_watches import DataWatch, data_state
    from relay.debuggers.debugpy.debuggee.probe.writes.writer_names import (
        hands_on,
        may_replace_namespace,
    )

_STARTS_THREAD, _SETS_HANDLER = threading.Thread.start.__code__, signal.signal.__code__
ENDS_DICTS = (_STARTS_THREAD, _SETS_HANDLER)
"""Code after which dicts may no more be watched."""
_IN_NAMESPACES = ("attribute", "global")


class WayChanges:
    """Those that the present watches may need."""

    def __init__(self) -> None:
        self.has_dicts = False  # of objects, which may get others
        self._may_go_back = False  # some are at lines because their dicts were busy

    def watch(self, at_lines: list[DataWatch]) -> None:
        """These are compared at lines from now on, the others watched by their dicts."""
        by_dict = [one for one in data_state.watches.values() if one.handle is not None]
        self.has_dicts = any(map(is_of_object, by_dict))
        self._may_go_back = any(one.is_busy and one.kind in _IN_NAMESPACES for one in at_lines)

    def begins(self, code: Any) -> None:
        """A function has begun, for the first time since this was asked for."""
        self.goes_on(code)
        if self._may_go_back and hands_on(code):
            attempt(go_back_to_dicts)

    def goes_on(self, code: Any) -> None:
        """So has one that may have begun before."""
        if self.has_dicts and attempt(may_replace_namespace, code, default=True):
            attempt(leave_dicts_of_objects)


def end_dicts(frame: Any) -> None:
    """A code of ENDS_DICTS has begun. A handler counts only if it may raise."""
    if frame.f_code is _SETS_HANDLER:
        number, handler = map(frame.f_locals.get, ("signalnum", "handler"))
        if not is_handler(number, handler):
            return
    leave_dicts()
