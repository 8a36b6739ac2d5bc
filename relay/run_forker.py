"""The process that `relay run` is forked from, where a server runs: imported whole, and idle.

Importing what a run needs takes longer than all the rest of a short one. So a server keeps a
process that has done it (`faces/cli/run_offer.py`), and the quick half of the shell hands a run over
to that, with its streams, directory and environment. Each run is a fork, in which `relay run` goes
on as in a process of its own: it does not know. What a fork cannot have as the shell's own child
would is refused, and the shell runs it itself.

    python -m relay.run_forker LISTENER MINUTES    LISTENER is an inherited descriptor

A client sends one line of JSON with its descriptors 0, 1, 2 and that of its directory. The answer is
`cold` or `ready`. One that still wants it sends an empty line: `go PID` follows and, when the run is
over, `exit CODE`. A client that hangs up has been killed: so is its run. Ends after MINUTES without a
run, and when standard input ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from relay.process.inheritance import Changeable, inheritance_of
from relay.quick_shell import origin
from relay.staying_imports import imports_that_stay

ASKING_SECONDS = 1.0
"""How long a line of a client may take, which does nothing else meanwhile."""

PAUSE_SECONDS = 0.1
"""After a client that could not be accepted: the next try would fail as well."""

LONGEST_LINE = 8 * 1024 * 1024
DESCRIPTORS = 4


@dataclass(frozen=True)
class RunRequest:
    """A run as the shell would make it."""

    words: list[str]
    environment: dict[str, str]
    encodings: list[list[str]]
    """Encoding and error handler of each standard stream."""
    changeable: Changeable
    descriptors: Sequence[int]


@dataclass
class Forker:
    """Who asks, and the runs that are under way."""

    listener: socket.socket
    idle_seconds: float
    _events: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    _clients: dict[int, socket.socket] = field(default_factory=dict)
    """By the pid of their run."""
    _is_wanted: bool = True

    def serve(self) -> RunRequest | None:
        """Until nobody needs it: None. In a fork it returns at once, with what the fork is to run."""
        self._events.register(self.listener, selectors.EVENT_READ, self._accepted)
        self._events.register(0, selectors.EVENT_READ, self._left)
        used = time.monotonic()
        while self._clients or self._is_wanted:
            left = None if self._clients else used + self.idle_seconds - time.monotonic()
            if left is not None and left <= 0:
                break
            for key, _ in self._events.select(left):
                request: RunRequest | None = key.data()
                if request is not None:
                    return request
            if self._clients:
                used = time.monotonic()
        return None

    def _left(self) -> None:
        """The server has gone; runs that are under way need it no more than others do."""
        self._is_wanted = False
        self._events.unregister(0)
        self._events.unregister(self.listener)

    def _accepted(self) -> RunRequest | None:
        try:
            client, _ = self.listener.accept()
        except OSError:  # no more descriptors: it waits, and is asked for again
            time.sleep(PAUSE_SECONDS)
            return None
        request = _fitting(client)
        if request is None:
            _refuse(client)
            return None
        try:
            pid, ended = _fork()
        except OSError:  # no more processes
            pid, ended = None, -1
        if pid == 0:
            self._let_go(client)
            return request
        for fd in request.descriptors:
            os.close(fd)
        if pid is None:
            _refuse(client)
            return None
        _say(client, f"go {pid}")
        self._clients[pid] = client
        self._events.register(client, selectors.EVENT_READ, lambda: self._hung_up(pid))
        self._events.register(ended, selectors.EVENT_READ, lambda: self._over(pid, ended))
        return None

    def _let_go(self, client: socket.socket) -> None:
        """In a fork: nothing here is its own."""
        for one in (self.listener, client, *self._clients.values()):
            one.close()
        for key in list(self._events.get_map().values()):
            if isinstance(key.fileobj, int) and key.fileobj != 0:
                os.close(key.fileobj)
        self._events.close()

    def _hung_up(self, pid: int) -> None:
        """What the run has started ends with it: its guardian sees to that."""
        client = self._clients.get(pid)
        if client is None:  # both came at once, and the pid may be another's by now
            return
        self._events.unregister(client)
        os.kill(pid, signal.SIGKILL)

    def _over(self, pid: int, ended: int) -> None:
        self._events.unregister(ended)
        os.close(ended)
        _, status = os.waitpid(pid, 0)
        client = self._clients.pop(pid)
        if client in self._events.get_map():
            self._events.unregister(client)
        _say(client, f"exit {os.waitstatus_to_exitcode(status)}")
        client.close()


# One client -------------------------------------------------------------------------------


def _fitting(client: socket.socket) -> RunRequest | None:
    """What it asks for, if a fork can run that as the client itself would."""
    client.settimeout(ASKING_SECONDS)
    descriptors: list[int] = []
    try:
        asked = _received(client, descriptors)
        if len(descriptors) == DESCRIPTORS and asked.pop("origin") == origin():
            credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            pid = int.from_bytes(credentials[:4], sys.byteorder)
            if inheritance_of(pid) == inheritance_of(os.getpid()):
                changeable = Changeable.of(pid)
                request = RunRequest(**asked, changeable=changeable, descriptors=descriptors)
                client.sendall(b"ready\n")
                if client.recv(1) == b"\n":  # else it has it run elsewhere by now
                    return request
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        pass  # it has gone, or is no client of ours
    for fd in descriptors:
        os.close(fd)
    return None


def _received(client: socket.socket, descriptors: list[int]) -> dict[str, Any]:
    """The line, and what came with it. Raises OSError, ValueError."""
    line, found, _, _ = socket.recv_fds(client, 65536, DESCRIPTORS)
    descriptors += found
    while not line.endswith(b"\n"):
        piece = client.recv(65536)
        if not piece or len(line) > LONGEST_LINE:
            raise ValueError("no line")
        line += piece
    asked = json.loads(line)
    if not isinstance(asked, dict):
        raise ValueError("no object")
    return asked


def _refuse(client: socket.socket) -> None:
    _say(client, "cold")
    client.close()


def _say(client: socket.socket, line: str) -> None:
    with contextlib.suppress(OSError):  # it has gone, and what it left is seen to elsewhere
        client.sendall(f"{line}\n".encode())


# A fork -----------------------------------------------------------------------------------


def _fork() -> tuple[int, int]:
    """The fork's pid and a descriptor that tells of its end; in the fork itself (0, -1).

    It waits until there is that descriptor. Raises OSError: there is no fork, and none has run.
    """
    held, release = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        os.close(held)
        os.close(release)
        raise
    if pid == 0:
        os.close(release)
        if not os.read(held, 1):
            os._exit(1)
        os.close(held)
        return 0, -1
    os.close(held)
    try:
        ended = os.pidfd_open(pid)
    except OSError:
        os.close(release)  # it reads the end, and goes
        os.waitpid(pid, 0)
        raise
    with contextlib.suppress(BrokenPipeError):  # somebody has killed it
        os.write(release, b"\n")
    os.close(release)
    return pid, ended


def become(request: RunRequest) -> None:
    """Make this process one that the client's shell could have started."""
    os.setpgid(0, 0)
    stdin, stdout, stderr, directory = request.descriptors
    os.fchdir(directory)
    for target, fd in enumerate((stdin, stdout, stderr)):
        os.dup2(fd, target)
    for fd in request.descriptors:
        os.close(fd)
    request.changeable.take_on()
    os.environ.clear()
    os.environ.update(request.environment)
    time.tzset()
    sys.argv = ["relay", *request.words]
    for fd, (name, (encoding, errors)) in enumerate(
        zip(("stdin", "stdout", "stderr"), request.encodings, strict=True)
    ):
        # As Python makes them: a line at a time to a terminal, and to standard error.
        mode, buffering = "w" if fd else "r", 1 if fd == 2 or os.isatty(fd) else -1
        stream = open(fd, mode, buffering, encoding, errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def main() -> None:
    """Serve; in a fork, run."""
    with imports_that_stay():
        from relay.command_line import cli
        from relay.faces.cli import run, run_ahead, run_program, run_trace  # noqa: F401
        from relay.operations.execution import calls  # noqa: F401
        from relay.operations.history import history  # noqa: F401

    listener = socket.socket(fileno=int(sys.argv[1]))
    request = Forker(listener, float(sys.argv[2]) * 60).serve()
    if request is not None:
        become(request)
        cli(prog_name="relay")


if __name__ == "__main__":
    main()
