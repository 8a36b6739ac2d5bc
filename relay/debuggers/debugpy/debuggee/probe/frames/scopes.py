"""The scopes of a frame, as DAP has them: its locals and its globals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import global_items, local_items
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import find_frame
    from relay.debuggers.debugpy.debuggee.probe.values.references import references, scope_handle


def scopes(frame: int) -> dict[str, Any]:
    found = find_frame(frame)
    return {"scopes": [_scope(found, "locals"), _scope(found, "globals")]}


def _scope(frame: Any, kind: str) -> dict[str, Any]:
    size = len(local_items(frame) if kind == "locals" else global_items(frame))
    return {
        "name": kind.capitalize(),
        "presentation_hint": kind,
        "variables_reference": references.add(scope_handle(kind, frame)),
        "named_variables": size,
        "indexed_variables": 0,
        "expensive": kind == "globals",
    }
