"""Forker: who asks for runs, and the fork that each of them is.

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
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from relay.process.inheritance import Changeable, inheritance_of
from relay.quick.run import origin
from relay.run_forker.next_run import NextRun, run_when_asked
from relay.run_forker.run_request import RunRequest, RunSurroundings

Task: TypeAlias = Callable[[], object]
"""What a fork is to do. It ends the process."""

ASKING_SECONDS = 1.0
"""How long a line of a client may take, which does nothing else meanwhile."""

PAUSE_SECONDS = 0.1
"""After a client that could not be accepted: the next try would fail as well."""

PARTING_SECONDS = 0.5
"""How long the one that was begun for nobody may take to end its debuggee; its guardian does it else."""

BAD_OPTIONS = 2
"""The exit code of a run whose words are wrong. Nothing is begun after it, or after one that was killed."""

LONGEST_LINE = 8 * 1024 * 1024
DESCRIPTORS = 4


@dataclass
class _Run:
    """One that is under way."""

    client: socket.socket
    surroundings: RunSurroundings
    directory: int


@dataclass
class Forker:
    """Who asks, the runs that are under way, and the one that is begun for whoever asks next."""

    listener: socket.socket
    idle_seconds: float
    _events: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    _runs: dict[int, _Run] = field(default_factory=dict)
    """By pid."""
    _next: NextRun | None = None
    _is_wanted: bool = True

    def serve(self) -> Task | None:
        """Until nobody needs it: None. In a fork it returns at once, with what the fork is to do."""
        self._events.register(self.listener, selectors.EVENT_READ, self._accepted)
        self._events.register(0, selectors.EVENT_READ, self._left)
        used = time.monotonic()
        while self._runs or self._is_wanted:
            left = None if self._runs else used + self.idle_seconds - time.monotonic()
            if left is not None and left <= 0:
                break
            for key, _ in self._events.select(left):
                task: Task | None = key.data()
                if task is not None:
                    return task
            if self._runs:
                used = time.monotonic()
        self._end_next()
        return None

    def _left(self) -> None:
        """The server has gone; runs that are under way need it no more than others do."""
        self._is_wanted = False
        self._events.unregister(0)
        self._events.unregister(self.listener)

    def _accepted(self) -> Task | None:
        try:
            client, _ = self.listener.accept()
        except OSError:  # no more descriptors: it waits, and is asked for again
            time.sleep(PAUSE_SECONDS)
            return None
        request = _fitting(client)
        if request is None:
            _refuse(client)
            return None
        pid = self._handed_over(request)
        if pid is None:
            try:
                pid = self._fork()
            except OSError:  # no more processes
                request.close()
                _refuse(client)
                return None
        if pid == 0:
            client.close()
            return lambda: _carry_out(request)
        *streams, directory = request.descriptors
        for fd in streams:
            os.close(fd)
        _say(client, f"go {pid}")
        self._runs[pid] = _Run(client, request.surroundings, directory)
        self._events.register(client, selectors.EVENT_READ, lambda: self._hung_up(pid))
        return None

    def _hung_up(self, pid: int) -> None:
        """What the run has started ends with it: its guardian sees to that."""
        run = self._runs.get(pid)
        if run is None:  # both came at once, and the pid may be another's by now
            return
        self._events.unregister(run.client)
        os.kill(pid, signal.SIGKILL)

    def _over(self, pid: int, ended: int) -> Task | None:
        self._events.unregister(ended)
        os.close(ended)
        _, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if self._next is not None and self._next.pid == pid:
            self._next.close()
            self._next = None
        run = self._runs.pop(pid, None)
        if run is None:
            return None
        if run.client in self._events.get_map():
            self._events.unregister(run.client)
        _say(run.client, f"exit {code}")
        run.client.close()
        try:
            return None if code < 0 or code == BAD_OPTIONS else self._begin_next(run)
        finally:
            os.close(run.directory)

    # The next run -------------------------------------------------------------------------

    def _begin_next(self, last: _Run) -> Task | None:
        """Have one wait that is asked from the same place as the last."""
        if not self._is_wanted or (
            self._next is not None and self._next.surroundings == last.surroundings
        ):
            return None
        self._discard_next()
        with contextlib.suppress(OSError), contextlib.ExitStack() as failed:
            near, far = map(failed.enter_context, socket.socketpair())
            pid = self._fork()
            failed.pop_all()
            if pid == 0:
                near.close()
                os.fchdir(last.directory)
                return lambda: sys.exit(run_when_asked(far, last.surroundings))
            far.close()
            self._next = NextRun(pid, near, last.surroundings)
        return None  # and if there is none, it is forked when it is asked for

    def _handed_over(self, request: RunRequest) -> int | None:
        """The pid of the one that waited for this, which has it now; None if there is none."""
        waiting, self._next = self._next, None
        if waiting is None:
            return None
        with contextlib.closing(waiting):
            if waiting.surroundings != request.surroundings:
                return None
            if waiting.takes(request):
                return waiting.pid
        os.kill(waiting.pid, signal.SIGKILL)  # it has not been waited for, so the pid is its own
        return None

    def _discard_next(self) -> None:
        if self._next is not None:
            self._next.close()
            self._next = None

    def _end_next(self) -> None:
        """It ends its debuggee first."""
        if self._next is None:
            return
        pid = self._next.pid
        self._discard_next()
        deadline = time.monotonic() + PARTING_SECONDS
        while os.waitpid(pid, os.WNOHANG) == (0, 0) and time.monotonic() < deadline:
            time.sleep(PARTING_SECONDS / 100)

    # Forks --------------------------------------------------------------------------------

    def _fork(self) -> int:
        """The pid of a fork whose end `_over` learns of; 0 in the fork. Raises OSError: there is none."""
        pid, ended = _fork()
        if pid == 0:
            self._let_go()
        else:
            self._events.register(ended, selectors.EVENT_READ, lambda: self._over(pid, ended))
        return pid

    def _let_go(self) -> None:
        """In a fork: nothing here is its own."""
        self.listener.close()
        self._discard_next()
        for run in self._runs.values():
            run.client.close()
            os.close(run.directory)
        for key in list(self._events.get_map().values()):
            if isinstance(key.fileobj, int) and key.fileobj != 0:
                os.close(key.fileobj)
        self._events.close()


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
                request = _request(asked, Changeable.of(pid), descriptors)
                client.sendall(b"ready\n")
                if client.recv(1) == b"\n":  # else it has it run elsewhere by now
                    return request
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        pass  # it has gone, or is no client of ours
    for fd in descriptors:
        os.close(fd)
    return None


def _request(asked: dict[str, Any], changeable: Changeable, descriptors: list[int]) -> RunRequest:
    """Raises OSError, KeyError, TypeError."""
    directory = os.fstat(descriptors[-1])
    surroundings = RunSurroundings(
        dict(asked["environment"]), changeable, (directory.st_dev, directory.st_ino)
    )
    return RunRequest(list(asked["words"]), asked["encodings"], descriptors, surroundings)


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


def _carry_out(request: RunRequest) -> None:
    """In a fork: the command, as its shell would have started it."""
    from relay.command_line import cli

    request.become()
    cli(prog_name="relay")
