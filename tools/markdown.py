"""Pieces of the generated pages in Markdown: tables, anchors, and what a schema says in a few words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from relay.faces.http.openapi import Schema

Cells: TypeAlias = Sequence[str]


def table(head: Cells, rows: Iterable[Cells]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def type_of(schema: Schema) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{anchor(name)})"
    if "const" in schema:
        return values([schema["const"]])
    if "enum" in schema:
        return values(schema["enum"])
    for combination in ("anyOf", "oneOf", "allOf"):
        if combination in schema:
            return " or ".join(dict.fromkeys(map(type_of, schema[combination])))
    return _plain_type(schema)


def _plain_type(schema: Schema) -> str:
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    if kind == "string" and "format" in schema:
        return str(schema["format"])
    return f"{kind}{_bounds(schema)}"


def _bounds(schema: Schema) -> str:
    low, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    high = schema.get("maximum")
    parts = [
        "" if low is None else f" from {low}",
        "" if above is None else f" above {above}",
        "" if high is None else f" up to {high}",
    ]
    return "".join(parts)


def values(found: Iterable[Any]) -> str:
    return ", ".join(f"`{json.dumps(value)}`" for value in found)
