"""The program's end, which waits until the relay has received all that pydevd still has to say.

Knows pydevd's writer, and when nobody is there to receive it. Refuses to know what is said.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.calls.recordings import forget_calls, report_calls
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import forget_failures
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import LateEvent
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.hooks.program_tracing import unshare_trace_functions
    from relay.debuggers.debugpy.debuggee.probe.hooks.running_frames import show_own_threads
    from relay.debuggers.debugpy.debuggee.probe.process.descriptors import leave_descriptors
    from relay.debuggers.debugpy.debuggee.probe.process.forks import stop_tracing
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.process.other_copies import report_other_copies
    from relay.debuggers.debugpy.debuggee.probe.stops.breakpoints import new_hits
    from relay.debuggers.debugpy.debuggee.probe.stops.captures import report_captures
    from relay.debuggers.debugpy.debuggee.probe.stops.entry_stop import give_up_entry
    from relay.debuggers.debugpy.debuggee.probe.stops.functions import (
        function_places,
        new_places,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.own_stops import forget_own_stops
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import stop_watching
    from relay.debuggers.debugpy.debuggee.probe.trace.traces import forget_trace, report_trace
    from relay.debuggers.debugpy.debuggee.probe.waits.left_behind import watch_no_locks_at_forks
    from relay.debuggers.debugpy.debuggee.probe.waits.signalled_stacks import leave_signal
    from relay.debuggers.debugpy.debuggee.probe.writes.data_breakpoints import (
        forget_data_breakpoints,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.write_recorder import forget_writes

_ENDING_EVENT = "relayEnding"
# The relay reads all the time; one that does not for this long is as good as dead.
LAST_WORDS_SECONDS = 30.0


class _Receipt:
    """Whether the relay has received the last event, which it answers with a `threads` request.

    Only an answer proves that all was received: the stock adapter throws away what it has not
    passed on when the program ends. A listener of pydevd's.
    """

    def __init__(self) -> None:
        self.done = threading.Event()
        self.read_at = time.monotonic()

    def before_send(self, message: Any) -> None:
        self.read_at = time.monotonic()  # the one before it was taken: there may be many yet

    def after_receive(self, message: Any) -> None:
        if message.get("command") == "threads":
            self.done.set()


class _Presence:
    """Whether a client is attached; a listener of pydevd's.

    A process that was attached to keeps its connection with the stock adapter after the
    client has gone: at its end nobody would answer, and it must not wait.
    """

    def __init__(self) -> None:
        self.is_here = True
        self.py_db: Any = None  # that it listens to

    def before_send(self, message: Any) -> None:
        pass

    def after_receive(self, message: Any) -> None:
        if message.get("command") in ("attach", "launch", "disconnect"):
            self.is_here = message["command"] != "disconnect"
            if not self.is_here:
                leave_program()


presence = _Presence()


def send_all_at_end() -> bool:
    """At the end pydevd gives its writer half a second, and then throws away what is queued:
    logpoints of a busy program are thousands."""
    py_db = debugger()
    if presence.py_db is not py_db:
        presence.py_db, presence.is_here = py_db, True
        py_db.add_dap_messages_listener(presence)
    patch(py_db, "dispose_and_kill_all_pydevd_threads", _dispose)
    return True


def leave_program() -> None:
    """Nobody debugs it any more: give back every event and watcher of ours that it still pays for.

    Called as the client says so, and again when the debugger is gone: until then a thread that
    stood at a stop does what follows one.
    """
    for forget in (forget_calls, forget_trace, forget_data_breakpoints, forget_writes):
        attempt(forget)
    attempt(give_up_entry)
    attempt(forget_own_stops)
    attempt(forget_failures)
    attempt(unshare_trace_functions)
    attempt(show_own_threads)
    attempt(leave_descriptors)
    attempt(leave_signal)
    attempt(watch_no_locks_at_forks)
    attempt(stop_watching)


def _dispose(dispose: Any, *arguments: Any, **named: Any) -> Any:
    attempt(forget_data_breakpoints)
    is_cut_off = threading.get_ident() in [thread.ident for thread in _connection_threads()]
    if presence.is_here and not is_cut_off:
        attempt(_await_relay, presence.py_db)
    leave_program()
    result = dispose(*arguments, **named)
    if is_cut_off or not presence.is_here:
        attempt(stop_tracing)
    return result


def _connection_threads() -> tuple[Any, ...]:
    """The threads that speak with the client."""
    return presence.py_db.reader, presence.py_db.writer


def _await_relay(py_db: Any) -> None:
    attempt(report_captures)
    attempt(report_trace)
    attempt(report_calls)
    attempt(report_other_copies)
    receipt = _Receipt()
    py_db.add_dap_messages_listener(receipt)
    py_db.writer.add_command(LateEvent(_ENDING_EVENT, _last_hits))
    while all(t.is_alive() for t in _connection_threads()):
        if receipt.done.wait(0.1) or time.monotonic() > receipt.read_at + LAST_WORDS_SECONDS:
            return


def _last_hits() -> dict[str, Any]:
    function_places()  # of those that were not called, too
    return {"hits": attempt(new_hits, default={}), "places": attempt(new_places, default={})}
