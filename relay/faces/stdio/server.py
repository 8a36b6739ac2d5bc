"""Commands from one descriptor, events to another, until the client leaves or says so.

Knows descriptors and the end: `terminate`, the end of the input, a client that does not read
any more, or a signal. Whichever comes, the program and all that it started are gone before
this returns. Descriptors may be pipes, files or terminals: they are read in threads.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from functools import partial

import trio

from relay.config import Settings
from relay.faces.stdio.debugger import ProtocolDebugger
from relay.faces.stdio.lines import BadLineError, Command, LineReader, encode, parse
from relay.hub import open_relay
from relay.models.line_protocol import InitializeParams, LineEvent

READ_BYTES = 64 * 1024
COMMANDS_WAITING = 1000
"""Commands that are read while one is carried out; the rest stays in the pipe."""
GRACE_SECONDS = 0.3
"""How long commands that came before the end may take to be answered."""


class Speaker:
    """Writes events, each as one line in one write where the system lets it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._turn = trio.Lock()

    async def say(self, event: LineEvent) -> None:
        """Returns when it is written. Raises OSError if nobody reads."""
        async with self._turn:
            await trio.to_thread.run_sync(
                _write, self._descriptor, encode(event), abandon_on_cancel=True
            )


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


async def converse(
    settings: Settings, reading: int, writing: int, *, program: InitializeParams | None = None
) -> None:
    """Serve one client on two descriptors; with `program`, that one is initialized already."""
    speaker = Speaker(writing)
    async with open_relay(settings) as hub, trio.open_nursery() as nursery:
        debugger = ProtocolDebugger(hub, nursery, partial(_say, speaker, nursery.cancel_scope))
        try:
            if program is not None:
                await debugger.carry_out(Command("initialize", program))
            await _Conversation(debugger, program).hold(reading)
            await debugger.terminate()
        finally:
            debugger.let_go()
        nursery.cancel_scope.cancel()


async def _say(speaker: Speaker, everything: trio.CancelScope, event: LineEvent) -> None:
    try:
        await speaker.say(event)
    except OSError:  # the client is gone
        everything.cancel()


class _Conversation:
    """The commands of one client, in their order."""

    def __init__(self, debugger: ProtocolDebugger, announced: InitializeParams | None) -> None:
        self._debugger = debugger
        self._announced = announced
        self._done = trio.Event()

    async def hold(self, reading: int) -> None:
        """Until `terminate`, the end of the input, or a signal."""
        send, receive = trio.open_memory_channel[Command | BadLineError](COMMANDS_WAITING)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._work, receive)
            nursery.start_soon(self._obey_signals, nursery.cancel_scope)
            await self._read(reading, send)
            # What was asked before is answered; what only the program can end is not.
            with trio.move_on_after(GRACE_SECONDS):
                await self._done.wait()
            nursery.cancel_scope.cancel()

    async def _read(
        self, reading: int, commands: trio.MemorySendChannel[Command | BadLineError]
    ) -> None:
        lines = LineReader()
        async with commands:
            while data := await _receive(reading):
                if await _pass_on(lines.feed(data), commands):
                    return
            await _pass_on(lines.close(), commands)

    async def _work(self, commands: trio.MemoryReceiveChannel[Command | BadLineError]) -> None:
        async for command in commands:
            if isinstance(command, BadLineError):
                await self._debugger.refuse(command.command, command.message)
            elif not self._is_known(command):
                await self._debugger.carry_out(command)
        self._done.set()

    def _is_known(self, command: Command) -> bool:
        """Whether it initializes what was initialized, and announced, from the start."""
        known, self._announced = self._announced, None
        params = command.params
        if known is None or not isinstance(params, InitializeParams):
            return False
        return _identity(params) == _identity(known)

    async def _obey_signals(self, conversation: trio.CancelScope) -> None:
        with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                conversation.cancel()


async def _receive(reading: int) -> bytes:
    return await trio.to_thread.run_sync(os.read, reading, READ_BYTES, abandon_on_cancel=True)


async def _pass_on(
    lines: Sequence[bytes | None], commands: trio.MemorySendChannel[Command | BadLineError]
) -> bool:
    """Whether one of them ends the conversation, which is a matter of who reads; the others are sent."""
    for line in lines:
        command = _parsed(line)
        if isinstance(command, Command) and command.name == "terminate":
            return True
        await commands.send(command)
    return False


def _identity(params: InitializeParams) -> tuple[str, str]:
    directory = os.path.abspath(params.working_dir or ".")
    return directory, os.path.join(directory, params.file)


def _parsed(line: bytes | None) -> Command | BadLineError:
    try:
        return parse(line)
    except BadLineError as error:
        return error
