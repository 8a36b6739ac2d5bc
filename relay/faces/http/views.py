"""A route serves a request: request -> operation -> answer, by a view of Quart's or without.

Knows the order in which a request is checked: is the relay open, does the session
exist, does the query fit, does the body. Knows no operation by name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple

from quart import Response
from quart.globals import request_ctx

from relay.asker import PAGE, Asker, ask_for
from relay.errors import RelayError
from relay.faces.common.asgi import (
    ASKER,
    BODY,
    ROUTE,
    SESSION_ID,
    App,
    HubLike,
    Receive,
    Scope,
    Send,
    has_body,
    refuse,
    request_id_of,
    text_header,
    until_hang_up,
)
from relay.faces.common.client_name import asker_of
from relay.faces.common.failures import as_relay_error
from relay.faces.common.reading import read_body, read_path, read_query, refuse_query
from relay.faces.http import answers, body_limit
from relay.faces.http.route_index import RouteIndex
from relay.faces.http.streams import Stream
from relay.faces.http.table import Route, Signature

View = Callable[..., Awaitable[Response]]


def current_scope() -> Scope:
    """The ASGI scope of the request that this task serves."""
    return request_ctx.request.scope  # type: ignore[return-value]


def view(route: Route, hub: HubLike) -> View:
    """The Quart view of a route. It answers every error itself, with the envelope."""

    async def serve(**path: str) -> Response:
        scope = current_scope()
        answer = await answered(route, path, hub, scope)
        if isinstance(answer, HeldStream):
            return answers.stream(scope, answer.stream, answer.held)
        return answers.enveloped(scope, answer)

    return serve


class ShortWay:
    """The same for most requests, whose routes are known by their paths; the rest are `quart`'s.

    The whole body is in the scope, or is read here where no gateway has.
    """

    def __init__(self, routes: Sequence[Route], hub: HubLike, quart: App) -> None:
        self._index = RouteIndex(routes)
        self._hub = hub
        self._quart = quart

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = scope["type"] == "http"
        if http and BODY not in scope and not await _has_come(scope, receive, send):
            return
        found = self._index.find(scope["method"], scope["path"]) if http else None
        if found is None:
            await self._quart(scope, receive, send)
            return
        async with until_hang_up(scope, receive):
            answer = await answered(*found, self._hub, scope)
            assert isinstance(answer, answers.Enveloped)
            await answers.send(scope, answer, send)


async def _has_come(scope: Scope, receive: Receive, send: Send) -> bool:
    """Whether the body is in the scope, if there is one; if it cannot be, that is answered."""
    try:
        if has_body(scope):
            scope[BODY] = await body_limit.read_body(scope, receive)
    except body_limit.ClientLeftError:
        return False
    except RelayError as error:
        await refuse(scope, receive, send, error)
        return False
    return True


class HeldStream(NamedTuple):
    """A stream, and what is to be let go when it ends."""

    stream: Stream
    held: ExitStack


async def answered(
    route: Route, path: dict[str, str], hub: HubLike, scope: Scope
) -> answers.Enveloped | HeldStream:
    """The answer of the route's operation, or the error that it raised."""
    scope[ROUTE] = route.full_path
    scope[SESSION_ID] = path.get("session_id")
    try:
        return await _answer(route, path, hub, scope)
    except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001  whatever it is, the client gets an answer and the log the rest
        what = f"{route.method} {route.full_path}"
        return answers.of_error(scope, as_relay_error(error, request_id_of(scope), what))


async def _answer(
    route: Route, path: dict[str, str], hub: HubLike, scope: Scope
) -> answers.Enveloped | HeldStream:
    hub.check_open()
    asker = scope[ASKER] = _asker(scope, route, path)
    ask_for(asker)
    with ExitStack() as held:
        subject = hub
        if route.signature.takes_session:
            subject = held.enter_context(hub.use(path["session_id"]))
        result = await route.operation(subject, **_arguments(route.signature, scope, path))
        if isinstance(result, Stream):
            return HeldStream(result, held.pop_all())
        return answers.of_result(scope, result, route.status)


FOLLOWING = frozenset(
    f"/sessions/{{session_id}}{rest}"
    for rest in ("", "/status", "/ping", "/events", "/output", "/timeline")
)
"""Routes of those who only follow a session, by GET, and their streams."""


def _asker(scope: Scope, route: Route, path: dict[str, str]) -> Asker:
    asker = asker_of(scope, verb_of(route, path))
    # The page looks by itself at all that it shows: nobody has asked that.
    return replace(asker, verb="") if asker.face == PAGE and route.method == "GET" else asker


def verb_of(route: Route, path: dict[str, str]) -> str:
    """A request as an entry of the timeline names it; empty if it is none."""
    followed = route.path.removesuffix("/stream") in FOLLOWING and route.method == "GET"
    if followed or route.path.endswith("/ping"):
        return ""
    rest = route.path.removeprefix("/sessions/{session_id}/")
    return f"{route.method} {rest.format_map(path)}"


def _arguments(signature: Signature, scope: Scope, path: dict[str, str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if signature.path_parameters:
        arguments.update(read_path(signature.path_parameters, path))
    if signature.query is not None:
        arguments["query"] = read_query(signature.query, scope["query_string"])
    elif scope["query_string"]:
        refuse_query(scope["query_string"])
    if signature.body is not None:
        media_type = text_header(scope, b"content-type")
        arguments["body"] = read_body(signature.body, scope.get(BODY, b""), media_type)
    if signature.resumes:
        arguments["last_event_id"] = text_header(scope, b"last-event-id")
    return arguments
