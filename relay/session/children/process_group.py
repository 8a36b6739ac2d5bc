"""ProcessGroup: the processes of one session; a program is a group of its own until children join.

Knows which process a thread belongs to, whose stop is the session's, and which stops wait. Each
process stops for itself. The first stop pauses the session; one that comes while the session is
paused elsewhere waits until that process runs again, and is announced then. Refuses to know how a
child comes to join (`joining.py`), and how it is spoken with (`child.py`).
Source: contract, section 6; user story, section 4.5.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import trio

from relay.errors import DebuggerTimeout, RelayError
from relay.process.procfs import threads_from_outside
from relay.session.children.lost_children import LostChildren
from relay.session.dap.last_words import hear_last_words
from relay.session.state.stop import Stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relay.session.children.child import Child
    from relay.session.children.joining import Joining
    from relay.session.debuggee.debuggee import Debuggee
    from relay.session.inspector import Inspector

log = logging.getLogger("relay.session")

NUMBERS_EACH = 10_000_000
"""How far the thread numbers of one process reach; those of the program itself are its own."""

RESUMES = frozenset({"continue", "next", "stepIn", "stepOut"})
STEP_SECONDS = 0.3
"""How long a process that was resumed has to stop again before another's stop is announced."""
LIST_SECONDS = 2.0
"""How long a child may take to list its threads; then those of the last time are shown."""

Announce = Callable[[], None]
T = TypeVar("T")


class PendingStop(NamedTuple):
    """A process that has stopped; `announce` makes its stop the session's."""

    stop: Stop
    announce: Announce


class ProcessGroup:
    """The program, and the children that have joined it, if they may."""

    # Invariants: _current is a key of _stops; where children are followed, the session is paused
    # exactly while _current is set. _stops is in the order in which the processes stopped. While
    # nobody may join (_joining is None), all of them are empty: a program alone costs nothing.

    def __init__(self, program: Debuggee) -> None:
        self.program = program
        self.session = program.session
        self._joining: Joining | None = None
        self._children: list[Debuggee] = []
        self._stops: dict[Debuggee, PendingStop] = {}
        self._current: Debuggee | None = None
        self._resumed: tuple[Debuggee, PendingStop] | None = None
        self._expects_stop = False
        self._sent: dict[Debuggee, str] = {}  # what has resumed a process last
        self._lost_children = LostChildren(
            program.events.process_lost, lambda one: str(self.process_of(one)["name"])
        )
        self._threads_of: dict[Debuggee, list[dict[str, Any]]] = {}
        self._hits: dict[str, dict[int, int]] = {}
        self._collections: dict[Any, Debuggee] = {}

    # Members ---------------------------------------------------------------------

    @property
    def follows_children(self) -> bool:
        """Whether children join, so that the session may have several processes."""
        return self._joining is not None

    @property
    def follows_shells(self) -> bool:
        """Whether what a shell runs joins, too."""
        return self._joining is not None and self._joining.follows_all

    def follow(self, joining: Joining) -> None:
        """Children come in by `joining` from now on. Before any code of the program runs."""
        assert self._joining is None, "children join a program in one way"
        self._joining = joining

    def stay_alone(self) -> None:
        """No child joins after all: the debugger cannot have it."""
        assert not self._children
        self._joining = None

    async def prepare(self, inspector: Inspector) -> None:
        """Have the children of the process with this inspector join, if they are followed.

        Raises NotSupported if they cannot.
        """
        if self._joining is not None:
            await self._joining.prepare(inspector)

    def add(self, child: Debuggee) -> None:
        """A child is debugged with the program from now on."""
        self._children.append(child)

    def remove(self, child: Debuggee) -> Stop | None:
        """A child has gone; returns the stop that it was in. `forget_stop` has to follow."""
        self._children.remove(child)
        self._threads_of.pop(child, None)
        self._sent.pop(child, None)
        if self._resumed is not None and self._resumed[0] is child:
            self._resumed = None
        pending = self._stops.pop(child, None)
        return None if pending is None else pending.stop

    def left(
        self, child: Child, announce_end: Callable[[Stop | None], str | None], *, silently: bool
    ) -> None:
        """A child has gone. `announce_end` says so, and how it was lost, if it was."""
        stop = self.remove(child)
        child.gone.set()
        lost = None
        if not (child.runs_free or silently or self.session.is_over):
            lost = announce_end(stop)
        self.forget_stop(child)
        if not (silently or self.session.is_over):
            self._lost_children.left(child, lost, self._children)
        self.announce_next()

    def forget_stop(self, child: Debuggee) -> None:
        """The session is not paused any more, if it was so in a child that has gone."""
        if self._current is child:
            self.program.events.resumed(None)

    async def hear_last_words(self) -> None:
        """Have each child that is left say what only it knows: it is about to be ended with the program."""
        async with trio.open_nursery() as nursery:
            for child in self._children:
                if child in self.answering():
                    nursery.start_soon(hear_last_words, child)

    async def until_left(self) -> None:
        """Until every child that is under the debugger has gone, and it is said how."""
        for child in list(self._children):
            await child.gone.wait()

    def close(self) -> None:
        """After the program's end: what the children still do is nobody's concern."""
        if self._joining is not None:
            self._joining.close()

    async def part(self) -> None:
        """Let every child run on without the debugger, as the program is about to."""
        if self._joining is not None:
            await self._joining.part()

    # New processes -----------------------------------------------------------------

    def announced(self, pid: int, argv: Sequence[str] | None) -> None:
        """A process was made: it is announced, now or when it is clear whether it joins."""
        if self._joining is None:
            self.program.events.child_started(pid, argv)
        else:
            self._joining.announced(pid, argv)

    def give_up_joining(self) -> None:
        """The program has ended: nobody joins any more."""
        if self._joining is not None:
            self._joining.give_up_all()

    def total_hits(self, member: Debuggee, hits: Mapping[str, int]) -> Mapping[str, int]:
        """Each process counts its own; a breakpoint's hits are those of all together."""
        if self._joining is None:
            return hits
        for name, count in hits.items():
            self._hits.setdefault(name, {})[member.outer_id(0)] = count
        return {name: sum(self._hits[name].values()) for name in hits}

    # Requests ------------------------------------------------------------------------

    @property
    def current(self) -> Debuggee:
        """The process whose stop is the session's; the program itself while it runs."""
        return self._current or self.program

    def request(
        self,
        asker: Debuggee,
        command: str,
        arguments: Mapping[str, Any] | None,
        timeout: float | None,
    ) -> Coroutine[Any, Any, dict[str, Any]]:
        """A request of `asker`, or of whoever has the thread that it names."""
        if self._joining is None:
            return asker.ask(command, arguments, timeout=timeout)
        return self._route(asker, command, arguments, timeout)

    async def _route(
        self,
        asker: Debuggee,
        command: str,
        arguments: Mapping[str, Any] | None,
        timeout: float | None,
    ) -> dict[str, Any]:
        if command == "threads":
            return {"threads": await self._threads(timeout)}
        member = asker
        if isinstance(thread_id := (arguments or {}).get("threadId"), int):
            member = self._owner_of(thread_id) or asker
            arguments = {**(arguments or {}), "threadId": member.inner_id(thread_id)}
        if member is self.program and member.has_become_another:
            member = next(iter(self.answering()), member)
        if command in RESUMES:
            self._sent[member] = command
            self._resumes(member)
        body = await member.ask(command, arguments, timeout=timeout)
        if command == "continue":
            expects_stop, self._expects_stop = self._expects_stop, False
            if not expects_stop:
                self.announce_next()
        return _with_outer_ids(member, body)

    def _owner_of(self, thread_id: int) -> Debuggee | None:
        number = thread_id // NUMBERS_EACH
        if number == 0:
            return self.program
        return next((child for child in self._children if child.number == number), None)

    async def send_to_others(
        self, first: Debuggee, send: Callable[[Debuggee], Awaitable[None]]
    ) -> None:
        """What `first` has been sent to stop for, every other process is sent, too."""

        async def send_to(member: Debuggee) -> None:
            try:
                await send(member)
            except RelayError as error:
                log.warning("process %s does not know what to stop for: %s", member.pid, error)

        async with trio.open_nursery() as nursery:
            for member in [self.program, *self._children]:
                if member is not first and member.inspector is not None:
                    nursery.start_soon(send_to, member)

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
        named = self._named(member)
        self._threads_of[member] = [
            {**thread, "id": member.outer_id(int(thread["id"])), **named}
            for thread in body.get("threads") or []
        ]

    async def thread_states(self, *, timeout: float | None = None) -> list[dict[str, Any]]:
        """The threads of every process, as `Inspector.thread_states` lists those of one."""

        async def ask(inspector: Inspector) -> list[dict[str, Any]]:
            return await inspector.thread_states(timeout=timeout)

        if self._joining is None:
            return await ask(self._own_inspector)
        found = await self._ask_each(ask)
        return [{**state, **self._named(member)} for member, states in found for state in states]

    async def hang_reports(self, **wanted: Any) -> list[dict[str, Any]]:
        """The `Inspector.hang_report` of each process, the program's first.

        One that does not answer in time is `silent`, with what the system knows of it. Raises
        DebuggerTimeout if none answers.
        """

        async def ask(inspector: Inspector) -> dict[str, Any] | DebuggerTimeout:
            try:
                return await inspector.hang_report(**wanted)
            except DebuggerTimeout as error:
                return error

        if self._joining is None:
            return [await self._own_inspector.hang_report(**wanted)]
        found = await self._ask_each(ask)
        late = [answer for _, answer in found if isinstance(answer, DebuggerTimeout)]
        if late and len(late) == len(found):
            raise late[0]
        reports = [
            (member, self._silent(member) if isinstance(answer, DebuggerTimeout) else answer)
            for member, answer in found
        ]
        if not self._joining.names_processes:
            return [report for _, report in reports]
        return [{**report, **self._named(member)} for member, report in reports]

    def _silent(self, member: Debuggee) -> dict[str, Any]:
        """The hang report of a process that gave none."""
        seen = "; ".join(threads_from_outside(member.pid))
        said = f"process {member.pid} ({self.process_of(member)['name']}) does not answer"
        nothing: dict[str, Any] = {"threads": [], "total_threads": 0, "children": []}
        tasks: dict[str, Any] = {"tasks": [], "total": 0}
        silent = f"{said}: {seen}" if seen else said
        return {**nothing, "tasks": tasks, "blocked": False, "silent": silent}

    async def hits(self, *, timeout: float) -> Mapping[str, int]:
        """How often each breakpoint was hit, in every process that answers."""

        async def ask(inspector: Inspector) -> Mapping[str, int]:
            return await inspector.hits(timeout=timeout)

        if self._joining is None:
            return await ask(self._own_inspector)
        for member, hits in await self._ask_each(ask):
            self.total_hits(member, hits)
        return {name: sum(counts.values()) for name, counts in self._hits.items()}

    async def send_captures(self, *, timeout: float) -> None:
        """Have every process that answers send the rows that it has captured."""

        async def ask(inspector: Inspector) -> int:
            return await inspector.send_captures(timeout=timeout)

        if self._joining is None:
            await ask(self._own_inspector)
        else:
            await self._ask_each(ask)

    @property
    def _own_inspector(self) -> Inspector:
        assert self.program.inspector is not None
        return self.program.inspector

    def answering(self) -> list[Debuggee]:
        """The processes that can be asked, the program first."""
        members = (self.program, *self._children)
        return [m for m in members if m.inspector is not None and not _has_hung_up(m)]

    async def _ask_each(
        self, question: Callable[[Inspector], Awaitable[T]]
    ) -> list[tuple[Debuggee, T]]:
        """All at once; those that do not answer are left out."""
        found: dict[Debuggee, T] = {}

        async def ask(member: Debuggee) -> None:
            assert member.inspector is not None
            with contextlib.suppress(RelayError):
                found[member] = await question(member.inspector)

        members = self.answering()
        async with trio.open_nursery() as nursery:
            for member in members:
                nursery.start_soon(ask, member)
        return [(member, found[member]) for member in members if member in found]

    def _named(self, member: Debuggee) -> dict[str, Any]:
        """Whose something is. Of a program that was attached to by a port, nobody may know the number."""
        return {} if member.pid is None else {"process": self.process_of(member)}

    def process_of(self, member: Debuggee) -> dict[str, Any]:
        """A process as clients see it."""
        name = self.program_name if member.process_name is None else member.process_name
        return {"pid": member.pid, "name": name}

    @property
    def program_name(self) -> str:
        """The script or module that was launched, in a word."""
        launched = self.session.launched
        return os.path.basename(launched.label) if launched else ""

    def running(self) -> list[dict[str, Any]]:
        """The processes that have not stopped, as clients see them; of a program alone none."""
        members = [self.program, *self._children] if self._children else []
        return [
            self.process_of(member)
            for member in members
            if member.pid is not None and member not in self._stops
        ]

    # Stops ---------------------------------------------------------------------------

    def stopped(self, member: Debuggee, stop: Stop, announce: Announce) -> None:
        """`member` has stopped. `announce` makes it the session's stop: now, or in its turn."""
        if self._joining is None:
            announce()
            return
        if self._ends_trace(member, stop) and self.session.program_run.trace.wanted is None:
            self._send_on(member, stop)  # it was asked for, and is not any more
            return
        if self._joining.names_processes:
            stop.process = self._named(member).get("process")
        stop.is_stopped = self._is_stopped
        self._stops[member] = PendingStop(stop, announce)
        if self._current in (None, member):
            self._announce(member)

    def _ends_trace(self, member: Debuggee, stop: Stop) -> bool:
        """Whether the end of a call that was traced has stopped it, and no step."""
        was_traced = member.number in self.session.program_run.trace.begun_in
        was_sent = self._sent.get(member, "continue")
        return was_traced and stop.reason == "step" and was_sent == "continue"

    def drop_trace_stops(self) -> None:
        """The trace is over, or another is begun: those that its calls have stopped, and that wait, run on."""
        for member, pending in list(self._stops.items()):
            if member is not self._current and self._ends_trace(member, pending.stop):
                del self._stops[member]
                self._send_on(member, pending.stop)

    def _send_on(self, member: Debuggee, stop: Stop) -> None:
        async def send_on() -> None:
            with contextlib.suppress(RelayError):  # it has ended meanwhile
                await member.ask("continue", {"threadId": member.inner_id(stop.thread_id)})

        self.program.nursery.start_soon(send_on)

    def is_known(self, member: Debuggee, stop: Stop) -> bool:
        """Whether another process has stopped for this very failure: each worker of a test run collects
        all tests, and fails to by itself, and the run reports that once.
        """
        failure, raised = stop.failure, stop.exception
        if failure is None or failure.name != "collection" or raised is None:
            return False
        place = None if stop.top is None else (stop.top.path, stop.top.line)
        facts = (failure.test, raised.full_type, raised.message, place)
        return self._collections.setdefault(facts, member) is not member

    def is_current(self, member: Debuggee) -> bool:
        """Whether the session's stop is in this process."""
        return self._joining is None or self._current is member

    def has_stopped(self, member: Debuggee) -> bool:
        """Whether this process has stopped; a program alone has, where its session has."""
        return self._joining is None or member in self._stops

    def _is_stopped(self, thread_id: int) -> bool:
        return self._owner_of(thread_id) in self._stops

    def _announce(self, member: Debuggee) -> None:
        self._current = member
        self._stops[member].announce()

    def expect_stop(self) -> None:
        """The process that is to be continued next is on its way to a place, as one that steps is: it has as
        long until another's stop is announced.
        """
        self._expects_stop = self._joining is not None

    def resumed(self) -> None:
        """The session's stop is over: its process runs. The next stop that waits follows soon."""
        member, self._current = self._current, None
        if member is None:
            return
        if member in self._stops:
            self._resumed = member, self._stops.pop(member)
        if self._stops and not self._is_closed:
            self.program.nursery.start_soon(self._announce_next_soon)

    def _resumes(self, member: Debuggee) -> None:
        """`member` is sent on: if that is not whose stop is over, that one is stopped as before."""
        if self._current is not None:
            return  # no stop of the session is over: as the debugger parts from `member`, say
        if self._resumed is None or member is self._resumed[0] or member not in self._stops:
            return
        other, pending = self._resumed
        self._resumed = member, self._stops.pop(member)
        self._stops = {other: pending, **self._stops}

    async def _announce_next_soon(self) -> None:
        await trio.sleep(STEP_SECONDS)
        self.announce_next()

    @property
    def _is_closed(self) -> bool:
        return self._joining is None or self._joining.closed

    def announce_next(self) -> None:
        """Make the stop that waits longest the session's, if that is in none."""
        if self._current is None and not (self._is_closed or self.session.is_over):
            for member in self._stops:
                self._announce(member)
                return


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
