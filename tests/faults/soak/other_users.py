"""Users of the other faces: MCP, commands, lines, editors, programs that embed the relay.

Each goes to its first stop, looks, steps, and leaves in one way or another. The odd moments are the
part of those who come over HTTP.
"""

from __future__ import annotations

import re
import sys
from typing import Any

import trio

from relay import Settings, open_relay
from relay.models.breakpoints import SetBreakpoints
from relay.models.creating import CreateSession
from relay.models.execution import StepRequest
from relay.models.inspection import EvaluateRequest
from relay.models.launch import LaunchRequest
from relay.operations.breakpoints.breakpoints import set_breakpoints
from relay.operations.execution.stepping import step_over
from relay.operations.inspect.evaluation import evaluate
from relay.operations.sessions.creating import create_session
from relay.operations.sessions.launching import launch
from relay.session.session import Session
from tests.e2e.api import Api
from tests.editor.joining import editor, join, stack, terms
from tests.faults.soak.visit import INTERNAL, EventReader, Visit
from tests.mcp.client import LEGACY, MODERN, Client, over_http, over_stdio, text_of
from tests.perl.driver import Peer
from tests.relays import environment
from tests.stdio.client import Client as LineClient
from tests.stdio.client import Ended, conversation

RAN_ON = 4
"""Exit code of a command whose program runs still."""
WAIT = 2.0
SUM = "6 * 7"
"""Evaluated everywhere: it is the same at each stop."""


# MCP --------------------------------------------------------------------------------------


async def mcp_http_user(visit: Visit) -> None:
    """An agent of either generation at `/mcp`. It may leave in the middle of a call."""
    async with over_http(f"{visit.url}/mcp", visit.lot.choice((LEGACY, MODERN))) as client:
        session = await _AgentUser(visit, client).run()
    if session is not None:  # what is in a relay that others use stays there
        async with Api.connect(visit.url) as api:
            with visit.in_time("DELETE"):
                await api.delete(f"/sessions/{session}")


async def mcp_stdio_user(visit: Visit) -> None:
    """An agent with a `relay mcp` of its own, which ends with it."""
    with (visit.folder / "mcp.log").open("w") as log:
        async with over_stdio(visit.folder, mode=MODERN, log=log) as client:
            await _AgentUser(visit, client).run()
    if "Traceback" in (text := (visit.folder / "mcp.log").read_text()):
        visit.wrong(f"relay mcp has logged: {text[-1000:]}")


class _AgentUser:
    def __init__(self, visit: Visit, client: Client) -> None:
        self.visit = visit
        self.lot = visit.lot
        self.client = client
        self.session = ""

    async def run(self) -> str | None:
        """The id of the session that it has left behind, if it has."""
        program = self.visit.program
        places = [
            f"{program.text}:{program.line('stop')}",
            f"{program.text}:{program.line('body')}",
        ]
        text = await self._call("debug_run", script=program.text, breakpoints=places, wait=30)
        found = re.match(r"session (sess_\w+)\n", text)
        if found is None or "@stop" not in text:
            self.visit.wrong(f"no first stop: {text[:300]}")
            return None
        self.session = found[1]
        for _ in range(self.lot.randrange(1, 8)):
            await self.lot.choice(self.MOVES)(self)
        if self.lot.random() < 0.2:
            with trio.move_on_after(self.lot.uniform(0.05, 0.3)):
                await self._ask("debug_eval", expression="hang()")
            return self.session
        await self._ask("debug_end")
        return None

    async def _ask(self, tool: str, **arguments: Any) -> str:
        return await self._call(tool, session=self.session, **arguments)

    async def _call(self, tool: str, **arguments: Any) -> str:
        with self.visit.in_time(tool, arguments.get("wait", 0.0)):
            text = text_of(await self.client.mcp.call_tool(tool, arguments))
        if INTERNAL in text:
            self.visit.wrong(f"{tool}: {text}")
        return text

    async def _goes_on(self) -> None:
        action = self.lot.choice(("continue", "over", "into", "out", "pause"))
        await self._ask("debug_continue", action=action, wait=WAIT)

    async def _evaluates(self) -> None:
        text = await self._ask("debug_eval", expression=SUM)
        if "suggestion:" not in text and text != "int: 42":
            self.visit.wrong(f"{SUM} is {text}")

    async def _looks(self) -> None:
        what = self.lot.choice(("locals", "stack", "output", "threads", "source", "hang"))
        await self._ask("debug_inspect", what=what)

    async def _lists(self) -> None:
        if self.session not in (text := await self._call("debug_sessions")):
            self.visit.wrong(f"not among the sessions: {text}")

    MOVES = (_goes_on, _goes_on, _evaluates, _looks, _looks, _lists)


# The session commands -----------------------------------------------------------------------


async def shell_user(visit: Visit) -> None:
    """`relay start`, then this and that, and `relay end`; each a process of its own."""
    program = visit.program
    stop = f"{program.text}:{program.line('stop')}"
    code, text = await _command(visit, "start", "--break", stop, program.text)
    if code != 0 or not text.startswith("sess_"):
        visit.wrong(f"relay start: {code} {text}")
        return
    session = ["--session", text.splitlines()[0]]
    for _ in range(visit.lot.randrange(1, 5)):
        words = visit.lot.choice(SHELL_MOVES)
        code, text = await _command(visit, words[0], *session, *words[1:])
        if words[0] == "eval" and code == 0 and text != "42\n":
            visit.wrong(f"{words}: {text}")
        if words[0] == "output" and code == 0:
            visit.reads(text)
    await _command(visit, "end", *session)


SHELL_MOVES = (
    ("step", "--wait", f"{WAIT}"),
    ("step", "into", "--wait", f"{WAIT}"),
    ("continue", "--wait", f"{WAIT}"),
    ("eval", SUM),
    ("where",),
    ("locals",),
    ("stack",),
    ("output", "--only", "stdout"),
)


async def run_user(visit: Visit) -> None:
    """`relay run`: one command from the start of the program to its end, or until it is killed."""
    program = visit.program
    if program.exit_code is None:
        with trio.move_on_after(visit.lot.uniform(0.2, 2.0)):
            await _command(visit, "run", "--", program.text)
        return
    code, text = await _command(visit, "run", "--", program.text)
    visit.figures.counts["programs run"] += 1
    expected = program.exit_code if program.exit_code >= 0 else 128 - program.exit_code
    if code != expected:
        visit.wrong(f"relay run ended with {code}, not {expected}: {text[-300:]}")


async def _command(visit: Visit, *words: str) -> tuple[int, str]:
    """Exit code and standard output. It is ended by SIGTERM if nobody waits for it any more."""
    wait = 30.0 if words[0] in ("start", "run") else WAIT
    with visit.in_time(f"relay {words[0]}", wait):
        done = await trio.run_process(
            [sys.executable, "-m", "relay", *words],
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            cwd=visit.folder,
            env=environment(visit.state) | {"RELAY_URL": visit.url},
        )
        if b"Traceback" in done.stderr and b"relay/faces" in done.stderr:
            visit.wrong(f"relay {words[0]}: {done.stderr.decode()[-1000:]}")
        return done.returncode, done.stdout.decode(errors="replace")
    raise AssertionError("in_time has raised")


# The line protocol ----------------------------------------------------------------------------


async def line_user(visit: Visit) -> None:
    """A client of `relay stdio`, which closes its input in the end, or is gone at once."""
    async with conversation(visit.folder) as client:
        await _lead_by_lines(visit, client)


async def _lead_by_lines(visit: Visit, client: LineClient) -> None:
    program, told = visit.program, ""

    async def until(*events: str) -> dict[str, Any]:
        """The next of these; what is printed before is read."""
        nonlocal told
        while True:
            name, data = await client.next()
            if name == "output" and data["category"] == "stdout":
                told += data["text"]
                visit.reads(told)
            if name in events:
                return {"event": name, **data}

    await client.send("initialize", file=program.text, workingDir=str(visit.folder))
    with visit.in_time("initialize", 10.0):
        await until("initialized")
    await client.send("setBreakpoint", file=program.text, line=program.line("stop"))
    await client.send("start")
    with visit.in_time("start", 10.0):
        stop = await until("stopped", "exited")
    if stop["event"] != "stopped" or stop["location"]["line"] != program.line("stop"):
        visit.wrong(f"no first stop: {stop}")
        return
    for _ in range(visit.lot.randrange(1, 6)):
        command, answer = visit.lot.choice(LINE_MOVES)
        await client.send(command, **({"expression": SUM} if command == "evaluate" else {}))
        with visit.in_time(command, 10.0):
            found = await until(answer, "exited")
        if found["event"] == "evaluateResult" and found["result"] != "42":
            visit.wrong(f"{SUM}: {found}")
        if found["event"] == "exited":
            break
    if visit.lot.random() < 0.3:
        return  # it vanishes
    await client.close_input()
    with visit.in_time("the end of relay stdio"):
        try:
            while True:
                await client.next()
        except Ended:
            if (code := await client.process.wait()) != 0:
                visit.wrong(f"relay stdio ended with {code}")


LINE_MOVES = (
    ("stepOver", "stopped"),
    ("getVariables", "variables"),
    ("getStackTrace", "stackTrace"),
    ("evaluate", "evaluateResult"),
)


# Editors ----------------------------------------------------------------------------------------


async def editor_user(visit: Visit) -> None:
    """An editor joins the session of an agent (`relay dap`), and both move it."""
    program = visit.program
    async with Api.connect(visit.url) as api:
        with visit.in_time("POST /sessions"):
            agent = await api.session(name=visit.name)
        await agent.breakpoint(program.text, program.line("stop"))
        with visit.in_time("launch", 30.0):
            await agent.launch(program.text)
        async with editor(terms(api, agent.id)) as peer:
            await _edit(visit, peer)
        with visit.in_time("DELETE"):
            await agent.delete()


async def _edit(visit: Visit, peer: Peer) -> None:
    with visit.in_time("attach"):
        await join(peer)
        why = await peer.event("stopped")
    for _ in range(visit.lot.randrange(1, 5)):
        with visit.in_time("stackTrace"):
            frames = await stack(peer, why)
        with visit.in_time("evaluate"):
            value = await peer.value(SUM, frameId=frames[0]["id"], context="watch")
        if value != "42":
            visit.wrong(f"{SUM} is {value}")
        if visit.lot.random() < 0.5:
            return  # it hangs up
        with visit.in_time("next", 10.0):
            await peer.ask("next", threadId=why["threadId"])
            why = await peer.event("stopped")


# Programs that embed the relay ------------------------------------------------------------------


async def embedding_user(visit: Visit) -> None:
    """A trio program with a relay of its own, in its own process: this one."""
    settings = Settings(state_dir=visit.folder / "state", project_root=visit.folder)
    async with open_relay(settings) as hub:
        created = await create_session(hub, body=CreateSession())
        session = hub.get(created.session_id)
        await _embed(visit, session)
        if visit.lot.random() < 0.5:
            await hub.end_session(session)


async def _embed(visit: Visit, session: Session) -> None:
    program, reader = visit.program, EventReader(visit, "in process")
    place = {"source": {"path": program.text}, "line": program.line("stop")}
    with visit.in_time("set_breakpoints"):
        await set_breakpoints(session, body=SetBreakpoints.model_validate({"breakpoints": [place]}))
    with visit.in_time("launch", 30.0):
        stop = await launch(session, body=LaunchRequest(script=program.text, wait=30))
    if stop.status != "paused":
        visit.wrong(f"no first stop: {stop}")
        return
    for _ in range(visit.lot.randrange(1, 6)):
        if session.phase.value != "paused":
            break
        with visit.in_time("evaluate"):
            answer = await evaluate(session, body=EvaluateRequest(expression=SUM))
        if answer.result != "42":
            visit.wrong(f"{SUM} is {answer}")
        with visit.in_time("step_over", WAIT):
            await step_over(session, body=StepRequest(wait=WAIT))
        read = session.events.read(reader.seq, limit=10_000)
        reader.reads([{"seq": event.seq, "type": event.type} for event in read.events])
