"""Route: one line of the HTTP face, and what its operation's signature says about it.

Knows method, path and operation; infers the body, the query, the path parameters and
the result from the annotations, once, at import. Knows no request and no response.

An operation is

    async def name(subject, *, <path parameters>, query: QueryModel, body: BodyModel) -> Result

where everything after the subject is there only if the operation takes it. One that can
go on where it broke off takes `last_event_id: str | None`, the header Last-Event-ID. The subject
is the hub; where the path names a session and the operation does not ask for its id,
the subject is that session, in use until the answer is ready.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_type_hints

from pydantic import BaseModel

from relay.errors import (
    Forbidden,
    InternalError,
    InvalidParameter,
    InvalidRequest,
    MissingParameter,
    PayloadTooLarge,
    RelayError,
    SessionExpired,
    SessionNotFound,
    ShuttingDown,
    TooManyRequests,
    Unauthorized,
    UnsupportedMediaType,
)
from relay.faces.http.streams import Stream
from relay.routes.endpoint import API

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class RouteError(TypeError):
    """A route and its operation do not fit together: a mistake in the table."""


@dataclass(frozen=True)
class Signature:
    """What an operation takes and gives."""

    path_parameters: Mapping[str, type]
    query: type[BaseModel] | None
    body: type[BaseModel] | None
    result: type[BaseModel | Stream]
    takes_session: bool
    resumes: bool = False


@dataclass(frozen=True)
class Route:
    """`method` and `path` (below /api/v1, `{name}` for a parameter) lead to `operation`.

    `status` is that of success; `errors` are those that the operation itself may raise.
    Raises RouteError if path and signature disagree.
    """

    method: str
    path: str
    operation: Callable[..., Awaitable[BaseModel | Stream]]
    tag: str
    status: int = 200
    errors: tuple[type[RelayError], ...] = ()

    def __post_init__(self) -> None:
        _ = self.signature

    @cached_property
    def signature(self) -> Signature:
        """What the operation takes and gives."""
        return _read_signature(self)

    @property
    def placeholders(self) -> list[str]:
        """The parameters' names in the order of the path."""
        return _PLACEHOLDER.findall(self.path)

    @cached_property
    def full_path(self) -> str:
        """The path with the API's prefix."""
        return API + self.path

    @property
    def name(self) -> str:
        """The operation's name in camelCase."""
        first, *rest = getattr(self.operation, "__name__", "operation").split("_")
        return first + "".join(word.capitalize() for word in rest)

    @property
    def summary(self) -> str:
        """First line of the operation's docstring."""
        return self._documentation.partition("\n")[0].rstrip(".")

    @property
    def description(self) -> str:
        """The operation's docstring after its first line; may be empty."""
        return self._documentation.partition("\n")[2].strip()

    @property
    def _documentation(self) -> str:
        return inspect.getdoc(self.operation) or self.name

    @property
    def all_errors(self) -> list[type[RelayError]]:
        """Every error that a request for this route can meet, without repetition."""
        return list(dict.fromkeys([*self._general_errors(), *self.errors]))

    def _general_errors(self) -> Sequence[type[RelayError]]:
        signature = self.signature
        errors: list[type[RelayError]] = [
            Forbidden,
            InternalError,
            InvalidParameter,
            PayloadTooLarge,
            ShuttingDown,
            TooManyRequests,
            Unauthorized,
        ]
        if signature.body is not None:
            errors += [InvalidRequest, UnsupportedMediaType]
        if signature.query is not None and _has_required(signature.query):
            errors += [MissingParameter]
        if "session_id" in self.placeholders:
            errors += [SessionNotFound, SessionExpired]
        return errors


def _has_required(model: type[BaseModel]) -> bool:
    return any(field.is_required() for field in model.model_fields.values())


def _read_signature(route: Route) -> Signature:
    hints = get_type_hints(route.operation)
    parameters = list(inspect.signature(route.operation).parameters.values())
    if not parameters:
        raise _mistake(route, "takes no subject")
    keywords = {parameter.name: hints.get(parameter.name) for parameter in parameters[1:]}
    placeholders = route.placeholders
    takes_session = "session_id" in placeholders and "session_id" not in keywords
    expected = [name for name in placeholders if not (takes_session and name == "session_id")]
    path = {name: _path_type(route, name, keywords.pop(name, None)) for name in expected}
    query = _model(route, "query", keywords.pop("query", None))
    body = _model(route, "body", keywords.pop("body", None))
    resumes = keywords.pop("last_event_id", None) is not None
    if keywords:
        raise _mistake(route, f"takes {sorted(keywords)}, which the path does not give")
    result = _result(route, hints.get("return"))
    return Signature(path, query, body, result, takes_session, resumes)


def _path_type(route: Route, name: str, annotation: Any) -> type:
    if annotation is str or annotation is int:
        return annotation
    raise _mistake(route, f"must take {name!r}, annotated str or int")


def _model(route: Route, name: str, annotation: Any) -> type[BaseModel] | None:
    if annotation is None:
        return None
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    raise _mistake(route, f"must annotate {name!r} with a model")


def _result(route: Route, annotation: Any) -> type[BaseModel | Stream]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel | Stream):
        return annotation
    raise _mistake(route, "must return a model or a Stream")


def _mistake(route: Route, what: str) -> RouteError:
    return RouteError(f"{route.method} {route.path}: {route.name} {what}")
