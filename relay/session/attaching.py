"""Attaching to a running Python process: by the port of `debugpy --listen`, or by its pid.

The target is not ours: however the session ends, it is let go and lives on.
Source: API section 3.3, DAP attach.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
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
from relay.session.link import SocketByteStream
from relay.session.session import Launched, Session, Starter

PTRACE_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")


def attach_by_port(
    session: Session, host: str, port: int, limit: float
) -> tuple[Launched, Starter]:
    """Attach to `debugpy --listen`. The start raises AttachRefused, -Timeout or -Failed."""

    async def start(debuggee: Debuggee) -> None:
        debuggee.attached = True
        with _time_limit(f"{host}:{port}", limit):
            stream = await _dial(host, port)
            debuggee.connect(SocketByteStream(stream.socket), Announcer(debuggee))
            await _shake_hands(debuggee, limit)
            await _learn_pid(debuggee)

    return _nothing_launched(session), start


def attach_by_pid(session: Session, pid: int, limit: float) -> tuple[Launched, Starter]:
    """Attach to a process by injecting the debugger into it; needs the right to trace it."""

    async def start(debuggee: Debuggee) -> None:
        debuggee.attached = True
        debuggee.pid = pid
        _check_target(pid)
        with _time_limit(f"process {pid}", limit):
            await _inject(debuggee, pid)
            await _shake_hands(debuggee, limit)

    return _nothing_launched(session), start


def _nothing_launched(session: Session) -> Launched:
    return Launched(
        script=None, module=None, args=(), cwd=session.config.project_root, env={}, rung="attach"
    )


class _time_limit:  # noqa: N801 - reads as the statement it is
    """Cancel the block after `limit` seconds, and say so as AttachTimeout."""

    def __init__(self, target: str, limit: float) -> None:
        self._target, self._limit = target, limit
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
            )
        return result


async def _dial(host: str, port: int) -> trio.SocketStream:
    try:
        return await trio.open_tcp_stream(host, port)
    except (OSError, UnicodeError) as error:  # UnicodeError: the name can be no host's
        raise AttachRefused(
            f"nothing accepts connections on {host}:{port}", host=host, port=port, reason=str(error)
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


async def _shake_hands(debuggee: Debuggee, limit: float) -> None:
    initialize = launch.initialize_arguments(Rung.PLAIN)
    try:
        await shake_hands(
            debuggee, initialize, ("attach", launch.debug_arguments()), has_probe=False
        )
    except (RelayError, ExceptionGroup) as error:
        known = [leaf for leaf in leaves(error) if isinstance(leaf, RelayError)]
        text = known[0].message if known else str(error)
        if debuggee.link is not None and debuggee.link.violation is not None:
            text = "what answers there does not speak the Debug Adapter Protocol"
        raise AttachFailed(
            f"cannot attach: {text}",
            suggestion="Check that debugpy listens there, and that no other client is attached",
        ) from None


# By process id -----------------------------------------------------------------------


def _check_target(pid: int) -> None:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        raise AttachFailed(
            f"there is no process {pid}", pid=pid, suggestion="Check the process id"
        ) from None
    except PermissionError:
        raise AttachFailed(
            f"process {pid} belongs to another user",
            pid=pid,
            suggestion="Run the relay as the user who owns the process",
        ) from None
    if not _is_python(pid):
        raise AttachFailed(
            f"process {pid} does not run Python",
            pid=pid,
            suggestion="Give the pid of the Python process itself, not of a shell that started it",
        )


def _is_python(pid: int) -> bool:
    """Whether a Python interpreter is mapped into the process; yes where nobody can tell."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text(errors="replace")
    except OSError:
        return True
    return "python" in maps.lower()


async def _inject(debuggee: Debuggee, pid: int) -> None:
    """Have debugpy inject itself; the target then connects to us and proves itself."""
    async with Doorkeeper() as door, trio.open_nursery() as nursery:
        command = [sys.executable, "-m", "debugpy", "--connect", f"127.0.0.1:{door.port}"]
        command += ["--configure-subProcess", "false", "--adapter-access-token", door.token]
        nursery.start_soon(_run_injector, [*command, "--pid", str(pid)], pid)
        await door.admit(debuggee)
        nursery.cancel_scope.cancel()


async def _run_injector(command: list[str], pid: int) -> None:
    done = await trio.run_process(command, capture_stdout=True, capture_stderr=True, check=False)
    if done.returncode:
        raise AttachFailed(
            f"the debugger could not be injected into process {pid}",
            pid=pid,
            injector=done.stderr.decode(errors="backslashreplace")[-1000:],
            suggestion=_injection_advice(),
        )


def _injection_advice() -> str:
    try:
        scope = PTRACE_SCOPE.read_text().strip()
    except OSError:
        scope = "0"
    if scope != "0" and os.geteuid() != 0:
        return (
            "The kernel forbids tracing processes that are not our children: run "
            "`sysctl kernel.yama.ptrace_scope=0` as root, or start the target with "
            "`python -m debugpy --listen PORT` and attach by port"
        )
    return "Install gdb, or start the target with `python -m debugpy --listen PORT`"
