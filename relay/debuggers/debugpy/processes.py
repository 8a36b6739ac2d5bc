"""Processes that could be attached to: which run Python, and what stands in the way.

Knows the operating system's facts about processes of others, and our own debuggees. Attaches to
nothing. What it says is true at that moment only. Source: contract sections 5 and 9; ptrace(2).
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil

from relay.actions import Action
from relay.debuggers.debugpy.fast_debuggee import BEGUN
from relay.process.foreign_calls import CAN_CALL
from relay.session.debuggee.attachable_process import AttachableProcess, DebugListener, Obstacle
from relay.session.debuggee.debuggee import LIVE, Debuggee

PTRACE_SCOPE = Path("/proc/sys/kernel/yama/ptrace_scope")
CAP_SYS_PTRACE = 19
DESCRIPTORS_NEEDED = 3
"""By the debugger that comes into a process: one for its connection, two for files that it reads."""

LISTEN = "start the target with `python -m debugpy --listen PORT` and attach by port"
_PYTHON = re.compile(r"^(python|pypy)[0-9.]*[a-z]?(\.exe)?$", re.IGNORECASE)
_HELPERS = ("relay/process/guardian.py", "debugpy/adapter", "debugpy/launcher", "debugpy.adapter")


def debuggee_of(pid: int) -> Debuggee | None:
    """The debuggee of this relay that has this pid."""
    found = (d for d in list(LIVE) if d.pid == pid and not d.gone.is_set())
    return next(found, None)


def debuggee_at(host: str, port: int | None) -> Debuggee | None:
    """The debuggee of this relay that was attached to there."""
    for found in list(LIVE):
        asked = found.session.definition.attach
        is_live = found.attached and found.started and not found.gone.is_set()
        if is_live and asked is not None and (asked.host, asked.port) == (host, port):
            return found
    return None


def users_of(pid: int) -> frozenset[int]:
    """The ids of the users whose rights the process has, or may take on; none if it has gone."""
    with contextlib.suppress(psutil.Error):
        return frozenset(psutil.Process(pid).uids())
    return frozenset()


# What stands in the way -----------------------------------------------------------------


def obstacle_to_injection(pid: int) -> Obstacle | None:
    """Why the debugger cannot be put into this process; None if nothing is known against it."""
    try:
        process = psutil.Process(pid)
        return _of_identity(process) or _of_state(process) or obstacle_to_tracing()
    except psutil.NoSuchProcess:
        return Obstacle(f"there is no process {pid}", Action.CHECK_PROCESS_ID)
    except psutil.AccessDenied:
        return _foreign(pid)


def _foreign(pid: int) -> Obstacle:
    return Obstacle(
        f"process {pid} belongs to another user", "Run the relay as the user who owns the process"
    )


def _of_identity(process: psutil.Process) -> Obstacle | None:
    pid = process.pid
    if pid == os.getpid():
        return Obstacle("it is this relay", Action.CHOOSE_PROCESS)
    if (taken := obstacle_of_session(pid)) is not None:
        return taken
    if os.geteuid() not in (0, process.uids().effective):
        return _foreign(pid)
    if process.status() == psutil.STATUS_ZOMBIE:
        return Obstacle(f"process {pid} has ended", Action.CHECK_PROCESS_ID)
    if runs_python(process) is False:
        return Obstacle(f"process {pid} does not run Python", Action.CHOOSE_PYTHON_PROCESS)
    if _is_helper(process.cmdline()) or pid in {one.process.pid for one in BEGUN}:
        return Obstacle("it is a part of a debugger", "Choose the process of the program itself")
    return None


def obstacle_of_session(pid: int) -> Obstacle | None:
    """The session of this relay that has the process, or is about to."""
    ours = debuggee_of(pid)
    if ours is None:
        return None
    return Obstacle(
        f"process {pid} is debugged by session {ours.session.id} already",
        Action.USE_OR_DETACH.of(session_id=ours.session.id),
    )


def _of_state(process: psutil.Process) -> Obstacle | None:
    if process.status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP):
        return Obstacle(
            f"process {process.pid} is stopped by a signal", f"Let it run: kill -CONT {process.pid}"
        )
    tracer = _number_in(f"/proc/{process.pid}/status", "TracerPid")
    if tracer:
        return Obstacle(
            f"process {process.pid} is traced by process {tracer} already",
            f"End the debugger or tracer that has it (pid {tracer})",
        )
    return _of_descriptors(process)


def _of_descriptors(process: psutil.Process) -> Obstacle | None:
    """The debugger opens files there, and a connection: a program that leaks descriptors has none left for it."""
    pid = process.pid
    try:
        limit, most = process.rlimit(psutil.RLIMIT_NOFILE)
        used = sum(int(name) < limit for name in os.listdir(f"/proc/{pid}/fd"))
    except (AttributeError, OSError, psutil.AccessDenied):  # another system, or not ours to see
        return None
    if limit < 0 or limit - used >= DESCRIPTORS_NEEDED:
        return None
    more = f"prlimit --pid {pid} --nofile={limit + 64}:{max(most, limit + 64)}"
    return Obstacle(
        f"process {pid} has {used} of {limit} file descriptors open, and the debugger needs"
        f" {DESCRIPTORS_NEEDED}",
        f"Let it have more: {more}",
    )


def obstacle_to_tracing() -> Obstacle | None:
    """Why no process at all can be attached to by its pid; None if nothing is known against it."""
    if hasattr(sys, "remote_exec"):  # Python 3.14 needs no gdb, but the same right
        return _of_ptrace()
    if sys.platform == "linux" and not CAN_CALL and shutil.which("gdb") is None:
        return Obstacle("gdb is not installed", f"Install gdb, or {LISTEN}")
    return _of_ptrace()


def _of_ptrace() -> Obstacle | None:
    try:
        scope = int(PTRACE_SCOPE.read_text())
    except (OSError, ValueError):
        return None
    may_all = bool(_capabilities() >> CAP_SYS_PTRACE & 1)
    if scope == 3:
        reason = "the kernel forbids all tracing until it is started anew (ptrace_scope is 3)"
        return Obstacle(reason, LISTEN[0].upper() + LISTEN[1:])
    if scope == 0 or may_all:
        return None
    return Obstacle(
        f"the kernel forbids to trace processes that are not our children (ptrace_scope is {scope})",
        Action.SET_PTRACE_SCOPE.of(otherwise=LISTEN),
    )


def _capabilities() -> int:
    return _number_in("/proc/self/status", "CapEff", 16)


def _number_in(path: str, name: str, base: int = 10) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(path).read_text(errors="replace").split(f"\n{name}:")[1].split()[0], base)
    return 0


# What runs Python ------------------------------------------------------------------------


def runs_python(process: psutil.Process) -> bool | None:
    """Whether it is a Python interpreter, or has one inside; None where nobody knows."""
    try:
        name = os.path.basename(process.exe().removesuffix(" (deleted)"))
    except psutil.AccessDenied:
        return None
    if _PYTHON.match(name):
        return True
    try:
        return "libpython" in Path(f"/proc/{process.pid}/maps").read_text(errors="replace")
    except OSError:
        return False


def _is_helper(command: Sequence[str]) -> bool:
    return any(part in word for word in command[:5] for part in _HELPERS)


def python_processes() -> list[AttachableProcess]:
    """Every Python process of our user, oldest first. Blocks for some milliseconds each."""
    found = [p for p in psutil.process_iter() if _is_ours(p) and _is_python(p)]
    return _described(found, _listeners(found))


def python_processes_below(pid: int) -> list[AttachableProcess]:
    """The Python processes that this one has started, at any depth. Blocks."""
    try:
        found = [p for p in psutil.Process(pid).children(recursive=True) if _is_python(p)]
    except psutil.Error:
        return []
    return _described(found, {})


def _is_ours(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.uids().effective == os.geteuid()
    return False


def _is_python(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.status() != psutil.STATUS_ZOMBIE and runs_python(process) is True
    return False


def _described(
    found: Sequence[psutil.Process], listeners: dict[int, DebugListener]
) -> list[AttachableProcess]:
    described = [_describe(process, listeners) for process in found]
    return [process for process in described if process is not None]


def _describe(
    process: psutil.Process, listeners: dict[int, DebugListener]
) -> AttachableProcess | None:
    ours = debuggee_of(process.pid)
    try:
        with process.oneshot():
            return AttachableProcess(
                pid=process.pid,
                name=process.name(),
                command=process.cmdline(),
                cwd=_or_none(process.cwd),
                python=_or_none(process.exe),
                session_id=ours.session.id if ours else None,
                listener=listeners.get(process.pid),
                obstacle=obstacle_to_injection(process.pid),
            )
    except psutil.Error:  # it has just ended
        return None


def _or_none(read: Callable[[], str]) -> str | None:
    with contextlib.suppress(psutil.AccessDenied, OSError):
        return read() or None
    return None


def obstacle_to_attach(pid: int) -> Obstacle | None:
    """As for injection; and a debug server that is in the process already must not be replaced."""
    obstacle = obstacle_to_injection(pid)
    if obstacle is not None:
        return obstacle
    with contextlib.suppress(psutil.Error):
        adapters = [p for p in psutil.process_iter() if _is_adapter(p)]
        listener = _listeners([psutil.Process(pid), *adapters]).get(pid) if adapters else None
        if listener is not None and listener.is_taken:
            where = f"{listener.host}:{listener.port}"
            return Obstacle(
                f"another debug client is attached to process {pid}, at {where}",
                "End that client first, or DELETE its session",
            )
        if listener is not None:
            return Obstacle(
                f"process {pid} has a debug server, which listens on port {listener.port}",
                f'Attach there: {{"host": "{listener.host}", "port": {listener.port}}}',
            )
    return None


# Who listens -----------------------------------------------------------------------------


def _listeners(processes: Sequence[psutil.Process]) -> dict[int, DebugListener]:
    """By the pid of the program: where `debugpy --listen` waits for a client.

    Its adapter is a process of its own, to which the program keeps a connection.
    """
    adapters = [p for p in processes if _is_adapter(p)]
    servers: dict[int, DebugListener] = {}  # by every port on which an adapter listens
    for adapter in adapters:
        listener = _listener(adapter)
        if listener is not None:
            servers.update(dict.fromkeys(_listening_ports(adapter), listener))
    found: dict[int, DebugListener] = {}
    for process in processes if servers else ():
        if process in adapters:
            continue
        for connection in _connections(process):
            if connection.raddr and connection.raddr.port in servers:
                found[process.pid] = servers[connection.raddr.port]
    return found


def is_adapter(pid: int) -> bool:
    """Whether it is the adapter of a `debugpy --listen`."""
    with contextlib.suppress(psutil.Error):
        return _is_adapter(psutil.Process(pid))
    return False


def _is_adapter(process: psutil.Process) -> bool:
    return "--for-server" in _command(process)


def _listener(adapter: psutil.Process) -> DebugListener | None:
    """Where an adapter takes clients, from its own command line."""
    command = _command(adapter)
    try:
        host = command[command.index("--host") + 1]
        port = int(command[command.index("--port") + 1])
    except (ValueError, IndexError):
        return None
    is_taken = any(
        c.laddr.port == port and c.status == psutil.CONN_ESTABLISHED for c in _connections(adapter)
    )
    return DebugListener(host, port, is_taken)


def _command(process: psutil.Process) -> list[str]:
    with contextlib.suppress(psutil.Error):
        return process.cmdline()
    return []


def _listening_ports(process: psutil.Process) -> list[int]:
    return [c.laddr.port for c in _connections(process) if c.status == psutil.CONN_LISTEN]


def _connections(process: psutil.Process) -> Sequence[Any]:
    with contextlib.suppress(psutil.Error):
        return process.net_connections("tcp")
    return []


def process_name(argv: Sequence[str]) -> str:
    """What a Python command line runs, in a word: the script, the module, or -c."""
    words = iter(argv[1:])
    for word in words:
        if word == "-m":
            return next(words, word)
        if word == "-c":
            return "multiprocessing" if "multiprocessing" in next(words, "") else word
        if word in ("-X", "-W"):
            next(words, None)
        elif not word.startswith("-"):
            return Path(word).name
    return Path(argv[0]).name if argv else ""
