"""Starting a debugger that is an adapter of its own, and the first words with it, as an editor would.

The adapter is a process of the relay's, guarded as a program is: whatever it starts ends with it.
Knows how it is connected to and shaken hands with. Refuses to know what it is asked to debug: a
program to launch (launch.py) or one that runs (attach.py).
Source: DAP, "Launching and attaching"; contract, section 3.
"""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import trio

from relay.debuggers.standard.handshake import shake_hands
from relay.errors import LaunchFailed
from relay.process.guarded_process import GuardedProcess
from relay.process.spawn_error import SpawnError
from relay.process.spawning import spawn
from relay.session.dap.connection import ByteStream, SocketByteStream, StdioByteStream
from relay.session.dap.event_handler import EventHandler
from relay.session.debuggee.debuggee import Debuggee

if TYPE_CHECKING:
    from relay.debuggers.standard.debugger import StandardDebugger

LOOPBACK = "127.0.0.1"
DIAL_SECONDS = 0.02
"""Between two attempts to connect to an adapter that has just been started."""

LAST_WORDS = 2000
"""Characters of the adapter's standard error that a failed start shows."""


class AdapterStart:
    """One start of an adapter, in a directory and with an environment."""

    def __init__(self, adapter: StandardDebugger, cwd: str, env: Mapping[str, str]) -> None:
        """Raises LaunchFailed if there is no such adapter here."""
        _require(adapter, env)
        self._adapter = adapter
        self._cwd = cwd
        self._env = env
        self._said = ""
        self.awaited = "its answer to initialize"
        """What `shake_hands` waits for, in words."""

    @property
    def details(self) -> dict[str, Any]:
        """What to say of it in an error."""
        said = {"stderr": self._said} if self._said else {}
        return {"adapter": self._adapter.name, **said}

    async def connect(self, debuggee: Debuggee) -> None:
        """From nothing to a link. Raises LaunchFailed."""
        debuggee.speaks_through_adapter = True
        port = _free_port() if self._adapter.over_tcp else None
        argv = self._adapter.command_for(port)
        try:
            process = await spawn(argv, cwd=self._cwd, env=self._env)
        except SpawnError as error:
            raise LaunchFailed(f"cannot start {error.filename}: {error.strerror}") from None
        debuggee.helpers.append(process)
        assert process.stderr is not None
        if port is None:
            debuggee.nursery.start_soon(process.stderr.pump, self._remember)
            stream: ByteStream = StdioByteStream(process.stdin, process.stdout)
        else:
            # Beside the protocol these are the adapter's own words, and maybe the program's.
            printed = partial(debuggee.events.printed, "console")
            debuggee.nursery.start_soon(process.stdout.pump, printed)
            debuggee.nursery.start_soon(process.stderr.pump, partial(self._remember_and, printed))
            stream = await self._dial(debuggee, process, port)
        debuggee.connect(stream, EventHandler(debuggee))

    async def _dial(
        self, debuggee: Debuggee, process: GuardedProcess, port: int
    ) -> SocketByteStream:
        """Until it listens, which no protocol reports."""
        limit = debuggee.session.settings.launch_timeout_seconds
        with trio.move_on_after(limit):
            while process.returncode is None:
                try:
                    stream = await trio.open_tcp_stream(LOOPBACK, port)
                except OSError:
                    await trio.sleep(DIAL_SECONDS)
                else:
                    return SocketByteStream(stream.socket)
        ended = process.returncode is not None
        what = "ended before it listened" if ended else f"did not listen within {limit:g} s"
        raise LaunchFailed(f"the {self._adapter.name} adapter {what} on port {port}")

    def _remember_and(self, do: Callable[[str], None], text: str) -> None:
        self._remember(text)
        do(text)

    def _remember(self, text: str) -> None:
        self._said = (self._said + text)[-LAST_WORDS:]

    async def shake_hands(
        self, debuggee: Debuggee, opening: tuple[str, Mapping[str, Any]], limit: float
    ) -> None:
        """From a link to a program that runs with everything set.

        `opening` is `launch` or `attach` with its arguments, `limit` seconds for each answer.
        Raises RelayError, or a group of them.
        """
        await shake_hands(debuggee, opening, limit, self._awaits)

    def _awaits(self, what: str) -> None:
        self.awaited = what


def _require(adapter: StandardDebugger, env: Mapping[str, str]) -> None:
    if not adapter.command:
        raise LaunchFailed(
            f"there is no {adapter.name} adapter any more",
            adapter=adapter.name,
            suggestion="Describe it under adapters in config.json and restart the relay",
        )
    if shutil.which(adapter.command[0], path=env.get("PATH")) is None:
        raise LaunchFailed(
            f"the {adapter.name} adapter is not there: no executable {adapter.command[0]}",
            adapter=adapter.name,
            suggestion="Install it, or correct its command in config.json",
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
