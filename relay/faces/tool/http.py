"""The tool API over HTTP: an ASGI app that `relay serve` mounts at /tool/v0.

Knows paths, methods and the two shapes of an answer. Knows nothing of debugging.
No envelope: a success is the result itself, a refusal is `{"error": {"type", "message"}}`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from relay.asker import ask_for
from relay.errors import MethodNotAllowed, RouteNotFound
from relay.faces.common.asgi import (
    ASKER,
    BODY,
    ROUTE,
    SESSION_ID,
    App,
    Headers,
    Receive,
    Scope,
    Send,
    failure_body,
    json_headers,
    request_id_of,
    text_header,
    until_hang_up,
)
from relay.faces.common.client_name import asker_of
from relay.faces.common.failures import as_relay_error
from relay.faces.common.reading import read_body, refuse_query
from relay.faces.common.tool_calls import CALLS, PREFIX, ToolCall
from relay.faces.tool.document import document
from relay.models.envelope import dump_plain

DOCUMENT_PATH = "/openapi.json"


def tool_app(hub: Any, *_: object) -> App:
    """The app, as a `Mount`; `hub` is handed to the operations."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async with until_hang_up(scope, receive):
            status, body, more = await _answer(hub, scope)
            await _send(scope, send, status, body, more)

    return app


async def _answer(hub: Any, scope: Scope) -> tuple[int, bytes, Headers]:
    path = scope["path"].removeprefix(PREFIX)
    try:
        hub.check_open()
        return 200, await _serve(hub, scope, path), []
    except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001  whatever it is, the client gets an answer and the log the rest
        what = f"{scope['method'][:20]} {scope['path'][:200]}"
        shown = as_relay_error(error, request_id_of(scope), what)
        allowed = shown.details.get("allowed") if isinstance(shown, MethodNotAllowed) else None
        more = [(b"allow", ", ".join(allowed).encode())] if allowed else []
        return shown.status, failure_body(scope, shown), more


async def _serve(hub: Any, scope: Scope, path: str) -> bytes:
    if path == DOCUMENT_PATH and scope["method"] == "GET":
        scope[ROUTE] = PREFIX + path
        return dump_plain(document())
    call, given = _find(scope["method"], path)
    scope[ROUTE] = PREFIX + call.path
    scope[SESSION_ID] = given.get("sessionId")
    asker = scope[ASKER] = asker_of(scope, f"{call.method} {call.path}", "tool")
    ask_for(asker)
    refuse_query(scope["query_string"])
    asked: Any = None
    if call.body is not None:
        media_type = text_header(scope, b"content-type")
        asked = read_body(call.body, scope.get(BODY, b""), media_type)
        given |= asked.model_dump(by_alias=True, exclude_unset=True)
    if call.body is not call.model:  # the path has a part of it
        asked = call.model.model_validate(given)
    result = await call.operation(hub, asked)
    return result.model_dump_json().encode()


def _find(method: str, path: str) -> tuple[ToolCall, dict[str, Any]]:
    """The call, and what the path says; raises RouteNotFound or MethodNotAllowed."""
    found = [(call, match) for call in CALLS.values() if (match := _pattern(call).fullmatch(path))]
    for call, match in found:
        if call.method == method:
            return call, match.groupdict()
    if not found:
        known = ["GET " + DOCUMENT_PATH, *(f"{c.method} {c.path}" for c in CALLS.values())]
        raise RouteNotFound(
            f"there is no route {method[:20]} {PREFIX}{path[:200]}",
            suggestion=f"Below {PREFIX} there are: {', '.join(known)}",
        )
    allowed = sorted(call.method for call, _ in found)
    raise MethodNotAllowed(
        f"{method[:20]} is not allowed here",
        suggestion=f"Use {' or '.join(allowed)}",
        allowed=allowed,
    )


@cache
def _pattern(call: ToolCall) -> re.Pattern[str]:
    return re.compile(call.path.replace("{sessionId}", r"(?P<sessionId>[^/]{1,255})") + "/?")


async def _send(scope: Scope, send: Send, status: int, body: bytes, more: Headers) -> None:
    headers = [*json_headers(scope, body), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
