"""The tool API as OpenAPI 3.1: its own document, and its paths for the whole relay's.

Knows OpenAPI; pydantic makes the schemas.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from relay.errors import (
    Forbidden,
    InternalError,
    InvalidParameter,
    InvalidRequest,
    PayloadTooLarge,
    RelayError,
    SessionExpired,
    SessionNotFound,
    ShuttingDown,
    TooManyRequests,
    Unauthorized,
    UnsupportedMediaType,
)
from relay.faces.common.tool_calls import CALLS, PREFIX, ToolCall
from relay.models.tool import ToolError

TAG = "Run to breakpoint"
REF = "#/components/schemas/{model}"

_ANYWHERE: tuple[type[RelayError], ...] = (
    Forbidden,
    InternalError,
    InvalidParameter,
    ShuttingDown,
    TooManyRequests,
    Unauthorized,
)
_WITH_BODY: tuple[type[RelayError], ...] = (InvalidRequest, UnsupportedMediaType, PayloadTooLarge)
_WITH_SESSION: tuple[type[RelayError], ...] = (SessionNotFound, SessionExpired)

DESCRIPTION = """\
Run a Python program to a line and read its local variables, in five calls.

There is no envelope. A refusal is `{"error": {"type", "message"}}`; what goes wrong in the
program itself is an answer, in `error` of a run.
"""


@cache
def document() -> dict[str, Any]:
    """The whole document. Not to be changed by who gets it."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Debug Relay: run to breakpoint",
            "version": version("debug-relay"),
            "description": DESCRIPTION,
        },
        "servers": [{"url": PREFIX}],
        "security": [{}, {"bearer": []}],
        "paths": _paths(),
        "components": {
            "schemas": schemas(),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def schemas() -> dict[str, Any]:
    """The schemas of every model, by name."""
    models: list[tuple[type[BaseModel], Any]] = [(ToolError, "serialization")]
    models += [(call.result, "serialization") for call in CALLS.values()]
    models += [(call.body, "validation") for call in CALLS.values() if call.body is not None]
    _, found = models_json_schema(list(dict.fromkeys(models)), ref_template=REF)
    return dict(sorted(found["$defs"].items()))


def _paths() -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for name, call in CALLS.items():
        paths.setdefault(call.path, {})[call.method.lower()] = _operation(name, call)
    return paths


def _operation(name: str, call: ToolCall) -> dict[str, Any]:
    text = inspect.getdoc(call.operation) or name
    operation: dict[str, Any] = {
        "operationId": name,
        "tags": [TAG],
        "summary": text.partition("\n")[0].rstrip("."),
        "parameters": _parameters(call),
        "responses": {
            "200": {"description": "OK", "content": _json(call.result)},
            **_failures(call),
        },
    }
    if rest := text.partition("\n")[2].strip():
        operation["description"] = rest
    if call.body is not None:
        operation["requestBody"] = {"required": True, "content": _json(call.body)}
    return operation


def _parameters(call: ToolCall) -> list[dict[str, Any]]:
    if "{sessionId}" not in call.path:
        return []
    schema = {"type": "string", "minLength": 1, "maxLength": 255}
    return [{"name": "sessionId", "in": "path", "required": True, "schema": schema}]


def errors_of(call: ToolCall) -> Sequence[type[RelayError]]:
    """Every error that the call can be refused with."""
    with_body = () if call.body is None else _WITH_BODY
    with_session = _WITH_SESSION if "{sessionId}" in call.path else ()
    return tuple(dict.fromkeys((*_ANYWHERE, *with_body, *with_session, *call.errors)))


def _failures(call: ToolCall) -> dict[str, Any]:
    by_status: dict[int, list[str]] = {}
    for error in errors_of(call):
        by_status.setdefault(error.status, []).append(error.__name__)
    return {
        str(status): {"description": ", ".join(sorted(names)), "content": _json(ToolError)}
        for status, names in sorted(by_status.items())
    }


def _json(model: type[BaseModel]) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": REF.format(model=model.__name__)}}}
