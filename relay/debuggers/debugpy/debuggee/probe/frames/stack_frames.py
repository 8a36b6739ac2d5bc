"""Frames: found by the number that DAP gives them, changed, and kept apart from the debugger's.

Knows what pydevd holds still and how each Python version lets a frame be changed. Refuses to
know references and answers.
"""

from __future__ import annotations

import os
import sys
import threading
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from relay.debuggers.debugpy.debuggee.probe.hooks.own_modules import give_back_own_modules
    from relay.debuggers.debugpy.debuggee.probe.process.guard import TroubleError, attempt, frame_at

_WAITS = ("do_wait_suspend", "_do_wait_suspend")  # pydevd's, in which a stopped thread is
_PROXIES = sys.version_info >= (3, 13)  # f_locals writes through


def debugger() -> Any:
    """pydevd's one PyDB, or None."""
    give_back_own_modules()
    constants = sys.modules.get("_pydevd_bundle.pydevd_constants")
    get = getattr(constants, "get_global_debugger", None)
    return get() if get is not None else None


def object_id(dap_id: int) -> Any:
    """pydevd numbers objects anew for DAP; behind the number of a frame stands id(frame)."""
    schema = sys.modules.get("_pydevd_bundle._debug_adapter.pydevd_base_schema")
    known = getattr(getattr(schema, "BaseSchema", None), "_dap_id_to_obj_id", {})
    return known.get(dap_id, dap_id)


def find_frame(frame_id: Any) -> Any:
    """The frame that DAP calls `frame_id`."""
    if type(frame_id) is not int:
        raise TroubleError("stale_frame", f"A frame id is an integer, not {frame_id!r}")
    frame_id = object_id(frame_id)
    try:
        py_db = debugger()
        thread = py_db.suspended_frames_manager.get_thread_id_for_variable_reference(frame_id)
        frame = py_db.find_frame(thread, frame_id)
    except AttributeError:
        frame = next((f for f in _live_frames() if id(f) == frame_id), None)
    if frame is None:
        raise TroubleError("stale_frame", f"No suspended frame has the id {frame_id} now")
    return frame


def find_live_frame(frame_id: int) -> Any:
    """The frame, also of a thread that blocks in C: before 3.12 the debugger keeps none of it."""
    known = attempt(find_frame, frame_id, default=None)
    if known is not None:
        return known
    return next((f for f in _live_frames() if id(f) == object_id(frame_id)), None)


def debugger_threading() -> Any:
    """The `threading` by whose objects pydevd knows threads.

    A copy of its own where the program may patch the one that it imports, as gevent does: each has
    another object for the same thread, and what pydevd notes about one is on the copy's.
    """
    saved = sys.modules.get("_pydev_bundle._pydev_saved_modules")
    return threading if saved is None else saved.threading


def _live_frames() -> Iterator[Any]:
    """Every frame on a stack, and those that only a traceback keeps (post-mortem stops)."""
    for _, frame in frames_of_all_threads():
        yield frame
        found = attempt(lambda f=frame: f.f_locals.get("__exception__"))
        tb = found[2] if type(found) is tuple and len(found) == 3 else None
        while type(tb) is types.TracebackType:
            yield tb.tb_frame
            tb = tb.tb_next


def frames_of_all_threads() -> list[tuple[int, Any]]:
    """Every frame on a stack, with its thread's ident, but this function's own.

    That one would hold the list that holds it: all of them, with what they have, would live until
    the garbage collector comes.
    """
    found = []
    tops: Any = sys._current_frames()
    while tops:
        ident, frame = tops.popitem()
        while frame is not None:
            if frame.f_code is not frames_of_all_threads.__code__:
                found.append((ident, frame))
            frame = frame.f_back
    return found


def frames_of_others_at_work() -> list[tuple[int, Any, bool]]:
    """Of each other thread its ident, the frame of the program's that it runs just now, and whether that is at
    an event: the debugger's code is above it."""
    found = []
    tops: Any = sys._current_frames()
    tops.pop(threading.get_ident(), None)
    while tops:
        ident, top = tops.popitem()
        frame = top
        while frame is not None and is_debugger_file(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is not None:
            found.append((ident, frame, frame is not top))
    return found


def stands_still(frame: Any) -> bool:
    """Whether the frame cannot end while this thread reads its memory: it is one of this thread's, or its thread
    is stopped. So does one that is on no stack: that of a generator, suspended.

    This function's own frame is let go of: it would keep itself, and all that have called it, until the
    garbage collector comes.
    """
    own: Any = frame_at(1)
    while own is not None:
        if own is frame:
            return True
        own = own.f_back
    tops: Any = sys._current_frames()
    tops.pop(threading.get_ident(), None)
    for one in tops.values():
        is_still = False
        while one is not None:
            if one is frame:
                return is_still
            code, one = one.f_code, one.f_back
            is_still = is_still or (code.co_name in _WAITS and is_debugger_file(code.co_filename))
    return True


def _push_locals(frame: Any, clear: bool = False) -> None:
    """Below 3.13 f_locals is a copy: write it back into the frame."""
    if _PROXIES:
        return
    import ctypes

    frame = getattr(frame, "_base_frame", frame)
    if type(frame) is types.FrameType:
        push = ctypes.pythonapi.PyFrame_LocalsToFast
        push(ctypes.py_object(frame), ctypes.c_int(1 if clear else 0))


def pull_locals(frame: Any) -> None:
    """Below 3.13 a tracing debugger writes f_locals back when it resumes. Had the expression
    changed a variable of a closure, that would undo it: take the new values in first."""
    if _PROXIES:
        return
    getattr(frame, "f_locals", None)
    top: Any = frame_at()
    while top is not None and is_debugger_file(top.f_code.co_filename):
        top = top.f_back
    getattr(top, "f_locals", None)


def write_locals(frame: Any, changed: dict[str, Any], removed: Iterable[str] = ()) -> None:
    """Give local variables of the frame new values, or none at all."""
    f_locals = frame.f_locals
    for name, value in changed.items():
        f_locals[name] = value
    cleared = False
    for name in removed:
        try:
            del f_locals[name]
        except ValueError:
            raise ValueError(f"Python cannot delete the variable {name!r} of a function") from None
        cleared = True
    _push_locals(frame, cleared)


def _home_dirs() -> tuple[str, ...]:
    # Sent to a debuggee, the probe's files have names of this form: see `probe_calls.injection`.
    homes = ["<debug relay>"]
    if "__file__" in globals():
        homes = [os.path.dirname(os.path.dirname(__file__))]  # the relay's other files, too
    for name in ("pydevd", "debugpy"):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file:
            homes.append(os.path.dirname(os.path.abspath(file)))
    return tuple(home + os.sep for home in homes)


_OWN_FILE = _home_dirs.__code__.co_filename
_homes = _home_dirs()


def is_debugger_file(filename: str) -> bool:
    """Whether it is the relay's own, pydevd's or debugpy's."""
    return filename == _OWN_FILE or filename.startswith(_homes or "\0")


def client_path(frame: Any) -> str:
    """The frame's file as the client knows it."""
    files = sys.modules["pydevd_file_utils"]
    path = files.get_abs_path_real_path_and_base_from_frame(frame)[0]
    return str(files.map_file_to_client(path)[0])


def is_user_code(frame: Any) -> bool:
    """Whether it is the program's own code, as pydevd's options say: no library's."""
    return bool(debugger().in_project_scope(frame)) and not is_debugger_file(
        frame.f_code.co_filename
    )
