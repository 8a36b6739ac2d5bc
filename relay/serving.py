"""`relay serve`: a hub and the HTTP face in one nursery, and the signals that end them.

The first SIGINT or SIGTERM drains: every event log closes, so that polls answer,
and the sessions end. A second one leaves at once; what was launched dies either
way, with its guardian.
Source: contract, section 7.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import secrets
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path

import click
import trio

from relay.config import Settings
from relay.faces.cli.run.offer import carry_out_runs
from relay.faces.cli.sessions.served import shell_app
from relay.faces.common.asgi import Mount
from relay.faces.http.app import make_api
from relay.faces.http.listener import CannotListenError, bind_unix, owned
from relay.faces.http.routes import ROUTES
from relay.faces.http.server import serve
from relay.faces.mcp.http import PATH as MCP
from relay.faces.mcp.http import McpMount
from relay.faces.tool.http import tool_app
from relay.faces.ui.http import PATH as UI
from relay.faces.ui.http import UiApp
from relay.hub import Hub, open_relay
from relay.logs.setup import set_up
from relay.models.tool import PREFIX as TOOL
from relay.operations.allowed_roots import is_allowed
from relay.quick.run import RUN_SOCKET
from relay.quick.server import PATH as SHELL
from relay.session.debuggee.start_failures import leaves

log = logging.getLogger("relay")

SHUTDOWN_SECONDS = 5.0
SHORT_TOKEN = 8
"""Characters below which a token is taken, and warned of."""

MOUNTS: Mapping[str, Mount] = {UI: UiApp, TOOL: tool_app, MCP: McpMount}
"""Faces that HTTP carries, by their paths."""


def all_mounts(hub: Hub, commands: click.Group) -> Mapping[str, Mount]:
    """Those, and the commands of the shell."""
    return {**MOUNTS, SHELL: partial(shell_app, commands, make_api(hub, ROUTES))}


def run_server(settings: Settings, commands: click.Group) -> int:
    """Serve until a signal; returns the exit code. `commands` are those of the shell."""
    set_up(settings)
    if (fault := _fault(settings)) is not None:
        return _refuse(fault)
    try:
        trio.run(_main, settings, commands)
    except BaseExceptionGroup as group:
        refused = [leaf for leaf in leaves(group) if isinstance(leaf, CannotListenError)]
        if not refused:
            raise
        return _refuse(refused[0].strerror or str(refused[0]))
    return 0


def _refuse(why: str) -> int:
    print(f"relay: {why}", file=sys.stderr)
    return 1


def _fault(settings: Settings) -> str | None:
    """What would make every session fail, said now and not by the first request."""
    if not settings.project_root.expanduser().is_dir():
        return f"project_root: no such directory: {settings.project_root}"
    if not is_allowed(settings, os.path.realpath(settings.project_root.expanduser())):
        return f"project_root: {settings.project_root} lies outside of allowed_roots"
    if shutil.which(os.path.expanduser(settings.python_path)) is None:
        return f"python_path: no such executable: {settings.python_path}"
    return None


def _needs_token(settings: Settings) -> bool:
    """Whether others can reach the address, and no token keeps them out."""
    return settings.token is None and settings.uds is None and not _is_loopback(settings.host)


def _ends() -> list[int]:
    """The signals that end it. SIGHUP comes when its terminal is closed; `nohup` has it ignored."""
    ends: list[int] = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        ends.append(signal.SIGHUP)
    return ends


async def _main(settings: Settings, commands: click.Group) -> None:
    generated = secrets.token_urlsafe(24) if _needs_token(settings) else None
    if generated is not None:
        settings = settings.model_copy(update={"token": generated})
    with trio.open_signal_receiver(*_ends()) as signals:
        async with (
            open_relay(settings, persist=True, standby=True) as hub,
            trio.open_nursery() as nursery,
        ):
            shutdown = trio.Event()
            nursery.start_soon(_obey, signals, hub, shutdown, nursery.cancel_scope)
            nursery.start_soon(_hurry, shutdown, nursery.cancel_scope)
            nursery.start_soon(hub.give_memory_back)
            if settings.standby:
                directory = settings.state_dir.expanduser().absolute()
                nursery.start_soon(offer_runs, directory, settings.standby_minutes)
            if settings.exit_when_idle is not None:
                nursery.start_soon(_leave_when_idle, hub, settings.exit_when_idle * 60)
            url = await nursery.start(
                _serve, hub, settings, commands, shutdown, nursery.cancel_scope
            )
            _announce(url, settings, generated)


async def offer_runs(directory: Path, minutes: float) -> None:
    """Carry out `relay run` of this user's shells, at a socket in `directory`, until cancelled.

    Returns at once where that cannot be: on a system without it, in a directory that is not ours,
    or where another server does it. `minutes`: see `carry_out_runs`.
    """
    if not hasattr(os, "pidfd_open"):
        return
    try:
        listener = bind_unix(directory / RUN_SOCKET)
    except CannotListenError as error:
        log.info("no runs are carried out: %s", error.strerror)
        return
    with owned(listener):
        await carry_out_runs(trio.socket.from_stdlib_socket(listener), minutes)


async def _serve(
    hub: Hub,
    settings: Settings,
    commands: click.Group,
    shutdown: trio.Event,
    scope: trio.CancelScope,
    task_status: trio.TaskStatus[str],
) -> None:
    mounts = all_mounts(hub, commands)
    await serve(
        hub, settings, routes=ROUTES, mounts=mounts, shutdown=shutdown, task_status=task_status
    )
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


async def _leave_when_idle(hub: Hub, seconds: float) -> None:
    """Ask for the end after `seconds` without a session and without a request.

    What is restored, or left alone, expires by itself: so this ends, whatever was forgotten.
    """
    # No event says that nothing happens.
    while (left := _idle_at(hub) + seconds - trio.current_time()) > 0:  # noqa: ASYNC110
        await trio.sleep(left)
    log.info("nobody has asked for anything for %g minutes: leaving", seconds / 60)
    hub.shutdown_requested.set()


def _idle_at(hub: Hub) -> float:
    return trio.current_time() if hub.sessions else hub.last_used


async def _hurry(shutdown: trio.Event, scope: trio.CancelScope) -> None:
    """However the end began, it is over within SHUTDOWN_SECONDS."""
    await shutdown.wait()
    scope.deadline = trio.current_time() + SHUTDOWN_SECONDS


def _announce(url: str, settings: Settings, generated_token: str | None) -> None:
    # In one piece: whoever reads our first line may then close the pipe.
    sys.stdout.write("".join(f"{line}\n" for line in _announcement(url, settings, generated_token)))
    sys.stdout.flush()
    if settings.token is not None and len(settings.token) < SHORT_TOKEN:
        log.warning("the token has less than %d characters: it can be guessed", SHORT_TOKEN)
    if settings.uds is None and not _is_loopback(settings.host):
        log.warning(
            "listening on %s: whoever reaches this port and has the token runs code as you; "
            "the token travels unencrypted. Other machines call the relay by a name or "
            "address that --allowed-host names",
            settings.host,
        )


def _announcement(url: str, settings: Settings, generated_token: str | None) -> list[str]:
    if settings.uds is not None:
        path = url.removeprefix("unix:")
        return [
            f"relay listens on {url}",
            f"try  curl --unix-socket {path} http://localhost/api/v1/health",
        ]
    lines = [f"relay listens on {url}/api/v1", f"the API page is  {url}/api/v1/docs"]
    if generated_token is not None:
        header = f"Authorization: Bearer {generated_token}"
        lines.append(f"every request needs the header  {header}")
    lines.append(f"the page is at   {url}{UI}/")
    return lines


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
