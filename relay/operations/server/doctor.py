"""Is everything there that the relay needs, and how to mend what is not.

Each check looks at the real thing: the interpreter is run, the port is bound, a file is
written, a small program is debugged. Changes nothing. Source: contract, section 8.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import trio

from relay.config import Settings
from relay.debuggers.debugpy.about import DEBUGGER, SUPPORTED_DEBUGGER, is_supported_debugger
from relay.debuggers.debugpy.about import debugpy_version as debugger_version
from relay.debuggers.debugpy.interpreter import OLDEST, parse, query_argv
from relay.debuggers.debugpy.processes import obstacle_to_tracing
from relay.errors import RelayError
from relay.hub import open_relay
from relay.models.creating import CreateSession
from relay.models.doctor import Check, Diagnosis
from relay.models.inspection import EvaluateRequest
from relay.models.launch import LaunchRequest
from relay.operations.inspect import evaluation
from relay.operations.sessions import creating
from relay.state_files import DIRECTORY_MODE

INTERPRETER_SECONDS = 20.0
SESSION_SECONDS = 60.0
PYTHON = (3, 11)

Answers = Callable[[], Awaitable[str | None]]
"""Asks the server at the settings' address: its version; None if nobody answers as a relay."""


async def diagnose(settings: Settings, *, answers: Answers) -> Diagnosis:
    """Look at everything. Takes about a second; a program that hangs costs a minute."""
    checks = [
        _python(),
        _debugger(),
        await _interpreter(settings),
        _state_dir(settings),
        await _address(settings, answers),
        _attach(),
        await _session(settings),
    ]
    return Diagnosis(ok=all(check.status != "broken" for check in checks), checks=checks)


def _ok(name: str, message: str) -> Check:
    return Check(name=name, status="ok", message=message)


def _broken(name: str, message: str, remedy: str) -> Check:
    return Check(name=name, status="broken", message=message, remedy=remedy)


def _python() -> Check:
    found = f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}"
    if sys.version_info < PYTHON or sys.implementation.name != "cpython":
        wanted = ".".join(map(str, PYTHON))
        return _broken("python", found, f"Install the relay in CPython {wanted} or newer")
    return _ok("python", found)


_INSTALL = f"{sys.executable} -m pip install '{DEBUGGER}{SUPPORTED_DEBUGGER}'"


def _debugger() -> Check:
    found = debugger_version()
    if found is None:
        return _broken(DEBUGGER, "it is not installed beside the relay", _INSTALL)
    if not is_supported_debugger(found):
        return _broken(DEBUGGER, f"{found} is not {SUPPORTED_DEBUGGER}", _INSTALL)
    return _ok(DEBUGGER, found)


async def _interpreter(settings: Settings) -> Check:
    """The one that programs run in, unless a session names another."""
    name, path = "interpreter of programs", settings.python_path
    remedy = "Set python_path to a Python that runs: RELAY_PYTHON_PATH, or --python-path of serve"
    found = _executable(path)
    if found is None:
        return _broken(name, f"there is no {path}", remedy)
    try:
        with trio.fail_after(INTERPRETER_SECONDS):
            done = await trio.run_process(
                query_argv(found), capture_stdout=True, stderr=subprocess.DEVNULL, check=False
            )
        answer = parse(done.stdout, found)
    except (OSError, trio.TooSlowError, RelayError) as error:
        return _broken(
            name, f"{found} does not answer: {str(error) or type(error).__name__}", remedy
        )
    version = ".".join(map(str, answer.version))
    told = f"{answer.implementation} {version}, {answer.executable}"
    if answer.version < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        return _broken(name, told, f"Programs need Python {oldest} or newer. {remedy}")
    return _ok(name, told)


def _executable(path: str) -> str | None:
    return shutil.which(os.path.expanduser(path))


def _state_dir(settings: Settings) -> Check:
    """Write a file where the relay would; what is made for it is removed again."""
    name, path = "state directory", settings.state_dir.expanduser().absolute()
    made: Path | None = None
    try:
        if not path.exists():
            made = path
            path.mkdir(mode=DIRECTORY_MODE, parents=True)
        with tempfile.NamedTemporaryFile(dir=path) as probe:
            probe.write(b"x")
            probe.flush()
    except OSError as error:
        why = f"{path} cannot be written: {error.strerror or error}"
        return _broken(name, why, "Make it yours, or choose another one: RELAY_STATE_DIR")
    finally:
        if made is not None and made.is_dir():
            made.rmdir()
    return _ok(name, f"{path} can be written")


async def _address(settings: Settings, answers: Answers) -> Check:
    """Free, or a relay is there already."""
    version = await answers()
    where = str(settings.uds) if settings.uds else f"{settings.host}:{settings.port}"
    if version is not None:
        return _ok("address", f"a relay {version} answers at {where}")
    if settings.uds is not None:
        return _socket_file(settings.uds.expanduser().absolute())
    try:
        infos = await trio.socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
        family, kind, _, _, address = infos[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        return Check(
            name="address",
            status="warning",
            message=f"{where} cannot be listened on: {error.strerror or error}",
            remedy="Choose another port: relay serve --port 0 takes a free one; RELAY_PORT keeps it",
        )
    return _ok("address", f"{where} is free")


def _socket_file(path: Path) -> Check:
    if not path.parent.is_dir():
        return Check(
            name="address",
            status="warning",
            message=f"{path.parent} is no directory",
            remedy="Make it, or choose another path: RELAY_UDS",
        )
    return _ok("address", f"{path} can be made")


def _attach() -> Check:
    """Only attaching by process id needs it."""
    obstacle = obstacle_to_tracing()
    if obstacle is None:
        return _ok("attach by process id", "programs of yours can be attached to")
    return Check(
        name="attach by process id",
        status="warning",
        message=obstacle.reason,
        remedy=str(obstacle.suggestion),
    )


async def _session(settings: Settings) -> Check:
    """Debug a program of one line, as an agent would."""
    name = "a debug session"
    remedy = "Read the message; relay serve --log-level debug says more"
    try:
        with trio.fail_after(SESSION_SECONDS):
            message, limitations = await _debug_something(settings)
    except (RelayError, OSError, trio.TooSlowError) as error:
        detail = getattr(error, "suggestion", remedy)
        return _broken(name, f"it does not work: {str(error) or type(error).__name__}", str(detail))
    if not limitations:
        return _ok(name, message)
    text = "; ".join([message, *limitations])
    return Check(name=name, status="warning", message=text, remedy=_INSTALL)


async def _debug_something(settings: Settings) -> tuple[str, tuple[str, ...]]:
    """What it answered, and what cannot be done with the debugger of programs."""
    with tempfile.TemporaryDirectory(prefix="relay-doctor-") as folder:
        script = Path(folder) / "program.py"
        script.write_text("answer = 42\n")
        ours = settings.model_copy(update={"project_root": Path(folder)})
        async with open_relay(ours) as hub:
            request = LaunchRequest(script=str(script), stop_on_entry=True, wait=SESSION_SECONDS)
            created = await creating.create_session(hub, body=CreateSession(launch=request))
            with hub.use(created.session_id) as session:
                question = EvaluateRequest(expression="6 * 7")
                value = await evaluation.evaluate(session, body=question)
                report = session.debugger_report
                limits = report.limitations if report is not None else ()
            message = f"works in the launch mode {created.launch_mode}: 6 * 7 is {value.result}"
            return message, limits
