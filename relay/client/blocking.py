"""Client: a relay over HTTP for programs that wait.

Carries calls to httpx and back; what they say is in `relay.routes`. Imports httpx with the first
client: who only inherits from this one, as the server's own does, waits for none of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from relay.asker import HTTP
from relay.client.calls import (
    VERSION,
    Call,
    fill,
    harmless_at_the_end,
    may_be_of_another_version,
    name_versions,
    raw_call,
    unreachable,
)
from relay.client.following import Following
from relay.client.place import SECONDS, ServerAddress
from relay.client.verbs import BlockingVerbs
from relay.errors import RelayError
from relay.models.creating import CreatedSession
from relay.models.streams import StreamEvent
from relay.routes.table import RelayVerbs, SessionVerbs

R = TypeVar("R")
T = TypeVar("T")


class Client(RelayVerbs, BlockingVerbs["Session"]):
    """One relay. Use it in a `with` block, or `close()` it.

    `url` is http://HOST:PORT or unix:PATH, by default RELAY_URL, else http://127.0.0.1:5679;
    `uds` is the path of a Unix socket instead. `token` is by default RELAY_TOKEN. An answer
    may take `timeout` seconds besides what a request waits on purpose. `name` is what others see
    of this client in a session's timeline, and the name under which it can hold one; `face` is
    for programs that are a face of their own.

    Every call raises the RelayError that the relay answers with, InvalidRequest for fields
    that it would refuse, or RelayUnreachable if nobody answers. May be used by several
    threads at once.
    """

    _own: Mapping[str, str] = {}

    def __init__(
        self,
        url: str | None = None,
        *,
        uds: str | Path | None = None,
        token: str | None = None,
        timeout: float = SECONDS,
        name: str | None = None,
        face: str = HTTP,
    ) -> None:
        import httpx

        self.place = ServerAddress.of(url, uds, token, timeout, name, face)
        self._http = httpx.Client(
            transport=httpx.HTTPTransport(**self.place.transport), **self.place.options
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections. The relay and its sessions live on."""
        self._http.close()

    def session(self, session_id: str) -> Session:
        """A session that exists already; nothing is asked."""
        return Session(self, session_id)

    def request(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Any:
        """Any route, by its path below /api/v1: the answer's `data` as it is, or its text."""
        return self._perform(raw_call(method, path, query, body))

    def _opened(self, created: CreatedSession) -> Session:
        return Session(self, created.session_id, created)

    def _perform(self, call: Call[R]) -> R:
        with self.place.translated_errors():
            response = self._http.request(**self.place.request(call))
        media_type = response.headers.get("content-type", "")
        try:
            return call.answer(response.status_code, media_type, response.content)
        except RelayError as error:
            if may_be_of_another_version(call, error):
                with contextlib.suppress(RelayError):
                    name_versions(error, self._perform(VERSION), self.place.name)
            raise

    def _follow(self, following: Following[T]) -> Iterator[StreamEvent[T]]:
        import httpx

        while not following.over:
            why = "the stream ended early"
            try:
                yield from self._connection(following)
            except httpx.TransportError as error:
                why = str(error) or type(error).__name__
            following.connection_ended(self.place.name, why)

    def _connection(self, following: Following[T]) -> Iterator[StreamEvent[T]]:
        import httpx

        options = self.place.request(following.call)
        options["headers"] = following.headers
        try:
            stream = self._http.stream(**options)
            response = stream.__enter__()
        except httpx.ConnectError as error:
            raise unreachable(self.place.name, str(error)) from None
        with contextlib.ExitStack() as stack:
            stack.push(stream)
            if response.status_code != httpx.codes.OK:
                following.refused(response.read())
            for chunk in response.iter_bytes():
                yield from following.take(chunk)


class Session(SessionVerbs, BlockingVerbs["Session"]):
    """One session of a relay. As a context manager it is deleted at the end of the block.

    `created` is what the relay answered when it was created through this client.
    """

    def __init__(
        self, client: Client, session_id: str, created: CreatedSession | None = None
    ) -> None:
        self.client = client
        self.id = session_id
        self.created = created
        self._own = {"session_id": session_id}

    def __repr__(self) -> str:
        return f"<Session {self.id} at {self.client.place.name}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with contextlib.suppress(*harmless_at_the_end(error)):
            self.delete()

    def request(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Any:
        """Any route of this session, by its path below /sessions/ID."""
        own = fill("/sessions/{session_id}", self._own)
        return self.client.request(method, f"{own}/{path.lstrip('/')}", query=query, body=body)

    def _opened(self, created: CreatedSession) -> Session:
        return self.client._opened(created)

    def _perform(self, call: Call[R]) -> R:
        return self.client._perform(call)

    def _follow(self, following: Following[T]) -> Iterator[StreamEvent[T]]:
        return self.client._follow(following)
