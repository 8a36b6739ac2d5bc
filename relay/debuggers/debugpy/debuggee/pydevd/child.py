"""How a child of the debuggee joins its session: on a socket of its own, to the same relay.

Runs in the child: at the start of a new interpreter (`join`), or after a fork (`rejoin`). From
then on pydevd speaks DAP there, and the child waits until the relay has said what to stop for. A
child that finds nobody, or has a pydevd that is unknown, runs free. Knows pydevd's private names
for what a fork leaves behind; the rest is in `load.py`, `link.py` and `hooks.py`.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import gc
import importlib.machinery
import os
import socket
import sys
import types
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))

# What only a fork needs; everything else is checked by `load.py`.
USED_AFTER_FORK = {
    "_pydevd_bundle.pydevd_constants": "after_fork set_global_debugger",
    "_pydevd_bundle.pydevd_custom_frames": "custom_frames_container_init",
    "_pydevd_sys_monitoring.pydevd_sys_monitoring": "reset_thread_local_info",
}

_parts: dict[str, Any] = {}
_link_of_fork: list[Any] = []
"""That of this process, if it is a fork that has joined."""


def prepare(cache: str | None = None) -> Any:
    """Load what joining takes: after a fork is no time for imports. What loads more is returned."""
    path = os.path.join(os.path.dirname(HERE), "parts.py")
    module: Any = types.ModuleType("_debug_relay_parts")
    module.__file__ = path
    exec(importlib.machinery.SourceFileLoader(path, path).get_code(path) or "", module.__dict__)
    parts = module.Parts(cache)
    parts.find_modules()
    try:
        for name in ("load", "own_builtins"):
            _parts[name] = parts.load("pydevd/" + name)
        _parts["own"] = _parts["own_builtins"].OwnBuiltins()
        for name in ("kept", "link", "hooks"):
            _parts[name] = parts.load("pydevd/" + name, _parts["own"].space)
    except BaseException:
        parts.keep()
        raise
    return parts


def unfit() -> str | None:
    """Why the debugger of this process cannot join again after a fork; None if it can."""
    loading = _parts["load"]
    reason: str | None = loading.unfit() or loading.unfit(USED_AFTER_FORK)
    return reason


def connect(join_port: str) -> socket.socket | None:
    """A connection to the relay; None if nobody listens there."""
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.connect(join_port)
    except OSError:
        sock.close()
        return None
    return sock


def join(spec: dict[str, str]) -> None:
    """At the start of a new interpreter, before any code of its program."""
    sock = connect(spec["join_port"])
    if sock is None:
        return
    parts = prepare(spec["cache"])
    loading, kept, own = _parts["load"], _parts["kept"], _parts["own"]
    try:
        pydevd, py_db = loading.load_pydevd(spec["debugpy"], kept.keep, own)
        own.keep_modules()
        probe = pydevd._debug_relay_probe = parts.load("probe/entry", own.space)
        if probe.unfit() is not None:
            raise loading.UnfitError
        kept.give_functions_to(probe)
        probe.keep_code_in(spec["cache"])
    except (loading.UnfitError, ImportError, OSError, SyntaxError):
        sock.close()
        return
    finally:
        parts.keep()
    link = _parts["link"].Link(pydevd, py_db, kept.own_socket(sock))
    hooks = _parts["hooks"]
    link.hide_files((os.path.join(spec["site"], "sitecustomize.py"),))
    _say_goodbye(link)
    hooks.install(link)
    link.wait_until_configured()
    # The debugger stays: the program's collections need not walk its thousands of objects.
    gc.freeze()
    link.begin()
    if not pydevd.PYDEVD_USE_SYS_MONITORING:
        _begin_at_main(link)


def _begin_at_main(link: Any) -> None:
    """pydevd looks once for the frame in which an exception is uncaught: at that of `__main__`.

    Here that has not begun, and what calls us is over before it does.
    """
    tracing: Any = sys.modules["pydevd_tracing"]

    def wait_for_main(frame: Any, event: str, arg: Any) -> Any:
        path = frame.f_code.co_filename
        if frame.f_back is not None or path.startswith(("<frozen importlib", "<frozen zipimport")):
            return None
        tracing.SetTrace(
            None
        )  # what is enabled may wait until it is needed, and take this for the program's
        link.py_db.enable_tracing()
        wanted = link.pydevd._debug_relay_probe.wanted_trace_function()
        return None if wanted is None else wanted(frame, event, arg)

    tracing.SetTrace(wait_for_main)


def forget_link() -> None:
    """After a fork, in the child, before it joins itself: its parent's link is none of its own.

    Python calls what was registered first: a hook of that link's own would come after the joining.
    """
    while _link_of_fork:
        _link_of_fork.pop().forget()


def rejoin(spec: dict[str, str], frame: Any) -> None:
    """After a fork, in the child, whose hooks have dropped the debugger of the parent.

    frame: the innermost frame of the program; it and its callers are watched from now on.
    """
    sock = connect(spec["join_port"])
    if sock is None:
        return
    pydevd: Any = sys.modules["pydevd"]
    _forget_parent(pydevd)
    with _parts["load"].own_thread_numbers():
        py_db = pydevd.PyDB()
    link = _parts["link"].Link(pydevd, py_db, sock, hears_of_forks=True)
    _link_of_fork[:] = [link]
    hooks = _parts["hooks"]
    link.hide_files(())
    _say_goodbye(link)
    hooks.install(link)
    link.wait_until_configured()
    link.begin()
    link.py_db.set_trace_for_frame_and_parents(_threading(pydevd).get_ident(), frame)
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None and pydevd.PYDEVD_USE_SYS_MONITORING:
        monitoring.restart_events()


def _threading(pydevd: Any) -> Any:
    """The module by whose objects pydevd knows threads: the program's, or a copy of it."""
    return vars(pydevd)["threading"]


def _forget_parent(pydevd: Any) -> None:
    constants: Any = sys.modules["_pydevd_bundle.pydevd_constants"]
    constants.after_fork()
    constants.set_global_debugger(None)
    _threading(pydevd).current_thread().additional_info = None
    sys.modules["_pydevd_bundle.pydevd_custom_frames"].custom_frames_container_init()
    if pydevd.PYDEVD_USE_SYS_MONITORING:
        module: Any = sys.modules["_pydevd_sys_monitoring.pydevd_sys_monitoring"]
        module.reset_thread_local_info()


def _say_goodbye(link: Any) -> None:
    """Forked children, and workers that give up, end by os._exit, which runs nothing: their last words
    would be lost, and nobody would know whether they have gone on without the debugger."""

    def leave(status: int) -> None:
        if not link.over:
            body = {"exitCode": status}
            link.send({"type": "event", "event": "exited", "body": body})
            link.finish()
        sys.modules["posix"]._exit(status)

    os._exit = leave  # type: ignore[assignment]
