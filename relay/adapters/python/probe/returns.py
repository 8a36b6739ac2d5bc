"""What calls returned while the program was stepped, as pydevd records it among a frame's locals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.adapters.python.probe.contents import Child
    from relay.adapters.python.probe.frames import find_frame
    from relay.adapters.python.probe.guard import attempt
    from relay.adapters.python.probe.references import references
    from relay.adapters.python.probe.variables import describe

RETURN_VALUES = "__pydevd_ret_val_dict"


def return_values(frame: int, max_value: int = 1000) -> dict[str, Any]:
    """What calls returned in this frame since it ran last, as pydevd recorded while stepping."""
    return {"return_values": returned_values(find_frame(frame), max_value)}


def returned_values(frame: Any, room: int) -> list[dict[str, Any]]:
    """The same, of a frame that is at hand; forgotten when the program runs on."""
    values = attempt(lambda: frame.f_locals.get(RETURN_VALUES))
    if type(values) is not dict:
        return []
    if not any(known is values for known in references.returned):
        references.returned.append(values)
    children = [Child(str(name), value, None) for name, value in list(values.items())]
    return [describe(child, None, frame, room) for child in children]
