"""One request and its answer between Hypercorn and the app, in few steps.

Knows Hypercorn's HTTP stream, whose scope and order of an answer it keeps. The original
hands each piece of a body through a channel, and each hand-over costs a round of the event
loop; here they lie on a list. And the app learns at once, without a task that listens, when
the client hangs up: see `ON_HANG_UP`.

Waits for: Hypercorn to hand a body over without a channel, and to cancel on request the app of
a client that left. That an app which only looks for a disconnect never sees it behind the channel is
https://github.com/pgjones/hypercorn/issues/210. Of the rest no issue is known; to be reported: an
app needs a task that listens for each request, or does not learn that its client has left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from time import time
from typing import Any, TypeAlias, cast
from urllib.parse import unquote

import trio
from hypercorn.protocol.events import Body, EndBody, Event, Request, StreamClosed
from hypercorn.protocol.http_stream import ASGIHTTPState, HTTPStream
from hypercorn.trio.task_group import _handle
from hypercorn.typing import HTTPScope

from relay.faces.common.asgi import IS_WHOLE, ON_HANG_UP, Headers, Message, Scope

AnswerWhole: TypeAlias = Callable[[int, Headers, bytes], Awaitable[bool]]
"""Sends status, headers and body as one; False if they cannot go out like that."""

ROOM = 16
"""Pieces of a body, of up to 64 KiB, that are taken from the socket before the app asks."""


class Inbox:
    """What the client sends of one request, for the app to receive."""

    def __init__(self) -> None:
        self._messages: deque[Message] = deque()
        self._changed: trio.Event | None = None  # while somebody waits for that

    async def put(self, message: Message) -> None:
        """Add a piece; waits while there is no room, so that a flood stays in the socket."""
        while len(self._messages) >= ROOM:
            await self._change()
        self.put_now(message)

    def put_now(self, message: Message) -> None:
        """Add a message whatever there is already."""
        self._messages.append(message)
        self._wake_waiters()

    async def receive(self) -> Message:
        """The next message, as ASGI has them."""
        while not self._messages:
            await self._change()
        message = self._messages.popleft()
        self._wake_waiters()
        return message

    async def _change(self) -> None:
        if self._changed is None:
            self._changed = trio.Event()
        await self._changed.wait()

    def _wake_waiters(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None


class Exchange(HTTPStream):
    """A stream whose app receives from an inbox."""

    _hung_up: Callable[[], object] | None = None
    _answer_whole: AnswerWhole | None = None
    _head: Any = None  # of an answer that may go out whole: held back for its body

    async def handle(self, event: Event) -> None:
        """Take what the protocol has read, or that the exchange is over."""
        if self.closed:
            return
        if isinstance(event, Request):
            self._begin(event)
        elif isinstance(event, Body):
            await self._inbox.put(_piece(bytes(event.data), more=True))
        elif isinstance(event, EndBody):
            await self._inbox.put(_piece(b"", more=False))
        elif isinstance(event, StreamClosed):
            self._end()

    def begin_whole(self, request: Request, body: bytes, answer: AnswerWhole) -> None:
        """Serve a request that is there already; `answer` sends what can go out whole."""
        self._answer_whole = answer
        self._begin(request)
        cast(Scope, self.scope)[IS_WHOLE] = True
        self._inbox.put_now(_piece(body, more=False))

    async def app_send(self, message: Any) -> None:
        """Take a part of the answer from the app; None when it has no more."""
        if self._answer_whole is None or message is None:
            await super().app_send(message)
        elif self._head is None and _has_length(message):
            self._head = message
        else:
            await self._send_on(message, self._answer_whole)

    async def _send_on(self, message: Any, answer: AnswerWhole) -> None:
        head, self._head, self._answer_whole = self._head, None, None
        if head is None:
            await super().app_send(message)
            return
        is_last = not message.get("more_body", False)
        if is_last and await answer(head["status"], head["headers"], message.get("body", b"")):
            self.state = ASGIHTTPState.CLOSED
            await self.send(StreamClosed(self.stream_id))
            return
        await super().app_send(head)
        await super().app_send(message)

    def _begin(self, request: Request) -> None:
        self.start_time = time()
        self._inbox = Inbox()
        self.scope = self._scope_of(request)
        serve = partial(
            _handle,
            self.app,
            self.config,
            self.scope,
            self._inbox.receive,  # type: ignore[arg-type]  # Hypercorn's TypedDicts
            self.app_send,
            trio.to_thread.run_sync,
            trio.from_thread.run,
        )
        self.task_group.spawn(serve)

    def _scope_of(self, request: Request) -> HTTPScope:
        path, _, query = request.raw_path.partition(b"?")
        scope = {
            "type": "http",
            "http_version": request.http_version,
            "asgi": {"spec_version": "2.1", "version": "3.0"},
            "method": request.method,
            "scheme": self.scheme,
            "path": unquote(path.decode("ascii")),
            "raw_path": path,
            "query_string": query,
            "root_path": self.config.root_path,
            "headers": request.headers,
            "client": self.client,
            "server": self.server,
            "state": request.state.copy(),
            "extensions": {},
            ON_HANG_UP: self._set_hang_up,
        }
        return cast(HTTPScope, scope)

    def _set_hang_up(self, hung_up: Callable[[], object]) -> None:
        self._hung_up = hung_up
        if self.closed:
            hung_up()

    def _end(self) -> None:
        self.closed = True
        self._inbox.put_now({"type": "http.disconnect"})
        if self.state is not ASGIHTTPState.CLOSED and self._hung_up is not None:
            self._hung_up()


def _has_length(message: Message) -> bool:
    """Whether it is the head of an answer whose body follows at once."""
    return any(name == b"content-length" for name, _ in message.get("headers", ()))


def _piece(body: bytes, *, more: bool) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}
