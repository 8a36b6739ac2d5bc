"""One Quart view a route: request -> operation -> answer.

Knows the order in which a request is checked: is the relay open, does the session
exist, does the query fit, does the body. Knows no operation by name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any

from quart import Response
from quart.globals import request_ctx

from relay.faces.common.asgi import BODY, ROUTE, HubLike, Scope, request_id_of, text_header
from relay.faces.common.failures import as_relay_error
from relay.faces.common.reading import read_body, read_path, read_query, refuse_query
from relay.faces.http import answers
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
        scope[ROUTE] = route.full_path
        try:
            return await _answer(route, hub, scope, path)
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001  whatever it is, the client gets an answer and the log the rest
            what = f"{route.method} {route.full_path}"
            return answers.failure(scope, as_relay_error(error, request_id_of(scope), what))

    return serve


async def _answer(route: Route, hub: HubLike, scope: Scope, path: dict[str, str]) -> Response:
    hub.check_open()
    with ExitStack() as held:
        subject = hub
        if route.signature.takes_session:
            subject = held.enter_context(hub.use(path["session_id"]))
        result = await route.operation(subject, **_arguments(route.signature, scope, path))
        if isinstance(result, Stream):
            return answers.stream(scope, result, held.pop_all())
        return answers.success(scope, result, route.status)


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
