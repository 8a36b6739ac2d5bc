"""Endpoint: one line of the table of routes, and the method that it is of the clients.

Knows method, path, models, errors and the operation's name. Knows no operation, no socket and
no web framework. Type checkers take a method's arguments from the request model: parameters
of the path come first, without a name, and then fields by their names.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast, get_type_hints, overload

from pydantic import BaseModel

from relay.errors import RelayError
from relay.models.fields import StrictModel
from relay.models.sessions import SessionView
from relay.models.streams import StreamEvent

P = ParamSpec("P")
T = TypeVar("T")
K = TypeVar("K", str, int)
S = TypeVar("S")
T_co = TypeVar("T_co", covariant=True)

API = "/api/v1"
"""Every path of the table is below this."""

IN_QUERY = frozenset({"GET", "DELETE"})
"""Methods whose fields travel in the query string; those of the others are the body."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")

Errors = tuple[type[RelayError], ...]


class Nothing(StrictModel):
    """The request of a route that takes no fields."""


class Blocking(Generic[S]):
    """A client whose methods return results; a created session is an `S`."""

    def _send(self, endpoint: Endpoint[...], args: Any, kwargs: Any) -> Any:
        raise NotImplementedError


class Asynchronous(Generic[S]):
    """A client whose methods are awaited; a created session is an `S`."""

    def _send(self, endpoint: Endpoint[...], args: Any, kwargs: Any) -> Any:
        raise NotImplementedError


class Endpoint(Generic[P]):
    """A line of the table. `operation` is a name below `relay.operations`.

    `status` is that of success; `errors` are those that the operation itself may raise.
    `_tag` of the class in which the line stands is its heading in the reference.
    """

    name = ""
    tag = ""

    def __init__(
        self,
        method: str,
        path: str,
        request: Callable[..., BaseModel],
        result: Any,
        operation: str,
        *,
        kinds: tuple[type, ...] = (),
        status: int = 200,
        errors: Errors = (),
    ) -> None:
        self.method = method
        self.path = path
        self.request = request
        self.result = result
        self.operation = operation
        self.kinds = kinds
        self.status = status
        self.errors = errors

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.tag = vars(owner)["_tag"]

    @property
    def model(self) -> type[BaseModel] | None:
        """The request model; None if the route takes no fields."""
        built = self.request
        model = built if inspect.isclass(built) else get_type_hints(built)["return"]
        return None if model is Nothing else cast("type[BaseModel]", model)

    @property
    def parameters(self) -> dict[str, type]:
        """The path's parameters besides the session's id, which a session knows itself."""
        names = [name for name in _PLACEHOLDER.findall(self.path) if name != "session_id"]
        return dict(zip(names, self.kinds, strict=True))

    def _bound(self, client: Any) -> Any:
        def method(*args: Any, **kwargs: Any) -> Any:
            return client._send(self, args, kwargs)

        method.__name__ = self.name
        method.__doc__ = f"{self.method} {self.path}, see the reference of the routes."
        return method


class Verb(Endpoint[P], Generic[P, T_co]):
    """A route that answers with a `T_co`."""

    @overload
    def __get__(self, client: None, owner: type) -> Verb[P, T_co]: ...
    @overload
    def __get__(self, client: Blocking[Any], owner: type) -> Callable[P, T_co]: ...
    @overload
    def __get__(self, client: Asynchronous[Any], owner: type) -> Callable[P, Awaitable[T_co]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        return self if client is None else self._bound(client)


class Opening(Endpoint[P], Generic[P]):
    """A route that makes a session: it gives the session, ready for use."""

    @overload
    def __get__(self, client: None, owner: type) -> Opening[P]: ...
    @overload
    def __get__(self, client: Blocking[S], owner: type) -> Callable[P, S]: ...
    @overload
    def __get__(self, client: Asynchronous[S], owner: type) -> Callable[P, Awaitable[S]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        return self if client is None else self._bound(client)


class EventStream(Endpoint[P], Generic[P, T]):
    """A route that is followed: an iterator of its events, until the program is over."""

    @overload
    def __get__(self, client: None, owner: type) -> EventStream[P, T]: ...
    @overload
    def __get__(
        self, client: Blocking[Any], owner: type
    ) -> Callable[P, Iterator[StreamEvent[T]]]: ...
    @overload
    def __get__(
        self, client: Asynchronous[Any], owner: type
    ) -> Callable[P, AsyncGenerator[StreamEvent[T], None]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        return self if client is None else self._bound(client)


# The lines -----------------------------------------------------------------------------


def route(
    method: str,
    path: str,
    request: Callable[P, BaseModel],
    result: type[T],
    operation: str,
    *,
    status: int = 200,
    errors: Errors = (),
) -> Verb[P, T]:
    """A route whose fields are those of `request`, or of a function that makes one."""
    return Verb(method, path, request, result, operation, status=status, errors=errors)


def route_at(
    kind: type[K],
    method: str,
    path: str,
    request: Callable[P, BaseModel],
    result: type[T],
    operation: str,
    *,
    errors: Errors = (),
) -> Verb[Concatenate[K, P], T]:
    """A route with one path parameter, given first and without its name."""
    return Verb(method, path, request, result, operation, kinds=(kind,), errors=errors)


def route_at_two(
    method: str,
    path: str,
    request: Callable[P, BaseModel],
    result: type[T],
    operation: str,
    *,
    errors: Errors = (),
) -> Verb[Concatenate[int, int, P], T]:
    """A route with two numbers in its path."""
    return Verb(method, path, request, result, operation, kinds=(int, int), errors=errors)


def opening(
    path: str,
    request: Callable[P, BaseModel],
    result: type[SessionView],
    operation: str,
    *,
    errors: Errors = (),
) -> Opening[P]:
    """A route that makes a session and answers with it."""
    return Opening("POST", path, request, result, operation, status=201, errors=errors)


def stream(
    path: str, request: Callable[P, BaseModel], event: type[T], operation: str
) -> EventStream[P, T]:
    """A route that streams events with the data `event`."""
    return EventStream("GET", path, request, event, operation)
