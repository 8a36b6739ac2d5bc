"""Locals of a frame that runs, as text: no `__repr__` of the program is called.

One could take the very lock that its thread waits for, and nobody would be left to answer. What only
its own code can say is shown by its type.
"""

from __future__ import annotations

import threading
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import local_items
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import MASK, hides
    from relay.debuggers.debugpy.debuggee.probe.values.text import Text, native_repr
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        Plan,
        exact,
        full_name,
        is_dunder,
        plan_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.waits.awaits import clipped, stored_field
    from relay.debuggers.debugpy.debuggee.probe.waits.primitive_states import state_in_words

_CODE_FAMILIES = ("module", "class", "function", "method", "builtin")
_SAFE_MODULES = (
    "_thread",
    "datetime",
    "decimal",
    "re",
    "_socket",
    "select",
    "fractions",
    "builtins",
)
_ASKING = ("proxy", "dataframe", "series", "index", "ndarray", "row")
_C_REPRS = (types.WrapperDescriptorType, types.MethodDescriptorType)


class QuietText(Text):
    """Text of a value by what is stored in it."""

    def write(self, value: Any, room: int) -> str:
        plan = plan_of(value)
        if plan.family in _ASKING:
            return _by_type(value, plan)
        return super().write(value, room)

    def clean(self, value: Any, plan: Plan) -> str:
        # A type that Python code made has its base's __repr__, which may ask for an attribute.
        if plan.cls.__module__ in _SAFE_MODULES and type(plan.show) in _C_REPRS:
            return native_repr(value, plan.name)
        return _by_type(value, plan)


def _by_type(value: Any, plan: Plan) -> str:
    name = full_name(plan.cls)
    if plan.family == "enum":
        member = stored_field(value, "_name_")
        if (
            plan_of(member).family == "text"
        ):  # None of a flag that is made of several, before Python 3.11
            return f"{name}.{clipped(member)}"
    if any(base is threading.Thread for base in plan.mro):
        name += " " + clipped(stored_field(value, "_name"))
    state = attempt(state_in_words, value)
    return f"<{name}{f', {state},' if state else ''} at {hex(id(value))}>"


def quiet_text(value: Any, room: int) -> tuple[str, bool]:
    """(text of about `room` characters, whether a part of it is masked)."""
    text = QuietText(room)
    return text.of(value), text.masked


def named_locals(frame: Any) -> list[tuple[str, Any]]:
    """The names and values of a frame's locals, as they are now."""
    return [(n, v) for n, v in local_items(frame) if type(n) is str and not is_dunder(n)]


def quiet_locals(items: list[tuple[str, Any]], most: int, room: int) -> list[dict[str, Any]]:
    """Name, type and text of those that say something, at most so many."""
    shown: list[dict[str, Any]] = []
    for name, value in items:
        plan = plan_of(value)
        if plan.family in _CODE_FAMILIES:
            continue
        if len(shown) == most:
            break
        answer: dict[str, Any] = {"name": exact(name), "type": plan.name}
        if hides(name, value):
            answer.update(value=MASK, redacted=True)
        else:
            answer["value"], masked = attempt(quiet_text, value, room, default=("?", False))
            if masked:
                answer["redacted"] = True
        shown.append(answer)
    return shown
