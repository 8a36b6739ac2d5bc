"""What the face says about itself: the OpenAPI document, its page, and the way there.

Knows where the documents are served. Knows not what is in them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import cache, lru_cache

from quart import Response

from relay.faces.common.asgi import ROUTE, Scope, header
from relay.faces.http import answers
from relay.faces.http.docs_page import LOCAL, render
from relay.faces.http.openapi import Document, openapi
from relay.faces.http.table import Route
from relay.faces.http.views import current_scope
from relay.models.envelope import dump_plain
from relay.routes.endpoint import API

WELCOME = {
    "name": "Debug Relay",
    "api": API,
    "docs": f"{API}/docs",
    "openapi": f"{API}/openapi.json",
}


PAGES = {f"{API}/openapi.json": "openapi", f"{API}/docs": "docs", "/": "welcome", API: "welcome"}
"""Where each of the pages is served: path to endpoint."""


_HOST = re.compile(r"[\w.-]+(:\d+)?|\[[\da-fA-F:.]+\](:\d+)?", re.ASCII)
"""What may stand in an example for a shell as it came."""


def _origin(scope: Scope) -> str:
    """What this reader's requests begin with: the examples are to be copied."""
    host = (header(scope, b"host") or b"").decode("latin-1")
    return f"{scope['scheme']}://{host}" if _HOST.fullmatch(host) else LOCAL


def _noted() -> Scope:
    """The request, whose path is its route: that of one of PAGES."""
    scope = current_scope()
    scope[ROUTE] = scope["path"]
    return scope


def page_views(routes: Sequence[Route]) -> dict[str, Callable[[], Awaitable[Response]]]:
    """A view for each endpoint of PAGES: the document, the page made of it, and a signpost."""

    @cache
    def document() -> Document:
        return openapi(routes)

    @cache
    def document_json() -> bytes:
        return dump_plain(document())

    @lru_cache(maxsize=4)
    def page(origin: str) -> bytes:
        return render(document(), origin).encode()

    async def serve_document() -> Response:
        scope = _noted()
        return answers.bare(scope, document_json(), "application/json; charset=utf-8")

    async def serve_page() -> Response:
        scope = _noted()
        return answers.bare(scope, page(_origin(scope)), "text/html; charset=utf-8")

    async def welcome() -> Response:
        return answers.success_json(_noted(), dump_plain(WELCOME))

    return {"openapi": serve_document, "docs": serve_page, "welcome": welcome}
