"""Starts a program under pydevd inside the debuggee, over one inherited socket.

Run as `python [options] bootstrap.py '<json>'`. The JSON names the descriptor of a connected
stream socket, the program, the probe, and where a debugpy lies in case the interpreter has none.
From then on pydevd speaks DAP on that socket: no port, no listener, no adapter process.

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


def connect(spec: dict[str, Any]) -> Any:
    """The Link of `pydevd/link.py`, its threads running. Leaves the process if pydevd is unfit."""
    os.set_inheritable(spec["fd"], False)
    sock = socket.socket(fileno=spec["fd"])
    loading = load("_debug_relay_pydevd_load", os.path.join(HERE, "pydevd", "load.py"))
    try:
        pydevd, py_db = loading.load_pydevd(spec["debugpy"])
        probe = pydevd._debug_relay_probe = load("_debug_relay_probe", spec["probe"])
        reason = probe.unfit()
        if reason is not None:
            raise loading.UnfitError(reason)
    except (loading.UnfitError, ImportError, OSError, SyntaxError) as error:
        reason = f"{type(error).__name__}: {error}"
        event = {"seq": 1, "type": "event", "event": "relayUnfit", "body": {"reason": reason}}
        text = json.dumps(event).encode()
        sock.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        sys.exit(UNFIT_EXIT)
    link = load("_debug_relay_pydevd_link", os.path.join(HERE, "pydevd", "link.py"))
    return link.Link(pydevd, py_db, sock)


def hide_hash_seed(given: Any) -> None:
    """Give the program the variable as it would be without us; its value has been used."""
    if given is None or sys.flags.ignore_environment:
        return
    if given[0] is None:
        os.environ.pop("PYTHONHASHSEED", None)
    else:
        os.environ["PYTHONHASHSEED"] = given[0]


def main() -> None:
    spec = json.loads(sys.argv[1])
    hide_hash_seed(spec.get("hash_seed"))
    plain = load("_debug_relay_plain_program", os.path.join(HERE, "plain_program.py"))
    if not plain.is_safe_path():
        del sys.path[0]  # this file's directory: the program has nothing to find there
    link = connect(spec)
    hooks = load("_debug_relay_pydevd_hooks", os.path.join(HERE, "pydevd", "hooks.py"))
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
