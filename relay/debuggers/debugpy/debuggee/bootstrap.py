"""Starts a program under pydevd inside the debuggee, over one inherited socket.

Run as `python [options] bootstrap.py '<json>'`. The JSON names the descriptor of a connected
stream socket, the probe, and where a debugpy lies in case the interpreter has none. What to run is
read from the socket, as JSON behind its length, once the debugger is loaded: so a process can be
started before its program is known, and all go the same way. From then on pydevd speaks DAP on
that socket: no port, no listener, no adapter process.

Knows the order of things. How pydevd is found and tamed is the business of `pydevd/load.py`,
`pydevd/link.py` and `pydevd/hooks.py`, how plain Python runs a program that of `plain_program.py`;
they are loaded beside sys.modules, so that the program finds nothing of them. Knows nothing of the
relay beyond the socket.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import importlib.machinery
import json
import os
import socket
import sys
import types
from typing import Any

UNFIT_EXIT = 97
STALE_EXIT = 98
READY = b"!"
"""Said to a relay that asks for an answer: this process still is as one that starts now."""

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name: str, path: str) -> Any:
    """The module in `path`, from its .pyc file if there is one, and not in sys.modules."""
    code = importlib.machinery.SourceFileLoader(name, path).get_code(name)
    if code is None:
        raise ImportError(f"no code in {path}")
    module = types.ModuleType(name)
    module.__file__ = path
    exec(code, module.__dict__)
    return module


def load_debugger(setup: dict[str, Any], sock: socket.socket) -> tuple[Any, Any]:
    """pydevd with the probe in it, and a PyDB. Leaves the process if pydevd is unfit."""
    loading = load("_debug_relay_pydevd_load", os.path.join(HERE, "pydevd", "load.py"))
    try:
        pydevd, py_db = loading.load_pydevd(setup["debugpy"])
        probe = pydevd._debug_relay_probe = load("_debug_relay_probe", setup["probe"])
        reason = probe.unfit()
        if reason is not None:
            raise loading.UnfitError(reason)
    except (loading.UnfitError, ImportError, OSError, SyntaxError) as error:
        reason = f"{type(error).__name__}: {error}"
        event = {"seq": 1, "type": "event", "event": "relayUnfit", "body": {"reason": reason}}
        text = json.dumps(event).encode()
        sock.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        sys.exit(UNFIT_EXIT)
    return pydevd, py_db


def receive_program(sock: socket.socket) -> dict[str, Any]:
    """What to run, as the relay says it, now or in a while. Leaves the process if it never does."""
    if not is_there(sock):
        seen = load("_debug_relay_start_witness", os.path.join(HERE, "start_witness.py"))
        before = seen.look()
        sock.recv(1, socket.MSG_PEEK)
        if seen.look() != before:
            os._exit(STALE_EXIT)
        seen.forget_caches()
    program: dict[str, Any] = json.loads(receive(sock, int.from_bytes(receive(sock, 4), "big")))
    if program["answer"]:
        sock.sendall(READY)
    return program


def is_there(sock: socket.socket) -> bool:
    """Whether something, or the end, can be read from the socket without waiting."""
    try:
        sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    return True


def receive(sock: socket.socket, count: int) -> bytes:
    """So many bytes, and not one more: what follows is DAP. Leaves the process at their end."""
    data = b""
    while len(data) < count:
        piece = sock.recv(count - len(data))
        if not piece:
            os._exit(0)  # nobody wants this process any more, and nothing of a program has run
        data += piece
    return data


def hide_hash_seed(given: Any) -> None:
    """Give the program the variable as it would be without us; its value has been used."""
    if given is None:
        return
    if given[0] is None:
        os.environ.pop("PYTHONHASHSEED", None)
    else:
        os.environ["PYTHONHASHSEED"] = given[0]


def main() -> None:
    setup = json.loads(sys.argv[1])
    plain = load("_debug_relay_plain_program", os.path.join(HERE, "plain_program.py"))
    if not plain.is_safe_path():
        del sys.path[0]  # this file's directory: the program has nothing to find there
    os.set_inheritable(setup["fd"], False)
    sock = socket.socket(fileno=setup["fd"])
    pydevd, py_db = load_debugger(setup, sock)
    linking = load("_debug_relay_pydevd_link", os.path.join(HERE, "pydevd", "link.py"))
    hooks = load("_debug_relay_pydevd_hooks", os.path.join(HERE, "pydevd", "hooks.py"))
    spec = receive_program(sock)
    hide_hash_seed(spec["hash_seed"])
    link = linking.Link(pydevd, py_db, sock)
    hidden = (os.path.abspath(__file__), hooks.__file__, plain.__file__, plain.runpy.__file__)
    link.hide_files(hidden)
    program = plain.Program(spec["kind"], spec["target"], spec["args"], globals())
    hooks.install(link)
    link.hold_main()
    link.wait_until_configured()
    try:
        link.run(*program.prepare())
    except BaseException:
        own = {frame.f_code for frame in (sys._getframe(), sys._getframe(1))}
        plain.show_as_plain(own | link.own_code() | program.own_code())
        raise
    finally:
        program.leave()


if __name__ == "__main__":
    main()
