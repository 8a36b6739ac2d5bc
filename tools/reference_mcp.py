"""The generated part of `docs/reference/mcp.md`: every tool with its arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from relay.faces.mcp.tables import table_of
from relay.faces.mcp.tools import Tool
from tools.markdown import table, type_of

HEADINGS = {"default": "## The tools", "v0": "## The tools of the tool API"}
INTRODUCTIONS = {
    "default": "What `relay mcp` and `/mcp` offer.",
    "v0": "What `relay mcp --tools v0` and `/mcp/v0` offer: the calls of the run-to-breakpoint API, "
    "each answered by its JSON.",
}


def mcp_tools() -> str:
    """Both tables."""
    return "\n".join(part for name in HEADINGS for part in _table(name))


def _table(name: str) -> Iterator[str]:
    yield f"{HEADINGS[name]}\n\n{INTRODUCTIONS[name]}\n"
    for tool in table_of(name):
        yield from _tool(tool)


def _tool(tool: Tool) -> Iterator[str]:
    yield f"### {tool.name}\n\n{tool.description}\n"
    schema = tool.model.model_json_schema()
    required = schema.get("required", [])
    rows = [_row(name, field, schema, name in required) for name, field in _fields(schema)]
    yield table(["argument", "type", "default", "meaning"], rows)


def _fields(schema: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Those of the tool itself first, then those that many have."""
    last = ("wait", "session", "max_chars")
    found = list(schema["properties"].items())
    return sorted(found, key=lambda item: last.index(item[0]) + 1 if item[0] in last else 0)


def _row(
    name: str, field: Mapping[str, Any], schema: Mapping[str, Any], required: bool
) -> tuple[str, ...]:
    plain = _without_null(field, schema.get("$defs", {}))
    default = "required" if required else _default(field.get("default"))
    return (f"`{name}`", type_of(plain), default, field.get("description", ""))


def _default(value: object) -> str:
    return "" if value is None else f"`{json.dumps(value)}`"


def _without_null(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    members = [one for one in field.get("anyOf", [field]) if one.get("type") != "null"]
    found = members[0]
    reference = found.get("$ref")
    return dict(definitions[reference.rpartition("/")[2]] if reference else found)
