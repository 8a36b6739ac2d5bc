"""Stops as the probe reports them: where, and what the call before it returned, ahead of `stopped`.

The debugger's own event names only the thread; whoever wants the place asks, and waits, once
more for each stop. Here the stopping thread says it itself. What might run the program's code
(a `__repr__`) is left for the client to ask for: nothing here can hang.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.returns import (
        RETURN_VALUES,
        Returns,
        returned_values,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import shown_place
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import send_event
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.process.children import stop_here_only
    from relay.debuggers.debugpy.debuggee.probe.stops.breakpoints import hit_here, new_hits
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import clean_text, hides
    from relay.debuggers.debugpy.debuggee.probe.writes.data_stops import change_at_stop

STOP_EVENT = "relayStop"
_PLAIN_TYPES = (int, float, bool, str, bytes, type(None))
_LONGEST_RETURN = 1000


def announce_stops() -> bool:
    """Report the place of every stop but those at exceptions, which have more to say."""
    stop_here_only()
    hook_suspensions("place", before=_report_stop)
    return True


def _report_stop(thread: Any, frame: Any, event: Any, argument: Any) -> None:
    if event == "exception" or is_debugger_file(frame.f_code.co_filename):
        return
    number = sys.modules["_pydevd_bundle._debug_adapter.pydevd_base_schema"].BaseSchema
    returns, more = _plain_returns(frame)
    place = shown_place(frame, frame.f_lineno, True)
    body = {
        "threadId": number._translate_id_to_dap(
            sys.modules["pydevd"].get_current_thread_id(thread)
        ),
        "frame": {
            "id": number._translate_id_to_dap(id(frame)),
            "name": place.name,
            "path": place.path,
            "line": place.line,
        },
        "returns": returns,
        "more": more,
        "change": change_at_stop(frame),
        "hit": hit_here(),
        "hits": new_hits(),
    }
    send_event(debugger(), STOP_EVENT, body)


def _plain_returns(frame: Any) -> tuple[list[dict[str, Any]], bool]:
    """Return values whose text runs no code of the program, and whether there are others."""
    values = frame.f_locals.get(RETURN_VALUES)
    if type(values) not in (dict, Returns) or not values:
        return [], False
    if not all(type(value) in _PLAIN_TYPES for value in values.values()):
        return [], True
    texts = [value for value in values.values() if type(value) in (str, bytes)]
    if any(hides(name, value) for name, value in values.items()) or any(
        clean_text(text) is not text for text in texts
    ):
        return [], True  # whoever asks may have it revealed
    returns = returned_values(frame, _LONGEST_RETURN)
    values.clear()  # the debugger never does: an old value would show again
    return returns, False
