"""`relay run` in a fork of the process that a server keeps for it (`run_forker/`).

Knows how a run is handed over, with streams and directory, and how this process goes along with it.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the stubs know its other half
import _socket
import os
import sys

from relay.quick.server import QuickSettings, as_json, installed_version, write

TYPE_CHECKING = False  # that of `typing` would be one more
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

RUN_SOCKET = "run.sock"
"""In the state directory: where a server takes `relay run` (`faces/cli/run/offer.py`)."""

FORK_SECONDS = 5.0
"""How long the offer to run it elsewhere may take; then it is run here."""


def run_forked(words: Sequence[str]) -> int | None:
    """The exit code of the run; None if it is to be run here."""
    if not _has_own_streams():
        return None
    connection = _forker(QuickSettings(os.environ).state_dir)
    if connection is None:
        return None
    try:
        _hand_over(connection, words)
        if _line(connection, b"") == b"ready\n":
            connection.settimeout(None)
            return _accompany(connection)
    except (OSError, ValueError):
        pass
    finally:
        connection.close()
    return None


def _has_own_streams() -> bool:
    """Whether each standard stream is open, and nobody has put another in its place."""
    try:
        return [one.fileno() for one in (sys.stdin, sys.stdout, sys.stderr)] == [0, 1, 2]
    except (AttributeError, OSError, ValueError):
        return False


def _forker(state_dir: str) -> _socket.socket | None:
    if not hasattr(os, "pidfd_open"):
        return None
    path = os.path.join(os.path.abspath(state_dir), RUN_SOCKET)
    try:
        if os.stat(path).st_uid != os.geteuid():  # it is sent all that our environment holds
            return None
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.settimeout(FORK_SECONDS)
        connection.connect(path)
    except OSError:
        return None
    return connection


def _hand_over(connection: _socket.socket, words: Sequence[str]) -> None:
    """Raises OSError."""
    request = {
        "words": words,
        "environment": dict(os.environ),
        "encodings": [[one.encoding, one.errors] for one in (sys.stdin, sys.stdout, sys.stderr)],
        "origin": origin(),
    }
    line = as_json(request).encode() + b"\n"
    directory = os.open(".", os.O_PATH)
    try:
        passed = b"".join(fd.to_bytes(4, sys.byteorder) for fd in (0, 1, 2, directory))
        rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, passed)
        sent = connection.sendmsg([line], [rights])
    finally:
        os.close(directory)
    while sent < len(line):
        sent += connection.send(line[sent:])


def origin() -> list[Any]:
    """Equal where the same code would run in the same way: relay, Python, and its variables."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    variables = {name: text for name, text in os.environ.items() if name.startswith("PYTHON")}
    coding = sys.getfilesystemencoding()
    return [installed_version(), package, sys.executable, coding, variables]


def _line(connection: _socket.socket, received: bytes) -> bytes:
    """Up to the end of a line at least. Raises OSError, ValueError at the end."""
    while b"\n" not in received:
        piece = connection.recv(4096)
        if not piece:
            raise ValueError("it ended")
        received += piece
    return received


class _Signals:
    """Those that would end this process go to the run; until it is there, they wait."""

    def __init__(self) -> None:
        self._run: int | None = None
        self._waiting: list[int] = []
        numbers = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGQUIT)
        self._before = {number: _signal.getsignal(number) for number in numbers}
        for number, before in self._before.items():
            # A run that is not forked obeys the first two even where the shell has them ignored.
            if before != _signal.SIG_IGN or number in (_signal.SIGINT, _signal.SIGTERM):
                _signal.signal(number, self._take)

    def _take(self, number: int, _: object) -> None:
        if self._run is None:
            self._waiting.append(number)
        else:
            os.kill(self._run, number)

    def pass_to(self, pid: int) -> None:
        """From here on to the run, with those that wait."""
        self._run = pid
        for number in self._waiting:
            os.kill(pid, number)

    def give_back(self) -> None:
        """There is no run: they are this process's own."""
        for number, before in self._before.items():
            _signal.signal(number, before)
        for number in self._waiting:
            os.kill(os.getpid(), number)


def _accompany(connection: _socket.socket) -> int | None:
    """Have it run, and end as the run does; None if there was none."""
    signals = _Signals()
    try:
        connection.send(b"\n")  # from here on the run is theirs, and nobody makes it twice
        said, _, rest = _line(connection, b"").partition(b"\n")
        if said == b"cold":
            signals.give_back()
            return None
        signals.pass_to(int(said.split()[1]))
        code = int(_line(connection, rest).split()[1])
    except (OSError, ValueError, IndexError):
        return write("relay: the process that had the run has gone\n", err=True, code=1)
    if code < 0:  # a signal ended it
        if -code != _signal.SIGKILL:
            _signal.signal(-code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code
