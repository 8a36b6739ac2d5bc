"""A small synchronous DAP peer for tests: one debuggee, its socket and its pipes.

Knows DAP's frames and how to wait for a message with a deadline. Knows nothing of the relay's
own link or sessions, so that the debuggee's side is tested without them.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

Message = dict[str, Any]
DEADLINE = 180.0


class SilenceError(AssertionError):
    """The message that a test waits for did not come in time."""


class Peer:
    """Speaks DAP on a connected socket; keeps every message in order of arrival."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._start(sock.makefile("rb"), sock.makefile("wb"))

    @classmethod
    def on_pipes(cls, source: IO[bytes], sink: IO[bytes]) -> Peer:
        """A peer of a program that speaks DAP on its stdout and stdin."""
        peer = cls.__new__(cls)
        peer._start(source, sink)
        return peer

    def _start(self, source: IO[bytes], sink: IO[bytes]) -> None:
        self._source, self._sink = source, sink
        self.messages: list[Message] = []
        self.raw_lines: list[bytes] = []
        self.ended = False
        self._seq = 0
        self._taken = 0
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        stream = self._source
        try:
            while line := stream.readline():
                if line.startswith(b"Content-Length:"):
                    stream.readline()
                    self._add(json.loads(stream.read(int(line.split(b":")[1]))))
                else:
                    self.raw_lines.append(line)
        except (OSError, ValueError):
            pass
        with self._news:
            self.ended = True
            self._news.notify_all()

    def _add(self, message: Message) -> None:
        with self._news:
            self.messages.append(message)
            self._news.notify_all()
        if message.get("event") == "relayEnding":
            self.send("threads")  # the probe waits for it, as a proof that all was heard

    def send(self, command: str, arguments: Mapping[str, Any] | None = None) -> int:
        """Sends a request; returns its seq."""
        self._seq += 1
        request: Message = {"seq": self._seq, "type": "request", "command": command}
        if arguments is not None:
            request["arguments"] = arguments
        self._put(request)
        return self._seq

    def respond(self, request: Message, body: Mapping[str, Any]) -> None:
        """Answers a reverse request with success."""
        self._seq += 1
        self._put(
            {
                "seq": self._seq,
                "type": "response",
                "request_seq": request["seq"],
                "command": request["command"],
                "success": True,
                "body": body,
            }
        )

    def _put(self, message: Message) -> None:
        body = json.dumps(message).encode()
        self._sink.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._sink.flush()

    def request(self, command: str, arguments: Mapping[str, Any] | None = None) -> Message:
        """Sends a request and returns its response, successful or not."""
        seq = self.send(command, arguments)
        return self.find(lambda m: m["type"] == "response" and m["request_seq"] == seq)

    def find(self, wanted: Callable[[Message], bool], after: int = 0) -> Message:
        """The first message, from position `after` on, that is wanted. Raises SilenceError."""
        end = time.monotonic() + DEADLINE
        with self._news:
            while True:
                for message in self.messages[after:]:
                    if wanted(message):
                        return message
                if self.ended or not self._news.wait(end - time.monotonic()):
                    raise SilenceError(f"ended={self.ended} {self.raw_lines} {self.messages[-5:]}")

    def event(self, name: str) -> Message:
        """The next event of that name, after the last one taken."""
        found = self.find(lambda m: m["type"] == "event" and m["event"] == name, after=self._taken)
        self._taken = self.messages.index(found) + 1
        return dict(found.get("body") or {})

    def events(self, name: str) -> list[Message]:
        return [m["body"] for m in self.messages if m["type"] == "event" and m["event"] == name]

    def wait_end(self) -> None:
        """Returns when the other side has closed the socket."""
        self._thread.join(DEADLINE)
        assert self.ended, "the debuggee's end of the socket is still open"

    def close(self) -> None:
        if hasattr(self, "sock"):
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)
            self._thread.join(DEADLINE)
            self._source.close()
            with contextlib.suppress(OSError):
                self._sink.close()
            self.sock.close()


class Debuggee:
    """A process on pipes in a group of its own, with a Peer on a socket that it inherited."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        pair: tuple[socket.socket, socket.socket],
    ) -> None:
        ours, theirs = pair
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        self.peer = Peer(ours)

    def handshake(
        self,
        *,
        breakpoints: Mapping[str, Sequence[int | Mapping[str, Any]]] | None = None,
        filters: Sequence[str] = (),
        how: tuple[str, Mapping[str, Any]] = ("launch", {}),
    ) -> None:
        """initialize … configurationDone, with these breakpoints by path."""
        self.peer.request("initialize", {"adapterID": "test"})
        self.peer.send(*how)
        self.peer.event("initialized")
        for path, lines in (breakpoints or {}).items():
            points = [{"line": line} if isinstance(line, int) else line for line in lines]
            arguments = {"source": {"path": path}, "breakpoints": points}
            assert self.peer.request("setBreakpoints", arguments)["success"]
        self.peer.request("setExceptionBreakpoints", {"filters": list(filters)})
        # Not awaited: a short program may be gone before the answer is on its way.
        self.peer.send("configurationDone")

    def go_on(self, stopped: Mapping[str, Any]) -> None:
        self.peer.send("continue", {"threadId": stopped["threadId"]})

    def frames(self, stopped: Mapping[str, Any]) -> list[Message]:
        body = self.peer.request("stackTrace", {"threadId": stopped["threadId"]})["body"]
        return list(body["stackFrames"])

    def finish(self) -> tuple[int, str, str]:
        """Waits for the end: exit code (negative: signal), stdout, stderr."""
        out, err = self.process.communicate(timeout=DEADLINE)
        self.peer.wait_end()
        return self.process.returncode, out.decode(), err.decode()

    def __enter__(self) -> Debuggee:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(DEADLINE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        self.peer.close()


def line_of(path: Path, mark: str) -> int:
    """The number of the line that carries the comment `# @mark`."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.rstrip().endswith(f"# @{mark}"):
            return number
    raise AssertionError(f"no @{mark} in {path}")
