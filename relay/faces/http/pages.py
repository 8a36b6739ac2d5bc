"""What the face says about itself: the OpenAPI document, its page, and the way there.

Knows where the documents are served. Knows not what is in them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cache

from quart import Response

from relay.faces.http import answers
from relay.faces.http.docs_page import render
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


def page_views(routes: Sequence[Route]) -> dict[str, Callable[[], Awaitable[Response]]]:
    """A view for each endpoint of PAGES: the document, the page made of it, and a signpost."""

    @cache
    def document() -> Document:
        return openapi(routes)

    @cache
    def document_json() -> bytes:
        return dump_plain(document())

    @cache
    def page() -> bytes:
        return render(document()).encode()

    async def serve_document() -> Response:
        return answers.bare(current_scope(), document_json(), "application/json; charset=utf-8")

    async def serve_page() -> Response:
        return answers.bare(current_scope(), page(), "text/html; charset=utf-8")

    async def welcome() -> Response:
        return answers.success_json(current_scope(), dump_plain(WELCOME))

    return {"openapi": serve_document, "docs": serve_page, "welcome": welcome}
