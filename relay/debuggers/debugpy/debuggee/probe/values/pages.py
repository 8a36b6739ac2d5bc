"""Pages of children: of a value, what it contains and then its attributes; of a scope, its variables.

Knows order, numbers, and the budget of an answer. Refuses to know how one variable is described.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.namespaces import global_items, local_items
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import (
        attribute_count,
        stored_attributes,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.contents import (
        content_page,
        content_size,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.members import Member, attribute_child
    from relay.debuggers.debugpy.debuggee.probe.values.references import Handle, references
    from relay.debuggers.debugpy.debuggee.probe.values.types import plan_of
    from relay.debuggers.debugpy.debuggee.probe.values.variables import describe, summarise


def variables(
    ref: int,
    start: int = 0,
    count: int = 100,
    filter: str | None = None,
    max_value: int = 1000,
    max_chars: int = 500_000,
    summary: bool = False,
) -> dict[str, Any]:
    """A page of children. Content comes before attributes; `next` is the start of the next page."""
    handle = references.get(ref)
    named, indexed = child_counts(handle)
    total = {"named": named, "indexed": indexed}.get(filter or "", named + indexed)
    stop = min(total, start + count)
    children = children_of(handle, filter, start, stop) if start < stop else []
    if summary:
        shown = [summarise(child, handle) for child in children]
    else:
        shown = _within_budget(children, handle, max_value, max_chars)
    end = start + len(shown)
    return {
        "variables": shown,
        "total": total,
        "named_variables": named,
        "indexed_variables": indexed,
        "next": end if end < total and (shown or start < total) else None,
    }


def _within_budget(
    children: list[Member], handle: Handle, room: int, budget: int
) -> list[dict[str, Any]]:
    shown = []
    for child in children:
        item = describe(child, handle, handle.frame, min(room, max(budget, 16)))
        shown.append(item)
        budget -= 200 + len(item["value"]) + len(item["name"]) + len(item.get("base64", ""))
        if budget <= 0:
            break
    return shown


def child_counts(handle: Handle) -> tuple[int, int]:
    """(named, indexed) children, attributes among the named."""
    if handle.kind != "value":
        return len(_scope_items(handle)), 0
    plan = plan_of(handle.value)
    named, indexed = content_size(handle.value, plan)
    return named + attribute_count(handle.value, plan), indexed


def _scope_items(handle: Handle) -> list[tuple[Any, Any]]:
    return (local_items if handle.kind == "locals" else global_items)(handle.frame)


def children_of(handle: Handle, kind: str | None, start: int, stop: int) -> list[Member]:
    """Children start to stop of the content followed by the attributes, as `kind` filters."""
    if handle.kind != "value":
        return [attribute_child(*item) for item in _scope_items(handle)[start:stop]]
    value = handle.value
    plan = plan_of(value)
    named, indexed = content_size(value, plan)
    size = 0 if (kind == "named" and indexed) or (kind == "indexed" and named) else named + indexed
    page = content_page(value, plan, start, min(stop, size)) if start < size else []
    if stop > size and kind != "indexed":
        pairs = stored_attributes(value, plan)[max(start - size, 0) : stop - size]
        page += [attribute_child(*pair) for pair in pairs]
    return page
