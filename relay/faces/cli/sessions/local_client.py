"""The blocking client without a socket: a thread of the server calls the API of its own process.

Knows ASGI and the calls of the client. Knows no route.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar
from urllib.parse import unquote, urlencode

import trio

from relay.actions import PREFERENCE
from relay.asker import to_wire
from relay.client import Client
from relay.client.calls import Call
from relay.client.following import Following
from relay.client.place import SECONDS, ServerAddress
from relay.faces.cli.sessions.caller import CLIENT, FACE, NeedsOwnProcess
from relay.faces.common.asgi import BODY, ON_HANG_UP, App, Message, Scope
from relay.models.streams import StreamEvent
from relay.routes.endpoint import API

R = TypeVar("R")
T = TypeVar("T")


class LocalClient(Client):
    """Calls of one command, made in a thread that `trio.to_thread.run_sync` has started.

    Whoever cancels the task that waits for the thread cancels the call that is under way, too, and
    the later ones, but for what deletes: a command that is broken off takes away what it has made.
    So what makes a session is not cut short either: its id would be lost.
    """

    def __init__(self, api: App) -> None:
        self.place = ServerAddress.of("http://localhost", None, None, SECONDS, CLIENT, FACE)
        self._api = api

    def close(self) -> None:
        """Does nothing: calls in the same process have no connection."""

    def _perform(self, call: Call[R]) -> R:
        status, media_type, content = trio.from_thread.run(_exchange, self._api, call)
        return call.answer(status, media_type, content)

    def _follow(self, following: Following[T]) -> Iterator[StreamEvent[T]]:
        raise NeedsOwnProcess("a stream needs a connection of its own")


async def _exchange(api: App, call: Call[R]) -> tuple[int, str, bytes]:
    """Status, content type and content of the answer."""
    path = API + call.path
    headers = {"prefer": PREFERENCE, **to_wire(CLIENT, FACE), **call.headers}
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": call.method,
        "scheme": "http",
        "root_path": "",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": urlencode(call.query).encode(),
        "headers": [(name.lower().encode(), text.encode()) for name, text in headers.items()],
        "client": None,
        "server": None,
        "extensions": {},
        BODY: call.body or b"",
        ON_HANG_UP: lambda cancel: None,
    }
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    makes_session = (call.method, call.path) == ("POST", "/sessions")
    with trio.CancelScope(shield=call.method == "DELETE" or makes_session):
        await api(scope, receive, send)
    start, *rest = sent
    media_type = next(
        (text.decode() for name, text in start["headers"] if name.lower() == b"content-type"), ""
    )
    return start["status"], media_type, b"".join(message.get("body", b"") for message in rest)
