"""docs/architecture.md says what a new debugger costs; here one is added, in a copy of the relay.

Its language has one statement a line, `say WORDS`; the debugger runs it inside the relay.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.project_copy import copy_of, edit, run, section

DEBUGGER = '''"""TinyDebugger: programs of one statement a line, run and debugged inside the relay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trio

from relay.dap.conversation import Conversation, IncomingRequest
from relay.debuggers.standard.handshake import shake_hands
from relay.session.dap.connection import SocketByteStream
from relay.session.dap.event_handler import EventHandler
from relay.session.debuggee.attach_target import AttachTarget
from relay.session.debuggee.debuggee import Debuggee
from relay.session.debuggee.launch_plan import LaunchPlan
from relay.session.debuggee.start import Launched, Starter
from relay.session.debugger import Debugger
from relay.session.session import Session
from relay.session.state.breakpoints import Breakpoint


@dataclass(frozen=True)
class TinyDebugger(Debugger):
    async def launch(self, session: Session, plan: LaunchPlan) -> list[tuple[Launched, Starter]]:
        async def start(debuggee: Debuggee) -> None:
            debuggee.speaks_through_adapter = True
            ours, theirs = trio.socket.socketpair()
            program = Program(theirs, Path(plan.script or "").read_text().splitlines())
            debuggee.nursery.start_soon(program.serve)
            debuggee.connect(SocketByteStream(ours), EventHandler(debuggee))
            limit = session.settings.launch_timeout_seconds
            await shake_hands(debuggee, ("launch", {"program": plan.script}), limit)

        return [(plan.launched("tiny"), start)]

    def attach(self, session: Session, target: AttachTarget) -> tuple[Launched, Starter]:
        raise self.cannot("attach to a program that runs: launch it")

    def source_breakpoint(self, breakpoint: Breakpoint, name: str) -> dict[str, Any]:
        return {"line": breakpoint.line}

    def exception_filters(self, wanted: Sequence[str]) -> list[str]:
        return []


TINY = TinyDebugger(name="tiny", languages=("Tiny",), suffixes=(".tiny",))


class Program:
    """The server's end of DAP, and the program."""

    def __init__(self, peer: trio.socket.SocketType, lines: list[str]) -> None:
        self._peer, self._lines, self._path = trio.SocketStream(peer), lines, ""
        self._speech, self._at, self._stops = Conversation(), 0, set[int]()

    async def serve(self) -> None:
        async for data in self._peer:
            for message in self._speech.receive(data):
                if isinstance(message, IncomingRequest):
                    body = self.answer(message.command, message.arguments)
                    await self._peer.send_all(self._speech.respond(message, body))
                    if message.command == "disconnect":
                        return await self._peer.aclose()
                    await self.follow(message.command)

    def answer(self, command: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        here = {"id": 1, "name": "main", "line": self._at + 1, "column": 1}
        here["source"] = {"path": self._path}
        if command == "launch":
            self._path = asked["program"]
        if command == "setBreakpoints":
            self._stops = {one["line"] for one in asked["breakpoints"]}
            return {"breakpoints": [{"verified": True, "line": n} for n in self._stops]}
        return {
            "initialize": {"supportsConfigurationDoneRequest": True},
            "threads": {"threads": [{"id": 1, "name": "main"}]},
            "stackTrace": {"stackFrames": [here]},
            "evaluate": {"result": str(self._at), "variablesReference": 0},
        }.get(command, {})

    async def follow(self, command: str) -> None:
        if command == "launch":
            await self.tell("initialized")
        if command == "configurationDone":
            await self.go_on()
        if command == "continue":
            await self.say()
            await self.go_on()

    async def go_on(self) -> None:
        while self._at < len(self._lines):
            if self._at + 1 in self._stops:
                return await self.tell("stopped", reason="breakpoint", threadId=1)
            await self.say()
        await self.tell("exited", exitCode=0)
        await self.tell("terminated")

    async def say(self) -> None:
        words = self._lines[self._at].removeprefix("say ")
        await self.tell("output", category="stdout", output=words + "\\n")
        self._at += 1

    async def tell(self, event: str, **body: Any) -> None:
        await self._peer.send_all(self._speech.event(event, body))
'''

EDITS = {
    "debuggers/known.py": (
        ("from relay.debuggers.perl", "from relay.debuggers.tiny import TINY\n"),
        ("(PYTHON, PERL)", "(PYTHON, PERL, TINY)"),
    ),
    "models/adapters.py": (('("python", "perl")', '("python", "perl", "tiny")'),),
}

CHECK = """
from pathlib import Path
import trio, relay
from relay import Settings, open_relay
from relay.models.breakpoints import BreakpointSpec
from relay.models.creating import CreateSession
from relay.models.execution import ContinueRequest
from relay.models.inspection import EvaluateRequest
from relay.models.launch import LaunchRequest
from relay.models.output import OutputQuery
from relay.operations.execution import stepping
from relay.operations.inspect import evaluation
from relay.operations.output import reading
from relay.operations.server import about
from relay.operations.sessions import creating, sessions

assert Path(relay.__file__).is_relative_to(Path.cwd()), relay.__file__
program = Path("hello.tiny").absolute()
program.write_text("say one\\nsay two\\nsay three\\n")

async def main():
    settings = Settings(state_dir=Path("state").absolute(), project_root=Path.cwd())
    async with open_relay(settings) as hub:
        assert (await about.get_info(hub)).adapters["tiny"].suffixes == [".tiny"]
        assert sessions.adapter_of(hub, str(program)) == "tiny"
        created = await creating.create_session(hub, body=CreateSession(
            adapter="tiny",
            breakpoints=[BreakpointSpec(file=str(program), line=2)],
            launch=LaunchRequest(script=str(program), wait=30),
        ))
        assert (created.stop_reason, created.launch_mode) == ("breakpoint", "tiny")
        assert created.current_location.line == 2, created.current_location
        with hub.use(created.session_id) as session:
            value = await evaluation.evaluate(session, body=EvaluateRequest(expression="line"))
            assert value.result == "1", value
            await stepping.continue_execution(session, body=ContinueRequest(wait=30))
            said = await reading.get_output(session, query=OutputQuery())
            assert "".join(one.output for one in said.entries) == "one\\ntwo\\nthree\\n", said
            assert (session.phase.value, session.exit_code) == ("terminated", 0)

trio.run(main)
"""


def add_debugger(root: Path) -> set[str]:
    """Write the debugger; gives the files that were touched, below `relay/`."""
    (root / "debuggers/tiny.py").write_text(DEBUGGER)
    edit(root, EDITS)
    return {"debuggers/tiny.py", *EDITS}


def test_a_debugger_is_one_file_and_two_lines(tmp_path: Path) -> None:
    touched = add_debugger(copy_of(tmp_path, "relay"))
    listed = re.findall(r"^\d\. `([\w/.]+)`", section("Add a debugger"), re.MULTILINE)
    assert {name.replace("NAME", "tiny") for name in listed} == touched
    run(tmp_path, "-c", CHECK)
