"""What a short report of a stop needs, in one answer: the locals that matter and the whole stack.

Knows which locals are noise. Refuses to rank them, and to know how they are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.failures.post_mortem import post_mortem_entry
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import local_items
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        find_frame,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import shown_place
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.members import attribute_child
    from relay.debuggers.debugpy.debuggee.probe.values.references import scope_handle
    from relay.debuggers.debugpy.debuggee.probe.values.types import is_dunder, plan_of
    from relay.debuggers.debugpy.debuggee.probe.values.variables import describe

_DEFINITIONS = ("module", "class", "function", "method", "builtin")
_BOTTOM_FRAMES = 60  # below a test are the fifty of its runner


def report(
    frame: int,
    first: list[str],
    max_value: int = 200,
    max_variables: int = 60,
    max_frames: int = 200,
) -> dict[str, Any]:
    """Locals that say something, those named in `first` ahead of the others, and the stack.

    `first_line` tells the function from others of its name in the file."""
    found = find_frame(frame)
    relevant = _relevant_locals(found, first)
    handle = scope_handle("locals", found)
    return {
        "variables": [
            describe(attribute_child(*item), handle, found, max_value)
            for item in relevant[:max_variables]
        ],
        "total": len(relevant),
        "first_line": found.f_code.co_firstlineno,
        "frames": attempt(_frames_above, found, max_frames),
    }


def _relevant_locals(frame: Any, first: list[str]) -> list[tuple[Any, Any]]:
    items = [(n, v) for n, v in local_items(frame) if type(n) is str and not is_dunder(n)]
    in_function = frame.f_locals is not frame.f_globals
    kept = [
        (name, value)
        for name, value in items
        # A function that was passed in, and is about to be called, is a value like others.
        if (in_function and name in first) or plan_of(value).family not in _DEFINITIONS
    ]
    return sorted(kept, key=lambda item: item[0] not in first)


def _is_inner(frame: Any) -> bool:
    entry = post_mortem_entry(frame)
    return entry is not None and bool(entry.inner)


def _frames_above(frame: Any, most: int) -> dict[str, Any]:
    """The stack that the frame is in, top first, as the debugger keeps it for this stop."""
    manager = debugger().suspended_frames_manager
    thread = manager.get_thread_id_for_variable_reference(id(frame))
    known = manager.get_frames_list(thread)
    stack = [f for f in known if not is_debugger_file(f.f_code.co_filename)]
    left_out = max(len(stack) - most, 0)
    below = most - _BOTTOM_FRAMES
    shown = stack[:below] + stack[-_BOTTOM_FRAMES:] if left_out else stack
    return {
        "items": [
            {
                "name": place.name,
                "path": place.path,
                "line": place.line,
                "shown": f is frame,
                "moved_on": getattr(f, "moved_on", False),
                "elsewhere": getattr(f, "is_elsewhere", False),
                "inner": attempt(_is_inner, f, default=False),
                "left_out": left_out if index == below else 0,
            }
            for index, f in enumerate(shown)
            for place in [
                shown_place(f, known.frame_id_to_lineno.get(id(f), f.f_lineno), f is stack[0])
            ]
        ],
    }
