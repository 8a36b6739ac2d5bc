"""AsyncClient: a relay over HTTP for trio programs.

Carries calls to httpx and back; what they say is in `relay.routes`.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
import trio

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
from relay.client.verbs import AsynchronousVerbs
from relay.errors import RelayError
from relay.models.creating import CreatedSession
from relay.models.streams import StreamEvent
from relay.routes.table import RelayVerbs, SessionVerbs

R = TypeVar("R")
T = TypeVar("T")

FAREWELL_SECONDS = 10.0
"""How long a cancelled block may take to delete its session."""


class AsyncClient(RelayVerbs, AsynchronousVerbs["AsyncSession"]):
    """One relay. Use it in an `async with` block, or `aclose()` it.

    Takes and raises what `relay.Client` does. A call that is cancelled hangs up: the relay
    forgets who waited, and the session stays as it is.
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
        self.place = ServerAddress.of(url, uds, token, timeout, name, face)
        self._http = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(**self.place.transport), **self.place.options
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections. The relay and its sessions live on."""
        await self._http.aclose()

    def session(self, session_id: str) -> AsyncSession:
        """A session that exists already; nothing is asked."""
        return AsyncSession(self, session_id)

    async def request(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Any:
        """Any route, by its path below /api/v1: the answer's `data` as it is, or its text."""
        return await self._perform(raw_call(method, path, query, body))

    def _opened(self, created: CreatedSession) -> AsyncSession:
        return AsyncSession(self, created.session_id, created)

    async def _perform(self, call: Call[R]) -> R:
        with self.place.translated_errors():
            response = await self._http.request(**self.place.request(call))
        media_type = response.headers.get("content-type", "")
        try:
            return call.answer(response.status_code, media_type, response.content)
        except RelayError as error:
            if may_be_of_another_version(call, error):
                with contextlib.suppress(RelayError):
                    name_versions(error, await self._perform(VERSION), self.place.name)
            raise

    async def _follow(self, following: Following[T]) -> AsyncGenerator[StreamEvent[T], None]:
        while not following.over:
            why = "the stream ended early"
            try:
                async with contextlib.aclosing(self._connection(following)) as connection:
                    async for event in connection:
                        yield event
            except httpx.TransportError as error:
                why = str(error) or type(error).__name__
            following.connection_ended(self.place.name, why)

    async def _connection(self, following: Following[T]) -> AsyncGenerator[StreamEvent[T], None]:
        options = self.place.request(following.call)
        options["headers"] = following.headers
        try:
            stream = self._http.stream(**options)
            response = await stream.__aenter__()
        except httpx.ConnectError as error:
            raise unreachable(self.place.name, str(error)) from None
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_exit(stream)
            if response.status_code != httpx.codes.OK:
                following.refused(await response.aread())
            chunks = response.aiter_bytes()
            stack.push_async_callback(_unwind, chunks)
            async for chunk in chunks:
                for event in following.take(chunk):
                    yield event


async def _unwind(chunks: AsyncIterator[bytes]) -> None:
    """Ends httpx's generators, of which none closes the one that it reads: a cancelled read goes through all."""
    with trio.CancelScope() as scope:
        scope.cancel()
        async for _ in chunks:
            pass


class AsyncSession(SessionVerbs, AsynchronousVerbs["AsyncSession"]):
    """One session of a relay. As a context manager it is deleted at the end of the block,

    also when the block is cancelled. `created` is what the relay answered when it was created
    through this client.
    """

    def __init__(
        self, client: AsyncClient, session_id: str, created: CreatedSession | None = None
    ) -> None:
        self.client = client
        self.id = session_id
        self.created = created
        self._own = {"session_id": session_id}

    def __repr__(self) -> str:
        return f"<AsyncSession {self.id} at {self.client.place.name}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with (
            trio.move_on_after(FAREWELL_SECONDS, shield=True),
            contextlib.suppress(*harmless_at_the_end(error)),
        ):
            await self.delete()

    async def request(
        self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Any:
        """Any route of this session, by its path below /sessions/ID."""
        own = fill("/sessions/{session_id}", self._own)
        return await self.client.request(
            method, f"{own}/{path.lstrip('/')}", query=query, body=body
        )

    def _opened(self, created: CreatedSession) -> AsyncSession:
        return self.client._opened(created)

    async def _perform(self, call: Call[R]) -> R:
        return await self.client._perform(call)

    def _follow(self, following: Following[T]) -> AsyncGenerator[StreamEvent[T], None]:
        return self.client._follow(following)
