"""A `relay serve` of its own process, as a bad client finds it, and what that does to it.

Knows sockets and /proc. Memory is the most that the process has had since it was last asked, so that
what is taken and given back at once counts as well.
"""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.relays import environment

SECONDS = 60.0
"""No test waits longer, unless something is broken."""

HEAD = "Host: localhost\r\nContent-Type: application/json\r\n"
SETTINGS = {"RELAY_OUTPUT_LIMIT_BYTES": str(2**20), "RELAY_STANDBY": "0"}
"""Little output is kept; and no debuggee outlives its test, to wait for the next."""

LISTENING = "0A"
"""State of a socket in /proc/net/tcp."""

HEALTH = b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n"


class BadClient:
    """A connection that says what it likes."""

    def __init__(self, port: int, receive_buffer: int | None = None) -> None:
        self.socket = socket.socket()
        if receive_buffer is not None:  # before the connection: its window is agreed on there
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(SECONDS)
        self.socket.connect(("127.0.0.1", port))

    def __enter__(self) -> BadClient:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.socket.close()

    def says(self, data: bytes) -> BadClient:
        """Send it, as far as the server lets us."""
        with suppress(OSError):
            self.socket.sendall(data)
        return self

    def says_on(self, piece: bytes, every: float, at_most: int) -> bytes:
        """Send the piece again and again, `at_most` bytes of it, until the server answers."""
        self.socket.settimeout(every)
        for _ in range(at_most // len(piece)):
            try:
                self.socket.sendall(piece)
                if every:
                    return self.socket.recv(2**16) + self.hears()
            except TimeoutError:
                continue
            except OSError:
                break
        return self.hears()

    def hears(self) -> bytes:
        """Everything until the server hangs up; fails if it does not."""
        self.socket.settimeout(SECONDS)
        heard = b""
        try:
            while piece := self.socket.recv(2**16):
                heard += piece
        except ConnectionError:
            pass
        return heard

    def resets(self) -> None:
        """Leave without a word."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.socket.close()


class RelayProcess:
    """The server."""

    def __init__(self, process: subprocess.Popen[str], port: int, log: Path) -> None:
        self.process = process
        self.port = port
        self._log = log

    def client(self, receive_buffer: int | None = None) -> BadClient:
        """A connection to it."""
        return BadClient(self.port, receive_buffer)

    def call(self, method: str, path: str, body: bytes = b"{}") -> tuple[int, dict[str, Any]]:
        """Status and envelope of a whole request on a connection of its own."""
        head = f"{method} {path} HTTP/1.1\r\n{HEAD}Connection: close\r\nContent-Length: {len(body)}"
        with self.client() as client:
            return answer(client.says(head.encode() + b"\r\n\r\n" + body).hears())

    def session(self, program: str | None = None) -> str:
        """The path of a new session, in which the program runs if there is one."""
        body: dict[str, Any] = {} if program is None else {"launch": {"script": program}}
        status, envelope = self.call("POST", "/api/v1/sessions", json.dumps(body).encode())
        assert status == 201, envelope
        return f"/api/v1/sessions/{envelope['data']['session_id']}"

    def answers(self) -> float:
        """Seconds in which it says to somebody else that it is well."""
        started = time.monotonic()
        with self.client() as client:
            status, _ = answer(client.says(HEALTH + b"Connection: close\r\n\r\n").hears())
        assert status == 200
        return time.monotonic() - started

    def connections(self) -> int:
        """How many it has accepted and not closed."""
        sockets = map(str.split, Path("/proc/net/tcp").read_text().splitlines()[1:])
        return sum(
            local.endswith(f":{self.port:04X}") and state != LISTENING and inode != "0"
            for _, local, _, state, _, _, _, _, _, inode, *_ in sockets
        )

    def until_connections(self, number: int) -> None:
        """Until it has exactly so many."""
        until(lambda: self.connections() == number, f"never {number} connections")

    def log(self) -> str:
        """What it has written to standard error."""
        return self._log.read_text()

    def ends(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, float]:
        """Its exit code after the signal, and the seconds that it took."""
        started = time.monotonic()
        self.process.send_signal(number)
        code = self.process.wait(SECONDS)
        return code, time.monotonic() - started

    @contextmanager
    def grows_by_less_than(self, megabytes: int) -> Iterator[None]:
        """Fails if it has needed more memory meanwhile, also for a moment only."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text(
            "5"
        )  # the peak is what is there now
        before = self._peak()
        yield
        grown = self._peak() - before
        assert grown < megabytes, f"it has grown by {grown} MB"

    def _peak(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert found
        return int(found[1]) // 1024


def answer(heard: bytes) -> tuple[int, dict[str, Any]]:
    """Status and envelope of the only response in it."""
    head, _, body = heard.partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100"):
        return answer(body)
    envelope = json.loads(body)
    assert set(envelope) == {"success", "data", "error", "meta"}
    return int(head.split()[1]), envelope


def until(condition: Callable[[], bool], otherwise: str) -> None:
    """Until it holds; fails if it does not in time."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.005)  # another process tells nobody what it does


@contextmanager
def relay_process(
    folder: Path, module: str = "tests.faults.short_limits"
) -> Iterator[RelayProcess]:
    """Started on a free port; killed at the end if it runs still. `relay` has its usual limits."""
    log = folder / "log"
    command = [sys.executable, "-m", module, "serve", "--port", "0"]
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [*command, "--log-level", "warning", "--project-root", str(folder)],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=environment(folder / "state") | SETTINGS,
        )
    with process:
        assert process.stdout is not None
        try:
            found = re.search(r"http://127.0.0.1:(\d+)", process.stdout.readline())
            assert found, log.read_text()
            yield RelayProcess(process, int(found[1]), log)
        finally:
            process.kill()
