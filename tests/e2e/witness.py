"""Witness: holds every response of a client against the relay's OpenAPI document.

Knows OpenAPI 3.1 and JSON Schema. Knows no route by name and no session.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx
from openapi_schema_validator import OAS31Validator, oas31_format_checker

from relay.faces.http.openapi import openapi
from relay.faces.http.routes import ROUTES

if TYPE_CHECKING:
    from tests.e2e.api import Api

Document = dict[str, Any]


@cache
def served_document() -> Document:
    """What `/openapi.json` serves. Shared: making it takes longer than most tests."""
    document: Document = json.loads(json.dumps(openapi(ROUTES)))
    return document


assert "date-time" in oas31_format_checker.checkers, "no timestamp would be checked"


class Undocumented(AssertionError):
    """A response that the document does not allow."""


class Witness:
    """Watches the responses of one client; raises Undocumented out of the request."""

    def __init__(self, document: Document | None = None) -> None:
        self.document = document = document or served_document()
        self.answers: list[tuple[str, str, int, Any]] = []
        """Method, path template, status and body of every response so far."""
        self._prefix: str = document["servers"][0]["url"]
        self._templates = [(_pattern(path), path) for path in document["paths"]]

    def watch(self, api: Api) -> Witness:
        """Look at every response that this client gets from now on."""
        api.client.event_hooks["response"].append(self)
        return self

    async def __call__(self, response: httpx.Response) -> None:
        await response.aread()
        found = self._operation(response.request)
        if found is None:
            return
        path, operation = found
        body = self._checked(response, operation)
        self.answers.append((response.request.method, path, response.status_code, body))

    def _operation(self, request: httpx.Request) -> tuple[str, Document] | None:
        """The template and the operation; None for what is no route of the document."""
        below = request.url.path.removeprefix(self._prefix)
        for pattern, path in self._templates:
            operation = self.document["paths"][path].get(request.method.lower())
            if operation is not None and pattern.fullmatch(below):
                return path, operation
        return None

    def _checked(self, response: httpx.Response, operation: Document) -> Any:
        """The body, which fits the document, as do status and headers."""
        what = f"{operation['operationId']}, {response.status_code}"
        documented = operation["responses"].get(str(response.status_code))
        if documented is None:
            raise Undocumented(f"{what} is no documented status: {response.text[:500]}")
        for name, header in documented["headers"].items():
            schema = self._resolved(header)["schema"]
            self._check_value(f"{what}, header {name}", response.headers.get(name), schema)
        media_type = response.headers["content-type"].partition(";")[0]
        schema = documented["content"][media_type]["schema"]
        body = response.json() if media_type == "application/json" else response.text
        self._check_value(what, body, schema)
        return body

    def _check_value(self, what: str, value: Any, schema: Document) -> None:
        whole = {**schema, "components": self.document["components"]}
        problems = problems_of(value, whole)
        if problems:
            raise Undocumented("\n  ".join([what, *problems]))

    def _resolved(self, item: Document) -> Document:
        place = self.document if "$ref" in item else item
        for part in item.get("$ref", "").split("/")[1:]:
            place = place[part]
        return place


def is_documented(response: httpx.Response) -> bool:
    """Whether what the relay serves names this status for this route; true of what is no route."""
    found = _of_what_is_served()._operation(response.request)
    return found is None or str(response.status_code) in found[1]["responses"]


@cache
def _of_what_is_served() -> Witness:
    return Witness()


def problems_of(value: Any, schema: Document) -> list[str]:
    """Where and why the value does not fit the schema."""
    validator = OAS31Validator(schema, format_checker=oas31_format_checker)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))
