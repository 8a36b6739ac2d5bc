"""The stock side: `debugpy.adapter` as editors start it, DAP over its standard streams.

A straightforward client, as most agents' tools have one: it writes a request
and reads until the answer is there. How the adapter talks to the debuggee is
the adapter's business; nothing here tunes its sockets.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.failure import Deadline, expect
from benchmarks.processes import outlived, pipe_of, started
from benchmarks.program import Programs
from benchmarks.side import DebugSession, Frame, Overview

Message = dict[str, Any]

_HEADER_END = b"\r\n\r\n"


class DapPipe:
    """DAP messages over two descriptors, one conversation at a time."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._buffer = b""
        self._seq = 0
        self._events: list[Message] = []
        self._responses: dict[int, Message] = {}

    def send(self, command: str, arguments: Message | None = None) -> int:
        """Writes a request; returns its number."""
        self._seq += 1
        request = {"seq": self._seq, "type": "request", "command": command}
        body = json.dumps({**request, "arguments": arguments or {}}).encode()
        frame = b"Content-Length: %d" % len(body) + _HEADER_END + body
        while frame:
            frame = frame[os.write(self._writing, frame) :]
        return self._seq

    def response(self, seq: int, command: str) -> Message:
        """The body of a success; raises BenchmarkError on a refusal."""
        deadline = Deadline(f"stock: response to {command}")
        while seq not in self._responses:
            self._receive(deadline)
        response = self._responses.pop(seq)
        expect(response["success"], f"stock: {command} failed: {response.get('message')}")
        body: Message = response.get("body") or {}
        return body

    def request(self, command: str, arguments: Message | None = None) -> Message:
        """Sends and waits for the body of the response."""
        return self.response(self.send(command, arguments), command)

    def event(self, name: str, instead: tuple[str, ...] = ()) -> Message:
        """The body of the first such event; raises BenchmarkError on one of `instead`."""
        deadline = Deadline(f"stock: event {name}")
        while True:
            for event in self._events:
                expect(event["event"] not in instead, f"{deadline.what}: {event['event']} came")
                if event["event"] == name:
                    body: Message = event.get("body") or {}
                    return body
            self._events.clear()
            self._receive(deadline)

    def forget_events(self) -> None:
        """Drops the events that nobody asked for."""
        self._events.clear()

    def _receive(self, deadline: Deadline) -> None:
        message = self._message(deadline)
        if message["type"] == "event":
            self._events.append(message)
        elif message["type"] == "response":
            self._responses[message["request_seq"]] = message

    def _message(self, deadline: Deadline) -> Message:
        header = self._until(_HEADER_END, deadline)
        length = int(header.lower().partition(b"content-length:")[2])
        while len(self._buffer) < length:
            self._read(deadline)
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        message: Message = json.loads(body)
        return message

    def _until(self, end: bytes, deadline: Deadline) -> bytes:
        while end not in self._buffer:
            self._read(deadline)
        head, _, self._buffer = self._buffer.partition(end)
        return head

    def _read(self, deadline: Deadline) -> None:
        readable, _, _ = select.select([self._reading], [], [], deadline.left())
        if readable:
            data = os.read(self._reading, 1 << 16)
            expect(bool(data), f"{deadline.what}: the adapter closed its output")
            self._buffer += data


class StockSession:
    """One adapter with its debuggee."""

    def __init__(self, pipe: DapPipe, python: str) -> None:
        self._pipe = pipe
        self._python = python
        self._thread = 0
        self._top = 0
        self._launched = False

    def initialize(self) -> None:
        """The first exchange: from here on the adapter is ready to launch."""
        self._pipe.request(
            "initialize",
            {"clientID": "benchmark", "adapterID": "debugpy", "pathFormat": "path"},
        )

    def launch(self, programs: Programs) -> None:
        """As editors do it: launch, breakpoints once `initialized`, configurationDone."""
        self._launched = True
        launch = self._pipe.send("launch", self._launch_arguments(programs))
        self._pipe.event("initialized")
        self.place(programs.main, [programs.stop])
        self._pipe.request("configurationDone")
        self._pipe.response(launch, "launch")
        self._await_stop()

    def _launch_arguments(self, programs: Programs) -> Message:
        return {
            "program": str(programs.main),
            "python": [self._python],
            "cwd": str(programs.directory),
            "console": "internalConsole",
            # As under the relay: nothing is hidden from the user.
            "justMyCode": False,
        }

    def step(self) -> None:
        """`next`, until the stopped event; that has no location yet."""
        self._run("next")

    def resume(self) -> None:
        """`continue`, until the stopped event."""
        self._run("continue")

    def stack(self) -> list[Frame]:
        """`stackTrace`."""
        body = self._pipe.request("stackTrace", {"threadId": self._thread})
        self._top = body["stackFrames"][0]["id"]
        return [Frame(frame["name"], frame["line"]) for frame in body["stackFrames"]]

    def scopes(self) -> int:
        """`scopes` of the frame that the last `stack` found on top."""
        body = self._pipe.request("scopes", {"frameId": self._top})
        reference: int = body["scopes"][0]["variablesReference"]
        return reference

    def variables(self, reference: int) -> int:
        """`variables`."""
        body = self._pipe.request("variables", {"variablesReference": reference})
        return len(body["variables"])

    def evaluate(self, expression: str) -> str:
        """`evaluate` in the frame that the last `stack` found on top."""
        body = self._pipe.request(
            "evaluate", {"expression": expression, "frameId": self._top, "context": "repl"}
        )
        result: str = body["result"]
        return result

    def everything(self) -> Overview:
        """`next`, `stackTrace`, `scopes`, `variables`; output arrives by itself."""
        self.step()
        stack = self.stack()
        return Overview(stack, self.variables(self.scopes()))

    def place(self, path: Path, lines: list[int], condition: str | None = None) -> int:
        """`setBreakpoints`, which replaces all of the file's."""
        more = {} if condition is None else {"condition": condition}
        breakpoints = [{"line": line, **more} for line in lines]
        body = self._pipe.request(
            "setBreakpoints", {"source": {"path": str(path)}, "breakpoints": breakpoints}
        )
        return sum(placed["verified"] for placed in body["breakpoints"])

    def clear(self, path: Path) -> None:
        """`setBreakpoints` with none."""
        self.place(path, [])

    def disconnect(self) -> None:
        """Has the adapter kill the debuggee, if there is one."""
        if self._launched:
            self._pipe.request("disconnect", {"terminateDebuggee": True})

    def _run(self, command: str) -> None:
        self._pipe.forget_events()
        self._pipe.request(command, {"threadId": self._thread})
        self._await_stop()

    def _await_stop(self) -> None:
        self._thread = self._pipe.event("stopped", instead=("terminated", "exited"))["threadId"]


class Stock:
    """The stock adapter under this interpreter, the debuggee under another if asked."""

    name = "stock"

    def __init__(self, python: str, directory: Path) -> None:
        self._python = python
        self._directory = directory

    @contextmanager
    def session(self) -> Iterator[DebugSession]:
        """A new adapter process, initialized; it and its debuggee end with the context."""
        argv = [sys.executable, "-m", "debugpy.adapter"]
        log = self._directory / "adapter.log"
        with (
            outlived(),
            started(
                argv, cwd=self._directory, log=log, ending=signal.SIGTERM, keep_stdin=True
            ) as process,
        ):
            pipe = DapPipe(pipe_of(process.stdout), pipe_of(process.stdin))
            session = StockSession(pipe, self._python)
            session.initialize()
            yield session
            session.disconnect()
