"""Envelopes and streams as answers over HTTP, under the id of the request.

Knows headers and media types. Knows no route.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import ExitStack
from typing import NamedTuple

from pydantic import BaseModel
from quart import Response
from quart.wrappers.response import ResponseBody

from relay.errors import RelayError
from relay.faces.common.asgi import (
    JSON,
    REQUEST_ID,
    Scope,
    Send,
    failure_envelope,
    json_headers,
    request_id_of,
)
from relay.faces.http.streams import Stream
from relay.models import envelope

STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""A stream that somebody keeps or gathers up is no stream."""


class Enveloped(NamedTuple):
    """An answer with the envelope around it."""

    status: int
    body: bytes


def of_result(scope: Scope, data: BaseModel, status: int) -> Enveloped:
    """The answer with an operation's result, under the request's id."""
    return Enveloped(status, envelope.success(data, request_id_of(scope)))


def of_error(scope: Scope, error: RelayError) -> Enveloped:
    """The answer with an error, under the request's id and with the error's status."""
    return Enveloped(error.status, failure_envelope(scope, error))


async def send(scope: Scope, answer: Enveloped, send: Send) -> None:
    """Send it as it is, without Quart."""
    headers = json_headers(scope, answer.body)
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body, "more_body": False})


def enveloped(
    scope: Scope, answer: Enveloped, headers: Mapping[str, str] | None = None
) -> Response:
    """The same as a response of Quart's."""
    all_headers = {REQUEST_ID: request_id_of(scope), **(headers or {})}
    return Response(answer.body, answer.status, all_headers, content_type=JSON)


def success_json(scope: Scope, data: bytes, headers: Mapping[str, str] | None = None) -> Response:
    """The envelope around a result that is JSON already."""
    body = envelope.success_json(data, request_id_of(scope))
    return enveloped(scope, Enveloped(200, body), headers)


def failure(scope: Scope, error: RelayError, headers: Mapping[str, str] | None = None) -> Response:
    """The envelope around an error, with the error's status."""
    return enveloped(scope, of_error(scope, error), headers)


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
