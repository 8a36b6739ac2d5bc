"""Attaching to a running Python process: by the port of `debugpy --listen`, or by its pid.

The target is not ours: however the session ends, it is let go and lives on.
Source: API section 3.3, DAP attach.
"""

from __future__ import annotations

import contextlib
from typing import Any

import trio

from relay.actions import Action, Suggestion
from relay.debuggers.debugpy import rungs as launch
from relay.debuggers.debugpy.handshake import shake_hands
from relay.debuggers.debugpy.injection import inject
from relay.debuggers.debugpy.join_listener import (
    JoinListener,
    PatchedError,
    TakenError,
    TooLateError,
)
from relay.debuggers.debugpy.processes import (
    debuggee_at,
    is_adapter,
    obstacle_of_session,
    obstacle_to_attach,
    obstacle_to_tracing,
    users_of,
)
from relay.debuggers.debugpy.rungs import Rung
from relay.debuggers.debugpy.unfit import DebuggerUnfit
from relay.errors import (
    AttachFailed,
    DebuggerError,
    DebuggerTimeout,
    RelayError,
)
from relay.process.exit_status import until_ended
from relay.process.foreign_sockets import hasten_behind
from relay.session.dap.connection import SocketByteStream
from relay.session.dap.event_handler import EventHandler
from relay.session.debuggee.attach_target import (
    AttachTarget,
    Mappings,
    dial,
    nothing_launched,
    time_limit,
)
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debuggee.start import Launched, Starter
from relay.session.debuggee.start_failures import relay_error_in
from relay.session.session import Session

HASTEN_SECONDS = 0.05
"""How long an attach by port may look for the debuggee's socket: what is gained is 0.08."""

TAKEN = "already being debugged"
"""What debugpy's adapter says to a second client, and we do of a process."""


def attach_starter(session: Session, target: AttachTarget) -> tuple[Launched, Starter]:
    """The way to attach to it. The start raises AttachRefused, -Timeout or -Failed."""
    start = _by_port(target) if target.pid is None else _by_pid(target.pid, target)
    return nothing_launched(session), start


def _by_port(target: AttachTarget) -> Starter:
    """To `debugpy --listen`."""

    async def start(debuggee: Debuggee) -> None:
        debuggee.take_up()
        with time_limit(target, Action.CHECK_SILENT_PORT):
            stream = await dial(target.host, target.port or 0)
            debuggee.connect(SocketByteStream(stream.socket), EventHandler(debuggee))
            await _hasten(stream.socket)
            try:
                await _shake_hands(debuggee, target.mappings, reports_version=True)
            except AttachFailed as error:
                raise _of_ours(error, target) from None
            await _learn_pid(debuggee)

    return start


def _of_ours(error: AttachFailed, target: AttachTarget) -> AttachFailed:
    """The same, with the session of this relay that has what listens there, if one has."""
    ours = debuggee_at(target.host, target.port) if TAKEN in error.message else None
    if ours is None:
        return error
    at, session_id = f"{target.host}:{target.port}", ours.session.id
    return AttachFailed(
        f"cannot attach: what listens on {at} is {TAKEN}, by session {session_id}",
        suggestion=Action.USE_OR_DETACH.of(session_id=session_id),
    )


async def _hasten(connection: trio.socket.SocketType) -> None:
    """Have a debuggee on this machine answer its adapter at once: debugpy leaves that to chance.

    Until the probe is there to do it, each of two answers would take 44 ms.
    """
    host, port = connection.getpeername()[:2]
    if host == connection.getsockname()[0] and obstacle_to_tracing() is None:
        with trio.move_on_after(HASTEN_SECONDS):
            await trio.to_thread.run_sync(hasten_behind, port, is_adapter, abandon_on_cancel=True)


def _by_pid(pid: int, target: AttachTarget) -> Starter:
    """By injecting the debugger into it; needs the right to trace it."""

    async def start(debuggee: Debuggee) -> None:
        debuggee.take_up()
        await _check_target(pid)
        debuggee.identified(pid)
        with time_limit(target, Action.AWAIT_PROCESS):
            await _shake_hands_inside(debuggee, pid, target.mappings)

    return start


async def _learn_pid(debuggee: Debuggee) -> None:
    """Ask for the process id: debugpy's adapter reports it only some time after the attach."""
    if debuggee.pid is not None:
        return
    with contextlib.suppress(
        DebuggerError, DebuggerTimeout
    ):  # another server at that port need not know it
        body = await debuggee.request("pydevdSystemInfo")
        pid = (body.get("process") or {}).get("pid")
        if isinstance(pid, int):
            debuggee.identified(pid)


async def _shake_hands(
    debuggee: Debuggee, mappings: Mappings, *, reports_version: bool = False
) -> None:
    # A child waits until somebody attaches to it, unless who was asked for that, by a request and not by an event,
    # says no: then debugpy lets it go. It is not debugged here.
    initialize = {**launch.initialize_arguments(Rung.PLAIN), "supportsStartDebuggingRequest": True}
    arguments = {**launch.debug_arguments(), "pathMappings": list(mappings)}
    try:
        start = ("attach", arguments)
        await shake_hands(
            debuggee, initialize, start, has_probe=False, reports_version=reports_version
        )
    except (RelayError, ExceptionGroup) as error:
        known = relay_error_in(error)
        if known is None:
            raise
        text = known.message
        suggestion: Suggestion = (
            "Check that debugpy listens there, and that no other client is attached"
        )
        if debuggee.link is not None and debuggee.link.violation is not None:
            text = "what answers there does not speak the Debug Adapter Protocol"
            suggestion = "Give the port of `debugpy --listen`, not one of the program itself"
        elif TAKEN in text:
            suggestion = Action.END_OTHER_CLIENT
        details: dict[str, Any] = {}
        if isinstance(known, DebuggerUnfit):
            details, suggestion = known.details, known.suggestion
        details = {**details, "suggestion": suggestion}
        raise AttachFailed(f"cannot attach: {text}", **details) from None


# By process id -----------------------------------------------------------------------


async def _check_target(pid: int) -> None:
    # It reads a few files of /proc, which may block.
    obstacle = await trio.to_thread.run_sync(obstacle_to_attach, pid)
    # Meanwhile another session may have come first.
    obstacle = obstacle or obstacle_of_session(pid)
    if obstacle is not None:
        raise AttachFailed(
            f"cannot attach: {obstacle.reason}", pid=pid, suggestion=obstacle.suggestion
        )


async def _shake_hands_inside(debuggee: Debuggee, pid: int, mappings: Mappings) -> None:
    """Have the target connect to us, and prove itself with the token; then shake hands.

    Both while the injection may still be going on: in a thread that it interrupted, the
    target's side waits for the end of the handshake.
    """
    users = await trio.to_thread.run_sync(users_of, pid)
    with JoinListener(users) as listener:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_refuse_at_end, pid)
            nursery.start_soon(inject, pid, "127.0.0.1", listener.port, listener.token)
            try:
                await _admit(listener, debuggee, pid)
                await _shake_hands(debuggee, mappings)
            except BaseException:
                # The injector waits for a thread that it interrupted, and that one for us.
                if debuggee.link is not None:
                    debuggee.link.hang_up()
                raise
            nursery.cancel_scope.cancel()


async def _admit(listener: JoinListener, debuggee: Debuggee, pid: int) -> None:
    try:
        await listener.admit(debuggee)
    except* TooLateError:
        raise _too_late(pid) from None
    except* PatchedError:
        raise _patched(pid) from None
    except* TakenError:
        raise AttachFailed(
            f"cannot attach: process {pid} is {TAKEN}",
            pid=pid,
            suggestion=Action.END_OTHER_CLIENT,
        ) from None


def _patched(pid: int) -> AttachFailed:
    return AttachFailed(
        f"cannot attach: the threads of process {pid} are greenlets, by a monkey patch of gevent or "
        "eventlet, and a debugger would have none of its own there",
        pid=pid,
        suggestion="Start it under the debugger instead. Where it is gevent, it may be started with"
        " GEVENT_SUPPORT=True under `python -m debugpy --listen`, too, and attached to by that port",
    )


def _too_late(pid: int) -> AttachFailed:
    return AttachFailed(
        f"cannot attach: process {pid} is at its end: its main thread is over, and Python has no place "
        "for a debugger there any more",
        pid=pid,
        suggestion="Start the program by the relay, and ask when it hangs",
    )


async def _refuse_at_end(pid: int) -> None:
    await until_ended(pid)
    raise AttachFailed(
        f"cannot attach: process {pid} has ended", pid=pid, suggestion=Action.CHECK_PROCESS_ID
    )
