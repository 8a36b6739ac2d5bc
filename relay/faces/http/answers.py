"""Envelopes and streams as Quart responses, under the id of the request.

Knows headers and media types. Knows no route.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import ExitStack

from pydantic import BaseModel
from quart import Response
from quart.wrappers.response import ResponseBody

from relay.errors import RelayError
from relay.faces.common.asgi import JSON, REQUEST_ID, Scope, failure_envelope, request_id_of
from relay.faces.http.streams import Stream
from relay.models import envelope

STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""A stream that somebody keeps or gathers up is no stream."""


def success(scope: Scope, data: BaseModel, status: int = 200) -> Response:
    """The envelope around a result."""
    return _json(scope, envelope.success(data, request_id_of(scope)), status)


def success_json(scope: Scope, data: bytes, headers: Mapping[str, str] | None = None) -> Response:
    """The envelope around a result that is JSON already."""
    return _json(scope, envelope.success_json(data, request_id_of(scope)), 200, headers)


def failure(scope: Scope, error: RelayError, headers: Mapping[str, str] | None = None) -> Response:
    """The envelope around an error, with the error's status."""
    return _json(scope, failure_envelope(scope, error), error.status, headers)


class StreamBody(ResponseBody):
    """The pieces of a stream, and what is to be let go when it ends, however it does."""

    def __init__(self, source: Stream, held: ExitStack) -> None:
        self._pieces = source.pieces
        self._held = held

    async def __aenter__(self) -> AsyncGenerator[bytes, None]:
        return self._pieces

    async def __aexit__(self, *exc_info: object) -> None:
        with self._held:
            await self._pieces.aclose()

    async def convert_to_sequence(self) -> bytes:
        """Asked for by nobody: a stream has no end to wait for."""
        raise NotImplementedError


def stream(scope: Scope, source: Stream, held: ExitStack) -> Response:
    """A response that lasts as long as the stream; `held` is let go at its end."""
    headers = {REQUEST_ID: request_id_of(scope), **STREAM_HEADERS}
    response = Response(None, headers=headers, content_type=source.media_type)
    response.headers.pop("Content-Length", None)
    response.response = StreamBody(source, held)
    return response


def bare(scope: Scope, body: bytes, media_type: str) -> Response:
    """A document without the envelope."""
    headers = {REQUEST_ID: request_id_of(scope)}
    return Response(body, headers=headers, content_type=media_type)


def _json(
    scope: Scope, body: bytes, status: int, more: Mapping[str, str] | None = None
) -> Response:
    headers = {REQUEST_ID: request_id_of(scope), **(more or {})}
    return Response(body, status, headers, content_type=JSON)
