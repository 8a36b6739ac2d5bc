"""The conversation: commands one after another, and between them what has happened.

Before each command the news are reported, so that a client never sees the effect of its command
before the cause of what it acted on. Knows no bytes and no DAP.
"""

from __future__ import annotations

import trio

from relay.actions import in_words
from relay.errors import RelayError
from relay.faces.stdio.actions import COMMAND_WORDS
from relay.faces.stdio.lines import Command, cut
from relay.faces.stdio.program import VERBS, DebuggedProgram, RefusedError, Say
from relay.hub import Hub
from relay.models import line_protocol as protocol

LAST_WORDS_SECONDS = 0.5
"""How long the last event may take to a client that may not be there."""


class ProtocolDebugger:
    """The state of one conversation. `say` sends an event to the client."""

    def __init__(self, hub: Hub, nursery: trio.Nursery, say: Say) -> None:
        self._hub = hub
        self._nursery = nursery
        self._say = say
        self._turn = trio.Lock()  # held by whoever reports, or changes what is reported
        self._program: DebuggedProgram | None = None
        self._over = False  # nothing is reported any more, but that it is over

    async def carry_out(self, command: Command) -> None:
        """Do what is asked, and answer; raises nothing that the client is to blame for."""
        async with self._turn:
            if self._program is not None:
                await self._program.report_news()
            try:
                await self._do(command)
            except RefusedError as refused:
                await self.refuse(command.name, str(refused), refused.place)
            except RelayError as error:
                suggestion = in_words(error.suggestion, error.details, COMMAND_WORDS)
                await self.refuse(command.name, error.message, suggestion=suggestion)

    async def refuse(
        self,
        name: str | None,
        message: str,
        place: protocol.Place | None = None,
        *,
        suggestion: str | None = None,
    ) -> None:
        """Say why a command, or a line that is none, was not carried out."""

        def make(text: str) -> protocol.LineEvent:
            return protocol.Error(message=text, suggestion=suggestion, location=place, command=name)

        await self._send(cut(message, make))

    async def _send(self, event: protocol.LineEvent) -> None:
        if not self._over:
            await self._say(event)

    async def _do(self, command: Command) -> None:
        params = command.params
        if isinstance(params, protocol.InitializeParams):
            await self._initialize(params)
            return
        if self._program is None:
            verb = VERBS.get(command.name, command.name)
            raise RefusedError(f"Cannot {verb}: send initialize first")
        await self._program.do(command)

    async def _initialize(self, params: protocol.InitializeParams) -> None:
        """Take a program; one that was taken before and does not run is let go."""
        before = self._program
        if before is not None and before.lives:
            raise RefusedError("Cannot initialize: the program is running")
        program = await DebuggedProgram.open(self._hub, params, self._send)
        if before is not None:
            await before.close()
        self._program = program
        self._nursery.start_soon(self._follow, program)
        await self._send(protocol.Initialized(file=params.file))

    async def _follow(self, program: DebuggedProgram) -> None:
        """Report what happens, as long as this is the program."""
        while await program.has_news():
            async with self._turn:
                if self._program is not program:
                    return
                await program.report_news()

    async def terminate(self) -> None:
        """End the program and everything that it started, and say that it is over."""
        self._over = True
        program, self._program = self._program, None
        if program is not None:
            await program.close()
        with trio.move_on_after(LAST_WORDS_SECONDS):
            await self._say(protocol.Terminated())

    def let_go(self) -> None:
        """Hold no session any more; the hub ends it."""
        if self._program is not None:
            self._program.let_go()
