"""Attaching to a running Python process: by the port of `debugpy --listen`, or by its pid.

The target is not ours: however the session ends, it is let go and lives on.
Source: API section 3.3, DAP attach.
"""

from __future__ import annotations

import contextlib
import math
import socket
from collections.abc import Mapping, Sequence
from typing import Any

import trio

from relay.adapters.python import launch
from relay.adapters.python.launch import Rung
from relay.errors import (
    AttachFailed,
    AttachRefused,
    AttachTimeout,
    DebugpyError,
    DebugpyTimeout,
    RelayError,
)
from relay.session.announcer import Announcer
from relay.session.debuggee import Debuggee
from relay.session.doorkeeper import Doorkeeper
from relay.session.failure import leaves
from relay.session.handshake import shake_hands
from relay.session.injection import inject
from relay.session.link import SocketByteStream
from relay.session.session import Launched, Session, Starter
from relay.session.targets import obstacle_to_attach

Mappings = Sequence[Mapping[str, str]]
"""DAP's pathMappings: localRoot is the relay's, remoteRoot the target's."""

TAKEN = "already being debugged"
"""What debugpy's adapter says to a second client."""

SILENT_PROCESS = (
    "Its main thread runs no Python code now: it is busy in C code, or waits while other threads "
    "are busy. The debugger is queued there: try again later, or raise connect_timeout"
)
SILENT_PORT = (
    "Something accepts connections there and says nothing: check that it is the port of "
    "`debugpy --listen`, that no other debug client is attached, and raise connect_timeout"
)


def attach_by_port(
    session: Session, host: str, port: int, limit: float, mappings: Mappings = ()
) -> tuple[Launched, Starter]:
    """Attach to `debugpy --listen`. The start raises AttachRefused, -Timeout or -Failed."""

    async def start(debuggee: Debuggee) -> None:
        _take_up(debuggee)
        with _time_limit(f"{host}:{port}", limit, SILENT_PORT):
            stream = await _dial(host, port)
            debuggee.connect(SocketByteStream(stream.socket), Announcer(debuggee))
            await _shake_hands(debuggee, mappings)
            await _learn_pid(debuggee)

    return _nothing_launched(session), start


def attach_by_pid(
    session: Session, pid: int, limit: float, mappings: Mappings = ()
) -> tuple[Launched, Starter]:
    """Attach to a process by injecting the debugger into it; needs the right to trace it."""

    async def start(debuggee: Debuggee) -> None:
        _take_up(debuggee)
        await _check_target(pid)
        debuggee.pid = pid
        with _time_limit(f"process {pid}", limit, SILENT_PROCESS):
            await _shake_hands_inside(debuggee, pid, mappings)

    return _nothing_launched(session), start


def _take_up(debuggee: Debuggee) -> None:
    debuggee.attached = True
    debuggee.start_within(math.inf)  # connect_timeout is the limit, and has its own error


def _nothing_launched(session: Session) -> Launched:
    return Launched(
        script=None, module=None, args=(), cwd=session.config.project_root, env={}, rung="attach"
    )


class _time_limit:  # noqa: N801 - reads as the statement it is
    """Cancel the block after `limit` seconds, and say so as AttachTimeout."""

    def __init__(self, target: str, limit: float, suggestion: str) -> None:
        self._target, self._limit, self._suggestion = target, limit, suggestion
        self._scope = trio.CancelScope(deadline=trio.current_time() + limit)

    def __enter__(self) -> None:
        self._scope.__enter__()

    def __exit__(self, *exc_info: Any) -> bool | None:
        result = self._scope.__exit__(*exc_info)
        if self._scope.cancelled_caught:
            raise AttachTimeout(
                f"{self._target} did not answer within {self._limit:g} s",
                target=self._target,
                timeout_seconds=self._limit,
                suggestion=self._suggestion,
            )
        return result


async def _dial(host: str, port: int) -> trio.SocketStream:
    try:
        return await trio.open_tcp_stream(host, port)
    except (OSError, UnicodeError) as error:  # UnicodeError: the name can be no host's
        unknown = isinstance(error, (socket.gaierror, UnicodeError))
        what = f"there is no host {host!r}" if unknown else f"nothing listens on {host}:{port}"
        raise AttachRefused(
            what,
            host=host,
            port=port,
            reason=str(error),
            suggestion="Check the host name" if unknown else None,
        ) from None


async def _learn_pid(debuggee: Debuggee) -> None:
    """Ask for the process id: debugpy's adapter tells it only some time after the attach."""
    if debuggee.pid is not None:
        return
    with contextlib.suppress(
        DebugpyError, DebugpyTimeout
    ):  # another server at that port need not know it
        body = await debuggee.request("pydevdSystemInfo")
        pid = (body.get("process") or {}).get("pid")
        debuggee.pid = pid if isinstance(pid, int) else debuggee.pid


async def _shake_hands(debuggee: Debuggee, mappings: Mappings) -> None:
    initialize = launch.initialize_arguments(Rung.PLAIN)
    arguments = {**launch.debug_arguments(), "pathMappings": list(mappings)}
    try:
        await shake_hands(debuggee, initialize, ("attach", arguments), has_probe=False)
    except (RelayError, ExceptionGroup) as error:
        known = [leaf for leaf in leaves(error) if isinstance(leaf, RelayError)]
        text = known[0].message if known else str(error)
        suggestion = "Check that debugpy listens there, and that no other client is attached"
        if debuggee.link is not None and debuggee.link.violation is not None:
            text = "what answers there does not speak the Debug Adapter Protocol"
            suggestion = "Give the port of `debugpy --listen`, not one of the program itself"
        elif TAKEN in text:
            suggestion = "Another debug client is attached: end it, or DELETE its session, first"
        raise AttachFailed(f"cannot attach: {text}", suggestion=suggestion) from None


# By process id -----------------------------------------------------------------------


async def _check_target(pid: int) -> None:
    # It reads a few files of /proc, which may block.
    obstacle = await trio.to_thread.run_sync(obstacle_to_attach, pid)
    if obstacle is not None:
        raise AttachFailed(
            f"cannot attach: {obstacle.reason}", pid=pid, suggestion=obstacle.suggestion
        )


async def _shake_hands_inside(debuggee: Debuggee, pid: int, mappings: Mappings) -> None:
    """Have the target connect to us, and prove itself with the token; then shake hands.

    Both while the injection may still be going on: in a thread that it interrupted, the
    target's side waits for the end of the handshake.
    """
    async with Doorkeeper() as door, trio.open_nursery() as nursery:
        nursery.start_soon(inject, pid, "127.0.0.1", door.port, door.token)
        await door.admit(debuggee)
        await _shake_hands(debuggee, mappings)
        nursery.cancel_scope.cancel()
