"""The `relay` command without its imports: session commands as one request, help from a file.

An agent waits for each command in a shell, and all but a few milliseconds of one are imports.
So a session command is sent as it is to the server, which carries it out (`faces/cli/sessions/served.py`)
and answers with what is to be printed. Whatever this module is not sure of it leaves to the whole
command: other commands, other servers, no server. Nothing has been done then.

So is `relay run`, where a server runs on this machine.

Imports what an interpreter has loaded anyway, and three modules in C.
"""

from __future__ import annotations

# The halves in C of `socket` and `json`, which would take longer than everything else here.
import _signal  # type: ignore[import-not-found]  # the stubs know its other half
import _socket
import os
import sys
from _json import encode_basestring_ascii, make_scanner

TYPE_CHECKING = False  # that of `typing` would be one more
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

SERVED = frozenset(
    {
        *("attach", "break", "continue", "end", "eval", "hang", "input", "locals", "output"),
        *("pause", "restart", "sessions", "stack", "start", "step", "trace", "until", "watch"),
        *("where", "why"),
    }
)
"""Commands that a server carries out."""

PATH = "/shell"
"""Where a server takes them."""

RUN_SOCKET = "run.sock"
"""In the state directory: where a server takes `relay run` (`faces/cli/run/offer.py`)."""

FORK_SECONDS = 5.0
"""How long the offer to run it elsewhere may take; then it is run here."""

PASSED_ON = frozenset(
    {"COLORTERM", "CONDA_PREFIX", "HOME", "NO_COLOR", "FORCE_COLOR", "PATH", "TERM", "VIRTUAL_ENV"}
)
"""Variables of the shell that a command may look at, besides RELAY_* and those it names."""

HELP_WIDTH = 80
"""Columns that the files of help were written for; click makes no line longer."""

_NO_RELAY = 3
DEFAULT_STATE_DIR = "~/.opencode-debugger"
_LOOPBACK = {"127.0.0.1", "localhost", "[::1]"}


def answer(words: Sequence[str]) -> int | None:
    """Carry the command out and return its exit code; None if this is not the way to."""
    if not words or os.environ.get("_RELAY_COMPLETE"):
        return None
    if words == ["--version"]:
        return _version()
    if words[-1] in ("-h", "--help"):
        return _help(words[:-1])
    if len(words) == 2 and words[0] == "completion" and words[1].isalpha():
        return _file(f"completion.{words[1]}")
    if words[0] == "run":
        carry_out = _run_forked
    elif words[0] in SERVED and not any(word in ("-h", "--help", "--url") for word in words):
        carry_out = _ask
    else:
        return None
    try:
        return carry_out(words)
    except KeyboardInterrupt:
        _write("Aborted!\n", err=True)
        return 1


def installed_version() -> str | None:
    """The version of this installation, by the name of its metadata; None if that is not found."""
    for directory in sys.path:
        try:
            names = os.listdir(directory or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith("debug_relay-") and name.endswith(".dist-info"):
                return name[len("debug_relay-") : -len(".dist-info")]
    return None


def _version() -> int | None:
    version = installed_version()
    return None if version is None else _write(f"relay {version}\n")


def _help(words: Sequence[str]) -> int | None:
    if len(words) > 1 or _columns() < HELP_WIDTH:
        return None
    return _file(f"{'-'.join(['relay', *words])}.txt")


def _file(name: str) -> int | None:
    """Print a file of help."""
    directory = os.path.join(os.path.dirname(__file__), "help")
    try:
        with open(os.path.join(directory, name), "rb") as file:
            return _write(file.read().decode())
    except (OSError, ValueError):  # no such command
        return None


def _columns() -> int:
    """As click counts them; 0 where it would have to be asked."""
    given = os.environ.get("COLUMNS", "")
    if given:
        return int(given) if given.isdecimal() else 0
    return _terminal_width() or HELP_WIDTH


def _terminal_width() -> int | None:
    """Columns of the terminal that standard output is; None if it is none."""
    try:
        return os.get_terminal_size(1).columns if os.isatty(1) else None
    except OSError:
        return None


# Asking ----------------------------------------------------------------------------------


def _ask(words: Sequence[str]) -> int | None:
    version = installed_version()
    settings = _Settings(os.environ)
    body = _json(
        {
            "version": version or "",
            "words": words,
            "directory": os.getcwd(),
            "environment": _environment(words),
            "terminal_width": _terminal_width(),
        }
    ).encode()
    for url in settings.servers():
        connection = None if settings.guesses and is_strangers(url) else _connected(url)
        if connection is None:
            continue
        try:
            status, content = _exchange(connection, settings.token(), body)
        except _BrokenOff as error:
            return _write(
                f"relay: the relay at {url} did not answer: {error}\n"
                "  See where it stands: relay where; the command may have been carried out\n",
                err=True,
                code=_NO_RELAY,
            )
        if status == 500:
            return _write(f"relay: the relay at {url} failed; its log says why\n", err=True, code=1)
        if status != 200:
            return None
        try:
            return _shown(content)
        except (KeyError, TypeError, ValueError):
            return _write(
                f"relay: what answers at {url} is no relay; choose another port: RELAY_PORT\n",
                err=True,
                code=_NO_RELAY,
            )
    return None


def _environment(words: Sequence[str]) -> dict[str, str]:
    """What the command may look at. `-e NAME` passes a variable on: it ends in its name."""
    named = tuple(words)
    return {
        name: value
        for name, value in os.environ.items()
        if name in PASSED_ON
        or (name.startswith("RELAY_") and name not in ("RELAY_URL", "RELAY_TOKEN"))
        or any(word.endswith(name) for word in named)
    }


class _Settings:
    """Where a server is looked for: environment, config.json, and what the last start noted.

    The same as `relay.config` and `faces.common.background` say, for what can be read here.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        upper = ((name.upper(), value) for name, value in environment.items())
        self._given = {name: value for name, value in upper if name.startswith("RELAY_")}
        self._state_dir = os.path.expanduser(self._given.get("RELAY_STATE_DIR", DEFAULT_STATE_DIR))
        self._file = self._read("config.json")

    def servers(self) -> Iterator[str]:
        """URLs of servers that may be meant, the likeliest first."""
        if self._given.get("RELAY_URL"):
            yield self._given["RELAY_URL"]
            return
        noted = self._read("background.json").get("url")
        if isinstance(noted, str):
            yield noted
        socket = self._value("uds")
        if socket:
            yield f"unix:{os.path.abspath(os.path.expanduser(socket))}"
        else:
            host, port = self._value("host") or "127.0.0.1", self._value("port") or "5679"
            yield f"http://{host}:{port}"

    @property
    def guesses(self) -> bool:
        """Whether nobody has named the server: what listens there may be anything."""
        return not self._given.get("RELAY_URL")

    @property
    def state_dir(self) -> str:
        """Where a server keeps its files."""
        return self._state_dir

    def token(self) -> str | None:
        """The token that requests carry."""
        return self._value("token")

    def _value(self, name: str) -> str | None:
        found = self._given.get(f"RELAY_{name.upper()}", self._file.get(name))
        return str(found) if isinstance(found, str | int) else None

    def _read(self, name: str) -> Mapping[str, object]:
        try:
            with open(os.path.join(self._state_dir, name), "rb") as file:
                found = _parsed(file.read().decode())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def is_strangers(url: str) -> bool:
    """Whether another user than this one and root listens at the URL's port, as far as Linux says it."""
    port = url.rstrip("/").rpartition(":")[2]
    if not port.isdecimal():
        return False
    users: set[int] = set()
    for table in ("tcp", "tcp6"):
        try:
            with open(f"/proc/net/{table}", "rb") as file:
                rows = [line.split() for line in file.read().splitlines()[1:]]
        except OSError:
            continue
        ending = b":%04X" % int(port)
        users.update(int(row[7]) for row in rows if row[3] == b"0A" and row[1].endswith(ending))
    return bool(users) and not users & {os.geteuid(), 0}


def _connected(url: str) -> _socket.socket | None:
    """A connection to a server on this machine; None if none listens, or it is elsewhere."""
    try:
        family, address = _address(url)
        connection = _socket.socket(family, _socket.SOCK_STREAM)
    except (OSError, ValueError):
        return None
    try:
        connection.connect(address)
    except OSError:
        connection.close()
        return None
    return connection


def _address(url: str) -> tuple[int, Any]:
    """Family and address of a socket. Raises ValueError for one that is not on this machine."""
    if url.startswith("unix:"):
        return _socket.AF_UNIX, os.path.expanduser(url[len("unix:") :])
    scheme, _, place = url.partition("://")
    host, _, port = place.rstrip("/").rpartition(":")
    if scheme != "http" or host not in _LOOPBACK:
        raise ValueError(url)
    # As bytes: a text would have a codec imported, and a dozen modules with it.
    found = _socket.getaddrinfo(host.strip("[]").encode(), int(port), 0, _socket.SOCK_STREAM)
    return found[0][0], found[0][4]


class _BrokenOff(Exception):
    """The request was sent, and no whole answer came."""


def _exchange(connection: _socket.socket, token: str | None, body: bytes) -> tuple[int, bytes]:
    """Status and content of the answer. Raises _BrokenOff."""
    head = [f"POST {PATH} HTTP/1.1", "Host: localhost", "Connection: close"]
    head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    head += [] if token is None else [f"Authorization: Bearer {token}"]
    request = "\r\n".join([*head, "", ""]).encode("utf-8", "replace") + body
    try:
        while request:
            request = request[connection.send(request) :]
        return _received(connection)
    except OSError as error:
        raise _BrokenOff(error.strerror or str(error)) from None
    finally:
        connection.close()


def _received(connection: _socket.socket) -> tuple[int, bytes]:
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    head, _, content = received.partition(b"\r\n\r\n")
    status, _, fields = head.partition(b"\r\n")
    lengths = [
        line.partition(b":")[2]
        for line in fields.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    ]
    try:
        length, number = int(lengths[0]), int(status.split()[1])
    except (IndexError, ValueError):
        raise _BrokenOff("what answers there is no relay") from None
    while len(content) < length:
        content += _more(connection)
    return number, content


def _more(connection: _socket.socket) -> bytes:
    piece = connection.recv(65536)
    if not piece:
        raise _BrokenOff("the connection was closed")
    return piece


# Running ---------------------------------------------------------------------------------


def _run_forked(words: Sequence[str]) -> int | None:
    """`relay run` in a fork of the process that a server keeps for it (`run_forker/`)."""
    if not _has_own_streams():
        return None
    connection = _forker(_Settings(os.environ).state_dir)
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
    line = _json(request).encode() + b"\n"
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
    package = os.path.dirname(os.path.abspath(__file__))
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
        return _write("relay: the process that had the run has gone\n", err=True, code=1)
    if code < 0:  # a signal ended it
        if -code != _signal.SIGKILL:
            _signal.signal(-code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


# Showing ---------------------------------------------------------------------------------


def _shown(content: bytes) -> int:
    data = _parsed(content.decode())["data"]
    for piece in data["written"]:
        _write(piece["text"], err=piece["to_stderr"])
    return int(data["exit_code"])


def _write(text: str, *, err: bool = False, code: int = 0) -> int:
    """Print; returns the exit code. A stream that cannot say a character says `?`."""
    stream = sys.stderr if err else sys.stdout
    try:
        stream.write(text.encode(stream.encoding, "replace").decode(stream.encoding))
        stream.flush()
    except BrokenPipeError:
        # Whoever read our output has had enough; nothing is left to be flushed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code


# JSON ------------------------------------------------------------------------------------


def _json(value: object) -> str:
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, dict):
        items = (f"{_json(name)}:{_json(item)}" for name, item in value.items())
        return "{" + ",".join(items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_json, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)


class _Scanning:
    """What the scanner is to make of JSON: what `json.loads` does."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: Mapping[str, str] = {}


_scan = make_scanner(_Scanning())  # type: ignore[arg-type]  # its stub means another scanner


def _parsed(text: str) -> Any:
    """The value that JSON stands for. Raises ValueError."""
    try:
        return _scan(text.strip(), 0)[0]
    except StopIteration:
        raise ValueError("no JSON") from None
