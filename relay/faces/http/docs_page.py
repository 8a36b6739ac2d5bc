"""The OpenAPI document as one HTML page, whole and offline: no script, no other file.

Knows OpenAPI and HTML. Knows no route: what it shows is in the document. Plain enough
to be read with `curl | less`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from relay.faces.http.openapi import Document, Schema

_METHODS = ("get", "post", "put", "patch", "delete")

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --code: #8881; --accent: #0a6ebd; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; background: var(--code); }
code { padding: .1em .3em; border-radius: 3px; }
pre { padding: .7em; border-radius: 5px; overflow-x: auto; }
h2 { border-bottom: 2px solid var(--accent); margin-top: 3rem; }
h3 { margin-top: 2.5rem; } h3 code { font-size: 1em; } h4 { margin: 1rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; }
td { border-top: 1px solid var(--line); }
a { color: var(--accent); }
@media (prefers-color-scheme: dark) { :root { --accent: #6cb8f5; } }
"""


def render(document: Document) -> str:
    """The page. Everything from the document is escaped."""
    return "\n".join(_Page(document).lines()) + "\n"


class _Page:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._schemas: Mapping[str, Schema] = document["components"]["schemas"]
        self._base: str = document["servers"][0]["url"]

    def lines(self) -> Iterator[str]:
        info = self._document["info"]
        yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
        yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
        yield f"<title>{escape(info['title'])}</title>\n<style>{_STYLE}</style>\n</head>\n<body>"
        yield f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>"
        yield from _paragraphs(info["description"])
        yield f'<p>For programs: <a href="{self._base}/openapi.json">{self._base}/openapi.json</a></p>'
        yield from self._contents()
        for tag in self._tags():
            yield from self._section(tag)
        yield from self._models()
        yield "</body>\n</html>"

    def _operations(self) -> Iterator[tuple[str, str, Document]]:
        for path, methods in self._document["paths"].items():
            for method in _METHODS:
                if method in methods:
                    yield method.upper(), path, methods[method]

    def _tags(self) -> list[str]:
        return list(dict.fromkeys(op["tags"][0] for _, _, op in self._operations()))

    def _contents(self) -> Iterator[str]:
        yield "<ul>"
        for tag in self._tags():
            yield f'<li><a href="#{_anchor(tag)}">{escape(tag)}</a></li>'
        yield '<li><a href="#models">Models</a></li>\n</ul>'

    def _section(self, tag: str) -> Iterator[str]:
        yield f'<h2 id="{_anchor(tag)}">{escape(tag)}</h2>'
        for method, path, operation in self._operations():
            if operation["tags"][0] == tag:
                yield from self._operation(method, path, operation)

    def _operation(self, method: str, path: str, operation: Document) -> Iterator[str]:
        name = operation["operationId"]
        yield f'\n<h3 id="{escape(name)}"><code>{method} {escape(path)}</code></h3>'
        yield f"<p><strong>{escape(operation['summary'])}</strong></p>"
        yield from _paragraphs(operation.get("description", ""))
        yield from self._parameters(operation)
        yield from self._body(operation)
        yield f"<h4>Example</h4>\n<pre>{escape(self._curl(method, path, operation))}</pre>"
        yield from self._responses(operation)

    def _parameters(self, operation: Document) -> Iterator[str]:
        named = [item for item in operation["parameters"] if "name" in item]
        if named:
            yield "<h4>Parameters</h4>"
            rows = [(p["name"], p["schema"], p["required"], p.get("description")) for p in named]
            yield from self._table(rows)

    def _body(self, operation: Document) -> Iterator[str]:
        if "requestBody" in operation:
            schema = self._resolve(_json_schema(operation["requestBody"]))
            optional = "" if operation["requestBody"]["required"] else " (optional)"
            yield f"<h4>Body{optional}</h4>"
            yield from self._fields(schema)

    def _fields(self, schema: Schema) -> Iterator[str]:
        required = schema.get("required", [])
        yield from self._table(
            [
                (name, field, name in required, field.get("description"))
                for name, field in schema.get("properties", {}).items()
            ]
        )

    def _table(self, rows: list[tuple[str, Schema, bool, str | None]]) -> Iterator[str]:
        yield "<table>"
        yield "<tr><th>Name</th><th>Type</th><th>Default</th><th>Meaning</th></tr>"
        for name, schema, required, description in rows:
            default = "required" if required else _default(schema)
            yield (
                f"<tr><td><code>{escape(name)}</code></td><td>{self._type(schema)}</td>"
                f"<td>{default}</td><td>{escape(description or '')}</td></tr>"
            )
        yield "</table>"

    def _responses(self, operation: Document) -> Iterator[str]:
        yield "<h4>Answers</h4>\n<table>"
        for status, response in operation["responses"].items():
            yield f"<tr><td><code>{status}</code></td><td>{self._answer(response)}</td></tr>"
        yield "</table>"

    def _answer(self, response: Document) -> str:
        data = _json_schema(response).get("properties", {}).get("data")
        return escape(response["description"]) if data is None else f"data: {self._type(data)}"

    def _models(self) -> Iterator[str]:
        yield '<h2 id="models">Models</h2>'
        for name, schema in self._schemas.items():
            yield f'\n<h3 id="{_anchor(name)}"><code>{escape(name)}</code></h3>'
            yield from _paragraphs(schema.get("description", ""))
            if "properties" in schema:
                yield from self._fields(schema)
            else:
                yield f"<p>{self._type(schema)}</p>"

    def _type(self, schema: Schema) -> str:
        """A schema in a few words of HTML."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return f'<a href="#{_anchor(name)}">{escape(name)}</a>'
        members = schema.get("anyOf") or schema.get("oneOf")
        if members:
            return " or ".join(self._type(member) for member in members)
        if "enum" in schema or "const" in schema:
            values = schema.get("enum", [schema.get("const")])
            return ", ".join(f"<code>{escape(json.dumps(value))}</code>" for value in values)
        return self._plain_type(schema) + escape(_bounds(schema))

    def _plain_type(self, schema: Schema) -> str:
        kind = schema.get("type", "any")
        if kind == "array" and "items" in schema:
            return f"list of {self._type(schema['items'])}"
        values = schema.get("additionalProperties")
        if kind == "object" and isinstance(values, dict) and values:
            return f"object of {self._type(values)}"
        return escape(str(kind))

    def _resolve(self, schema: Schema) -> Schema:
        ref = schema.get("$ref")
        return schema if ref is None else self._schemas[ref.rpartition("/")[2]]

    def _curl(self, method: str, path: str, operation: Document) -> str:
        query = "&".join(
            f"{item['name']}={_sample(item['schema'])}"
            for item in operation["parameters"]
            if item.get("in") == "query" and item["required"]
        )
        url = f"http://127.0.0.1:5679{self._base}{path}" + (f"?{query}" if query else "")
        command = "curl" if method == "GET" else f"curl -X {method}"
        if "requestBody" not in operation:
            return f"{command} '{url}'"
        sample = self._sample_object(_json_schema(operation["requestBody"]))
        body = json.dumps(sample, ensure_ascii=False).replace("'", "'\\''")
        return f"{command} '{url}' \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'"

    def _sample_object(self, schema: Schema) -> dict[str, Any]:
        schema = self._resolve(schema)
        properties = schema.get("properties", {})
        return {name: self._sample_field(properties[name]) for name in schema.get("required", [])}

    def _sample_field(self, field: Schema) -> Any:
        resolved = self._resolve(field)
        if resolved.get("type") == "object":
            return self._sample_object(resolved)
        if resolved.get("type") == "array":
            return [self._sample_field(resolved.get("items", {}))]
        return _sample(resolved)


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        if paragraph.strip():
            yield f"<p>{_inline(paragraph.strip())}</p>"


def _inline(text: str) -> str:
    """Text with `code` marked as such."""
    pieces = escape(text).split("`")
    return "".join(
        f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces)
    )


def _anchor(name: str) -> str:
    return escape("m-" + "-".join(name.split()), quote=True)


def _json_schema(carrier: Document) -> Schema:
    schema: Schema = carrier["content"].get("application/json", {}).get("schema", {})
    return schema


def _default(schema: Schema) -> str:
    default = schema.get("default")
    return "" if default is None else f"<code>{escape(json.dumps(default))}</code>"


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
