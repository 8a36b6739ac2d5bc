"""A DAP client of the Perl adapter, in the same trio program: no process but the debuggee.

Knows DAP's frames, and how to wait with a deadline. Refuses to know the adapter's insides.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio
import trio.testing

from relay.perl.adapter import Adapter
from relay.perl.client import DapClient
from tests.programs import Program

Body = dict[str, Any]
DEADLINE = 90.0


class Refused(Exception):
    """`success: false`: the number, the message and the facts."""

    def __init__(self, message: Body) -> None:
        error = message["body"]["error"]
        super().__init__(message["message"])
        self.number: int = error["id"]
        self.text: str = message["message"]
        self.error: Body = error


class Peer:
    """One end of a conversation; keeps every message."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self.messages: list[Body] = []
        self._seq = 0
        self._taken = 0
        self._news = trio.Event()
        self.closed = False

    async def read(self) -> None:
        buffer = b""
        while data := await self._receive():
            buffer += data
            while b"\r\n\r\n" in buffer:
                head, rest = buffer.split(b"\r\n\r\n", 1)
                size = int(head.split(b":")[1])
                if len(rest) < size:
                    break
                self.messages.append(json.loads(rest[:size]))
                buffer = rest[size:]
            self._wake()
        self.closed = True
        self._wake()

    async def _receive(self) -> bytes | bytearray:
        try:
            return await self._stream.receive_some(65536)
        except trio.ClosedResourceError:
            return b""

    def _wake(self) -> None:
        self._news.set()
        self._news = trio.Event()

    async def send(self, message: Body) -> int:
        self._seq += 1
        data = json.dumps({"seq": self._seq, "type": "request", **message}).encode()
        await self._stream.send_all(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        return self._seq

    async def find(self, kind: str, after: int, **wanted: Any) -> Body:
        with trio.fail_after(DEADLINE):
            while True:
                for message in self.messages[after:]:
                    if message["type"] == kind and wanted.items() <= message.items():
                        return message
                assert not self.closed, self.messages[-5:]
                await self._news.wait()

    async def response(self, seq: int) -> Body:
        return await self.find("response", 0, request_seq=seq)

    async def ask(self, command: str, **arguments: Any) -> Body:
        """The body of a successful response. Raises Refused."""
        message = await self.response(await self.send({"command": command, "arguments": arguments}))
        if not message["success"]:
            raise Refused(message)
        body: Body = message.get("body") or {}
        return body

    async def event(self, name: str) -> Body:
        """The next one of that name, after the last one taken."""
        found = await self.find("event", self._taken, event=name)
        self._taken = self.messages.index(found) + 1
        return dict(found.get("body") or {})

    async def either(self, *names: str) -> str:
        """Which of these events comes next; it is taken."""
        with trio.fail_after(DEADLINE):
            while True:
                for number in range(self._taken, len(self.messages)):
                    if (name := self.messages[number].get("event")) in names:
                        self._taken = number + 1
                        return str(name)
                assert not self.closed, self.messages[-5:]
                await self._news.wait()

    def events(self, name: str) -> list[Body]:
        return [m.get("body") or {} for m in self.messages if m.get("event") == name]

    def printed(self, category: str) -> bytes:
        texts = [e["output"] for e in self.events("output") if e["category"] == category]
        return "".join(texts).encode("utf-8", "surrogateescape")

    # Whole steps ------------------------------------------------------------------------

    async def start(self, program: Program | Path, **launch: Any) -> None:
        """initialize, launch; without configurationDone."""
        path = program.path if isinstance(program, Program) else program
        await self.ask("initialize", adapterID="perl")
        await self.ask("launch", program=str(path), **launch)

    async def places(self, program: Program, *points: str | int | Body) -> list[Body]:
        """setBreakpoints by marks, lines, or whole objects whose line is a mark or a line."""
        wanted = [point if isinstance(point, dict) else {"line": point} for point in points]
        listed = [
            {**w, "line": program.line(w["line"])} if isinstance(w["line"], str) else w
            for w in wanted
        ]
        body = await self.ask("setBreakpoints", source={"path": program.text}, breakpoints=listed)
        found: list[Body] = body["breakpoints"]
        return found

    async def stop(self) -> tuple[Body, list[Body]]:
        """The next stop, and the stack there."""
        why = await self.event("stopped")
        return why, (await self.ask("stackTrace", threadId=1))["stackFrames"]

    async def move(self, command: str) -> tuple[Body, list[Body]]:
        await self.ask(command, threadId=1)
        return await self.stop()

    async def locals(self, frame: Body, scope: int = 0) -> dict[str, Body]:
        scopes = (await self.ask("scopes", frameId=frame["id"]))["scopes"]
        return await self.children(scopes[scope])

    async def children(self, parent: Body, **page: int) -> dict[str, Body]:
        reference = parent["variablesReference"]
        body = await self.ask("variables", variablesReference=reference, **page)
        return {row["name"]: row for row in body["variables"]}

    async def value(self, expression: str, **arguments: Any) -> str:
        body = await self.ask("evaluate", expression=expression, **arguments)
        return str(body["result"])

    async def end(self) -> int:
        """Waits for the program; its exit code."""
        code = (await self.event("exited"))["exitCode"]
        assert await self.event("terminated") == {"restart": False}
        return int(code)


@asynccontextmanager
async def adapter(*, seccomp: bool = True) -> AsyncIterator[Peer]:
    """A conversation; at its end the client hangs up, and the adapter has left when this ends."""
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Adapter(DapClient(theirs, theirs), seccomp=seccomp).serve)
        peer = Peer(ours)
        nursery.start_soon(peer.read)
        yield peer
        # The adapter ends by itself when its client hangs up; what does not end is a bug.
        nursery.cancel_scope.deadline = trio.current_time() + DEADLINE
        await ours.aclose()
    assert not nursery.cancel_scope.cancelled_caught, "the adapter did not end"
