"""Threads, one at a time: which of them stand, where the others are, and how one runs on alone.

The debugger stops and resumes all threads together, and its adapter forces that. But each thread
waits by itself, until the debugger's note about it says that it may run. Here the note of one
thread is changed, and the others go on waiting.

A thread *stands* when it waits in the debugger. One that is *held* is to stand as soon as it runs
Python code: until then it is inside C code, and nobody can stop it there.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        debugger_threading,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import shown_place
    from relay.debuggers.debugpy.debuggee.probe.hooks.limitations import require_purpose
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import trace_less, tracing_state
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.stops.own_stops import (
        begin_resume,
        is_unseen,
        note_client_resumes,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.references import references
    from relay.debuggers.debugpy.debuggee.probe.values.types import exact

_STEPS = {"into": 107, "over": 108, "out": 109}  # pydevd's numbers of these commands
RUNNING, SUSPENDED = 1, 2  # pydevd's numbers of what a thread is to do
_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


def pydevd_threads() -> list[tuple[int, Any]]:
    """(id that clients know, thread), without the debugger's own."""
    constants: Any = sys.modules["_pydevd_bundle.pydevd_constants"]
    schema: Any = sys.modules["_pydevd_bundle._debug_adapter.pydevd_base_schema"].BaseSchema
    known = {t.ident: t for t in debugger_threading().enumerate()}
    threads = [known.get(t.ident, t) for t in threading.enumerate()]
    found = [t for t in threads if not getattr(t, "is_pydev_daemon_thread", False)]
    return [(schema._translate_id_to_dap(constants.get_thread_id(t)), t) for t in found]


def _thread_of(number: int) -> Any:
    return next((thread for known, thread in pydevd_threads() if known == number), None)


def state_of(thread: Any) -> str:
    info = getattr(thread, "additional_info", None)
    if info is None or info.pydev_state != SUSPENDED:
        return "running"
    return "stopped" if info.is_in_wait_loop else "held"


def thread_states() -> dict[str, Any]:
    """Every thread: `state` (stopped, held, running), and the Python line that it is at."""
    tops = sys._current_frames()
    try:
        return _states_of_all(tops)
    finally:
        tops.clear()  # this call's own frame is among them, and would keep all of them alive


def _states_of_all(tops: dict[int, Any]) -> dict[str, Any]:
    return {
        "threads": [
            {
                "id": number,
                "name": attempt(lambda t=thread: exact(str(t.name)), default=""),
                "ident": thread.ident,
                "state": attempt(state_of, thread, default="running"),
                "frame": attempt(_place, tops.get(thread.ident), state_of(thread) == "stopped"),
            }
            for number, thread in pydevd_threads()
        ]
    }


def _place(frame: Any, innermost: bool) -> dict[str, Any] | None:
    """The line of the innermost frame; unless that is wanted, rather of the program's own."""
    if innermost:  # above it are those of the wait itself, which end in the debugger's
        while frame is not None and not is_debugger_file(frame.f_code.co_filename):
            frame = frame.f_back
    first = None
    while frame is not None:
        path = frame.f_code.co_filename
        if not is_debugger_file(path):
            first = first or frame
            if innermost or not path.startswith((_LIBRARY, "<frozen")):
                return _described(frame)
        frame = frame.f_back
    return None if first is None else _described(first)


def _described(frame: Any) -> dict[str, Any]:
    place = shown_place(frame, frame.f_lineno, True)
    return {"path": place.path, "line": place.line, "name": place.name}


def resume_thread(thread: int, step: str | None = None) -> dict[str, Any]:
    """Let one thread run, or step it; the others stay. Says what `state` it had.

    Only a thread that stands can be stepped; one that is held is let run on. One that is at a stop
    that nobody has seen shows that first.
    """
    require_purpose("threads")
    found = _thread_of(thread)
    if found is None:
        return {"state": "gone"}
    state = state_of(found)
    note_client_resumes()
    if is_unseen(found):
        wake_thread(found)
    elif state == "stopped" or (state == "held" and step is None):
        attempt(references.expire)
        let_go(found, -1 if step is None else _STEPS[step])
        wake_thread(found)
    return {"state": state}


def let_go(thread: Any, command: int = -1) -> None:
    """From here on it may run, though it may still have to wake up. `command`: pydevd's for a step."""
    mark_let_go(thread.additional_info, command)
    thread.additional_info.update_stepping_info()


def mark_let_go(info: Any, command: int = -1) -> None:
    """The same, for who lets several go: pydevd is to count once, after them, which threads step."""
    info.pydev_original_step_cmd = info.pydev_step_cmd = command
    info.pydev_step_stop = None
    info.pydev_state = RUNNING  # last: the thread looks at nothing else


def resume_all() -> dict[str, Any]:
    """Let every thread run that stands or is held.

    The debugger's own `continue` is answered at the first resume of a stop, and never after one
    thread went alone.
    """
    attempt(references.expire)
    lifecycle: Any = sys.modules["_pydevd_bundle.pydevd_thread_lifecycle"]
    with tracing_state.lock:
        note_client_resumes()
        begin_resume()
        lifecycle.resume_threads("*")
    for _, thread in pydevd_threads():
        attempt(wake_thread, thread)
    attempt(trace_less)
    return {}


def wake_thread(thread: Any) -> None:
    """It looks for itself only five times a second."""
    constants: Any = sys.modules["_pydevd_bundle.pydevd_constants"]
    _, event = debugger().get_internal_queue_and_event(constants.get_thread_id(thread))
    event.set()
