"""How a line of the table of routes is carried out by both clients.

A line that is called becomes a `Call`; what is done with it depends on its kind: a verb
answers, an opening gives a session, a stream is followed. Knows no route and no socket.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from relay.client.calls import (
    PLACEHOLDER,
    Call,
    UnreadableAnswer,
    fill,
    make_call,
    reader,
    refuse,
    take_away,
)
from relay.client.following import Following
from relay.errors import RelayError
from relay.models.creating import CreatedSession
from relay.models.streams import StreamEvent
from relay.routes import endpoint
from relay.routes.endpoint import IN_QUERY, Endpoint, EventStream, Opening

R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")


class BlockingVerbs(endpoint.Blocking[S]):
    """A client that carries calls out at once."""

    _own: Mapping[str, str]
    """Path parameters that need not be given: the session's id."""

    def _send(self, endpoint: Endpoint[...], args: Any, kwargs: Any) -> Any:
        call = call_of(endpoint, self._own, args, kwargs)
        if isinstance(endpoint, EventStream):
            return self._follow(Following(call, call.read))
        return self._open(call) if isinstance(endpoint, Opening) else self._perform(call)

    def _open(self, call: Call[CreatedSession]) -> S:
        try:
            return self._opened(self._perform(call))
        except UnreadableAnswer as error:
            with contextlib.suppress(RelayError):  # what is made, and nobody could name
                self._perform(take_away(error.data))
            raise

    def _perform(self, call: Call[R]) -> R:
        raise NotImplementedError

    def _follow(self, following: Following[T]) -> Iterator[StreamEvent[T]]:
        raise NotImplementedError

    def _opened(self, created: CreatedSession) -> S:
        raise NotImplementedError


class AsynchronousVerbs(endpoint.Asynchronous[S]):
    """A client whose calls are awaited."""

    _own: Mapping[str, str]
    """Path parameters that need not be given: the session's id."""

    def _send(self, endpoint: Endpoint[...], args: Any, kwargs: Any) -> Any:
        call = call_of(endpoint, self._own, args, kwargs)
        if isinstance(endpoint, EventStream):
            return self._follow(Following(call, call.read))
        return self._open(call) if isinstance(endpoint, Opening) else self._perform(call)

    async def _open(self, call: Call[CreatedSession]) -> S:
        try:
            return self._opened(await self._perform(call))
        except UnreadableAnswer as error:
            with contextlib.suppress(RelayError):  # what is made, and nobody could name
                await self._perform(take_away(error.data))
            raise

    async def _perform(self, call: Call[R]) -> R:
        raise NotImplementedError

    def _follow(self, following: Following[T]) -> AsyncGenerator[StreamEvent[T], None]:
        raise NotImplementedError

    def _opened(self, created: CreatedSession) -> S:
        raise NotImplementedError


def call_of(
    endpoint: Endpoint[...], own: Mapping[str, str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Call[Any]:
    """The call of a method; raises InvalidRequest for fields that the model refuses."""
    names = [name for name in PLACEHOLDER.findall(endpoint.path) if name not in own]
    if len(args) < len(names):
        raise TypeError(f"{endpoint.name}() needs {', '.join(names)}")
    values = {**own, **dict(zip(names, args, strict=False))}
    try:
        request = _request(endpoint, args[len(names) :], kwargs)
    except ValidationError as error:
        refuse(error, endpoint.model, _given(endpoint, args[len(names) :], kwargs))
    # Every view of a session fits into a created one.
    result = CreatedSession if isinstance(endpoint, Opening) else endpoint.result
    return make_call(endpoint.method, fill(endpoint.path, values), request, reader(result))


def _given(
    endpoint: Endpoint[...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """By name, so that a complaint has one: `evaluate("x")` is of the field `expression`."""
    if not args:
        return kwargs
    return dict(inspect.signature(endpoint.request).bind_partial(*args, **kwargs).arguments)


def _request(endpoint: Endpoint[...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> BaseModel:
    if endpoint.method in IN_QUERY and endpoint.model is not None:  # it travels as text anyhow
        return endpoint.model.model_validate(kwargs, strict=False)
    return endpoint.request(*args, **kwargs)
