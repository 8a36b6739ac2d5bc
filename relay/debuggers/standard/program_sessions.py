"""ProgramSessions: an adapter that has a session for each process, as js-debug does.

Knows the first conversation with it, which asks for them. Refuses to know how it is connected to
(start.py), and what becomes of a session (relay/session/children/asked_sessions.py).
Source: DAP startDebugging.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import trio

from relay.debuggers.standard.handshake import begin_without_threads, shake_hands
from relay.errors import LaunchFailed
from relay.process.guarded_process import GuardedProcess
from relay.session.children.asked_sessions import AskedSession, AskedSessions, FirstEvents

if TYPE_CHECKING:
    from relay.dap.conversation import IncomingRequest
    from relay.session.dap.connection import ByteStream, RequestHandler
    from relay.session.debuggee.debuggee import Debuggee

LAST_WORDS = 2000
"""Characters of its standard error that a program shows which ended too early."""


class ProgramSessions:
    """Those of one program, from the first connection to its adapter."""

    def __init__(
        self,
        debuggee: Debuggee,
        connect: Callable[[], Awaitable[ByteStream]],
        run_in_terminal: RequestHandler | None,
        *,
        debugs_children: bool,
    ) -> None:
        """`connect` connects once more; `run_in_terminal` does what the adapter asks by that."""
        self._debuggee = debuggee
        self._run_in_terminal = run_in_terminal
        self._asked = AskedSessions(debuggee, connect, self._join, follows_all=debugs_children)
        self._limit = debuggee.session.settings.launch_timeout_seconds
        self._first = FirstEvents(debuggee, self._asked.over)

    def connect(self, stream: ByteStream) -> None:
        """Speak with the adapter over its first connection."""
        self._debuggee.group.follow(self._asked)
        self._debuggee.connect(stream, self._first, self._answer)

    async def open(
        self,
        opening: tuple[str, Mapping[str, Any]],
        limit: float,
        awaiting: Callable[[str], object],
        *,
        run_in_terminal: bool,
    ) -> None:
        """From a connection to a program that runs, in the session that is asked for first.

        Raises RelayError, or a group of them.
        """
        self._limit = limit
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._begin, opening, run_in_terminal)
            awaiting("startDebugging, by which it names the program")
            asked = await self._asked.open_program()
            if asked is None:
                raise await self._ended_before()
            await shake_hands(self._debuggee, asked, limit, awaiting, start_debugging=True)

    async def _begin(self, opening: tuple[str, Mapping[str, Any]], run_in_terminal: bool) -> None:
        await begin_without_threads(
            self._debuggee,
            opening,
            self._limit,
            self._first.initialized,
            run_in_terminal=run_in_terminal,
        )

    async def end_with(self, process: GuardedProcess) -> None:
        """When the program has ended, nothing more is asked for."""
        with contextlib.suppress(trio.ClosedResourceError):
            await process.wait()
            self._asked.over.set()

    async def _answer(self, request: IncomingRequest) -> Mapping[str, Any]:
        if request.command == "runInTerminal" and self._run_in_terminal is not None:
            return await self._run_in_terminal(request)
        return await self._asked.ask(self._debuggee, request)

    async def _join(self, child: Debuggee, opening: AskedSession) -> None:
        await shake_hands(child, opening, self._limit, start_debugging=True)

    async def _ended_before(self) -> LaunchFailed:
        """What to say of a program that ended without having been debugged."""
        debuggee = self._debuggee
        await debuggee.await_output_end()
        code = None if debuggee.process is None else debuggee.process.returncode
        session = debuggee.session
        entries = session.output.last(session.program_run.first_output, 50, "stderr")
        ended = "ended" if code is None else f"ended with code {code}"
        return LaunchFailed(
            f"the program {ended} before its debugger had it",
            exit_code=code,
            stderr="".join(entry.output for entry in entries)[-LAST_WORDS:],
        )
