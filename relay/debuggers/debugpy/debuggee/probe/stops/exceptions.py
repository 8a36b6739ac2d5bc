"""The exception that a stop is about: its message, its causes, and the traceback of plain Python.

Knows where pydevd keeps it, and leaves the debugger out of the traceback.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import os
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.failing import kept_errors
    from relay.debuggers.debugpy.debuggee.probe.failures.own_code import own_frame
    from relay.debuggers.debugpy.debuggee.probe.failures.raised_frames import (
        position_of,
        raised_entries,
        running_frames,
    )
    from relay.debuggers.debugpy.debuggee.probe.failures.remote import is_remote_text
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import LatestCodes
    from relay.debuggers.debugpy.debuggee.probe.frames.modules import sources_not_kept
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import local_items
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        client_path,
        debugger,
        find_frame,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import shown_line
    from relay.debuggers.debugpy.debuggee.probe.process.guard import (
        Interrupted,
        attempt,
        exception_line,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.expected import is_expected
    from relay.debuggers.debugpy.debuggee.probe.values.members import Member, attribute_child
    from relay.debuggers.debugpy.debuggee.probe.values.references import scope_handle
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import clean_answer, secrets_on_stack
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        exact,
        full_name,
        is_dunder,
        module_of,
        mro_of,
        name_of,
        qualname_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.variables import describe


_MOST_LOCALS = 20
"""Locals of each exception of a chain."""


def exception(frame: int, max_value: int = 4000) -> dict[str, Any]:
    """The exception that this frame's stop is about, or None."""
    return {"exception": exception_answer(find_frame(frame), max_value)}


def exception_answer(frame: Any, room: int) -> dict[str, Any] | None:
    """The same, of a frame that is at hand."""
    value, tb = current_exception(frame)
    if value is None or not any(base is BaseException for base in mro_of(type(value))):
        return None
    innermost = _innermost(tb)
    answer = _exception_head(value, room)
    answer["traceback"] = _traceback_text(value, tb)
    answer["notes"] = attempt(_notes, value, default="")[:room]
    answer["identity"] = id(value)
    answer["expected"] = attempt(is_expected, value, tb, default=False)
    answer["raised_here"] = innermost is not None and innermost.tb_frame is frame
    answer["line"] = (
        None if innermost is None else shown_line(innermost.tb_frame, innermost.tb_lineno)
    )
    answer["chain"] = _exception_chain(value, room) + _earlier(value, room)
    values = secrets_on_stack(tb)
    clean_answer(answer, values, "message", "traceback", "notes")
    for link in answer["chain"]:
        clean_answer(link, values, "message")
    child = Member(name_of(type(value)), value, None)
    answer["variables_reference"] = describe(child, None, frame, 16)["variables_reference"]
    return answer


def _innermost(tb: Any) -> Any:
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    return tb


def current_exception(frame: Any) -> tuple[Any, Any]:
    """(exception, traceback) of the frame's thread, or (None, None)."""
    found = attempt(lambda: frame.f_locals.get("__exception__"))
    if type(found) is tuple and len(found) == 3 and found[0] is not None:
        return found[1], found[2]
    return attempt(_tracked_exception, frame, default=(None, None))  # type: ignore[no-any-return]


def _tracked_exception(frame: Any) -> tuple[Any, Any]:
    manager = debugger().suspended_frames_manager
    thread = manager.get_thread_id_for_variable_reference(id(frame))
    frames = manager.get_frames_list(thread)
    return frames.exc_desc, frames.trace_obj


def _exception_head(value: Any, room: int) -> dict[str, Any]:
    message = attempt(lambda: exact(str(value)), default="<str() failed>")
    cls = type(value)
    module = module_of(cls)
    whole = f"{module}.{qualname_of(cls)}" if type(module) is str else full_name(cls)
    head = {"type": name_of(cls), "full_type": whole, "message": message[:room]}
    return dict(head, truncated=True) if len(message) > room else head


def _notes(value: Any) -> str:
    """What `add_note` has put beside its message, each on a line of its own."""
    notes = object.__getattribute__(value, "__dict__").get("__notes__")
    if type(notes) not in (list, tuple):
        return ""
    return "\n".join(note for note in notes if type(note) is str)


def _exception_chain(value: Any, room: int) -> list[dict[str, Any]]:
    """Causes and contexts, nearest first, as Python would print them."""
    chain: list[dict[str, Any]] = []
    seen = [value]
    while len(chain) < 20:
        namespace = BaseException.__dict__
        link, relation = namespace["__cause__"].__get__(value), "cause"
        if link is None and not namespace["__suppress_context__"].__get__(value):
            link, relation = namespace["__context__"].__get__(value), "context"
        if link is None or any(known is link for known in seen):
            break
        if not is_remote_text(link):
            chain.append(_link(link, link.__traceback__, relation, room))
        seen.append(link)
        value = link
    return chain


def _earlier(value: Any, room: int) -> list[dict[str, Any]]:
    """What a request or a job of the same test ended with before, newest first."""
    return [
        dict(_link(error, tb, "earlier", room), ends=ends)
        for ends, error, tb in kept_errors(value)[::-1]
    ]


def _link(error: Any, tb: Any, relation: str, room: int) -> dict[str, Any]:
    """One exception of a chain with the program's innermost frame on its way, and its locals."""
    link = dict(_exception_head(error, room), relation=relation)
    found = [e for e in raised_entries(tb) if not is_debugger_file(e.frame.f_code.co_filename)]
    if not found:
        return dict(link, location=None, locals=[])
    position = own_frame(found)
    entry = found[-1 if position is None else position]
    items = [(n, v) for n, v in local_items(entry.frame) if type(n) is str and not is_dunder(n)]
    in_function = entry.frame.f_locals is not entry.frame.f_globals
    handle = scope_handle("locals", entry.frame)
    kept = [] if entry.moved_on or not in_function else items[:_MOST_LOCALS]
    return dict(
        link,
        moved_on=entry.moved_on,
        location={
            "path": attempt(client_path, entry.frame),
            "line": entry.line,
            "function": entry.frame.f_code.co_name,
        },
        locals=[
            attempt(describe, attribute_child(*item), handle, entry.frame, 200, default=None)
            for item in kept
        ],
    )


def _traceback_text(value: Any, tb: Any, most: int = 20_000) -> str:
    """As plain Python would print it, were it not caught and not debugged."""
    try:
        entries = list(_outer_entries(tb)) + _tb_entries(tb)
        while entries and _is_bottom(entries[0][0]):
            del entries[0]
        entries = [e for e in entries if not is_debugger_file(e[0].f_code.co_filename)]
        with sources_not_kept():
            # Of its own traceback only the innermost frame, of which it suggests names: the rest
            # takes a third of a second where a recursion has no end, and is told below.
            report = traceback.TracebackException(type(value), value, _innermost(tb))
            report.stack = _Stack(entries)
            text = "".join(report.format())
    except Interrupted:
        raise
    except BaseException as error:
        text = f"{exception_line(value)}\n(no traceback: {exception_line(error)})"
    if len(text) > most:
        text = text[: most // 2] + "\n  ...\n" + text[-most // 2 :]
    return text


def _outer_entries(tb: Any) -> list[tuple[Any, int, int]]:
    """Callers of the frame where the traceback starts: an exception just raised has only it.

    None where they have gone on since, and stand at other lines: once that frame is over, or where
    one of them has thrown the exception into it, as the end of a `with` does.
    """
    if tb is None or id(tb.tb_frame) not in running_frames():
        return []
    raised = {id(entry[0]) for entry in _tb_entries(tb)}
    frame = tb.tb_frame.f_back
    found = []
    while frame is not None:
        if id(frame) in raised:
            return []
        found.append((frame, frame.f_lineno, frame.f_lasti))
        frame = frame.f_back
    return found[::-1]


def _tb_entries(tb: Any) -> list[tuple[Any, int, int]]:
    found = []
    while tb is not None:
        found.append((tb.tb_frame, tb.tb_lineno, tb.tb_lasti))
        tb = tb.tb_next
    return found


def _is_bottom(frame: Any) -> bool:
    """Whether it only starts the program or a thread: plain Python does not show it."""
    name = frame.f_code.co_filename
    if is_debugger_file(name) or name == "<frozen runpy>":
        return True
    base, function = os.path.basename(name), str(frame.f_code.co_name)
    return base == "runpy.py" or (base == "threading.py" and function == "_bootstrap")


class _Stack(traceback.StackSummary):
    """Of frames, with lines and offsets. What is printed of one is kept: the failures of a test suite come
    through the same places of its runner."""

    def __init__(self, entries: list[tuple[Any, int, int]]) -> None:
        super().__init__(_summary(*entry) for entry in entries)
        self._places = {
            id(self[at]): (frame.f_code, line, offset)
            for at, (frame, line, offset) in enumerate(entries)
        }

    def format_frame_summary(self, frame_summary: Any, **named: Any) -> Any:
        """Called from 3.11 on, where Python looks in the line for what to put its markers under."""
        code, *place = self._places[id(frame_summary)]
        key = (*place, *named.items())
        known = _printed.get(code)
        if known is None:
            known = _printed[code] = {}
        if key not in known:
            known[key] = super().format_frame_summary(frame_summary, **named)
        return known[key]


_printed = LatestCodes()


def _summary(frame: Any, line: int, offset: int) -> Any:
    code = frame.f_code
    more: dict[str, Any] = {"lookup_line": False}
    spot = position_of(code, offset)
    if spot is not None:  # the markers under the line
        more.update(end_lineno=spot[1], colno=spot[2], end_colno=spot[3])
    import linecache

    linecache.lazycache(code.co_filename, frame.f_globals)
    return traceback.FrameSummary(code.co_filename, line, code.co_name, **more)
