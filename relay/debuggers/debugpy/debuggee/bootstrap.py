"""Starts a program under pydevd inside the debuggee, over one inherited socket.

Run as `python [options] bootstrap.py '<json>'`. The JSON names the descriptor of a connected
stream socket, the probe, where a debugpy lies in case the interpreter has none, and where compiled
code is kept. What to run is read from the socket, as JSON behind its length, once the debugger is
loaded: so a process can be started before its program is known, and all go the same way. From then
on pydevd speaks DAP on that socket: no port, no listener, no adapter process.

Knows the order of things. How pydevd is found and tamed is the business of `pydevd/load.py`,
`pydevd/link.py` and `pydevd/hooks.py`, how plain Python runs a program that of `plain_program.py`;
they are loaded beside sys.modules, so that the program finds nothing of them. Knows nothing of the
relay beyond the socket.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import gc
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


def load_parts(cache: str | None) -> Any:
    """The other files here; what they are compiled to is kept in folder `cache`."""
    path = os.path.join(HERE, "parts.py")
    module: Any = types.ModuleType("_debug_relay_parts")
    module.__file__ = path
    exec(importlib.machinery.SourceFileLoader(path, path).get_code(path) or "", module.__dict__)
    return module.Parts(cache)


def load_debugger(
    setup: dict[str, Any], parts: Any, own: Any, sock: socket.socket
) -> tuple[Any, Any, socket.socket]:
    """pydevd with the probe in it, a PyDB, and the socket as they use it. Leaves the process if pydevd is unfit."""
    loading, kept = parts.load("pydevd/load"), parts.load("pydevd/kept", own.space)
    try:
        pydevd, py_db = loading.load_pydevd(setup["debugpy"], kept.keep, own)
        own.keep_modules()
        probe = pydevd._debug_relay_probe = parts.load("probe/entry", own.space)
        reason = probe.unfit()
        if reason is not None:
            raise loading.UnfitError(reason)
        kept.give_functions_to(probe)
        probe.keep_code_in(setup["cache"])
    except (loading.UnfitError, ImportError, OSError, SyntaxError) as error:
        reason = f"{type(error).__name__}: {error}"
        event = {"seq": 1, "type": "event", "event": "relayUnfit", "body": {"reason": reason}}
        text = json.dumps(event).encode()
        sock.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        sys.exit(UNFIT_EXIT)
    return pydevd, py_db, kept.own_socket(sock)


def receive_program(witness: Any, sock: socket.socket) -> dict[str, Any]:
    """What to run, as the relay says it, now or in a while. Leaves the process if it never does."""
    before = None
    if not is_there(sock):
        before = witness.look()
        sock.recv(1, socket.MSG_PEEK)
    program: dict[str, Any] = json.loads(receive(sock, int.from_bytes(receive(sock, 4), "big")))
    if program["begun_at"] is not None:
        now = witness.look()
        has_changed = before is not None and now != before
        if has_changed or witness.has_changed_since(program["begun_at"], now):
            os._exit(STALE_EXIT)
        sock.sendall(READY)
    if before is not None:
        witness.forget_caches()
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
    collects = gc.isenabled()
    gc.disable()  # hundreds of modules come and stay: a collection finds nothing in 10 ms
    parts = load_parts(setup["cache"])
    parts.find_modules()
    plain = parts.load("plain_program")
    if not plain.is_safe_path():
        del sys.path[0]  # this file's directory: the program has nothing to find there
    os.set_inheritable(setup["fd"], False)
    sock = socket.socket(fileno=setup["fd"])
    own = parts.load("pydevd/own_builtins").OwnBuiltins()
    pydevd, py_db, sock = load_debugger(setup, parts, own, sock)
    linking, hooks = (parts.load("pydevd/" + name, own.space) for name in ("link", "hooks"))
    witness = parts.load("start_witness")
    parts.keep()
    del parts, own  # and with them what only loading needs
    spec = receive_program(witness, sock)
    hide_hash_seed(spec["hash_seed"])
    link = linking.Link(pydevd, py_db, sock)
    runpy = plain.runpy._run_module_as_main.__code__.co_filename
    link.hide_files((os.path.abspath(__file__), plain.__file__, runpy))
    hooks.install(link)
    link.hold_main()
    link.wait_until_configured()
    # The debugger stays: the program's collections need not walk its thousands of objects.
    gc.freeze()
    if collects:
        gc.enable()
    program = plain.Program(spec["kind"], spec["target"], spec["args"], globals(), spec["named"])
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
