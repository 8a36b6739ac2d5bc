"""Recordings of own calls: begun, ended at the next stop, and read.

One at a time, and none beside a trace of one call. It ends with any stop, and with the program.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relay.debuggers.debugpy.debuggee.probe.calls.compiled_code import (
        leave_what_is_compiled,
        read_what_is_compiled,
    )
    from relay.debuggers.debugpy.debuggee.probe.calls.equal_chance import (
        give_back_chance,
        has_drawn,
        share_chance,
    )
    from relay.debuggers.debugpy.debuggee.probe.calls.monitor import CallsMonitor
    from relay.debuggers.debugpy.debuggee.probe.calls.record import CallRecord
    from relay.debuggers.debugpy.debuggee.probe.calls.scattered import (
        gather_addresses,
        scatter_addresses,
    )
    from relay.debuggers.debugpy.debuggee.probe.calls.scope import CallScope
    from relay.debuggers.debugpy.debuggee.probe.calls.settrace import CallsSettrace
    from relay.debuggers.debugpy.debuggee.probe.calls.stream import CallStream
    from relay.debuggers.debugpy.debuggee.probe.calls.values import (
        forget_writers,
        leave_out_trees,
    )
    from relay.debuggers.debugpy.debuggee.probe.calls.whole_calls import WholeCalls
    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import is_installed
    from relay.debuggers.debugpy.debuggee.probe.frames.modules import loaded_modules
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import send_event
    from relay.debuggers.debugpy.debuggee.probe.hooks.limitations import require_purpose
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.trace.traces import end_trace

CALLS_EVENT = "relayCalls"
_MOST_CALL_ROWS = 3000
_MOST_STRAYED = 20


class _Recording:
    """The one that there is, or was."""

    def __init__(self) -> None:
        self.record: CallRecord | None = None
        self.listener: Any = None
        self.other_tree: str | None = None
        self.is_read = True  # after its end
        self.lock: Any = threading.RLock()  # while it ends


_recording = _Recording()


def calls_start(
    roots: list[str],
    focus: list[str],
    start: str | None = None,
    stream: str | None = None,
    rereads: bool = False,
    seed: int | None = None,
    chance: dict[str, Any] | None = None,
    trees: Sequence[str] = (),
    other_tree: str | None = None,
    whole: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Record own calls from now on, in place of any recording before. For pydevd's own thread.

    stream: an empty file that gets a line for each call, in place of a tree. rereads: with what has
    become of the arguments by the end of the call. seed: of addresses that are by lot. chance: what
    `share_chance` takes. trees: paths that are left out of texts before these are cut. other_tree: a
    folder whose sources are not this program's; the answer names those that it has imported all the
    same. whole: which calls of a stream are recorded with all that their values store, as `WholeCalls`
    has it; None: all.
    """
    require_purpose("traces")
    _end_calls("replaced")
    end_trace("replaced")
    forget_writers()
    leave_out_trees(trees)
    scope = CallScope(roots, focus, start, stream is not None, rereads)
    if stream is None:
        record = CallRecord(scope)
    else:
        calls = CallStream(stream)
        record = CallRecord(scope, calls, WholeCalls(calls.note_whole_until, **(whole or {})))
        read_what_is_compiled()
    _recording.record, _recording.other_tree = record, other_tree
    listener: Any = CallsMonitor if hasattr(sys, "monitoring") else CallsSettrace
    _recording.listener, _recording.is_read = listener(record), False
    if seed is not None:
        scatter_addresses(seed)
    if chance is not None:
        share_chance(**chance)
    hook_suspensions("calls", before=_end_calls_at_stop)
    can = attempt(_recording.listener.start, default=False)
    if not can:
        _end_calls("replaced")
    return {"can": can}


def calls_read(stopped: bool = False) -> dict[str, Any]:
    """What is recorded so far; a recording ends if the program has stopped."""
    record = _recording.record
    if record is None:
        return {"calls": None}
    if stopped:
        _end_calls("stopped")
    if not record.is_active:
        _recording.is_read = True
    return {"calls": _calls_answer(record)}


def focused_paths() -> list[str]:
    """The files and folders whose calls are recorded, if any were named; those of functions, too."""
    record = _recording.record
    if record is None or not record.scope.focused:
        return []
    return [*record.scope.paths, *(one.path for one in record.scope.single)]


def report_calls() -> None:
    """The program ends: report what nobody will be able to ask for."""
    record, py_db = _recording.record, debugger()
    if record is None or _recording.is_read or py_db is None:
        return
    _end_calls("ended")
    send_event(py_db, CALLS_EVENT, {"calls": _calls_answer(record)})


def _calls_answer(record: CallRecord) -> dict[str, Any]:
    strayed = _imported_from(_recording.other_tree) if _recording.other_tree else []
    return dict(record.answer(_MOST_CALL_ROWS), draws=has_drawn(), strayed=strayed)


def _imported_from(tree: str) -> list[str]:
    """Files of sources in this folder that the program has as modules, but for those of an environment in there."""
    loaded = loaded_modules()["modules"]
    files = [one["path"] for one in loaded if one["path"] and one["name"] != "__main__"]
    return [
        file
        for file in files
        if file.startswith(tree + os.sep) and file.endswith(".py") and not is_installed(file)
    ][:_MOST_STRAYED]


def forget_calls() -> None:
    """In a forked child, where the recording is its parent's; and when the client leaves."""
    _recording.lock = threading.RLock()
    _end_calls("replaced")
    _recording.record = _recording.listener = None


def _end_calls(state: str) -> None:
    with _recording.lock:
        record, listener = _recording.record, _recording.listener
        if record is not None:
            record.finish(state)
            leave_what_is_compiled()
            gather_addresses()
            give_back_chance()
        _recording.listener = None
        if listener is not None:
            attempt(listener.stop)


def _end_calls_at_stop(thread: Any, frame: Any, event: Any, argument: Any) -> None:
    if event != "exception":  # the relay may decide that one at an exception is none
        _end_calls("stopped")
