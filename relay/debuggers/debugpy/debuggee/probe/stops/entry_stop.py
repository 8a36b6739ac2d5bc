"""The stop at the entry: at the first line of the program's own code that the main thread runs.

pydevd makes a step of it from the start. What a library runs before, a test runner's imports, is
seconds of such steps. Here nobody steps until own code begins: only calls are looked at, each
function's first where there is `sys.monitoring`. Then pydevd is asked for its step, and it ends
where it would have ended: pydevd stops in own code only, and none was on the stack before.

Whatever stops the program earlier ends the search, as it ends a step. Knows what pydevd takes for
own code; refuses to know how calls are traced.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        debugger_threading,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.idle_events import is_every_line_wanted
    from relay.debuggers.debugpy.debuggee.probe.hooks.monitoring_tool import (
        MONITORING,
        give_back_tool,
        take_tool,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import is_patched, patch
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import tracing_state
    from relay.debuggers.debugpy.debuggee.probe.process.guard import frame_at
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import events_module

# pydevd's numbers of that step, and of why it is made.
_STEP_INTO_OWN = 144
_STOP_ON_START = 154
_EVENTS_OF_CALLS = ("PY_START", "PY_RESUME")


class _EntrySearch:
    """What is sought, if anything is."""

    def __init__(self) -> None:
        self.step: Any = None  # pydevd's own; None: the entry is found, given up or not wanted
        self.thread: int | None = None  # the main thread
        self.tool = -1
        self.library_files: set[str] = set()


_search = _EntrySearch()


def patch_entry() -> bool:
    """Have the entry sought this way, also where pydevd has been asked for its step already."""
    api: Any = sys.modules["_pydevd_bundle.pydevd_api"].PyDevdAPI
    patch(api, "stop_on_entry", _seek_entry)
    if tracing_state.monitors:
        patch(sys.modules["pydevd"].PyDB, "enable_tracing", _listen)
    info = getattr(debugger_threading().main_thread(), "additional_info", None)
    if info is not None and info.pydev_original_step_cmd == _STOP_ON_START:
        api().stop_on_entry()
    return True


def is_entry_sought() -> bool:
    """Whether the program's own code has yet to begin, for the stop at its first line."""
    return _search.step is not None


def give_up_entry() -> None:
    """No stop at the entry: the program stands elsewhere, is over, or nobody debugs it any more."""
    _search.step = None
    tool, _search.tool = _search.tool, -1
    if tool >= 0:
        give_back_tool(tool, _EVENTS_OF_CALLS)


def enters_own_code(frame: Any) -> bool:
    """Whether code begins here, in this thread, that is the program's own. Own code may be where a
    stop at the entry is due: then the step to it begins."""
    code = frame.f_code
    if code.co_filename in _search.library_files or _is_library(frame):
        return False
    known = debugger_threading()
    if known.get_ident() == _search.thread and not _is_empty_module(code):
        step = _search.step
        give_up_entry()
        if step is not None:
            step()
    return True


def _is_empty_module(code: Any) -> bool:
    """Whether there is no line in it to stop at. Before Python 3.11 the first line counts as one."""
    if code.co_name != "<module>" or not hasattr(code, "co_lines"):
        return False
    return not any(line for _, _, line in code.co_lines())


def _seek_entry(stop_on_entry: Any, api: Any) -> None:
    """In the place of pydevd's `stop_on_entry`; asked before the program begins."""
    step = partial(stop_on_entry, api)
    # Else nobody would say that the program has stopped elsewhere, or begins.
    is_in_time = (
        is_patched(sys.modules["pydevd"].PyDB, "set_suspend")
        and not debugger().ready_to_run
        and not is_every_line_wanted()
    )
    tool = take_tool("entry") if is_in_time and tracing_state.monitors else -1
    if not is_in_time or (tracing_state.monitors and tool < 0):
        step()
        return
    main = debugger_threading().main_thread()
    _search.library_files, _search.tool = set(), tool
    _search.thread, _search.step = main.ident, step
    _take_step_back(main)


def _take_step_back(thread: Any) -> None:
    """pydevd has begun it where somebody else started the program."""
    info = getattr(thread, "additional_info", None)
    if info is not None and info.pydev_step_cmd == _STEP_INTO_OWN:
        info.pydev_step_cmd = info.pydev_original_step_cmd = -1
        info.update_stepping_info()


def _listen(enable: Any, *arguments: Any, **named: Any) -> None:
    """The program begins: what this thread has run for the debugger until now is none of it."""
    enable(*arguments, **named)
    if _search.tool < 0:
        return
    events = [getattr(MONITORING.events, name) for name in _EVENTS_OF_CALLS]
    for event in events:
        MONITORING.register_callback(_search.tool, event, _on_call)
    MONITORING.set_events(_search.tool, sum(events))


def _on_call(code: Any, offset: int) -> Any:
    """Of `sys.monitoring`."""
    if code.co_filename in _search.library_files:
        return MONITORING.DISABLE
    frame = frame_at(1)
    if not enters_own_code(frame):
        return MONITORING.DISABLE
    if not is_entry_sought():  # pydevd has not seen this call, to follow its lines
        events_module().enable_code_tracing(_search.thread, code, frame)
    return None


def _is_library(frame: Any) -> bool:
    """Whether pydevd takes this code for none of the program's own."""
    code = frame.f_code
    try:
        is_library = bool(debugger().apply_files_filter(frame, code.co_filename, True))
    except Exception as error:
        if is_from_outside(error):
            raise
        return False
    # Of a text it depends on who runs it; and annotations are no own code, wherever they lie.
    if is_library and code.co_filename[:1] != "<" and code.co_name != "__annotate__":
        _search.library_files.add(code.co_filename)
    return is_library
