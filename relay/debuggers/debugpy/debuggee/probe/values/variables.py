"""One variable as JSON: name, text, type, sizes, and the reference by which to look into it.

Knows what DAP says of a variable, and which are masked. Refuses to know where it stands on a page.
"""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import attribute_count
    from relay.debuggers.debugpy.debuggee.probe.values.contents import content_size
    from relay.debuggers.debugpy.debuggee.probe.values.members import Member
    from relay.debuggers.debugpy.debuggee.probe.values.references import Handle, references
    from relay.debuggers.debugpy.debuggee.probe.values.secrets import MASK, hides, hides_second
    from relay.debuggers.debugpy.debuggee.probe.values.text import text_of
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        Plan,
        exact,
        is_dunder,
        name_of,
        plan_of,
    )

_HINT_KINDS = {"function": "method", "method": "method", "builtin": "method", "class": "class"}
_READ_ONLY = {"tuple", "range", "set", "frozenset", "text", "bytes", "suspended", "cell", "weak"}
_DATA_HINT = {"kind": "data"}


def describe(
    child: Member, parent: Handle | None, frame: Any, room: int, fills: bool = False
) -> dict[str, Any]:
    """The variable with its text, in `room` characters, and what there is to look into."""
    value = child.value
    plan = plan_of(value)
    if _is_secret(child, parent):
        return describe_masked(child, parent, plan)
    named = indexed = size = 0
    if not plan.quick:
        named, indexed = content_size(value, plan)
        size = named + indexed
        named += attribute_count(value, plan)
    path = _join(parent, child.path)
    answer: dict[str, Any] = {
        "name": exact(child.name),
        "value": "",
        "type": plan.name,
        "variables_reference": 0,
        "named_variables": named,
        "indexed_variables": indexed,
        "presentation_hint": _hint(child, parent, plan),
    }
    if named or indexed:
        handle = Handle("value", value, parent, path, frame)
        answer["variables_reference"] = references.add(handle)
    if (named or indexed) and _is_circular(value, parent):
        answer["circular"] = True
        answer["value"] = f"<circular: {plan.name}>"
    else:
        _add_text(answer, value, plan, room, fills)
    if not plan.quick:
        _add_length(answer, value, plan, size, room)
    if path is not None:
        answer["evaluate_name"] = path
    return answer


def summarise(child: Member, parent: Handle) -> dict[str, Any]:
    """Name, type and size of a child. Runs no code of the program: no repr is asked for."""
    plan = plan_of(child.value)
    if _is_secret(child, parent):
        return describe_masked(child, parent, plan)
    answer = {"name": exact(child.name), "type": plan.name, "variables_reference": 0}
    if plan.quick:
        return answer
    named, indexed = content_size(child.value, plan)
    _add_length(answer, child.value, plan, named + indexed, 0)
    if named or indexed or attribute_count(child.value, plan):
        path = _join(parent, child.path)
        handle = Handle("value", child.value, parent, path, parent.frame)
        answer["variables_reference"] = references.add(handle)
    return answer


def describe_masked(child: Member, parent: Handle | None, plan: Plan) -> dict[str, Any]:
    """A value that is secret: its name and its type, and no way to what it holds."""
    path = _join(parent, child.path)
    answer: dict[str, Any] = {
        "name": exact(child.name),
        "value": MASK,
        "type": plan.name,
        "variables_reference": 0,
        "named_variables": 0,
        "indexed_variables": 0,
        "presentation_hint": _hint(child, parent, plan),
        "redacted": True,
    }
    if path is not None:
        answer["evaluate_name"] = path
    return answer


def _is_secret(child: Member, parent: Handle | None) -> bool:
    """By its own name, or as the second of a pair whose first is a name."""
    if hides(child.name, child.value):
        return True
    return parent is not None and parent.kind == "value" and hides_second(parent.value, child.key)


def _is_circular(value: Any, parent: Handle | None) -> bool:
    while parent is not None:
        if parent.kind == "value" and parent.value is value:
            return True
        parent = parent.parent
    return False


def _add_text(answer: dict[str, Any], value: Any, plan: Plan, room: int, fills: bool) -> None:
    answer["value"], cut, masked = text_of(value, plan, room, fills)
    if cut:
        answer["truncated"] = True
    if masked:
        answer["redacted"] = True


def _add_length(answer: dict[str, Any], value: Any, plan: Plan, size: int, room: int) -> None:
    if plan.family == "bytes":
        answer["length"] = plan.base.__len__(value)
        if answer.get("redacted"):
            return
        head = bytes(plan.base.__getitem__(value, slice(0, room)))
        answer["base64"] = binascii.b2a_base64(head, newline=False).decode("ascii")
    elif plan.family == "text":
        answer["length"] = str.__len__(value)
    elif plan.family == "dataframe":  # its children are columns, its length is rows
        answer["length"] = attempt(len, value, default=0)
    elif size or plan.family in ("sequence", "iterable", "mapping"):
        answer["length"] = size


def _hint(child: Member, parent: Handle | None, plan: Plan) -> dict[str, Any]:
    """DAP's VariablePresentationHint."""
    if plan.quick and child.name[:1] != "_" and (parent is None or parent.kind != "value"):
        return _DATA_HINT
    hint: dict[str, Any] = {"kind": _HINT_KINDS.get(plan.family, "data")}
    if plan.family == "text":
        hint["attributes"] = ["rawString"]
    if parent is not None and parent.kind == "value":
        above = plan_of(parent.value)
        if above.family in _READ_ONLY or name_of(above.base) in _READ_ONLY:
            hint.setdefault("attributes", []).append("readOnly")
    if child.name[:1] == "_" and (parent is None or child.path is not None):
        hint["visibility"] = "internal" if is_dunder(child.name) else "private"
    return hint


def _join(parent: Handle | None, path: str | None) -> str | None:
    """An expression for the child; None where there is none, as for an item of a set."""
    if path is None or parent is None:
        return path
    if parent.kind != "value":
        return path.lstrip(".")
    return None if parent.path is None else parent.path + path
