"""The relay over HTTP from Python: `Client` for programs that wait, `AsyncClient` for trio.

calls, following      one call, one stream, without IO
verbs, routes         the table of routes as methods of both clients
place                 URL, Unix socket, token
blocking, asynchronous   the same calls over httpx
"""

from relay.client.asynchronous import AsyncClient, AsyncSession
from relay.client.blocking import Client, Session
from relay.client.following import Told

__all__ = ["AsyncClient", "AsyncSession", "Client", "Session", "Told"]
