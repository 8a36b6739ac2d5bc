"""Starting a program under a debugger that is an adapter of its own, as an editor would.

The adapter is a process of the relay's, guarded as a program is: whatever it starts ends with it.
Source: DAP, "Launching and attaching"; contract, section 3.
"""

from __future__ import annotations

import shutil
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import trio

from relay.adapters.standard import StandardAdapter
from relay.errors import LaunchFailed, RelayError
from relay.session.adapter_input import AdapterInput
from relay.session.announcer import Announcer
from relay.session.configuration import send_all
from relay.session.debuggee import Debuggee
from relay.session.failure import leaves
from relay.session.link import ByteStream, SocketByteStream, StdioByteStream
from relay.session.process import GuardedProcess, SpawnError, spawn
from relay.session.session import Session, Starter
from relay.session.standard_inspector import StandardInspector

LOOPBACK = "127.0.0.1"
KNOCKING_SECONDS = 0.02
"""Between two attempts to connect to an adapter that has just been started."""

LAST_WORDS = 2000
"""Characters of the adapter's standard error that a failed launch shows."""


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be started, resolved: `values` fill the adapter's template."""

    cwd: str
    env: Mapping[str, str]
    values: Mapping[str, Any] = field(default_factory=dict)
    stdin: bytes = b""


def standard_starter(session: Session, adapter: StandardAdapter, command: Command) -> Starter:
    """The way to start it. Raises LaunchFailed if there is no such adapter here."""
    if not adapter.command:
        raise LaunchFailed(
            f"there is no {adapter.name} adapter any more",
            adapter=adapter.name,
            suggestion="Describe it under adapters in config.json and restart the relay",
        )
    if shutil.which(adapter.command[0], path=command.env.get("PATH")) is None:
        raise LaunchFailed(
            f"the {adapter.name} adapter is not there: no executable {adapter.command[0]}",
            adapter=adapter.name,
            suggestion="Install it, or correct its command in config.json",
        )
    return _Start(adapter, command).run


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


class _Start:
    def __init__(self, adapter: StandardAdapter, command: Command) -> None:
        self._adapter = adapter
        self._command = command
        self._said = ""

    async def run(self, debuggee: Debuggee) -> None:
        """From nothing to a program that runs with everything set. Raises RelayError."""
        debuggee.speaks_through_adapter = True
        await self._connect(debuggee)
        try:
            await self._shake_hands(debuggee)
        except (RelayError, ExceptionGroup) as error:
            raise self._why(error) from None
        if (request := self._adapter.stdin_request) is not None:
            assert debuggee.link is not None
            pipe = AdapterInput(debuggee, debuggee.link, request)
            debuggee.open_stdin(pipe, self._command.stdin)

    async def _connect(self, debuggee: Debuggee) -> None:
        port = _free_port() if self._adapter.over_tcp else None
        argv = self._adapter.command_for(port)
        try:
            process = await spawn(argv, cwd=self._command.cwd, env=self._command.env)
        except SpawnError as error:
            raise LaunchFailed(f"cannot start {error.filename}: {error.strerror}") from None
        debuggee.helpers.append(process)
        assert process.stderr is not None
        debuggee.nursery.start_soon(process.stderr.pump, self._hear)
        if port is None:
            stream: ByteStream = StdioByteStream(process.stdin, process.stdout)
        else:
            # Beside the protocol these are the adapter's own words, and maybe the program's.
            printed = partial(debuggee.session.print, "console")
            debuggee.nursery.start_soon(process.stdout.pump, printed)
            stream = await self._dial(debuggee, process, port)
        debuggee.connect(stream, Announcer(debuggee))

    async def _dial(
        self, debuggee: Debuggee, process: GuardedProcess, port: int
    ) -> SocketByteStream:
        """Until it listens, which no protocol tells. Raises LaunchFailed."""
        limit = debuggee.session.settings.launch_timeout_seconds
        with trio.move_on_after(limit):
            while process.returncode is None:
                try:
                    stream = await trio.open_tcp_stream(LOOPBACK, port)
                except OSError:
                    await trio.sleep(KNOCKING_SECONDS)
                else:
                    return SocketByteStream(stream.socket)
        ended = process.returncode is not None
        what = "ended before it listened" if ended else f"did not listen within {limit:g} s"
        raise self._why(LaunchFailed(f"the {self._adapter.name} adapter {what} on port {port}"))

    def _hear(self, text: str) -> None:
        self._said = (self._said + text)[-LAST_WORDS:]

    async def _shake_hands(self, debuggee: Debuggee) -> None:
        limit = debuggee.session.settings.launch_timeout_seconds
        can = await debuggee.request(
            "initialize", self._adapter.initialize_arguments(), timeout=limit
        )
        debuggee.inspector = StandardInspector(debuggee, can)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._launch, debuggee, limit)
            await debuggee.initialized.wait()
            await send_all(debuggee)
            if can.get("supportsConfigurationDoneRequest"):
                await debuggee.request("configurationDone", timeout=limit)

    async def _launch(self, debuggee: Debuggee, limit: float) -> None:
        arguments = self._adapter.launch_arguments(self._command.values)
        await debuggee.request("launch", arguments, timeout=limit)

    def _why(self, error: Exception) -> LaunchFailed:
        known = [leaf for leaf in leaves(error) if isinstance(leaf, RelayError)]
        found = known[0] if known else LaunchFailed(str(error))
        details = {"adapter": self._adapter.name}
        if self._said:
            details["stderr"] = self._said
        if isinstance(found, LaunchFailed):
            found.details.update(details)
            return found
        return LaunchFailed(
            f"the {self._adapter.name} adapter could not start the program: {found.message}",
            **details,
        )
