"""ChildJoining: how the children of a program come under the debugger, and leave it again.

Knows who was announced, who has connected, and who has not in time. Refuses to know what a
session of several processes is: that is `process_group.py`.
Source: contract, sections 6 and 9.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Sequence

import trio

from relay.errors import NotSupported
from relay.process.exit_status import ExitWatch, until_ended
from relay.session.children.child import Child, announce_end
from relay.session.children.join_port import JoinPort
from relay.session.dap.connection import SocketByteStream
from relay.session.debuggee.debuggee import Debuggee
from relay.session.inspector import Inspector

log = logging.getLogger("relay.session")

JOIN_SECONDS = 2.0
"""How long a new process has to join before it is announced as one that runs free."""

LATE_SECONDS = 2.0
"""How long after the end of a process the debugger may still say that it was made."""


async def follow_children(program: Debuggee, *, optional: bool, workers_only: bool) -> None:
    """Have the children of a program join its group. Before its handshake.

    optional: where they cannot join, the program goes on without; else it raises NotSupported.
    workers_only: of all children those that run a part of the program, of multiprocessing and
    pytest-xdist.
    """
    try:
        joining = ChildJoining(program, optional=optional, workers_only=workers_only)
        await joining.open()
    except OSError as error:
        log.warning("no socket can be made at which children would join: %s", error)
        if optional:
            return
        raise NotSupported(
            f"children cannot be debugged: no socket can be made for them: {error}",
            suggestion="Give the relay a temporary directory that can be written: TMPDIR",
        ) from None
    program.group.follow(joining)


class ChildJoining:
    """Open from before the program's handshake until after its end."""

    # Invariants: who is in _awaited and in _joined has left the debugger, and may join again as
    # another program; who is in _parting is in _awaited, unless it has joined again.

    def __init__(self, program: Debuggee, *, optional: bool, workers_only: bool) -> None:
        self.closed = False
        self._program = program
        self._group = program.group
        self._optional = optional
        self._workers_only = workers_only
        self._port = JoinPort()
        self._numbers = itertools.count(1)
        self._children: list[Child] = []
        self._joined: set[int] = set()
        self._has_joined = False
        self._awaited: dict[int, Sequence[str] | None] = {}
        self._parting: dict[int, ExitWatch] = {}

    @property
    def follows_all(self) -> bool:
        """Whether all children may join, those of a shell, too, and not the workers only."""
        return not self._workers_only

    @property
    def names_processes(self) -> bool:
        """Whether a stop says in which process it is."""
        return self._has_joined or not self._workers_only

    async def open(self) -> None:
        """Listen for children from now on. Raises OSError; nothing is left then."""
        try:
            await self._port.open()
        except OSError:
            self.close()
            raise
        if self._program.process is not None:
            self._program.process.answer_for(self._port.path)
        self._program.nursery.start_soon(self._port.admit, self._come_in)

    def close(self) -> None:
        """Nobody joins any more, and what the children still do is nobody's concern."""
        self.closed = True
        self._port.close()

    async def prepare(self, inspector: Inspector) -> None:
        """Have the children of this process join. Before any code of its program runs.

        If they cannot: raises NotSupported, or gives up where children are optional.
        """
        answer = await inspector.debug_children(self._port.path, workers_only=self._workers_only)
        if answer["can_join"]:
            return
        if self._optional and self._program.inspector is None:
            self.close()
            self._group.stay_alone()
        else:
            raise NotSupported(
                f"this debugger cannot follow children: {answer['reason']}",
                suggestion=answer["suggestion"],
            )

    async def part(self) -> None:
        """Let every child run on without the debugger."""
        self.closed = True
        async with trio.open_nursery() as nursery:
            for child in self._children:
                nursery.start_soon(child.let_go)

    # One child ---------------------------------------------------------------------

    def _come_in(self, peer: trio.socket.SocketType, pid: int) -> None:
        self._program.nursery.start_soon(self._host, peer, pid)

    async def _host(self, peer: trio.socket.SocketType, pid: int) -> None:
        child = Child(self._group, next(self._numbers), pid)
        self._children.append(child)
        self._group.add(child)
        ending: str | None = None
        watch = ExitWatch(pid)
        try:
            await child.live(
                SocketByteStream(peer),
                lambda: self._announce_joined(child),
                self._program.session.debugger.join,
            )
            if not (child.said_terminated or child.runs_free or self.closed):
                ending = await self._part_from(child, watch)
        finally:
            self._parting.pop(pid, None)
            watch.close()
            self._left(child, ending)
        self._program.nursery.start_soon(self._forget, pid)
        if pid in self._awaited:
            self._program.nursery.start_soon(self._await_joining, pid)

    async def _part_from(self, child: Child, watch: ExitWatch) -> str | None:
        """Its connection is over, and it has not said that it ends. Returns the signal that ended it.

        If none did, it goes on without the debugger, unless it joins again.
        """
        pid = watch.pid
        if any(one.pid == pid for one in self._children if one is not child):
            return None  # it has joined again before its first connection was seen to be over
        if child.becomes is not None:
            self._awaited[pid] = child.becomes
            return None
        self._awaited[pid] = child.argv
        self._parting[pid] = watch
        ending = await watch.signal_name()
        if not watch.has_gone_on():
            self._awaited.pop(pid, None)
        return ending

    def _left(self, child: Child, ending: str | None) -> None:
        self._children.remove(child)
        self._group.left(
            child, lambda stop: announce_end(child, ending, stop), silently=self.closed
        )

    def _announce_joined(self, child: Child) -> None:
        assert child.pid is not None
        announced = self._awaited.pop(child.pid, None)
        if child.pid not in self._joined:
            self._joined.add(child.pid)
            self._has_joined = True
            self._program.children.joined(child.pid)
            argv = child.argv if announced is None else announced
            self._program.events.child_started(child.pid, argv, debuggable=True)

    async def _forget(self, pid: int) -> None:
        """A process that becomes another program is the same; after its end its id is another's."""
        await until_ended(pid)
        await trio.sleep(LATE_SECONDS)
        self._joined.discard(pid)

    # Processes that may join ---------------------------------------------------------

    def announced(self, pid: int, argv: Sequence[str] | None) -> None:
        """A process was made. The session learns of it when it joins, or is sure not to."""
        if pid in self._joined or pid in self._awaited:
            return
        self._awaited[pid] = argv
        self._program.nursery.start_soon(self._await_joining, pid)

    async def _await_joining(self, pid: int) -> None:
        with trio.move_on_after(JOIN_SECONDS):
            await until_ended(pid)
        self._give_up(pid)

    def _give_up(self, pid: int) -> None:
        if pid not in self._awaited:
            return
        argv = self._awaited.pop(pid)
        if pid not in self._parting or self._parting[pid].has_gone_on():
            self._program.events.child_started(pid, argv)

    def give_up_all(self) -> None:
        """The program has ended: nobody joins any more."""
        for pid in list(self._awaited):
            self._give_up(pid)
