"""make_app(): hub, settings and a table of routes become one ASGI app.

Knows what stands behind the gateway: mounted apps, or Quart with a view for each route.

A pure factory: the app has no state and no hooks, and no session lives in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from quart import Response
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException, NotFound, RequestEntityTooLarge
from werkzeug.exceptions import MethodNotAllowed as NoSuchMethod

from relay.errors import (
    InvalidRequest,
    MethodNotAllowed,
    PayloadTooLarge,
    RelayError,
    RouteNotFound,
)
from relay.faces.common.asgi import (
    App,
    HubLike,
    Scope,
    request_id_of,
)
from relay.faces.common.failures import as_relay_error
from relay.faces.http import answers
from relay.faces.http.body_limit import BODY_BYTES
from relay.faces.http.gateway import Gateway
from relay.faces.http.near_routes import nearest
from relay.faces.http.pages import page_views
from relay.faces.http.rate_limit import RateLimit
from relay.faces.http.security import Guard, SecuritySettings
from relay.faces.http.table import Route
from relay.faces.http.upstream.quart_connection import Connection
from relay.faces.http.url_map import endpoint, url_map
from relay.faces.http.views import ShortWay, current_scope, view
from relay.models.envelope import dump_plain
from relay.routes.endpoint import API


def make_app(
    hub: HubLike,
    settings: SecuritySettings,
    routes: Sequence[Route],
    *,
    mounts: Mapping[str, App] | None = None,
) -> Gateway:
    """The whole HTTP face as one ASGI app.

    `mounts` maps path prefixes (`/mcp`) to other ASGI apps behind the same guard and
    body limit; they see the path as the client sent it.
    """
    rate = settings.requests_per_second
    limit = RateLimit(rate) if rate is not None else None
    return Gateway(make_api(hub, routes), Guard(settings), hub.metrics, mounts, limit)


def make_api(hub: HubLike, routes: Sequence[Route]) -> App:
    """The API by itself, for callers who need no guard: a short way, and Quart behind it."""
    return ShortWay(routes, hub, cast(App, _make_quart(hub, routes)))


def _make_quart(hub: HubLike, routes: Sequence[Route]) -> QuartTrio:
    """The Quart-Trio app: every route, the pages, and answers to what is neither."""
    app = QuartTrio("relay", static_folder=None)
    app.asgi_http_class = Connection
    app.config.update(
        # A response may be a stream or a long-poll: only the client or the drain ends it.
        RESPONSE_TIMEOUT=None,
        BODY_TIMEOUT=None,
        MAX_CONTENT_LENGTH=BODY_BYTES,
        PROVIDE_AUTOMATIC_OPTIONS=False,
    )
    app.url_map = url_map(tuple(routes))
    app.view_functions.update({endpoint(route): view(route, hub) for route in routes})
    app.view_functions.update(page_views(routes))
    app.register_error_handler(HTTPException, _Elsewhere(routes).answer)
    return app


class _Elsewhere:
    """Answers for requests that no view serves."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes = routes

    async def answer(self, error: HTTPException) -> Response:
        """The envelope for what Quart itself refuses."""
        scope = current_scope()
        if isinstance(error, NoSuchMethod):
            return _other_method(scope, sorted(error.valid_methods or ()))
        return answers.failure(scope, self._translate(scope, error))

    def _translate(self, scope: Scope, error: HTTPException) -> RelayError:
        if isinstance(error, NotFound):
            return self._no_route(scope)
        if isinstance(error, RequestEntityTooLarge):
            return PayloadTooLarge(
                f"the body is larger than {BODY_BYTES} bytes", max_bytes=BODY_BYTES
            )
        if error.code is not None and error.code < 500:
            return InvalidRequest(error.description or error.name)
        return as_relay_error(error, request_id_of(scope), f"{scope['method']} {scope['path']}")

    def _no_route(self, scope: Scope) -> RouteNotFound:
        method, path = scope["method"], scope["path"][:200]
        near = nearest(self._routes, method, path.removeprefix(API))
        hint = f"Did you mean {API}{near}? " if near else ""
        return RouteNotFound(
            f"there is no route {method} {path}",
            suggestion=f"{hint}GET {API}/docs lists every route",
            method=method,
            path=path,
        )


def _other_method(scope: Scope, allowed: list[str]) -> Response:
    headers = {"Allow": ", ".join([*allowed, "OPTIONS"])}
    if scope["method"] == "OPTIONS":
        return answers.success_json(scope, dump_plain({"allowed": allowed}), headers)
    method = scope["method"][:200]
    error = MethodNotAllowed(
        f"{method} is not allowed here", method=method, allowed=[*allowed, "OPTIONS"]
    )
    return answers.failure(scope, error, headers)
