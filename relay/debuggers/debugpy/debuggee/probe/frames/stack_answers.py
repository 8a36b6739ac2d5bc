"""The answer to `stackTrace`: pydevd's frames with what a client of the relay is told of them, and no more.

pydevd makes an object of its schema of each frame, looks on the disk for its file and announces its
module: of 25 µs a frame two thirds went there, at each stop of which somebody wants to see the stack.
Source: DAP stackTrace.
"""

from __future__ import annotations

import linecache
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import response_command
    from relay.debuggers.debugpy.debuggee.probe.hooks.patches import patch
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt


def answer_stacks_directly() -> None:
    """From now on; what asks for a format, or for frames to be left out, pydevd answers itself."""
    factory: Any = sys.modules["_pydevd_bundle.pydevd_net_command_factory_json"]
    patch(factory.NetCommandFactoryJson, "make_get_thread_stack_message", _stack_answer)


def _stack_answer(
    original: Any,
    factory: Any,
    py_db: Any,
    seq: int,
    thread_id: str,
    topmost_frame: Any,
    fmt: Any,
    must_be_suspended: bool = False,
    start_frame: int = 0,
    levels: int = 0,
) -> Any:
    frames = py_db.suspended_frames_manager.get_frames_list(thread_id)
    if frames is None or fmt or py_db.is_files_filter_enabled:
        asked = thread_id, topmost_frame, fmt, must_be_suspended, start_frame, levels
        return original(factory, py_db, seq, *asked)
    listed = factory._iter_visible_frames_info(py_db, frames, flatten_chained=True)
    shown = [_described_frame(py_db, *one) for one in listed]
    body = {
        "stackFrames": shown[start_frame : start_frame + levels] if levels else shown,
        "totalFrames": len(shown),
    }
    return response_command(seq, "stackTrace", body=body)


def _described_frame(
    py_db: Any,
    number: int,
    frame: Any,
    name: str,
    file: str,
    path: str,
    line: int,
    _is_mapped: bool,
    is_current: bool,
    columns: Any = None,
) -> dict[str, Any]:
    """columns: of the frame's place in an exception's traceback, where pydevd knows them."""
    schema: Any = sys.modules["_pydevd_bundle._debug_adapter.pydevd_base_schema"].BaseSchema
    about: dict[str, Any] = {
        "id": schema._translate_id_to_dap(number),
        "name": name + " (Current frame)" if is_current else name,
        "line": line,
        "column": 1,
        "source": {"path": path},
    }
    # Of who reads sources in a way of its own, as of what the loader of a module says, it may fail.
    text = attempt(linecache.getline, file, line) if columns is not None else ""
    if text:
        about["column"] = columns.map_columns_to_line(text)[0] + 1
    if not (getattr(frame, "IS_PLUGIN_FRAME", False) or py_db.in_project_scope(frame)):
        about["presentationHint"] = "subtle"
    return about
