"""The relay's side of the probe: expressions that call it, and its answers as dictionaries.

Knows how a call is spelled inside a DAP `evaluate`. Refuses to know what each call takes, and how
it is sent; does nothing but text (`injection` reads the probe's own source, and compiles it, once).

Send every expression with the context `CONTEXT`. With a `frameId` the call runs on the
suspended thread, as the program's own code would; without, on pydevd's thread, also while the
program runs. Where a frame shadows `__import__` or has no builtins, the answer is not JSON:
`decode` raises ValueError, and the same expression without `frameId` works.
"""

from __future__ import annotations

import binascii
import functools
import importlib.util
import json
import marshal
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from relay.debuggers.debugpy.debuggee.probe import PARTS

REQUEST = "relayProbe"
"""The request that takes a question as it is, where the relay has started the debuggee. On the
thread of a frame only."""

CONTEXT = "clipboard"
"""The one `evaluate` context in which pydevd hands over a result whole."""

_PROBE = "__import__('sys').modules['pydevd']._debug_relay_probe"

# pydevd sends head and body of a message apart: the body waits 40 ms for the other side to
# acknowledge the head, unless the socket is told not to wait (TCP_NODELAY).
_LOOK = """\
(lambda sys, json, machinery, net: (lambda host: (
  (lambda sock: getattr(sock, 'family', None) in (net.AF_INET, net.AF_INET6)
    and sock.setsockopt(net.IPPROTO_TCP, net.TCP_NODELAY, 1)
  )(getattr(getattr(host.get_global_debugger(), 'writer', None), 'sock', None)),
  json.dumps({'ok': True,
   'present': getattr(getattr(host, '_debug_relay_probe', None), 'FINGERPRINT', None),
   'bytecode': [sys.implementation.cache_tag, machinery.MAGIC_NUMBER.hex(), sys.flags.optimize]})
  )[-1])(sys.modules['pydevd'])
)(__import__('sys'), __import__('json'), __import__('_frozen_importlib_external'),
 __import__('socket'))"""

# The next question comes while this one is still being tidied up.
_PUT = """\
(lambda host, probe, codes: (
  [exec(code, probe.__dict__) for code in codes],
  setattr(probe, 'FINGERPRINT', %MARK%),
  setattr(host, '_debug_relay_probe', probe),
  probe.attempt(probe.answer_commands_promptly),
  '{"ok": true}')[-1])(sys.modules['pydevd'], type(sys)('_debug_relay_probe'), %CODES%)"""

_INJECTION = f"""\
(lambda sys, zlib, binascii, json, marshal: (lambda parts: {_PUT})(
  zlib.decompress(binascii.a2b_base64(%PARTS%)))
)(__import__('sys'), __import__('zlib'), __import__('binascii'), __import__('json'),
 __import__('marshal'))"""

# Nothing else is opened, which may be a pipe: where the debuggee has other processes, the path may lead
# to anything.
_FETCH = f"""\
(lambda sys, posix, stat, zlib, marshal: {_PUT} if (
  posix.access(%PATH%, posix.R_OK)
  and stat.S_ISREG((found := posix.stat(%PATH%)).st_mode) and found.st_size == %SIZE%
  and zlib.crc32((parts := (fd := posix.open(%PATH%, posix.O_RDONLY | posix.O_CLOEXEC),
    posix.read(fd, %SIZE%), posix.close(fd))[1])) == %SUM%) else '{{"ok": false}}'
)(__import__('sys'), __import__('posix'), __import__('stat'), __import__('zlib'),
 __import__('marshal'))"""

_OF_TEXTS = "(compile(text, name, 'exec', 0, True) for name, text in json.loads(parts.decode()))"
_OF_BYTECODE = "marshal.loads(parts)"

OWN_BYTECODE = (sys.implementation.cache_tag, importlib.util.MAGIC_NUMBER.hex())
"""What Pythons say of themselves that run what this one compiles."""


class Look(NamedTuple):
    """What a debuggee says to whoever would put the probe into it."""

    is_present: bool
    """Whether this very probe is there already."""
    bytecode: tuple[str, str]
    """As OWN_BYTECODE."""
    optimize: int
    """The debuggee's -O: 0, 1 or 2."""


def look() -> str:
    """An expression that asks a debuggee what `seen` makes a Look of; without `frameId`.

    From then on its debugger sends each message at once.
    """
    return _LOOK.replace("\n", "")


def seen(result: str) -> Look:
    """Raises ValueError for an answer that no Python gives."""
    try:
        answer = decode(result)
        tag, magic, optimize = answer["bytecode"]
        return Look(answer["present"] == _mark(), (str(tag), str(magic)), int(optimize))
    except (KeyError, TypeError) as fault:
        raise ValueError(f"not an answer of a debuggee: {result[:200]}") from fault


@functools.cache
def injection(optimize: int | None = None) -> str:
    """An expression that puts the probe into a debuggee; to be sent without `frameId`.

    optimize: that of a debuggee which runs what this Python compiles, with the same -O. It takes a
    third of the time then; None sends the source, for any Python.

    Leaves no name behind. Its result is JSON for `decode`: {"ok": true}.
    """
    if optimize is None:
        codes, data = _OF_TEXTS, json.dumps(_texts()).encode()
    else:
        codes, data = _OF_BYTECODE, bytecode(optimize)
    # Level 1: the next one takes as long as it saves.
    parts = binascii.b2a_base64(zlib.compress(data, 1), newline=False).decode("ascii")
    return _written(_INJECTION, CODES=codes, PARTS=repr(parts))


@contextmanager
def fetching(optimize: int) -> Iterator[str]:
    """An expression like `injection(optimize)` for a debuggee that can read this process's files.

    Meanwhile the code lies in the memory of this process, and need not go through the debugger. Its result is {"ok": false} where the debuggee cannot read it: on another machine, in
    a container, of another user.
    """
    data = bytecode(optimize)
    fd = os.memfd_create("debug-relay-probe")
    try:
        with open(fd, "wb", buffering=0, closefd=False) as file:
            file.write(data)
        path, size = f"/proc/{os.getpid()}/fd/{fd}", len(data)
        values = {"PATH": repr(path), "SIZE": size, "SUM": zlib.crc32(data)}
        yield _written(_FETCH, CODES=_OF_BYTECODE, **values)
    finally:
        os.close(fd)


def _written(expression: str, **values: Any) -> str:
    text = expression.replace("\n", "").replace("%MARK%", str(_mark()))
    for name, value in values.items():
        text = text.replace(f"%{name}%", str(value))
    return text


@functools.cache
def _mark() -> int:
    """Another one for each edition of the probe."""
    return zlib.crc32(json.dumps(_texts()).encode())


def _files() -> list[tuple[str, Path]]:
    """The files of the probe in their order, after the names that tracebacks show."""
    here = Path(__file__).parent / "debuggee"
    names = [f"probe/{name}.py" for name in (*PARTS, "entry")]
    return [(f"<debug relay>/{name}", here / name) for name in names]


def _texts() -> list[tuple[str, str]]:
    return [(name, path.read_text("utf-8")) for name, path in _files()]


@functools.cache
def bytecode(optimize: int) -> bytes:
    """The probe as compiled by this Python with that -O. The first time takes 0.2 s."""
    return marshal.dumps(_compiled(optimize))


def _compiled(optimize: int) -> list[CodeType]:
    if optimize != sys.flags.optimize:
        return [compile(text, name, "exec", 0, True, optimize) for name, text in _texts()]
    codes = []
    for name, path in _files():  # where Python has a .pyc of each
        code = SourceFileLoader(path.stem, str(path)).get_code(path.stem)
        assert code is not None
        codes.append(_renamed(code, name))
    return codes


def _renamed(code: CodeType, name: str) -> CodeType:
    consts = (_renamed(one, name) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_filename=name, co_consts=tuple(consts))


def question(
    do: str, *, call: int | str | None = None, stop: int | None = None, **arguments: Any
) -> str:
    """The text that the probe takes for any call; the same arguments as those of `expression`."""
    request = {"do": do, "call": call, "stop": stop, **arguments}
    return json.dumps({key: value for key, value in request.items() if value is not None})


def expression(
    do: str, *, call: int | str | None = None, stop: int | None = None, **arguments: Any
) -> str:
    """The expression for any call.

    call: an id by which `interrupt` can find the call while it runs.
    stop: the number of the present stop; references of lower stops die.
    """
    text = question(do, call=call, stop=stop, **arguments)
    # pydevd replaces "@LINE@" in expressions, and treats ".__" specially when one fails.
    text = text.replace("@", "\\u0040").replace(".__", ".\\u005f_")
    return f"{_PROBE}.call({text!r})"


def decode(result: str) -> dict[str, Any]:
    """The answer in the `result` of an evaluate response, ready to be sent as UTF-8.

    It is {"ok": true, …} or {"error": {"kind", "message", …}}. Kinds: "stale_reference",
    "stale_frame", "not_found", "syntax" (with line, offset, text), "interrupted", "request" (asked
    wrongly), "internal".

    Raises ValueError if it is no answer of the probe: the probe is not there, or the frame hides
    the builtins.
    """
    try:
        found = json.loads(result)
    except ValueError:
        raise ValueError(f"not an answer of the probe: {result[:200]}") from None
    if not isinstance(found, dict) or not ("ok" in found or "error" in found):
        raise ValueError(f"not an answer of the probe: {result[:200]}")
    # Only an escape can stand for half a surrogate pair, which UTF-8 cannot carry.
    return _whole(found) if "\\ud" in result else found


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value
