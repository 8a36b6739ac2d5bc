"""ProcessGroup: the program and its children, one debugged session of many processes.

Knows which process a thread belongs to, whose stop the session tells of, and which stops wait.
Each process stops for itself. The first stop pauses the session; one that comes while the session
is paused elsewhere waits until that process runs again, and is told then. Refuses to know how a
child comes to connect (`probe/inherit.py`), and how it is spoken with (`child.py`).
Source: contract, section 6; user story, section 4.5.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

import trio

from relay.errors import NotSupported, RelayError
from relay.process.exit_status import ExitWatch
from relay.session.children.child import NUMBERS_EACH, Child
from relay.session.children.child_events import tell_end
from relay.session.children.join_port import JoinPort
from relay.session.dap.connection import SocketByteStream
from relay.session.debuggee.debuggee import Debuggee
from relay.session.inspector import Inspector
from relay.session.state.stop import Stop

log = logging.getLogger("relay.session")

RESUMES = frozenset({"continue", "next", "stepIn", "stepOut"})
STEP_SECONDS = 0.3
"""How long a process that was resumed has to stop again before another's stop is told."""
JOIN_SECONDS = 2.0
"""How long a new process has to join before it is announced as one that runs free."""
LIST_SECONDS = 2.0
"""How long a child may take to list its threads; then those of the last time are shown."""

Tell = Callable[[], None]


class Standing(NamedTuple):
    """A process that has stopped; `tell` makes its stop the session's."""

    stop: Stop
    tell: Tell


class ProcessGroup:
    """Made before the program's handshake, closed after its end."""

    # Invariants: _current is a key of _standing; the session is paused exactly while
    # _current is set. What stands is in the order in which it stopped.

    def __init__(
        self, program: Debuggee, *, optional: bool = False, workers_only: bool = False
    ) -> None:
        self.program = program
        self._optional = optional
        self._workers_only = workers_only
        self.session = program.session
        self._join_port = JoinPort()
        self._numbers = itertools.count(1)
        self._children: list[Child] = []
        self._standing: dict[Debuggee, Standing] = {}
        self._current: Debuggee | None = None
        self._resumed: tuple[Debuggee, Standing] | None = None
        self._threads_of: dict[Debuggee, list[dict[str, Any]]] = {}
        self._hits: dict[str, dict[int, int]] = {}
        self._joined: set[int] = set()
        self._awaited: dict[int, Sequence[str] | None] = {}
        self._closed = False

    # Life ------------------------------------------------------------------------

    async def open(self) -> None:
        """Listen for children from now on."""
        await self._join_port.open()
        if self.program.process is not None:
            self.program.process.answer_for(self._join_port.path)
        self.program.nursery.start_soon(self._join_port.admit, self._come_in)

    def close(self) -> None:
        """After the program's end: what the children still do is nobody's concern."""
        self._closed = True
        self._join_port.close()

    async def prepare(self, inspector: Inspector) -> None:
        """Have the children of this process join. Before any code of its program runs.

        If they cannot: raises NotSupported, or gives up where children are optional.
        """
        path = self._join_port.path
        answer = await inspector.debug_children(path, workers_only=self._workers_only)
        if answer["can_join"]:
            return
        if self._optional and self.program.inspector is None:
            self.close()
            self.program.group = None
        else:
            raise NotSupported(
                f"this debugger cannot follow children: {answer['reason']}",
                suggestion=answer["suggestion"],
            )

    def _come_in(self, peer: trio.socket.SocketType, pid: int) -> None:
        self.program.nursery.start_soon(self._host, peer, pid)

    async def _host(self, peer: trio.socket.SocketType, pid: int) -> None:
        child = Child(self, next(self._numbers), pid)
        self._children.append(child)
        ending: str | None = None
        watch = ExitWatch(pid)
        try:
            await child.live(SocketByteStream(peer), lambda: self._announce_joined(child))
            if not (child.said_terminated or child.runs_free or self._closed):
                ending = await watch.signal_name()
        finally:
            watch.close()
            self._left(child, ending)

    def _left(self, child: Child, ending: str | None) -> None:
        self._children.remove(child)
        self._threads_of.pop(child, None)
        child.gone.set()
        standing = self._standing.pop(child, None)
        lost = None
        if not (child.runs_free or self._closed or self.session.is_over):
            lost = tell_end(child, ending, standing and standing.stop)
        if self._current is child:
            # Its stop died with it.
            self.program.events.resumed(None)
        if lost is not None:
            self.program.events.process_lost(lost)
        self._tell_next()

    async def part(self) -> None:
        """Let every child run on without the debugger, as the program is about to."""
        self._closed = True
        async with trio.open_nursery() as nursery:
            for child in self._children:
                nursery.start_soon(child.let_go)

    # New processes ---------------------------------------------------------------------

    def announced(self, pid: int, argv: Sequence[str] | None) -> None:
        """A process was made. It is announced when it joins, or when it is clear that it will not."""
        if pid in self._joined or pid in self._awaited:
            return
        self._awaited[pid] = argv
        self.program.nursery.start_soon(self._await_joining, pid)

    async def _await_joining(self, pid: int) -> None:
        with trio.move_on_after(JOIN_SECONDS):
            await _end_of(pid)
        self._give_up(pid)

    def _give_up(self, pid: int) -> None:
        if pid in self._awaited:
            self.program.events.child_started(pid, self._awaited.pop(pid))

    def give_up_all(self) -> None:
        """The program has ended: nobody joins any more."""
        for pid in list(self._awaited):
            self._give_up(pid)

    def total_hits(self, member: Debuggee, hits: Mapping[str, int]) -> dict[str, int]:
        """Each process counts its own; a breakpoint's hits are those of all together."""
        for name, count in hits.items():
            self._hits.setdefault(name, {})[member.outer_id(0)] = count
        return {name: sum(self._hits[name].values()) for name in hits}

    def _announce_joined(self, child: Child) -> None:
        assert child.pid is not None
        told = self._awaited.pop(child.pid, None)
        if child.pid not in self._joined:
            self._joined.add(child.pid)
            self.program.children.joined(child.pid)
            argv = child.argv if told is None else told
            self.program.events.child_started(child.pid, argv, debuggable=True)

    # Requests ------------------------------------------------------------------------

    @property
    def current(self) -> Debuggee:
        """The process whose stop the session tells of; the program itself while it runs."""
        return self._current or self.program

    async def request(
        self,
        asker: Debuggee,
        command: str,
        arguments: Mapping[str, Any] | None,
        timeout: float | None,
    ) -> dict[str, Any]:
        """A request of `asker`, or of whoever has the thread that it names."""
        if command == "threads":
            return {"threads": await self._threads(timeout)}
        member = asker
        if isinstance(thread_id := (arguments or {}).get("threadId"), int):
            member = self._owner_of(thread_id) or asker
            arguments = {**(arguments or {}), "threadId": member.inner_id(thread_id)}
        if command in RESUMES:
            self._resumes(member)
        body = await member.ask(command, arguments, timeout=timeout)
        if command == "continue":
            self._tell_next()
        return _with_outer_ids(member, body)

    def _owner_of(self, thread_id: int) -> Debuggee | None:
        number = thread_id // NUMBERS_EACH
        if number == 0:
            return self.program
        return next((child for child in self._children if child.number == number), None)

    async def pass_on(self, told: Debuggee, tell: Callable[[Debuggee], Awaitable[None]]) -> None:
        """What one process was told to stop for, every other is told, too."""
        for member in [self.program, *self._children]:
            if member is told or member.inspector is None:
                continue
            try:
                await tell(member)
            except RelayError as error:
                log.warning("process %s was not told what to stop for: %s", member.pid, error)

    async def _threads(self, timeout: float | None) -> list[dict[str, Any]]:
        """The threads of every process, the program's first."""
        failures: list[RelayError] = []
        async with trio.open_nursery() as nursery:
            for child in self._children:
                if child.started:
                    nursery.start_soon(self._list_threads, child, LIST_SECONDS, [])
            await self._list_threads(self.program, timeout, failures)
        listed = [t for m in (self.program, *self._children) for t in self._threads_of.get(m, [])]
        if failures and not listed:
            raise failures[0]
        return listed

    async def _list_threads(
        self, member: Debuggee, timeout: float | None, failures: list[RelayError]
    ) -> None:
        if member is self.program and self._children and _has_hung_up(member):
            self._threads_of.pop(member, None)  # it has become another program
            return
        try:
            body = await member.ask("threads", timeout=timeout)
        except RelayError as error:
            failures.append(error)
            return
        process = self.process_of(member)
        self._threads_of[member] = [
            {**thread, "id": member.outer_id(int(thread["id"])), "process": process}
            for thread in body.get("threads") or []
        ]

    async def thread_states(self, *, timeout: float | None = None) -> list[dict[str, Any]]:
        """The threads of every process, as `Inspector.thread_states` tells of one."""
        found: dict[Debuggee, list[dict[str, Any]]] = {}

        async def ask(member: Debuggee) -> None:
            assert member.inspector is not None
            with contextlib.suppress(RelayError):
                states = await member.inspector.thread_states(timeout=timeout)
                process = self.process_of(member)
                found[member] = [{**state, "process": process} for state in states]

        members = [
            m for m in (self.program, *self._children) if m.inspector and not _has_hung_up(m)
        ]
        async with trio.open_nursery() as nursery:
            for member in members:
                nursery.start_soon(ask, member)
        return [state for member in members for state in found.get(member, [])]

    async def hang_reports(self, **wanted: Any) -> list[dict[str, Any]]:
        """What `Inspector.hang_report` tells of each process that answers, the program's first."""
        found: dict[Debuggee, dict[str, Any]] = {}

        async def ask(member: Debuggee) -> None:
            assert member.inspector is not None
            with contextlib.suppress(RelayError):
                told = await member.inspector.hang_report(**wanted)
                found[member] = {**told, "process": self.process_of(member)}

        members = [
            m for m in (self.program, *self._children) if m.inspector and not _has_hung_up(m)
        ]
        async with trio.open_nursery() as nursery:
            for member in members:
                nursery.start_soon(ask, member)
        return [found[member] for member in members if member in found]

    async def hear_hits(self, *, timeout: float) -> dict[str, int]:
        """How often each breakpoint was hit, in every process that answers."""
        for member in (self.program, *self._children):
            if member.inspector is not None and not _has_hung_up(member):
                with contextlib.suppress(RelayError):
                    hits = await member.inspector.hits(timeout=timeout)
                    self.total_hits(member, hits)
        return {name: sum(counts.values()) for name, counts in self._hits.items()}

    async def tell_captures(self, *, timeout: float) -> None:
        """Have every process that answers tell the rows that it has captured."""
        for member in (self.program, *self._children):
            if member.inspector is not None and not _has_hung_up(member):
                with contextlib.suppress(RelayError):
                    await member.inspector.tell_captures(timeout=timeout)

    def process_of(self, member: Debuggee) -> dict[str, Any]:
        """A process as clients see it."""
        if isinstance(member, Child):
            return {"pid": member.pid, "name": member.process_name}
        return {"pid": member.pid, "name": self.program_name}

    @property
    def program_name(self) -> str:
        """The script or module that was launched, in a word."""
        launched = self.session.launched
        return os.path.basename(launched.label) if launched else ""

    # Stops ---------------------------------------------------------------------------

    def stopped(self, member: Debuggee, stop: Stop, tell: Tell) -> None:
        """`member` stands. `tell` makes it the session's stop: now, or when its turn comes."""
        if self._joined or not self._workers_only:
            stop.process = self.process_of(member)
        stop.stands = self._stands
        self._standing[member] = Standing(stop, tell)
        if self._current in (None, member):
            self._announce(member)

    def is_current(self, member: Debuggee) -> bool:
        """Whether the session's stop is in this process."""
        return self._current is member

    def _stands(self, thread_id: int) -> bool:
        return self._owner_of(thread_id) in self._standing

    def _announce(self, member: Debuggee) -> None:
        self._current = member
        self._standing[member].tell()

    def resumed(self) -> None:
        """The session's stop is over: its process runs. The next stop that waits is told soon."""
        member, self._current = self._current, None
        if member is None:
            return
        if member in self._standing:
            self._resumed = member, self._standing.pop(member)
        if self._standing and not self._closed:
            self.program.nursery.start_soon(self._tell_next_soon)

    def _resumes(self, member: Debuggee) -> None:
        """`member` is sent on: if that is not whose stop is over, that one stands as before."""
        if self._resumed is None or member is self._resumed[0] or member not in self._standing:
            return
        other, standing = self._resumed
        self._resumed = member, self._standing.pop(member)
        self._standing = {other: standing, **self._standing}

    async def _tell_next_soon(self) -> None:
        await trio.sleep(STEP_SECONDS)
        self._tell_next()

    def _tell_next(self) -> None:
        if self._current is None and not (self._closed or self.session.is_over):
            for member in self._standing:
                self._announce(member)
                return


async def _end_of(pid: int) -> None:
    """Until the process has ended, whoever's child it is."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return
    try:
        await trio.lowlevel.wait_readable(descriptor)
    finally:
        os.close(descriptor)


def _has_hung_up(member: Debuggee) -> bool:
    return member.link is None or member.link.closed.is_set()


def _with_outer_ids(member: Debuggee, body: dict[str, Any]) -> dict[str, Any]:
    """Breakpoints carry numbers, too."""
    found = body.get("breakpoints")
    if not isinstance(found, list):
        return body
    return {**body, "breakpoints": [_with_outer_id(member, entry) for entry in found]}


def _with_outer_id(member: Debuggee, entry: Any) -> Any:
    if isinstance(entry, Mapping) and isinstance(number := entry.get("id"), int):
        return {**entry, "id": member.outer_id(number)}
    return entry
