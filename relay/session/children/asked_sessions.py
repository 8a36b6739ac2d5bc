"""AskedSessions: an adapter that asks for a session of each process, by DAP's `startDebugging`.

Its first conversation launches or attaches, and has no threads. For each process it asks for one more
connection, that of a session: the first is the program's, the others are those of its children, be
they processes or, as in JavaScript, threads with a world of their own.
Source: DAP startDebugging; what js-debug does.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import trio

from relay.dap.conversation import IncomingEvent, IncomingRequest
from relay.process.exit_status import until_ended
from relay.session.children.child import Child, announce_end
from relay.session.dap.connection import ByteStream
from relay.session.dap.event_handler import EventHandler
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debuggee.ends import HANG_UP_GRACE
from relay.session.inspector import Inspector

log = logging.getLogger("relay.session")

JOIN_SECONDS = 2.0
"""How long the adapter may take to ask for the session of a new process, which else runs free."""

PID_IN_NAME = re.compile(r"\[(\d+)\]$")
"""How js-debug names a process: its script, and its number in brackets."""


class AskedSession(NamedTuple):
    """How a session is begun: `launch` or `attach`, with its arguments."""

    request: str
    arguments: Mapping[str, Any]

    @classmethod
    def of(cls, asked: IncomingRequest) -> AskedSession:
        """As the adapter asks for it. Raises ValueError where it does not say how."""
        request, configuration = (
            asked.arguments.get(name) for name in ("request", "configuration")
        )
        if request not in ("launch", "attach") or not isinstance(configuration, Mapping):
            raise ValueError("startDebugging needs a request and its configuration")
        return cls(str(request), dict(configuration))

    @property
    def name(self) -> str:
        """What the adapter calls it, without the number of its process."""
        return PID_IN_NAME.sub("", str(self.arguments.get("name") or "")).strip()

    @property
    def stated_pid(self) -> int | None:
        """The number of its process, as far as the adapter says it; some have a field for it."""
        pid = self.arguments.get("subProcessId")
        if isinstance(pid, int):
            return pid
        found = PID_IN_NAME.search(str(self.arguments.get("name") or ""))
        return int(found[1]) if found else None


class AskedSessions:
    """The sessions that one adapter asks for, from its first conversation to its end."""

    # Invariant: who is in _awaited has been announced, and has neither joined nor been given up.

    def __init__(
        self,
        program: Debuggee,
        connect: Callable[[], Awaitable[ByteStream]],
        shake_hands: Callable[[Debuggee, AskedSession], Awaitable[None]],
        *,
        follows_all: bool,
    ) -> None:
        """`connect` makes one more connection; follows_all: children are meant to join."""
        self.closed = False
        self.follows_all = follows_all
        self.over = trio.Event()
        """The first conversation has said its end, or the program has ended: no more will be asked for."""
        self._program = program
        self._group = program.group
        self._connect = connect
        self._shake_hands = shake_hands
        self._first: AskedSession | None = None
        self._is_asked = trio.Event()
        self._numbers = itertools.count(1)
        self._children: list[Child] = []
        self._joined: set[int] = set()
        self._awaited: dict[int, Sequence[str] | None] = {}
        self._has_joined = False

    @property
    def names_processes(self) -> bool:
        """Whether a stop says in which process it is."""
        return self._has_joined or self.follows_all

    # The program -------------------------------------------------------------------

    async def open_program(self) -> AskedSession | None:
        """Connect the program to the session that is asked for first; None if none ever is."""
        async with trio.open_nursery() as nursery:

            async def first(wait: Callable[[], Awaitable[None]]) -> None:
                await wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(first, self._is_asked.wait)
            nursery.start_soon(first, self.over.wait)
        if self._first is None:
            return None
        program = self._program
        stream = await self._connect()
        program.connect(
            stream, ProgramSessionEvents(program, self.over), partial(self.ask, program)
        )
        program.is_in_asked_session()
        if program.pid is None and (pid := await self._pid_of(self._first)) is not None:
            program.identified(pid)
        return self._first

    async def ask(self, asker: Debuggee, request: IncomingRequest) -> Mapping[str, Any]:
        """The adapter asks for a session, in that of `asker`. Raises ValueError for anything else."""
        if request.command != "startDebugging":
            raise ValueError(f"{request.command} is not supported")
        opening = AskedSession.of(request)
        if self.closed:
            raise ValueError("nothing is debugged here any more")
        if self._first is None:
            self._first = opening
            self._is_asked.set()
        else:
            self._program.nursery.start_soon(self._host, asker, opening)
        return {}

    # Children ----------------------------------------------------------------------

    async def _host(self, asker: Debuggee, opening: AskedSession) -> None:
        pid = await self._pid_of(opening)
        number = next(self._numbers)
        # Without a number it is a part of the process that asks.
        child = Child(self._group, number, pid or asker.pid, opening.name or f"child {number}")
        child.is_in_asked_session()
        self._children.append(child)
        self._group.add(child)
        try:
            await child.live(
                await self._connect(),
                partial(self._announce_joined, child, pid),
                lambda _: self._shake_hands(child, opening),
                partial(self.ask, child),
            )
        except OSError as error:
            log.warning("no session for %s: %s", opening.name, error)
        finally:
            self._children.remove(child)
            say = partial(announce_end, child, None) if pid is not None else _unsaid
            self._group.left(child, say, silently=self.closed)

    async def _pid_of(self, opening: AskedSession) -> int | None:
        """The number that the adapter says, if it is one below what was started here."""
        pid = opening.stated_pid
        if pid is None:
            return None
        started = [one for one in (self._program.process, *self._program.helpers) if one]
        below = {process.pid for process in started}
        for process in started:
            below |= {one.pid for one in await process.children()}
        return pid if pid in below else None

    def _announce_joined(self, child: Child, pid: int | None) -> None:
        self._has_joined = True
        if pid is None:
            return
        self._awaited.pop(pid, None)
        self._joined.add(pid)
        self._program.children.joined(pid)
        self._program.events.child_started(pid, child.argv, debuggable=True)
        self._program.nursery.start_soon(self._forget, pid)

    async def _forget(self, pid: int) -> None:
        """After its end its number may be another's."""
        await until_ended(pid)
        await trio.sleep(JOIN_SECONDS)
        self._joined.discard(pid)

    # As every joining ----------------------------------------------------------------

    async def prepare(self, inspector: Inspector) -> None:
        """Nothing: the adapter sees to its children."""

    async def part(self) -> None:
        """Let every child run on without the debugger."""
        self.closed = True
        async with trio.open_nursery() as nursery:
            for child in self._children:
                if child.link is not None:
                    nursery.start_soon(child.let_go)

    def announced(self, pid: int, argv: Sequence[str] | None) -> None:
        """A process was made. The session learns of it when it joins, or is sure not to."""
        if pid in self._joined or pid in self._awaited:
            return
        self._awaited[pid] = argv
        self._program.nursery.start_soon(self._await_session, pid)

    async def _await_session(self, pid: int) -> None:
        if self.follows_all:
            with trio.move_on_after(JOIN_SECONDS):
                await until_ended(pid)
        self._give_up(pid)

    def _give_up(self, pid: int) -> None:
        if pid in self._awaited:
            self._program.events.child_started(pid, self._awaited.pop(pid))

    def give_up_all(self) -> None:
        """The program has ended: nobody joins any more."""
        for pid in list(self._awaited):
            self._give_up(pid)

    def close(self) -> None:
        """Nobody joins any more, and what the children still do is nobody's concern."""
        self.closed = True


class ProgramSessionEvents(EventHandler):
    """The events of the program's session, which has less to say than the adapter."""

    def __init__(self, program: Debuggee, over: trio.Event) -> None:
        super().__init__(program)
        self._over = over

    def _terminated(self, body: Mapping[str, Any]) -> None:
        if self._debuggee.speaks_through_adapter:
            self._debuggee.nursery.start_soon(self._end)
        else:
            super()._terminated(body)

    async def _end(self) -> None:
        """What the program has printed comes by the first conversation, and maybe later."""
        with trio.move_on_after(HANG_UP_GRACE):
            await self._over.wait()
        self._debuggee.end_reported()


class FirstEvents:
    """The events of the first conversation: its own handshake, and what is not of one process."""

    def __init__(self, program: Debuggee, over: trio.Event) -> None:
        self.initialized = trio.Event()
        self._over = over
        self._handle = EventHandler(program)

    def __call__(self, event: IncomingEvent) -> None:
        if event.event == "initialized":
            self.initialized.set()
        elif event.event == "terminated":
            self._over.set()
        elif event.event in ("output", "exited"):
            self._handle(event)


def _unsaid(_: object) -> None:
    """What is no process of its own has no end as one."""
