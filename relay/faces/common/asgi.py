"""What the ASGI wrappers share: the types, and answers that do not come from Quart.

Knows ASGI messages and the envelope. Knows no route.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Protocol, TypeAlias

import trio

from relay.actions import in_words
from relay.config import Settings
from relay.errors import RelayError
from relay.faces.common.actions import shown_details
from relay.faces.common.tool_actions import ROUTE_WORDS
from relay.metrics import Metrics
from relay.models import envelope
from relay.models.tool import PREFIX as TOOL
from relay.models.tool import refusal

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers: TypeAlias = list[tuple[bytes, bytes]]

JSON = "application/json; charset=utf-8"
REQUEST_ID = "X-Request-ID"

ROUTE = "relay.route"
"""Where a view notes its template in the scope."""

SESSION_ID = "relay.session_id"
"""Where a view notes which session the request is for, in the scope."""

ASKER = "relay.asker"
"""Where a view notes who asks, in the scope."""

BODY = "relay.body"
"""In the scope: the whole body, where there is one."""

_HEADERS = "relay.headers"
"""In the scope: the first header of each name."""

OPEN_TO_ALL = "open_to_all"
"""An app with this attribute serves the same to everybody: below its path no token is asked for."""

TAKES_TURNS = "takes_turns"
"""An app with this attribute has requests that are too many wait for a while, and not refused."""

IS_WHOLE = "relay.is_whole"
"""In the scope of a request whose body, if it has any, is there already: receiving it waits for nobody."""

ON_HANG_UP = "relay.on_hang_up"
"""In the scope, by our own server: takes a function, to be called if the client leaves before its
answer is there."""

LINGER_SECONDS = 2.0
"""How long a refused upload may go on before the connection is cut."""


class HubLike(Protocol):
    """What this face needs of the hub."""

    def check_open(self) -> None:
        """Raise ShuttingDown once the relay has begun to end."""

    @property
    def settings(self) -> Settings:
        """The settings in force."""

    @property
    def metrics(self) -> Metrics:
        """What this relay counts."""

    @property
    def shutdown_requested(self) -> trio.Event:
        """Set when a client asked the relay to end."""

    def drain(self) -> None:
        """Refuse new work, answer every waiter, and let every session end."""

    def use(self, session_id: str) -> AbstractContextManager[Any]:
        """The live session, kept from expiring; raises SessionNotFound or SessionExpired."""


Mount: TypeAlias = Callable[[HubLike, trio.Nursery, trio.Event], App]
"""Makes the app of a face that HTTP carries beside its own, behind the same guard and body limit.

The nursery lives as long as the server; the event ends every stream. Who composes a server says at
which path: the app sees paths as the client sent them.
"""


def header(scope: Scope, name: bytes) -> bytes | None:
    """The first header of that name, lower-case as ASGI has them."""
    found: dict[bytes, bytes] | None = scope.get(_HEADERS)
    if found is None:
        found = scope[_HEADERS] = dict(reversed(list(scope["headers"])))
    return found.get(name)


def text_header(scope: Scope, name: bytes) -> str | None:
    """The same as text."""
    found = header(scope, name)
    return None if found is None else found.decode("latin-1")


def request_id_of(scope: Scope) -> str:
    """The id of this request, the same one for every wrapper and for Quart."""
    if "relay.request_id" not in scope:
        offered = header(scope, REQUEST_ID.lower().encode())
        text = offered.decode("latin-1") if offered is not None else None
        scope["relay.request_id"] = envelope.choose_request_id(text)
    return str(scope["relay.request_id"])


def failure_body(scope: Scope, error: RelayError) -> bytes:
    """The error as the API shows it that the request is for: one has no envelope."""
    path = scope.get("path", "")
    if path == TOOL or path.startswith(TOOL + "/"):
        way_out = in_words(error.suggestion, error.details, ROUTE_WORDS)
        return refusal(error, way_out).model_dump_json().encode()
    return failure_envelope(scope, error)


def failure_envelope(scope: Scope, error: RelayError) -> bytes:
    """The envelope around an error, with the way out in routes."""
    shown = shown_details(error, header(scope, b"prefer"))
    return envelope.failure(error, request_id_of(scope), **shown)


def has_body(scope: Scope) -> bool:
    """Whether the client announced a body (HTTP/1.1: by one of two headers, or not at all)."""
    if header(scope, b"transfer-encoding") is not None:
        return True
    return (header(scope, b"content-length") or b"0").strip() != b"0"


def until_hang_up(scope: Scope, receive: Receive) -> AbstractAsyncContextManager[object]:
    """What is done in this context is cancelled if the client leaves before its answer is there.

    The body has been received. Our own server says at once when the client leaves; with any other,
    a task listens for it.
    """
    on_hang_up = scope.get(ON_HANG_UP)
    return _listening(receive) if on_hang_up is None else _HangUpScope(on_hang_up)


class _HangUpScope:
    """The context where the server says it. A class: it takes half the steps of a generator."""

    def __init__(self, on_hang_up: Callable[[Callable[[], object]], object]) -> None:
        self._on_hang_up = on_hang_up
        self._handling = trio.CancelScope()

    async def __aenter__(self) -> None:
        self._handling.__enter__()
        self._on_hang_up(self._handling.cancel)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        return self._handling.__exit__(kind, error, traceback)


@asynccontextmanager
async def _listening(receive: Receive) -> AsyncIterator[None]:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_cancel_at_hang_up, receive, nursery.cancel_scope)
        yield
        nursery.cancel_scope.cancel()


async def _cancel_at_hang_up(receive: Receive, handling: trio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        await trio.lowlevel.checkpoint()
    handling.cancel()


async def refuse(
    scope: Scope, receive: Receive, send: Send, error: RelayError, headers: Headers | None = None
) -> None:
    """Answer with the error, and read what the client is still sending before hanging up.

    Closing on a client that is still writing resets the connection, and the answer is
    lost before it is read.
    """
    body = failure_body(scope, error)
    lingers = has_body(scope)
    await send(
        {
            "type": "http.response.start",
            "status": error.status,
            "headers": [*json_headers(scope, body), *(headers or []), *_closing(lingers)],
        }
    )
    await send({"type": "http.response.body", "body": body, "more_body": lingers})
    if lingers:
        await _linger(receive, send)


def _closing(lingers: bool) -> Headers:
    return [(b"connection", b"close")] if lingers else []


def json_headers(scope: Scope, body: bytes) -> Headers:
    """What every answer says that is JSON, under the id of its request."""
    return [
        (b"content-type", JSON.encode()),
        (b"content-length", str(len(body)).encode()),
        (REQUEST_ID.lower().encode(), request_id_of(scope).encode()),
    ]


async def _linger(receive: Receive, send: Send) -> None:
    ended = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_swallow, receive, ended)
        with trio.move_on_after(LINGER_SECONDS):
            await ended.wait()
        # The swallower goes on meanwhile: the server waits for room in its queue
        # before it can close.
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        nursery.cancel_scope.cancel()


async def _swallow(receive: Receive, ended: trio.Event) -> None:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            ended.set()
        if message["type"] == "http.disconnect":
            return
