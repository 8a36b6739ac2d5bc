"""The relay's side: a real `relay serve` process, asked over one keep-alive connection.

The client is a bare socket and one `sendall` a request: an HTTP library would
add its own time to what is measured.
"""

from __future__ import annotations

import json
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.failure import PATIENCE_SECONDS, BenchmarkError, Deadline, expect
from benchmarks.processes import pipe_of, started, tail
from benchmarks.program import Programs
from benchmarks.side import Frame, Overview

Json = dict[str, Any]

_ROOT = Path(__file__).resolve().parents[1]
_READY = re.compile(rb"http://([\d.]+):(\d+)(/\S*)")
_STOP_SECONDS = 20
_HEADER_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Http:
    """One HTTP/1.1 connection to the relay's API."""

    def __init__(self, host: str, port: int, prefix: str) -> None:
        self._address = host, port
        self._host = f"{host}:{port}"
        self._prefix = prefix
        self._connect()

    def _connect(self) -> None:
        self._socket = socket.create_connection(self._address, PATIENCE_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def another(self) -> Http:
        """A second connection to the same relay, which has accepted it."""
        found = Http(*self._address, self._prefix)
        found.get("/health")
        return found

    def send(self, method: str, path: str, **body: Any) -> socket.socket:
        """Sends this and waits for nothing: who calls reads the answer from what is given."""
        text = json.dumps(body).encode() if body else b""
        self._socket.sendall(self._request(method, path, text))
        return self._socket

    @property
    def socket(self) -> socket.socket:
        """The connection, for who waits for several."""
        return self._socket

    @staticmethod
    def is_whole(answer: bytes) -> bool:
        """Whether it has as many bytes as it says. Raises BenchmarkError if it does not say."""
        head, found, body = answer.partition(_HEADER_END)
        length = _LENGTH.search(head)
        expect(length is not None or not found, f"relay: no Content-Length in {head!r}")
        return length is not None and bool(found) and len(body) >= int(length[1])

    def close(self) -> None:
        """Hangs up."""
        self._socket.close()

    def get(self, path: str) -> Json:
        """The `data` of a success; raises BenchmarkError with the relay's complaint."""
        return self._call("GET", path, b"")

    def post(self, path: str, **body: Any) -> Json:
        """As `get`, with a JSON body."""
        return self._call("POST", path, json.dumps(body).encode())

    def delete(self, path: str) -> Json:
        """As `get`."""
        return self._call("DELETE", path, b"")

    def _call(self, method: str, path: str, body: bytes) -> Json:
        what = f"relay: {method} {path}"
        self._renew_if_expired()
        self._socket.sendall(self._request(method, path, body))
        answer: Json = json.loads(self._body(Deadline(what)))
        expect(answer["success"], f"{what}: {answer['error']}")
        data: Json = answer["data"]
        return data

    def _request(self, method: str, path: str, body: bytes) -> bytes:
        head = f"{method} {self._prefix}{path} HTTP/1.1\r\nHost: {self._host}\r\n"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return f"{head}\r\n".encode() + body

    def _renew_if_expired(self) -> None:
        # Readable between two answers: the server closed an idle connection.
        if select.select([self._socket], [], [], 0)[0]:
            self._socket.close()
            self._connect()

    def _body(self, deadline: Deadline) -> bytes:
        received = b""
        while _HEADER_END not in received:
            received += self._receive(deadline)
        head, _, body = received.partition(_HEADER_END)
        length = _LENGTH.search(head)
        if length is None:
            raise BenchmarkError(f"{deadline.what}: no Content-Length in {head!r}")
        while len(body) < int(length[1]):
            body += self._receive(deadline)
        return body

    def _receive(self, deadline: Deadline) -> bytes:
        self._socket.settimeout(deadline.left())
        with suppress(TimeoutError):
            data = self._socket.recv(1 << 16)
            expect(bool(data), f"{deadline.what}: the relay hung up")
            return data
        return b""


class RelaySession:
    """One session of the relay."""

    def __init__(self, http: Http, session_id: str, forced_mode: str | None) -> None:
        self._http = http
        self._forced = {} if forced_mode is None else {"launch_mode": forced_mode}
        self._path = f"/sessions/{session_id}"
        self._placed: list[str] = []
        self.launch_mode = ""

    def launch(self, programs: Programs) -> None:
        """The breakpoint, then the program, answered at its first stop."""
        self.place(programs.main, [programs.stop])
        data = self._http.post(
            f"{self._path}/launch",
            script=str(programs.main),
            wait=_STOP_SECONDS,
            **self._forced,
        )
        self.launch_mode = data["launch_mode"]
        _expect_stop(data, "breakpoint")

    def step(self) -> None:
        """`step-over`; its answer has the location."""
        _expect_stop(self._http.post(f"{self._path}/step-over"), "step")

    def send_step(self, http: Http) -> None:
        """The same by this connection, without waiting for the answer."""
        http.send("POST", f"{self._path}/step-over")

    def send_status(self, http: Http) -> None:
        """Asks for the session resource by this connection, without waiting for the answer."""
        http.send("GET", self._path)

    def resume(self) -> None:
        """`continue`, answered at the next stop."""
        _expect_stop(self._http.post(f"{self._path}/continue", wait=_STOP_SECONDS), "breakpoint")

    def stack(self) -> list[Frame]:
        """`stacktrace`."""
        return _frames(self._http.get(f"{self._path}/stacktrace")["frames"])

    def scopes(self) -> int:
        """`scopes` of the top frame."""
        scopes = self._http.get(f"{self._path}/scopes?frame_id=0")["scopes"]
        reference: int = scopes[0]["variables_reference"]
        return reference

    def variables(self, reference: int) -> int:
        """`variables`."""
        data = self._http.get(f"{self._path}/variables?variables_reference={reference}")
        return len(data["variables"])

    def evaluate(self, expression: str) -> str:
        """`evaluate` in the top frame."""
        result: str = self._http.post(f"{self._path}/evaluate", expression=expression)["result"]
        return result

    def everything(self) -> Overview:
        """`step-over`, with all that follows in the same answer."""
        include = ["location", "source", "locals", "stack", "output"]
        data = self._http.post(f"{self._path}/step-over", include=include)
        _expect_stop(data, "step")
        stop = data["stop"]
        missing = [part for part in include if stop[part] is None]
        expect(not missing and not stop["truncated"], f"relay: {missing} missing in {stop}")
        return Overview(_frames(stop["stack"]), len(stop["locals"]))

    def place(self, path: Path, lines: list[int], condition: str | None = None) -> int:
        """`breakpoints`, one batch of a file; a place known already is updated."""
        common = {"source": {"path": str(path)}, "condition": condition}
        batch = [{**common, "line": line} for line in lines]
        placed = self._http.post(f"{self._path}/breakpoints", breakpoints=batch)["breakpoints"]
        self._placed = [breakpoint["id"] for breakpoint in placed]
        return sum(breakpoint["verified"] for breakpoint in placed)

    def clear(self, path: Path) -> None:
        """DELETE of each, since only single ones can be removed."""
        for breakpoint_id in self._placed:
            self._http.delete(f"{self._path}/breakpoints/{breakpoint_id}")
        self._placed = []

    def status(self) -> str:
        """The session resource, as a client polls it."""
        status: str = self._http.get(self._path)["status"]
        return status

    def delete(self) -> None:
        """Ends the session, its debuggee and all that this started."""
        self._http.delete(self._path)


def _expect_stop(data: Json, reason: str) -> None:
    stands = data["status"], data["stop_reason"]
    expect(stands == ("paused", reason), f"relay: {stands} where a {reason} was due")


def _frames(frames: list[Json]) -> list[Frame]:
    return [Frame(frame["name"], frame["line"]) for frame in frames]


class Relay:
    """A running relay; opens sessions in it."""

    name = "relay"

    def __init__(
        self, http: Http, pid: int, python: str, directory: Path, launch_mode: str | None
    ) -> None:
        self.http, self.pid = http, pid
        self._launch_mode = launch_mode
        self._python = python
        self._directory = directory

    @contextmanager
    def session(self) -> Iterator[RelaySession]:
        """POST /sessions; the session ends with the context."""
        data = self.http.post(
            "/sessions", python_path=self._python, project_root=str(self._directory)
        )
        session = RelaySession(self.http, data["session_id"], self._launch_mode)
        yield session
        session.delete()


@contextmanager
def running_relay(python: str, directory: Path, launch_mode: str | None = None) -> Iterator[Relay]:
    """`relay serve --port 0` of this source tree, and one connection to it.

    Its sessions launch in the given mode, or in the one that the relay chooses.

    Its standard error goes to `relay.log` in the directory, which is shown if
    the relay fails to start.
    """
    log = directory / "relay.log"
    state = ["--state-dir", str(directory / "state")]
    argv = [sys.executable, "-m", "relay", "serve", "--port", "0", *state]
    with started(argv, cwd=_ROOT, log=log, ending=signal.SIGTERM) as process:
        http = Http(*_address(process, log))
        try:
            yield Relay(http, process.pid, python, directory, launch_mode)
        finally:
            http.close()


def _address(process: subprocess.Popen[bytes], log: Path) -> tuple[str, int, str]:
    deadline = Deadline("relay serve: its address on standard output")
    while True:
        readable, _, _ = select.select([pipe_of(process.stdout)], [], [], deadline.left())
        if not readable:
            continue
        assert process.stdout is not None
        line = process.stdout.readline()
        expect(bool(line), f"relay serve did not start:\n{tail(log)}")
        if found := _READY.search(line):
            return found[1].decode(), int(found[2]), found[3].decode()
