"""Starting a debugger that is an adapter of its own, and the first words with it, as an editor would.

The adapter is a process of the relay's, guarded as a program is: whatever it starts ends with it.
Knows how it is connected to and shaken hands with. Refuses to know what it is asked to debug: a
program to launch (launch.py) or one that runs (attach.py).
Source: DAP, "Launching and attaching"; contract, section 3.
"""

from __future__ import annotations

import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

import trio

from relay.dap.conversation import IncomingRequest
from relay.debuggers.standard.adapter import StandardAdapter
from relay.debuggers.standard.handshake import shake_hands
from relay.debuggers.standard.program_sessions import ProgramSessions
from relay.errors import LaunchFailed
from relay.process.accepting import accept_peer
from relay.process.guarded_process import GuardedProcess
from relay.process.peers import is_own_peer
from relay.process.ports import free_port
from relay.process.private_directory import private_directory
from relay.process.spawn_error import SpawnError
from relay.process.spawning import spawn
from relay.session.dap.connection import ByteStream, SocketByteStream, StdioByteStream
from relay.session.dap.event_handler import EventHandler
from relay.session.debuggee.attach_target import dial
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debuggee.launch_plan import LaunchPlan

LOOPBACK = "127.0.0.1"
DIAL_SECONDS = 0.02
"""Between two attempts to connect to an adapter that has just been started."""

LONGEST_NAME = 40
"""Bytes of the names of sockets that an adapter makes in its directory."""

Reach = Callable[[], Awaitable[trio.SocketStream]]

NOT_THERE = "Check that the program waits there for this debugger, and that no other has it"
"""What to do about an attach that fails."""

READY_ENTRIES = 200
"""Of what an adapter prints first: among them is that it may be connected to."""

LAST_WORDS = 2000
"""Characters of the adapter's standard error that a failed start shows."""


class AdapterStart:
    """One start of an adapter, in a directory and with an environment."""

    def __init__(
        self,
        adapter: StandardAdapter,
        cwd: str,
        env: Mapping[str, str],
        *,
        needs_command: bool = True,
    ) -> None:
        """Raises LaunchFailed if there is no such adapter here."""
        if needs_command:
            _require(adapter, env)
        self._adapter = adapter
        self._cwd = cwd
        self._env = env
        self._said = ""
        self._reach = _nowhere
        """Connects once more to an adapter that listens."""
        self._sessions: ProgramSessions | None = None
        self.awaited = "its answer to initialize"
        """What `shake_hands` waits for, in words."""

    @property
    def details(self) -> dict[str, Any]:
        """What to say of it in an error."""
        said = {"stderr": self._said} if self._said else {}
        return {"adapter": self._adapter.name, **said}

    async def connect_to(self, debuggee: Debuggee, host: str, port: int) -> None:
        """To a debugger that listens by itself. Raises AttachRefused."""
        debuggee.use_adapter()
        stream = await dial(host, port, NOT_THERE)
        debuggee.connect(SocketByteStream(stream.socket), EventHandler(debuggee))

    async def connect(self, debuggee: Debuggee, plan: LaunchPlan | None = None) -> None:
        """From nothing to a link, for the launch of `plan` or for an attach. Raises LaunchFailed."""
        debuggee.use_adapter()
        meet = {
            "stdio": self._speak,
            "tcp": self._dial,
            "tcp_client": self._answer,
            "unix": self._dial_socket,
        }
        stream = await meet[self._adapter.transport](debuggee, plan)
        in_terminal = None
        if plan is not None and self._adapter.run_in_terminal:
            in_terminal = partial(self._run_in_terminal, debuggee, plan)
        if self._adapter.start_debugging:
            self._sessions = ProgramSessions(
                debuggee,
                self._reach,
                in_terminal,
                debugs_children=plan is not None and plan.debug_subprocesses,
            )
            self._sessions.connect(stream)
        else:
            debuggee.connect(stream, EventHandler(debuggee), in_terminal)

    async def _start(
        self,
        plan: LaunchPlan | None,
        place: Mapping[str, Any],
        env: Mapping[str, str] | None = None,
    ) -> GuardedProcess:
        """`place` is where it meets the relay, by the name of its placeholder."""
        words = {} if plan is None else {"program": plan.script, "args": list(plan.args)}
        name, *rest = self._adapter.command_for({**words, **place})
        # By its whole path: some start themselves once more, and look for that in a directory.
        name = shutil.which(name, path=self._env.get("PATH")) or name
        return await self._spawn([name, *rest], env=env)

    async def _start_beside(
        self,
        debuggee: Debuggee,
        plan: LaunchPlan | None,
        place: Mapping[str, Any],
        env: Mapping[str, str] | None = None,
    ) -> GuardedProcess:
        """One that speaks over TCP, say: what it prints goes its own way."""
        process = await self._start(plan, place, env)
        if plan is not None and self._adapter.is_program:
            debuggee.adopt(process, plan.stdin)
        else:
            debuggee.helpers.append(process)
            assert process.stderr is not None
            # Beside the protocol these are the adapter's own words, and maybe the program's.
            printed = partial(debuggee.events.printed, "console")
            debuggee.nursery.start_soon(process.stdout.pump, printed)
            debuggee.nursery.start_soon(process.stderr.pump, partial(self._remember_and, printed))
        return process

    async def _spawn(
        self, argv: Sequence[str], cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> GuardedProcess:
        try:
            return await spawn(argv, cwd=cwd or self._cwd, env=self._env if env is None else env)
        except SpawnError as error:
            raise LaunchFailed(f"cannot start {error.filename}: {error.strerror}") from None

    async def _run_in_terminal(
        self, debuggee: Debuggee, plan: LaunchPlan, request: IncomingRequest
    ) -> Mapping[str, Any]:
        """Start the program, as the adapter asks; its `env` has changes, of which null takes a name away."""
        if request.command != "runInTerminal":
            raise ValueError(f"{request.command} is not supported")
        changes = request.arguments.get("env") or {}
        env = {**self._env, **changes}
        process = await self._spawn(
            [str(word) for word in request.arguments["args"]],
            request.arguments.get("cwd"),
            {name: str(value) for name, value in env.items() if value is not None},
        )
        debuggee.adopt(process, plan.stdin)
        if self._sessions is not None:
            debuggee.nursery.start_soon(self._sessions.end_with, process)
        return {"processId": process.pid}

    async def _speak(self, debuggee: Debuggee, plan: LaunchPlan | None) -> ByteStream:
        """Over its standard input and output."""
        process = await self._start(plan, {})
        debuggee.helpers.append(process)
        assert process.stderr is not None
        debuggee.nursery.start_soon(process.stderr.pump, self._remember)
        return StdioByteStream(process.stdin, process.stdout)

    async def _dial(self, debuggee: Debuggee, plan: LaunchPlan | None) -> ByteStream:
        """Until it listens, which no protocol reports."""
        port = free_port()
        process = await self._start_beside(debuggee, plan, {"port": port})
        reach = partial(trio.open_tcp_stream, LOOPBACK, port)
        return await self._until_it_listens(debuggee, process, reach, f"on port {port}")

    async def _dial_socket(self, debuggee: Debuggee, plan: LaunchPlan | None) -> ByteStream:
        """The same in a directory of its own, which nobody else can enter, and which ends with it."""
        directory = private_directory(LONGEST_NAME)
        debuggee.answer_for(directory)
        path = str(directory / "adapter")
        # What is left there by one that is killed is taken away, too; but nothing of the program's.
        starts_program = plan is not None and not self._adapter.run_in_terminal
        env = self._env if starts_program else {**self._env, "TMPDIR": str(directory)}
        process = await self._start_beside(debuggee, plan, {"socket": path}, env)
        process.answer_for(str(directory))
        reach = partial(trio.open_unix_socket, path)
        return await self._until_it_listens(debuggee, process, reach, "on its socket")

    async def _until_it_listens(
        self, debuggee: Debuggee, process: GuardedProcess, reach: Reach, where: str
    ) -> ByteStream:
        limit = debuggee.session.settings.launch_timeout_seconds
        printed = debuggee.session.output.last_seq
        with trio.move_on_after(limit):
            while process.returncode is None:
                if not self._is_ready(debuggee, printed):
                    await trio.sleep(DIAL_SECONDS)
                    continue
                try:
                    stream = await reach()
                except OSError:
                    await trio.sleep(DIAL_SECONDS)
                else:
                    self._reach = partial(_connected, reach)
                    return SocketByteStream(stream.socket)
        ended = process.returncode is not None
        what = "ended before it listened" if ended else f"did not listen within {limit:g} s"
        raise LaunchFailed(f"the {self._adapter.name} adapter {what} {where}")

    async def _answer(self, debuggee: Debuggee, plan: LaunchPlan | None) -> ByteStream:
        """Until it connects to us; other users of this machine are hung up on."""
        limit = debuggee.session.settings.launch_timeout_seconds
        found: list[SocketByteStream] = []

        async def accept() -> None:
            while not found:
                peer = await accept_peer(listener)
                if is_own_peer(peer):
                    found.append(SocketByteStream(peer))
                else:
                    peer.close()
            nursery.cancel_scope.cancel()

        with trio.socket.socket() as listener:
            await listener.bind((LOOPBACK, 0))
            listener.listen()
            place = {"port": listener.getsockname()[1]}
            process = await self._start_beside(debuggee, plan, place)
            with trio.move_on_after(limit):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(accept)
                    await process.wait()
                    nursery.cancel_scope.cancel()
        if found:
            return found[0]
        ended = process.returncode is not None
        what = "ended before it connected" if ended else f"did not connect within {limit:g} s"
        raise LaunchFailed(f"the {self._adapter.name} adapter {what}")

    def _is_ready(self, debuggee: Debuggee, printed: int) -> bool:
        """Whether it has said what it says when it may be connected to; `printed` came before it."""
        if (awaited := self._adapter.ready_text) is None:
            return True
        entries = debuggee.session.output.read(printed, READY_ENTRIES).entries
        return any(awaited in entry.output for entry in entries)

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
        runs = opening[0] == "launch" and self._adapter.run_in_terminal
        if self._sessions is not None:
            await self._sessions.open(opening, limit, self._awaits, run_in_terminal=runs)
        else:
            await shake_hands(debuggee, opening, limit, self._awaits, run_in_terminal=runs)
        if debuggee.process is not None:
            debuggee.became_program()

    def _awaits(self, what: str) -> None:
        self.awaited = what


async def _connected(reach: Reach) -> ByteStream:
    stream = await reach()
    return SocketByteStream(stream.socket)


async def _nowhere() -> ByteStream:
    raise ConnectionRefusedError("it does not listen")


def _require(adapter: StandardAdapter, env: Mapping[str, str]) -> None:
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
