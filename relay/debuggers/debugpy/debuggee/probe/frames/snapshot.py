"""A stop in one answer: the locals of several frames, what calls returned, and the exception.

Knows how one budget serves several frames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import local_items
    from relay.debuggers.debugpy.debuggee.probe.frames.returns import returned_values
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import find_frame
    from relay.debuggers.debugpy.debuggee.probe.stops.exceptions import exception_answer
    from relay.debuggers.debugpy.debuggee.probe.values.members import attribute_child
    from relay.debuggers.debugpy.debuggee.probe.values.references import references, scope_handle
    from relay.debuggers.debugpy.debuggee.probe.values.variables import describe


def snapshot(
    frames: list[int],
    max_value: int = 1000,
    max_chars: int = 100_000,
    max_variables: int = 100,
) -> dict[str, Any]:
    """Everything about a stop in one answer; the first frame is the one that stopped."""
    answer: dict[str, Any] = {"frames": [], "return_values": [], "exception": None}
    for position, frame_id in enumerate(frames):
        frame = find_frame(frame_id)
        if position == 0:
            answer["return_values"] = returned_values(frame, max_value)
            answer["exception"] = exception_answer(frame, max_value)
        scope = _frame_locals(frame, max_value, max_chars, max_variables)
        max_chars -= sum(len(v["value"]) + len(v["name"]) + 40 for v in scope["variables"])
        answer["frames"].append(dict(scope, frame=frame_id))
    return answer


def _frame_locals(frame: Any, room: int, budget: int, most: int) -> dict[str, Any]:
    handle = scope_handle("locals", frame)
    items = local_items(frame)
    shown: list[dict[str, Any]] = []
    for item in items[:most]:
        if budget <= 0:
            break
        # A value that hardly fits still shows its name, its type and a beginning.
        shown.append(describe(attribute_child(*item), handle, frame, min(room, max(budget, 40))))
        budget -= len(shown[-1]["value"]) + len(shown[-1]["name"]) + 40
    return {
        "variables_reference": references.add(handle),
        "variables": shown,
        "total": len(items),
        "truncated": len(shown) < len(items),
    }
