"""Is everything there that the relay needs, and how to fix what is not.

Each check looks at the real thing: the interpreter is run, the port is bound, a file is
written, a small program is debugged. Changes nothing. Source: contract, section 8.
"""

from __future__ import annotations

import platform
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import trio

from relay.config import Settings
from relay.errors import RelayError
from relay.hub import debuggers_of, open_relay
from relay.models.creating import CreateSession
from relay.models.doctor import Check, Diagnosis
from relay.models.inspection import EvaluateRequest
from relay.models.launch import LaunchRequest
from relay.operations.inspect import evaluation
from relay.operations.sessions import creating
from relay.state_files import DIRECTORY_MODE

SESSION_SECONDS = 60.0
PYTHON = (3, 11)

Answers = Callable[[], Awaitable[str | None]]
"""Asks the server at the settings' address: its version; None if nobody answers as a relay."""


async def diagnose(settings: Settings, *, answers: Answers) -> Diagnosis:
    """Look at everything. Takes about a second; a program that hangs costs a minute."""
    known = debuggers_of(settings)
    checks = [
        _python(),
        *[check for one in known for check in await one.check_installation(settings)],
        _state_dir(settings),
        await _address(settings, answers),
        *[check for one in known if (check := one.check_attach()) is not None],
        await _session(settings, known.default.install_command),
    ]
    return Diagnosis(ok=all(check.status != "broken" for check in checks), checks=checks)


def _python() -> Check:
    found = f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}"
    if sys.version_info < PYTHON or sys.implementation.name != "cpython":
        wanted = ".".join(map(str, PYTHON))
        return Check.broken("python", found, f"Install the relay in CPython {wanted} or newer")
    return Check.found("python", found)


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
        return Check.broken(name, why, "Make it yours, or choose another one: RELAY_STATE_DIR")
    finally:
        if made is not None and made.is_dir():
            made.rmdir()
    return Check.found(name, f"{path} can be written")


async def _address(settings: Settings, answers: Answers) -> Check:
    """Free, or a relay is there already."""
    version = await answers()
    where = str(settings.uds) if settings.uds else f"{settings.host}:{settings.port}"
    if version is not None:
        return Check.found("address", f"a relay {version} answers at {where}")
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
    return Check.found("address", f"{where} is free")


def _socket_file(path: Path) -> Check:
    if not path.parent.is_dir():
        return Check(
            name="address",
            status="warning",
            message=f"{path.parent} is no directory",
            remedy="Make it, or choose another path: RELAY_UDS",
        )
    return Check.found("address", f"{path} can be made")


async def _session(settings: Settings, install_command: str) -> Check:
    """Debug a program of one line, as an agent would."""
    name = "a debug session"
    remedy = "Read the message; relay serve --log-level debug says more"
    try:
        with trio.fail_after(SESSION_SECONDS):
            message, limitations = await _debug_something(settings)
    except (RelayError, OSError, trio.TooSlowError) as error:
        detail = getattr(error, "suggestion", remedy)
        return Check.broken(
            name, f"it does not work: {str(error) or type(error).__name__}", str(detail)
        )
    if not limitations:
        return Check.found(name, message)
    text = "; ".join([message, *limitations])
    return Check(name=name, status="warning", message=text, remedy=install_command)


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
                report = session.program_run.debugger_report
                limits = report.limitations if report is not None else ()
            message = f"works in the launch mode {created.launch_mode}: 6 * 7 is {value.result}"
            return message, limits
