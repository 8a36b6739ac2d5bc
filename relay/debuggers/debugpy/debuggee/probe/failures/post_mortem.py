"""A stop at an exception that has left its frames: pydevd is given those of the traceback.

The thread that learned of the failure waits, as at any other stop; what is shown are the frames
that raised, the program's own innermost one on top, then its callers, and last the frames of
libraries below it (`inner`). A step from there goes on where the thread really is.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import own_frame
    from relay.debuggers.debugpy.debuggee.probe.failures.raised_frames import (
        TracebackEntry,
        raised_entries,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.remote import (
        remote_entries,
        stated_entries,
        traceback_here,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.rewritten import original_traceback
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        debugger_threading,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import (
        is_of_compiled_template,
        shown_place,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import send_event
    from relay.debuggers.debugpy.debuggee.probe.hooks.idle_events import be_of_debugger
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.hooks.program_tracing import real_gettrace
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import (
        set_trace,
        trace_call,
        wanted_trace_function,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, frame_at
    from relay.debuggers.debugpy.debuggee.probe.process.liveness import (
        count_as_alive,
        count_no_longer,
    )

_FAILURE_EVENT = "relayFailure"
_EXCEPTION_BREAK = 122  # pydevd's CMD_ADD_EXCEPTION_BREAK, by which it knows the reason
_UNHANDLED = "unhandled"
_shown: dict[int, PostMortem] = {}  # by the ident of the thread that waits


class PostMortem:
    """What is shown of one failure while its thread waits."""

    def __init__(self, error: BaseException, tb: Any, home: str | None) -> None:
        self.error = error
        self.tb = tb
        if tb is None:
            self.tb = traceback_here()
        here = [] if tb is None else raised_entries(tb)
        found = [e for e in here if not is_debugger_file(e.frame.f_code.co_filename)]
        found += remote_entries(error)
        if own_frame(found, home) is None:
            found += stated_entries(error)
        top = own_frame(found, home)
        if top is None:
            top = len(found) - 1
        inner = [*found[top + 1 :], *self._rewritten(found)]
        for entry in inner:
            entry.inner = True
        outer = found[top::-1]
        shown = {id(entry.real_frame) for entry in found}
        around = [] if tb is None else _callers(tb)
        callers = [entry for entry in around if id(entry.frame) not in shown]
        self.entries: list[TracebackEntry] = [*outer, *callers, *inner[::-1]]

    def _rewritten(self, found: list[TracebackEntry]) -> list[TracebackEntry]:
        """What lay deeper than all of these before a library has rewritten the traceback."""
        known = {id(entry.real_frame) for entry in found}
        original = raised_entries(original_traceback(self.error))
        last = max((i for i, e in enumerate(original) if id(e.real_frame) in known), default=-1)
        deeper = original[last + 1 :] if last >= 0 else []
        # The template's own are there, as they have been rewritten.
        return [e for e in deeper if not is_of_compiled_template(e.real_frame)]

    def frames_list(self) -> Any:
        """The same as pydevd keeps the frames of a stop."""
        made = sys.modules["_pydevd_bundle.pydevd_frame_utils"].FramesList()
        for entry in self.entries:
            made.append(entry.frame)
            made.frame_id_to_lineno[id(entry.frame)] = entry.line
        made.exc_type, made.exc_desc = type(self.error), self.error
        made.trace_obj = self.tb
        return made


def _callers(tb: Any) -> list[TracebackEntry]:
    """Frames around the outermost one of the traceback, innermost first.

    They are on the stack still, or have gone on: where one is now says nothing of then.
    """
    entries: list[TracebackEntry] = []
    frame = tb.tb_frame.f_back
    running = {id(known) for known in _stack_of_this_thread()}
    while frame is not None and id(frame) in running and len(entries) < 1000:
        if not is_debugger_file(frame.f_code.co_filename):
            entries.append(TracebackEntry(frame, frame.f_lineno))
        frame = frame.f_back
    return entries


def _stack_of_this_thread() -> list[Any]:
    found, frame = [], frame_at(1)
    at: Any = frame
    while at is not None:
        found.append(at)
        at = at.f_back
    return found


def post_mortem_entry(frame: Any) -> TracebackEntry | None:
    """What is known of a frame that a post-mortem stop shows."""
    for shown in list(_shown.values()):
        for entry in shown.entries:
            if entry.frame is frame:
                return entry
    return None


def lost_locals(frame: Any) -> str | None:
    """Why a frame has no locals of the moment that it is shown at; None if it has them."""
    if not getattr(frame, "moved_on", False):
        return None
    name = frame.f_code.co_name
    if getattr(frame, "is_elsewhere", False):
        return (
            f"{name} ran in another process or thread, and only its lines came from there; a"
            " breakpoint in it stops there"
        )
    return f"{name} has gone on since it raised: its locals of then are lost"


def suspend(shown: PostMortem, words: dict[str, Any]) -> None:
    """Let this thread wait at the failure until the client resumes it."""
    py_db, thread = debugger(), debugger_threading().current_thread()
    _prepare()
    info = sys.modules["_pydevd_bundle.pydevd_additional_thread_info"]
    about = info.set_additional_thread_info(thread)
    here = _live_frame()
    about.is_tracing += 1  # what is evaluated at the stop meets no breakpoint
    paused = _pause_monitoring()
    count_as_alive(thread.ident)
    _shown[thread.ident or 0] = shown
    try:
        about.pydev_message = str(words["ends"])
        _announce(py_db, thread, shown, words)
        py_db.set_suspend(thread, _EXCEPTION_BREAK)
        raised = (type(shown.error), shown.error, shown.tb)
        traced = attempt(_pause_tracing, default=int)
        try:
            py_db.do_wait_suspend(thread, here, "exception", raised, _UNHANDLED)
        finally:
            traced()
    finally:
        _shown.pop(thread.ident or 0, None)
        count_no_longer(thread.ident)
        about.is_tracing -= 1
        paused()


def _prepare() -> None:
    patch(
        sys.modules["_pydevd_bundle.pydevd_frame_utils"],
        "create_frames_list_from_traceback",
        _list_frames,
    )
    factory: Any = sys.modules["_pydevd_bundle.pydevd_net_command_factory_json"]
    patch(factory, "build_exception_info_response", _without_stack)


def _list_frames(
    original: Any, trace: Any, frame: Any, kind: Any, error: Any, *more: Any, **named: Any
) -> Any:
    shown = _shown.get(debugger_threading().get_ident())
    if shown is not None and shown.error is error and shown.tb is trace:
        return shown.frames_list()
    return original(trace, frame, kind, error, *more, **named)


def _without_stack(
    original: Any,
    py_db: Any,
    thread_id: Any,
    thread: Any,
    number: int,
    more: Any,
    frames: Any,
    **named: Any,
) -> Any:
    """Of the text of the whole stack, which pydevd makes to say that a thread has stopped, it says nothing."""
    is_event = number == -1 and thread.ident in _shown
    frames = _no_frames if is_event else frames
    return original(py_db, thread_id, thread, number, more, frames, **named)


def _no_frames(*_: Any) -> tuple[()]:
    return ()


def _live_frame() -> Any:
    """Where the thread really is: the innermost frame that is not the debugger's."""
    frame: Any = frame_at(1)
    innermost = frame
    while frame is not None and is_debugger_file(frame.f_code.co_filename):
        innermost, frame = frame, frame.f_back
    return innermost if frame is None else frame


def _pause_monitoring() -> Any:
    """No events of this thread for pydevd; returns what lets them come again."""
    module: Any = sys.modules.get("_pydevd_sys_monitoring.pydevd_sys_monitoring")
    constants: Any = sys.modules["_pydevd_bundle.pydevd_constants"]
    if module is None or not constants.PYDEVD_USE_SYS_MONITORING:
        return int
    attempt(module.start_monitoring)  # a thread that pydevd has not met yet cannot be left out
    attempt(module.stop_monitoring)
    be_of_program = be_of_debugger()

    def go_on() -> None:
        be_of_program()
        attempt(module.start_monitoring)

    return go_on


def _pause_tracing() -> Any:
    """No calls of the debugger's trace function while this thread makes a stop outside of one: it would
    be called by all that the debugger does there. Returns what lets it be called again.
    """
    if real_gettrace() is not trace_call:
        return int  # it is not traced, or somebody else has the place, who is to hear of all

    def go_on() -> None:
        if real_gettrace() is None:  # else somebody has taken the place meanwhile
            set_trace(wanted_trace_function())

    set_trace(None)
    return go_on


def _announce(py_db: Any, thread: Any, shown: PostMortem, words: dict[str, Any]) -> None:
    number = sys.modules["_pydevd_bundle._debug_adapter.pydevd_base_schema"].BaseSchema
    translate = number._translate_id_to_dap
    frames = []
    for entry in shown.entries:
        place = shown_place(entry.frame, entry.line)
        frames.append(
            {
                "id": translate(id(entry.frame)),
                "name": place.name,
                "path": place.path,
                "line": place.line,
                "column": entry.column,
                "moved_on": entry.moved_on,
                "inner": entry.inner,
            }
        )
    thread_id = translate(sys.modules["pydevd"].get_current_thread_id(thread))
    send_event(py_db, _FAILURE_EVENT, dict(words, threadId=thread_id, frames=frames))
