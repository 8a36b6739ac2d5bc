"""What the face says about itself: the OpenAPI document, its page, and the way there.

Knows where the documents are served. Knows not what is in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from quart import Response
from quart_trio import QuartTrio

from relay.faces.http import answers
from relay.faces.http.docs_page import render
from relay.faces.http.openapi import Document, openapi
from relay.faces.http.table import API, Route
from relay.faces.http.views import current_scope
from relay.models.envelope import dump_plain

WELCOME = {
    "name": "Debug Relay",
    "api": API,
    "docs": f"{API}/docs",
    "openapi": f"{API}/openapi.json",
}


def add_pages(app: QuartTrio, routes: Sequence[Route]) -> None:
    """Serve `/api/v1/openapi.json`, `/api/v1/docs`, and a signpost at `/` and `/api/v1`."""

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

    app.add_url_rule(f"{API}/openapi.json", "openapi", serve_document, methods=["GET"])
    app.add_url_rule(f"{API}/docs", "docs", serve_page, methods=["GET"])
    app.add_url_rule("/", "welcome", welcome, methods=["GET"])
    app.add_url_rule(API, "welcome", welcome, methods=["GET"])
