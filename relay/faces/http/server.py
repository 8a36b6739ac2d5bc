"""serve(): the listener, Hypercorn, and an end that comes within seconds.

Knows sockets, Hypercorn's settings and the order of the end. Knows no signal: the
caller sets `shutdown`, after it has drained the hub; a client may ask for both.

The end, from the moment `shutdown` is set: what is in flight has DRAIN_SECONDS to be
answered while new requests are still taken (and get 503 from the drained hub); then no
connection is accepted, idle ones close, and after CANCEL_SECONDS the rest is cancelled;
after SEVER_SECONDS the connections whose clients do not read are cut.
"""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol, cast

import trio
from hypercorn.trio import serve as hypercorn_serve

from relay.faces.common.asgi import HubLike, Mount
from relay.faces.http.app import make_app
from relay.faces.http.gateway import Gateway
from relay.faces.http.listener import (
    BACKLOG,
    CannotListenError,
    Place,
    bind,
    bind_unix,
    owned,
    place_of,
    url_of,
)
from relay.faces.http.routes import ROUTES
from relay.faces.http.security import SecuritySettings
from relay.faces.http.table import Route
from relay.faces.http.upstream.hypercorn_http1 import RelayConfig, install
from relay.faces.http.upstream.hypercorn_sockets import ListeningStatus, sever
from relay.process.peers import lists_listener

__all__ = ["CannotListenError", "ServerSettings", "serve"]

log = logging.getLogger("relay.http")

DRAIN_SECONDS = 1.0
CANCEL_SECONDS = 1.0
SEVER_SECONDS = 2.5

KEEP_ALIVE_SECONDS = 75.0
HEADER_BYTES = 64 * 1024


class ServerSettings(SecuritySettings, Protocol):
    """What serving needs of the settings."""

    @property
    def port(self) -> int:
        """TCP port; 0 takes a free one."""


async def serve(
    hub: HubLike,
    settings: ServerSettings,
    *,
    routes: Sequence[Route] = ROUTES,
    mounts: Mapping[str, Mount] | None = None,
    shutdown: trio.Event | None = None,
    task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve the hub over HTTP until `shutdown` is set, or until cancelled.

    Started with the URL that is really bound: `url = await nursery.start(partial(serve, …))`;
    that of a Unix socket is `unix:PATH`. `mounts` are other faces by their paths. `POST /shutdown` drains the hub and sets `shutdown`.
    Returns at most about 3 seconds after either, whatever the clients do. Raises
    CannotListenError if the address cannot be bound.
    """
    ending, served = trio.Event() if shutdown is None else shutdown, trio.Event()
    listener = await _bind(settings)
    started = ListeningStatus(task_status, url_of(listener), listener.fileno())
    with owned(listener):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_sever_late, ending, served, place_of(listener))
            nursery.start_soon(_end_on_request, hub, ending)
            apps = {path: mount(hub, nursery, ending) for path, mount in (mounts or {}).items()}
            gateway = make_app(hub, settings, routes, mounts=apps)
            try:
                config = _config(listener, settings.same_user_only)
                await _run(gateway, ending, config, started)
            finally:
                served.set()
                nursery.cancel_scope.cancel()


async def _bind(settings: ServerSettings) -> socket.socket:
    if settings.uds is not None:
        return bind_unix(settings.uds)
    return await bind(settings.host, settings.port)


async def _end_on_request(hub: HubLike, ending: trio.Event) -> None:
    """What a signal does, when a client asks for it; its own answer is under way."""
    await hub.shutdown_requested.wait()
    hub.drain()
    ending.set()


async def _run(
    gateway: Gateway, ending: trio.Event, config: RelayConfig, started: ListeningStatus
) -> None:
    install()
    await hypercorn_serve(
        cast(Any, gateway),
        config,
        shutdown_trigger=partial(_drained, ending, gateway),
        task_status=cast(Any, started),
        mode="asgi",
    )


def _config(listener: socket.socket, same_user_only: bool) -> RelayConfig:
    config = RelayConfig()
    if same_user_only and listener.family != socket.AF_UNIX:
        config.same_user_only = lists_listener(listener)
        if not config.same_user_only:
            log.warning(
                "other users are not refused: the kernel does not say whose a connection is"
            )
    # Hypercorn owns the descriptor from here, and closes it.
    config.bind = [f"fd://{listener.detach()}"]
    config.backlog = BACKLOG  # it listens again, with its own
    config.accesslog = None
    config.errorlog = log
    config.graceful_timeout = CANCEL_SECONDS
    config.keep_alive_timeout = KEEP_ALIVE_SECONDS
    config.keep_alive_max_requests = sys.maxsize
    config.h11_max_incomplete_size = HEADER_BYTES
    config.include_server_header = False
    return config


async def _drained(ending: trio.Event, gateway: Gateway) -> None:
    await ending.wait()
    with trio.move_on_after(DRAIN_SECONDS):
        await gateway.quiet()


async def _sever_late(ending: trio.Event, served: trio.Event, place: Place) -> None:
    """Cut what is left a while after the end began, by `ending` or by cancellation.

    Hypercorn shields its sends, so a client that does not read outlives a cancellation.
    """
    try:
        await ending.wait()
    finally:
        with trio.move_on_after(SEVER_SECONDS, shield=True) as waiting:
            await served.wait()
        if waiting.cancelled_caught:
            sever(place)
