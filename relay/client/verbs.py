"""How one line of a table becomes a method of two clients.

A `Verb` is a route with its request and its result. Bound to a blocking client it gives the
result, bound to an asynchronous one an awaitable of it; type checkers see the fields of the
request as keyword arguments. Knows no route and no socket.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    cast,
    get_type_hints,
    overload,
)

from pydantic import BaseModel, ValidationError

from relay.client.calls import ASKING, PLACEHOLDER, Call, fill, make_call, reader, refuse
from relay.client.following import Following, Told
from relay.models.creating import CreatedSession
from relay.models.fields import StrictModel
from relay.models.sessions import SessionView

if TYPE_CHECKING:
    from relay.client.asynchronous import AsyncSession
    from relay.client.blocking import Session

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
K = TypeVar("K", str, int)
T_co = TypeVar("T_co", covariant=True)


class Nothing(StrictModel):
    """The request of a route that takes no fields."""


class Blocking:
    """What answers at once."""

    def _perform(self, call: Call[R]) -> R:
        raise NotImplementedError

    def _follow(self, following: Following[T]) -> Iterator[Told[T]]:
        raise NotImplementedError

    def _opened(self, created: CreatedSession) -> Session:
        raise NotImplementedError


class Asynchronous:
    """What is awaited."""

    async def _perform(self, call: Call[R]) -> R:
        raise NotImplementedError

    def _follow(self, following: Following[T]) -> AsyncIterator[Told[T]]:
        raise NotImplementedError

    def _opened(self, created: CreatedSession) -> AsyncSession:
        raise NotImplementedError


class Place(Protocol):
    """What a verb is bound to: it knows its own part of the path."""

    @property
    def _own(self) -> dict[str, str]:
        """Path parameters that need not be given: the session's id."""


class Line(Generic[P]):
    """A line of the table: everything but how it is carried out."""

    def __init__(
        self, method: str, path: str, request: Callable[..., BaseModel], result: Any
    ) -> None:
        self.method = method
        self.path = path
        self.request = request
        self.result = result
        self.read = reader(result)
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def model(self) -> type[BaseModel] | None:
        """The request model; None if the route takes no fields."""
        built = self.request
        model = built if inspect.isclass(built) else get_type_hints(built)["return"]
        return None if model is Nothing else cast("type[BaseModel]", model)

    def call_of(self, place: Place, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call[Any]:
        """The call; raises InvalidRequest for fields that the model refuses."""
        names = [name for name in PLACEHOLDER.findall(self.path) if name not in place._own]
        if len(args) < len(names):
            raise TypeError(f"{self.name}() needs {', '.join(names)}")
        values = {**place._own, **dict(zip(names, args, strict=False))}
        try:
            request = self._request(*args[len(names) :], **kwargs)
        except ValidationError as error:
            refuse(error)
        return make_call(self.method, fill(self.path, values), request, self.read)

    def _request(self, *args: Any, **kwargs: Any) -> BaseModel:
        if self.method in ASKING and self.model is not None:  # it travels as text anyhow
            return self.model.model_validate(kwargs, strict=False)
        return self.request(*args, **kwargs)

    def _named(self, function: Any) -> Any:
        function.__name__ = self.name
        function.__doc__ = f"{self.method} {self.path}, see the reference of the routes."
        return function


class Verb(Line[P], Generic[P, T_co]):
    """A route that answers with a `T_co`."""

    @overload
    def __get__(self, place: None, owner: type) -> Verb[P, T_co]: ...
    @overload
    def __get__(self, place: Blocking, owner: type) -> Callable[P, T_co]: ...
    @overload
    def __get__(self, place: Asynchronous, owner: type) -> Callable[P, Awaitable[T_co]]: ...
    def __get__(self, place: Any, owner: type) -> Any:
        if place is None:
            return self
        return self._named(
            lambda *args, **kwargs: place._perform(self.call_of(place, args, kwargs))
        )


class Opening(Line[P], Generic[P]):
    """A route that makes a session: it gives the session, ready for use."""

    @overload
    def __get__(self, place: None, owner: type) -> Opening[P]: ...
    @overload
    def __get__(self, place: Blocking, owner: type) -> Callable[P, Session]: ...
    @overload
    def __get__(self, place: Asynchronous, owner: type) -> Callable[P, Awaitable[AsyncSession]]: ...
    def __get__(self, place: Any, owner: type) -> Any:
        if place is None:
            return self
        if isinstance(place, Blocking):
            return self._named(lambda *args, **kwargs: self._open(place, args, kwargs))
        return self._named(lambda *args, **kwargs: self._open_async(place, args, kwargs))

    def _open(self, place: Any, args: Any, kwargs: Any) -> Session:
        return cast("Session", place._opened(place._perform(self.call_of(place, args, kwargs))))

    async def _open_async(self, place: Any, args: Any, kwargs: Any) -> AsyncSession:
        created = await place._perform(self.call_of(place, args, kwargs))
        return cast("AsyncSession", place._opened(created))


class Tale(Line[P], Generic[P, T]):
    """A route that is followed: an iterator of what it tells, until the program is over."""

    @overload
    def __get__(self, place: None, owner: type) -> Tale[P, T]: ...
    @overload
    def __get__(self, place: Blocking, owner: type) -> Callable[P, Iterator[Told[T]]]: ...
    @overload
    def __get__(self, place: Asynchronous, owner: type) -> Callable[P, AsyncIterator[Told[T]]]: ...
    def __get__(self, place: Any, owner: type) -> Any:
        if place is None:
            return self
        return self._named(
            lambda *args, **kwargs: place._follow(
                Following(self.call_of(place, args, kwargs), self.read)
            )
        )


# The lines -----------------------------------------------------------------------------


def route(method: str, path: str, request: Callable[P, BaseModel], result: type[T]) -> Verb[P, T]:
    """A route whose fields are those of `request`, or of a function that makes one."""
    return Verb(method, path, request, result)


def route_at(
    kind: type[K], method: str, path: str, request: Callable[P, BaseModel], result: type[T]
) -> Verb[Concatenate[K, P], T]:
    """A route with one path parameter, given first and without its name."""
    del kind
    return Verb(method, path, request, result)


def route_at_two(
    method: str, path: str, request: Callable[P, BaseModel], result: type[T]
) -> Verb[Concatenate[int, int, P], T]:
    """A route with two numbers in its path."""
    return Verb(method, path, request, result)


def opening(path: str, request: Callable[P, BaseModel], result: type[SessionView]) -> Opening[P]:
    """A route that makes a session and answers with it."""
    line: Opening[P] = Opening("POST", path, request, result)
    line.read = reader(CreatedSession)  # every view of a session fits into it
    return line


def tale(path: str, request: Callable[P, BaseModel], told: type[T]) -> Tale[P, T]:
    """A route that streams."""
    return Tale("GET", path, request, told)
