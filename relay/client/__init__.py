"""The relay over HTTP from Python: `Client` for programs that wait, `AsyncClient` for trio.

calls, following      one call, one stream, without IO
verbs                 how a line of `relay.routes` is carried out as a method of both clients
place                 URL, Unix socket, token
blocking, asynchronous   the same calls over httpx
"""

from typing import TYPE_CHECKING, Any

from relay.client.blocking import Client, Session
from relay.models.streams import StreamEvent

if TYPE_CHECKING:
    from relay.client.asynchronous import AsyncClient, AsyncSession

__all__ = ["AsyncClient", "AsyncSession", "Client", "Session", "StreamEvent", "Told"]

Told = StreamEvent
"""The name that StreamEvent had before."""


def __getattr__(name: str) -> Any:
    """Imported when used: who waits needs no trio."""
    if name in {"AsyncClient", "AsyncSession"}:
        from relay.client import asynchronous

        return getattr(asynchronous, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
