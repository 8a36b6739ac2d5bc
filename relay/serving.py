"""`relay serve`: a hub and the HTTP face in one nursery, and the signals that end them.

The only place that handles signals. The first SIGINT or SIGTERM drains: every
event log closes, so that polls answer; then the sessions end. A second one
leaves at once; what was launched dies either way, with its guardian.
Source: contract, section 7.
"""

from __future__ import annotations

import ipaddress
import logging
import secrets
import signal
import sys
from collections.abc import AsyncIterator

import trio

from relay.config import Settings
from relay.faces.http.listener import CannotListenError
from relay.faces.http.routes import ROUTES
from relay.faces.http.server import serve
from relay.hub import Hub, open_relay
from relay.session.failure import leaves

log = logging.getLogger("relay")

SHUTDOWN_SECONDS = 5.0


def run_server(settings: Settings) -> int:
    """Serve until a signal; returns the exit code."""
    _configure_logging(settings)
    try:
        trio.run(_main, _guarded(settings))
    except BaseExceptionGroup as group:
        refused = [leaf for leaf in leaves(group) if isinstance(leaf, CannotListenError)]
        if not refused:
            raise
        print(f"relay: {refused[0]}", file=sys.stderr)
        return 1
    return 0


def _guarded(settings: Settings) -> Settings:
    """An address that others can reach needs a token; without one it gets one."""
    if settings.token is not None or _is_loopback(settings.host):
        return settings
    token = secrets.token_urlsafe(24)
    print(f"every request needs the header  Authorization: Bearer {token}", flush=True)
    return settings.model_copy(update={"token": token})


def _configure_logging(settings: Settings) -> None:
    logging.basicConfig(
        stream=sys.stderr,
        level=settings.log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )


async def _main(settings: Settings) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with open_relay(settings) as hub, trio.open_nursery() as nursery:
            shutdown = trio.Event()
            nursery.start_soon(_obey, signals, hub, shutdown, nursery.cancel_scope)
            url = await nursery.start(_serve, hub, settings, shutdown, nursery.cancel_scope)
            _announce(url, settings)


async def _serve(
    hub: Hub,
    settings: Settings,
    shutdown: trio.Event,
    scope: trio.CancelScope,
    task_status: trio.TaskStatus[str],
) -> None:
    await serve(hub, settings, routes=ROUTES, shutdown=shutdown, task_status=task_status)
    scope.cancel()


async def _obey(
    signals: AsyncIterator[int], hub: Hub, shutdown: trio.Event, scope: trio.CancelScope
) -> None:
    async for number in signals:
        if shutdown.is_set():
            log.warning("second signal: leaving at once")
            scope.cancel()
            return
        log.info("%s: shutting down", signal.Signals(number).name)
        hub.drain()
        shutdown.set()
        scope.deadline = trio.current_time() + SHUTDOWN_SECONDS


def _announce(url: str, settings: Settings) -> None:
    print(f"relay listens on {url}/api/v1", flush=True)
    print(f"the API page is  {url}/api/v1/docs", flush=True)
    if not _is_loopback(settings.host):
        log.warning(
            "listening on %s: whoever reaches this port and has the token runs code as you",
            settings.host,
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
