"""The table of routes as an OpenAPI 3.1 document.

Knows OpenAPI; pydantic makes the schemas. Knows no operation by name. Source: contract,
section 1: true for every route, status codes and error bodies included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from relay.errors import RelayError
from relay.faces.common.asgi import REQUEST_ID
from relay.faces.http.streams import Stream
from relay.faces.http.table import Route
from relay.models.envelope import REQUEST_ID_LENGTH, ErrorEnvelope, Meta
from relay.models.tool import PREFIX as TOOL
from relay.routes.endpoint import API

Document: TypeAlias = dict[str, Any]
Schema: TypeAlias = dict[str, Any]
Mode: TypeAlias = Literal["validation", "serialization"]

REF = "#/components/schemas/{model}"
REQUEST_ID_PARAMETER = {"$ref": "#/components/parameters/RequestId"}
LAST_EVENT_PARAMETER = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "description": "The last id that a broken stream gave: go on after it",
    "schema": {"type": "string"},
}
REQUEST_ID_HEADER = {REQUEST_ID: {"$ref": "#/components/headers/RequestId"}}

DESCRIPTION = """\
The debugger for coding agents: live debug sessions over HTTP.

Every answer has the same envelope: `success`, `data`, `error` and `meta`. An error has a
stable `code`, a `message` for people and `details.suggestion`: what to do next.
"""


def openapi(routes: Sequence[Route]) -> Document:
    """The document; valid OpenAPI 3.1 for any table of routes."""
    schemas = _Schemas(routes)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Debug Relay",
            "version": _version(),
            "description": DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": API}],
        "externalDocs": {
            "description": "The run-to-breakpoint tool API of the same server",
            "url": f"{TOOL}/openapi.json",
        },
        "tags": [{"name": tag} for tag in dict.fromkeys(route.tag for route in routes)],
        "security": [{}, {"bearer": []}],
        "paths": {**paths, **_PAGES},
        "components": _components(schemas),
    }


def _version() -> str:
    try:
        return version("debug-relay")
    except PackageNotFoundError:
        return "0"


class _Schemas:
    """The schemas of all models, those of queries apart: they become parameters."""

    def __init__(self, routes: Iterable[Route]) -> None:
        models: dict[tuple[type[BaseModel], Mode], None] = dict.fromkeys(_models(routes))
        refs, definitions = models_json_schema(list(models), ref_template=REF)
        self._refs: Mapping[Any, Schema] = refs
        self.all: dict[str, Schema] = definitions.get("$defs", {})
        queries = {self._name(route.signature.query) for route in routes if route.signature.query}
        self.queries = {name: self.all.pop(name) for name in queries}

    def _name(self, model: type[BaseModel]) -> str:
        return str(self._refs[model, "validation"]["$ref"]).rpartition("/")[2]

    def ref(self, model: type[BaseModel], mode: Mode) -> Schema:
        """The reference to a model's schema."""
        return self._refs[model, mode]

    def query(self, model: type[BaseModel]) -> Schema:
        """The schema of a query model."""
        schema: Schema = self.queries[self._name(model)]
        return schema


def _models(routes: Iterable[Route]) -> Iterable[tuple[type[BaseModel], Mode]]:
    yield ErrorEnvelope, "serialization"
    yield Meta, "serialization"
    for route in routes:
        signature = route.signature
        for model in (signature.query, signature.body):
            if model is not None:
                yield model, "validation"
        if issubclass(signature.result, BaseModel):
            yield signature.result, "serialization"


def _components(schemas: _Schemas) -> dict[str, Any]:
    identifier = {"type": "string", "minLength": 1, "maxLength": REQUEST_ID_LENGTH}
    return {
        "schemas": dict(sorted(schemas.all.items())),
        "parameters": {
            "RequestId": {
                "name": REQUEST_ID,
                "in": "header",
                "required": False,
                "description": "Printable ASCII; comes back in the answer. Made up if absent",
                "schema": identifier,
            }
        },
        "headers": {
            "RequestId": {
                "description": "The request's id, equal to meta.request_id",
                "required": True,
                "schema": identifier,
            }
        },
        "securitySchemes": {
            "bearer": {
                "type": "http",
                "scheme": "bearer",
                "description": "Needed if the relay was started with a token",
            }
        },
    }


def _operation(route: Route, schemas: _Schemas) -> Document:
    operation: Document = {
        "operationId": route.name,
        "tags": [route.tag],
        "summary": route.summary,
        "parameters": [
            REQUEST_ID_PARAMETER,
            *([LAST_EVENT_PARAMETER] if route.signature.resumes else []),
            *_parameters(route, schemas),
        ],
        "responses": _responses(route, schemas),
    }
    if route.description:
        operation["description"] = route.description
    if route.signature.body is not None:
        operation["requestBody"] = _request_body(route.signature.body, schemas)
    return operation


def _parameters(route: Route, schemas: _Schemas) -> list[Document]:
    path = [_path_parameter(route, name) for name in route.placeholders]
    query = route.signature.query
    return path if query is None else path + _query_parameters(schemas.query(query))


def _path_parameter(route: Route, name: str) -> Document:
    kind = route.signature.path_parameters.get(name, str)
    schema = {"type": "integer"} if kind is int else {"type": "string", "minLength": 1}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _query_parameters(schema: Schema) -> list[Document]:
    required = schema.get("required", [])
    return [
        _query_parameter(name, field, required=name in required)
        for name, field in schema.get("properties", {}).items()
    ]


def _query_parameter(name: str, field: Schema, *, required: bool) -> Document:
    schema = _without_null(field)
    parameter: Document = {"name": name, "in": "query", "required": required}
    description = schema.pop("description", None)
    if description is not None:
        parameter["description"] = description
    if schema.get("type") == "array":
        parameter |= {"style": "form", "explode": False}
    return {**parameter, "schema": schema}


def _without_null(field: Schema) -> Schema:
    """A query has no null: absence says it."""
    schema = {name: value for name, value in field.items() if name != "title"}
    if schema.get("default", ...) is None:
        del schema["default"]
    if "anyOf" not in schema:
        return schema
    members = [member for member in schema.pop("anyOf") if member != {"type": "null"}]
    return {**members[0], **schema} if len(members) == 1 else {**schema, "anyOf": members}


def _request_body(model: type[BaseModel], schemas: _Schemas) -> Document:
    return {
        "required": any(field.is_required() for field in model.model_fields.values()),
        "content": {"application/json": {"schema": schemas.ref(model, "validation")}},
    }


def _responses(route: Route, schemas: _Schemas) -> Document:
    by_status: dict[int, list[type[RelayError]]] = {}
    for error in route.all_errors:
        by_status.setdefault(error.status, []).append(error)
    failures = {str(status): _failure(by_status[status]) for status in sorted(by_status)}
    return {str(route.status): _success(route, schemas), **failures}


def _success(route: Route, schemas: _Schemas) -> Document:
    result = route.signature.result
    if issubclass(result, Stream):
        content = {result.media_type.partition(";")[0]: {"schema": {"type": "string"}}}
    else:
        content = {"application/json": {"schema": _envelope(schemas.ref(result, "serialization"))}}
    phrase = HTTPStatus(route.status).phrase
    return {"description": phrase, "headers": REQUEST_ID_HEADER, "content": content}


def _envelope(data: Schema) -> Schema:
    return {
        "type": "object",
        "required": ["success", "data", "error", "meta"],
        "properties": {
            "success": {"const": True},
            "data": data,
            "error": {"type": "null"},
            "meta": {"$ref": REF.format(model="Meta")},
        },
    }


def _failure(errors: Sequence[type[RelayError]]) -> Document:
    codes = sorted(error.code for error in errors)
    narrowed = {"properties": {"error": {"properties": {"code": {"enum": codes}}}}}
    schema = {"allOf": [{"$ref": REF.format(model="ErrorEnvelope")}, narrowed]}
    return {
        "description": ", ".join(codes),
        "headers": REQUEST_ID_HEADER,
        "content": {"application/json": {"schema": schema}},
    }


def _page(name: str, summary: str, media_type: str, schema: Schema) -> Mapping[str, Any]:
    return {
        "get": {
            "operationId": name,
            "tags": ["documentation"],
            "summary": summary,
            "parameters": [REQUEST_ID_PARAMETER],
            "responses": {
                "200": {
                    "description": "OK",
                    "headers": REQUEST_ID_HEADER,
                    "content": {media_type: {"schema": schema}},
                }
            },
        }
    }


_PAGES = {
    "/openapi.json": _page("getOpenapi", "This document", "application/json", {"type": "object"}),
    "/docs": _page("getDocs", "This document as a page", "text/html", {"type": "string"}),
}
