"""The OpenAPI document as one HTML page, whole and offline: no script, no other file.

Knows OpenAPI; `docs_page.html` knows HTML. Knows no route: what it shows is in the document.
Plain enough to be read with `curl | less`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from relay.faces.http.openapi import Document, Schema

LOCAL = "http://127.0.0.1:5679"
"""Where a relay listens that was told nothing."""

_METHODS = ("get", "post", "put", "patch", "delete")

Row = tuple[str, Schema, bool, str | None]


def render(document: Document, origin: str = LOCAL) -> str:
    """The page. Everything from the document is escaped.

    `origin` is what the reader's requests begin with, as `http://127.0.0.1:5679`.
    """
    schemas = _Schemas(document["components"]["schemas"])
    base: str = document["servers"][0]["url"]
    operations = [
        _operation(method.upper(), path, methods[method], schemas, origin + base)
        for path, methods in document["paths"].items()
        for method in _METHODS
        if method in methods
    ]
    tags: dict[str, list[dict[str, Any]]] = {}
    for operation in operations:
        tags.setdefault(operation["tag"], []).append(operation)
    return _template().render(
        info=document["info"], base=base, tags=tags, models=list(_models(schemas))
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        finalize=_escaped,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters.update(anchor=_anchor, bounds=_bounds, json=json.dumps, model=_model)
    return environment.get_template("docs_page.html")


def _escaped(value: Any) -> Markup:
    # Jinja's own spelling of quotes is another.
    return value if isinstance(value, Markup) else Markup(escape(str(value)))


def _anchor(name: str) -> str:
    return "m-" + "-".join(name.split())


def _model(reference: str) -> str:
    return reference.rpartition("/")[2]


_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "maxLength": "up to {} characters",
    "minItems": "at least {} items",
    "maxItems": "up to {} items",
}


def _bounds(schema: Schema) -> str:
    words = [text.format(schema[key]) for key, text in _BOUNDS.items() if key in schema]
    return f" ({', '.join(words)})" if words else ""


# What the template shows ------------------------------------------------------------------


class _Schemas:
    """The models of the document by name."""

    def __init__(self, schemas: Mapping[str, Schema]) -> None:
        self.all = schemas

    def resolve(self, schema: Schema) -> Schema:
        """The schema itself, or the model that it refers to."""
        reference = schema.get("$ref")
        return schema if reference is None else self.all[_model(reference)]

    def sample(self, schema: Schema) -> Any:
        """A value that fits: of an object, its required fields."""
        resolved = self.resolve(schema)
        if resolved.get("type") == "object":
            properties = resolved.get("properties", {})
            return {name: self.sample(properties[name]) for name in resolved.get("required", [])}
        if resolved.get("type") == "array":
            return [self.sample(resolved.get("items", {}))]
        return _sample(resolved)


def _operation(
    method: str, path: str, operation: Document, schemas: _Schemas, address: str
) -> dict[str, Any]:
    body = operation.get("requestBody")
    named = [item for item in operation["parameters"] if "name" in item]
    return {
        "tag": operation["tags"][0],
        "name": operation["operationId"],
        "method": method,
        "path": path,
        "summary": operation["summary"],
        "description": operation.get("description", ""),
        "parameters": [
            (item["name"], item["schema"], item["required"], item.get("description"))
            for item in named
        ],
        "body": None if body is None else _fields(schemas.resolve(_json_schema(body))),
        "body_required": body is not None and body["required"],
        "example": _curl(method, address + path, operation, schemas),
        "answers": [
            (status, _json_schema(answer).get("properties", {}).get("data"), answer["description"])
            for status, answer in operation["responses"].items()
        ],
    }


def _models(schemas: _Schemas) -> Iterator[dict[str, Any]]:
    for name, schema in schemas.all.items():
        yield {
            "name": name,
            "description": schema.get("description", ""),
            "fields": _fields(schema) if "properties" in schema else None,
            "schema": schema,
        }


def _fields(schema: Schema) -> list[Row]:
    required = schema.get("required", [])
    return [
        (name, field, name in required, field.get("description"))
        for name, field in schema.get("properties", {}).items()
    ]


def _json_schema(carrier: Document) -> Schema:
    schema: Schema = carrier["content"].get("application/json", {}).get("schema", {})
    return schema


def _curl(method: str, address: str, operation: Document, schemas: _Schemas) -> str:
    query = "&".join(
        f"{item['name']}={_sample(item['schema'])}"
        for item in operation["parameters"]
        if item.get("in") == "query" and item["required"]
    )
    url = f"{address}?{query}" if query else address
    command = "curl" if method == "GET" else f"curl -X {method}"
    if "requestBody" not in operation:
        return f"{command} '{url}'"
    sample = schemas.sample(_json_schema(operation["requestBody"]))
    body = json.dumps(sample, ensure_ascii=False).replace("'", "'\\''")
    return f"{command} '{url}' \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'"


def _sample(schema: Schema) -> Any:
    """A value that fits a plain schema."""
    if schema.get("examples"):
        return schema["examples"][0]
    for key in ("default", "const"):
        if schema.get(key) is not None:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("type") in {"integer", "number"}:
        return schema.get("minimum", 1)
    return {"boolean": True, "null": None}.get(schema.get("type", ""), "…")
