"""A tiny synchronous client of a real debugpy, built on `relay.dap`.

Starts one debuggee that connects to us, and answers what the tests of breakpoints
ask: where does it stop, and what does it print.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from relay.dap import Conversation, IncomingEvent, Message, Response

DEADLINE = 180.0


class LivePeer:
    """One connected debuggee."""

    def __init__(self, connection: socket.socket, process: subprocess.Popen[bytes]) -> None:
        self._connection = connection
        self._process = process
        self._conversation = Conversation()
        self._heard: deque[Message] = deque()
        self._ends = time.monotonic() + DEADLINE

    def start(self, breakpoints: Mapping[Path, Sequence[Mapping[str, Any]]]) -> None:
        """The handshake, up to a running program."""
        self.request("initialize", {"adapterID": "test", "pathFormat": "path"})
        self._send("attach", {"justMyCode": False})
        for path, wanted in breakpoints.items():
            arguments = {"source": {"path": str(path)}, "breakpoints": list(wanted)}
            assert self.request("setBreakpoints", arguments).success
        assert self.request("configurationDone", {}).success

    def request(self, command: str, arguments: Mapping[str, Any]) -> Response:
        """Ask and wait; events that come meanwhile are kept."""
        seq = self._send(command, arguments)
        kept: list[Message] = []
        while True:
            message = self._next()
            if isinstance(message, Response) and message.request_seq == seq:
                self._heard.extendleft(reversed(kept))
                return message
            kept.append(message)

    def stops(self) -> Iterator[tuple[str, int]]:
        """Run to the end; file and line of every stop on the way."""
        for event in self._events():
            if event.event == "stopped":
                thread = event.body["threadId"]
                body = self.request("stackTrace", {"threadId": thread, "levels": 1}).body
                top = body["stackFrames"][0]
                yield top["source"]["path"], top["line"]
                self._send("continue", {"threadId": thread})
            elif event.event == "terminated":
                return

    def output(self) -> str:
        """Run to the end, which must come without a stop; what the debugger printed."""
        printed: list[str] = []
        for event in self._events():
            assert event.event != "stopped", event
            if event.event == "output":
                printed.append(event.body["output"])
            elif event.event == "terminated":
                break
        return "".join(printed)

    def _events(self) -> Iterator[IncomingEvent]:
        while True:
            message = self._next()
            if isinstance(message, IncomingEvent):
                yield message

    def _send(self, command: str, arguments: Mapping[str, Any]) -> int:
        seq, data = self._conversation.request(command, arguments)
        self._connection.sendall(data)
        return seq

    def _next(self) -> Message:
        while not self._heard:
            self._connection.settimeout(max(0.01, self._ends - time.monotonic()))
            data = self._connection.recv(65536)
            _acknowledge_at_once(self._connection)
            assert data, f"the debuggee went away: exit code {self._process.poll()}"
            self._heard.extend(self._conversation.receive(data))
        return self._heard.popleft()


@contextmanager
def live_peer(program: Path) -> Iterator[LivePeer]:
    """A program under debugpy, connected and not yet configured; dead afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(DEADLINE)
        port = listener.getsockname()[1]
        command = [sys.executable, "-X", "frozen_modules=off", "-m", "debugpy"]
        command += ["--connect", f"127.0.0.1:{port}", str(program)]
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=program.parent
        ) as process:
            try:
                connection, _ = listener.accept()
                with connection:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    _acknowledge_at_once(connection)
                    yield LivePeer(connection, process)
            finally:
                process.kill()


def _acknowledge_at_once(connection: socket.socket) -> None:
    """Not sticky: without it each message of debugpy waits 40 ms for our ACK."""
    if quick := getattr(socket, "TCP_QUICKACK", None):
        connection.setsockopt(socket.IPPROTO_TCP, quick, 1)
