"""Gateway: the one ASGI app, through which every request passes once.

Knows the order: guard (Host, Origin, token), the client's turn, the whole body, then a mounted app or Quart; what
they fail to answer is answered here, and each answer is counted and logged with its route and its time.
Knows no route, and nothing of what is in a body.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from urllib.parse import urlsplit

import trio

from relay.asker import HTTP, Asker
from relay.errors import InvalidRequest, RelayError, TooManyRequests, Unauthorized
from relay.faces.common.asgi import (
    ASKER,
    BODY,
    OPEN_TO_ALL,
    ROUTE,
    SESSION_ID,
    TAKES_TURNS,
    App,
    Headers,
    Receive,
    Scope,
    Send,
    has_body,
    refuse,
    request_id_of,
)
from relay.faces.common.client_name import asker_of
from relay.faces.common.failures import as_relay_error
from relay.faces.http.body_limit import ClientLeftError, read_body
from relay.faces.http.rate_limit import RateLimit
from relay.faces.http.security import CHALLENGE, Guard
from relay.faces.http.upstream.hypercorn_disconnect import Passage
from relay.logs.records import note
from relay.metrics import Metrics

log = logging.getLogger("relay.requests")

UNMATCHED = "(none)"
"""The route of requests that no route serves."""

TURN_SECONDS = 30.0
"""How long a request waits for its turn, where it is not refused at once."""

LONGEST_METHOD = 20
LONGEST_ID = 64
"""Characters of a line of the log: what a client sends may be longer."""


class Gateway:
    """Hands each request to the app of `mounts` whose prefix its path has, or else to `app`."""

    def __init__(
        self,
        app: App,
        guard: Guard,
        metrics: Metrics,
        mounts: Mapping[str, App] | None = None,
        limit: RateLimit | None = None,
    ) -> None:
        self._app = app
        self._guard = guard
        self._metrics = metrics
        self._limit = limit
        self._mounts = tuple((mounts or {}).items())
        self._open_to_all = self._mounts_with(OPEN_TO_ALL)
        self._taking_turns = self._mounts_with(TAKES_TURNS)
        self._open = 0
        self._quiet = trio.Event()

    def _mounts_with(self, attribute: str) -> list[str]:
        return [prefix for prefix, app in self._mounts if getattr(app, attribute, False)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; what is no HTTP (the server's lifespan) goes to the app as it is."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        passage = Passage(receive, send)
        started = trio.current_time()
        self._open += 1
        try:
            if await self._admit(scope, passage):
                await self._serve(scope, passage)
        finally:
            self._open -= 1
            if self._open == 0:
                self._quiet.set()
            self._note(scope, passage, trio.current_time() - started)

    def _note(self, scope: Scope, passage: Passage, seconds: float) -> None:
        """Count the request, and log it; a client that hung up got no answer, and so no status."""
        route: str = scope.get(ROUTE, UNMATCHED)
        if passage.status:
            self._metrics.note_request(scope["method"], route, passage.status, seconds)
        if log.isEnabledFor(logging.INFO):
            asker: Asker = scope.get(ASKER) or asker_of(scope, "", self._face(scope["path"]))
            note(
                log,
                "answered" if passage.status else "left",
                method=scope["method"][:LONGEST_METHOD],
                route=route,
                status=passage.status or None,
                duration_ms=round(seconds * 1000, 1),
                request_id=request_id_of(scope),
                session_id=(scope.get(SESSION_ID) or "")[:LONGEST_ID] or None,
                client=asker.client,
                face=asker.face,
                bytes=passage.sent_bytes,
            )

    def _face(self, path: str) -> str:
        """What a mounted app is called, for requests that name no face of their own."""
        return next((at.strip("/") for at, _ in self._mounts if _is_below(path, at)), HTTP)

    async def quiet(self) -> None:
        """Wait until no request is open."""
        while self._open:
            self._quiet = trio.Event()
            await self._quiet.wait()

    async def _admit(self, scope: Scope, passage: Passage) -> bool:
        """Whether the caller may call and its body is here; if not, it is answered."""
        try:
            is_open = self._is_open(scope["path"])
            self._guard.check(scope, token=not is_open)
            if self._limit is not None and not is_open:
                await self._take_turn(scope, self._limit)
            if has_body(scope):
                scope[BODY] = passage.body = await read_body(scope, passage.from_client)
        except ClientLeftError:
            return False
        except RelayError as error:
            await refuse(scope, passage.from_client, passage.send, error, _headers_of(error))
            return False
        return True

    async def _take_turn(self, scope: Scope, limit: RateLimit) -> None:
        """Return when the request is due; raises TooManyRequests for one too many."""
        path: str = scope["path"]
        waits = any(_is_below(path, prefix) for prefix in self._taking_turns)
        patience = TURN_SECONDS if waits else 0
        address = (scope.get("client") or ("",))[0]
        wait = limit.take((address, asker_of(scope, "").client), patience)
        if wait > patience:
            raise TooManyRequests(
                "this client has sent more requests than it may in a second",
                retry_after_seconds=round(wait, 3),
            )
        if wait > 0:
            await trio.sleep(wait)

    async def _serve(self, scope: Scope, passage: Passage) -> None:
        try:
            await self._app_at(scope)(scope, passage.receive, passage.send)
        except (Exception, BaseExceptionGroup) as error:
            if passage.status:
                raise
            what = f"{scope['method']} {scope['path'][:200]}"
            shown = as_relay_error(error, request_id_of(scope), what)
            await refuse(scope, passage.receive, passage.send, shown)

    def _app_at(self, scope: Scope) -> App:
        """The app for the path, which is noted; raises InvalidRequest if the target has none."""
        path: str = scope["path"]
        if not path.startswith("/"):
            path = scope["path"] = _path_of_url(path)
        return next((app for prefix, app in self._mounts if _is_below(path, prefix)), self._app)

    def _is_open(self, path: str) -> bool:
        """Whether it is served without a token."""
        return any(_is_below(path, prefix) for prefix in self._open_to_all)


def _headers_of(error: RelayError) -> Headers | None:
    """What an answer with this error says besides its body."""
    if isinstance(error, TooManyRequests):
        return [(b"retry-after", b"%d" % math.ceil(error.details["retry_after_seconds"]))]
    return CHALLENGE if isinstance(error, Unauthorized) else None


def _is_below(path: str, prefix: str) -> bool:
    return path.startswith(prefix) and path[len(prefix) : len(prefix) + 1] in {"", "/"}


def _path_of_url(target: str) -> str:
    """The path of a request's target that is a whole URL; raises InvalidRequest."""
    try:
        path = urlsplit(target).path
    except ValueError:
        path = ""
    if not path.startswith("/"):
        raise InvalidRequest(
            f"the request target {target[:200]!r} is no path",
            suggestion="Check the request line: a path follows the method",
        )
    return path
