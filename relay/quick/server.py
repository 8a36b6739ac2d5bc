"""A server on this machine: where it listens, and one request to it.

Knows where the settings and the last start say that one is, HTTP as far as one request needs it, and
JSON. Refuses to know what is asked.
"""

from __future__ import annotations

# The halves in C of `socket` and `json`, which would take longer than everything else here.
import _socket
import os
import sys
from _json import encode_basestring_ascii, make_scanner

TYPE_CHECKING = False  # that of `typing` would be one more
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, TextIO

PATH = "/shell"
"""Where a server takes commands."""

DEFAULT_STATE_DIR = "~/.opencode-debugger"

NOTE, LOCK, LOG = "background.json", "background.lock", "background.log"
"""In the state directory, of a server in the background (`faces/common/background.py`)."""

NO_RELAY = 3
"""Exit code: none answers, or not as one would."""

_LOOPBACK = {"127.0.0.1", "localhost", "[::1]"}


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


class QuickSettings:
    """Where a server is looked for: environment, config.json, and what the last start noted.

    The same as `relay.config` and `faces.common.background` say, for what can be read here.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        upper = ((name.upper(), value) for name, value in environment.items())
        self._given = {name: value for name, value in upper if name.startswith("RELAY_")}
        state_dir = os.path.expanduser(self._given.get("RELAY_STATE_DIR", DEFAULT_STATE_DIR))
        # Of a user without a home nothing is known; where we are, a folder called `~` says nothing.
        self._state_dir = os.devnull if state_dir.startswith("~") else state_dir
        self._file = self._read("config.json")

    def servers(self) -> Iterator[str]:
        """URLs of servers that may be meant, the likeliest first."""
        if self._given.get("RELAY_URL"):
            yield self._given["RELAY_URL"]
            return
        noted = self.noted()
        if noted is not None:
            yield noted[1]
        socket = self._value("uds")
        if socket:
            yield f"unix:{os.path.abspath(os.path.expanduser(socket))}"
        else:
            host, port = self._value("host") or "127.0.0.1", self._value("port") or "5679"
            yield f"http://{host}:{port}"

    def noted(self) -> tuple[int, str] | None:
        """Process id and URL of the server that a command has started in the background."""
        note = self._read(NOTE)
        pid, url = note.get("pid"), note.get("url")
        if isinstance(pid, int) and isinstance(url, str) and 0 < pid < 2**31:
            return pid, url
        return None

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
                found = parsed(file.read().decode())
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


def connected(url: str) -> _socket.socket | None:
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


class BrokenOff(Exception):
    """The request was sent, and no whole answer came."""


def exchange(
    connection: _socket.socket, token: str | None, body: bytes
) -> Iterator[tuple[int, bytes]]:
    """Status and content of the answer; of one in several lines, one by one as they come.

    Raises BrokenOff.
    """
    head = [f"POST {PATH} HTTP/1.1", "Host: localhost", "Connection: close"]
    head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    head += [] if token is None else [f"Authorization: Bearer {token}"]
    request = "\r\n".join([*head, "", ""]).encode("utf-8", "replace") + body
    try:
        while request:
            request = request[connection.send(request) :]
        yield from _received(connection)
    except OSError as error:
        raise BrokenOff(error.strerror or str(error)) from None
    finally:
        connection.close()


def _received(connection: _socket.socket) -> Iterator[tuple[int, bytes]]:
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    head, _, content = received.partition(b"\r\n\r\n")
    status, *fields = head.split(b"\r\n")
    named = {name.lower(): value.strip() for name, _, value in (f.partition(b":") for f in fields)}
    try:
        number, length = int(status.split()[1]), int(named.get(b"content-length", -1))
    except (IndexError, ValueError):
        raise BrokenOff("what answers there is no relay") from None
    if length >= 0:
        while len(content) < length:
            content += _more(connection)
        yield number, content
        return
    if named.get(b"transfer-encoding") != b"chunked":
        raise BrokenOff("what answers there is no relay")
    for line in _lines(connection, content):
        yield number, line


def _lines(connection: _socket.socket, received: bytes) -> Iterator[bytes]:
    """The lines of a content in chunks."""
    line = b""
    while True:
        while b"\r\n" not in received:
            received += _more(connection)
        size, _, received = received.partition(b"\r\n")
        try:
            length = int(size, 16)
        except ValueError:
            raise BrokenOff("what answers there is no relay") from None
        while len(received) < length + 2:
            received += _more(connection)
        line += received[:length]
        received = received[length + 2 :]
        if length == 0:
            break
        *whole, line = line.split(b"\n")
        yield from whole
    if line:
        yield line


def _more(connection: _socket.socket) -> bytes:
    piece = connection.recv(65536)
    if not piece:
        raise BrokenOff("the connection was closed")
    return piece


# Printing --------------------------------------------------------------------------------


class Unwritable(Exception):
    """What is to be printed cannot be: the disk is full, say."""


def write(text: str, *, err: bool = False, code: int = 0) -> int:
    """Print; returns the exit code. A stream that cannot say a character says `?`."""
    stream: TextIO | None = sys.stderr if err else sys.stdout
    if stream is None:  # the shell has closed it
        return code
    try:
        stream.write(text.encode(stream.encoding, "replace").decode(stream.encoding))
        stream.flush()
    except BrokenPipeError:
        # Whoever read our output has had enough; nothing is left to be flushed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except OSError as error:
        raise Unwritable(error.strerror or str(error)) from None
    return code


# JSON ------------------------------------------------------------------------------------


def as_json(value: object) -> str:
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if isinstance(value, dict):
        items = (f"{as_json(name)}:{as_json(item)}" for name, item in value.items())
        return "{" + ",".join(items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(as_json, value)) + "]"
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


def parsed(text: str) -> Any:
    """The value that JSON stands for. Raises ValueError."""
    try:
        return _scan(text.strip(), 0)[0]
    except StopIteration:
        raise ValueError("no JSON") from None
