"""What would be loaded into the program late, and do harm there: loaded before, or not at all; and
copies of the debugger's that would be taken for the program's modules."""

from __future__ import annotations

import builtins
import os
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt

_FRAMEWORK = "django"
_COPIED = ("xmlrpc.client", "xmlrpc.server", "http.server")
_MAKES_TYPES = "_create_default_type_map"


def load_unwinder() -> None:
    """glibc opens it when a thread is ended by force, as the interpreter's end does to pydevd's: a
    program that has no descriptor or no memory left by then would be aborted over it."""
    attempt(_load_unwinder)


def _load_unwinder() -> None:
    import _ctypes as loader

    loader.dlopen("libgcc_s.so.1", os.RTLD_NOW)


def leave_frameworks_out() -> None:
    """Before its first value pydevd asks for Django's types, and by that imports Django into any
    program that could: what belongs to it is known without."""
    xml = sys.modules["_pydevd_bundle.pydevd_xml"]
    makes = getattr(xml, _MAKES_TYPES)
    scope = {**vars(xml), "__builtins__": {**vars(builtins), "__import__": _import_but_framework}}
    setattr(xml, _MAKES_TYPES, types.FunctionType(makes.__code__, scope, _MAKES_TYPES))


def _import_but_framework(name: str, *arguments: Any, **named: Any) -> Any:
    if name.partition(".")[0] == _FRAMEWORK and name not in sys.modules:
        raise ImportError(name)
    return __import__(name, *arguments, **named)


def give_back_modules() -> None:
    """Beside an installed gevent or eventlet pydevd loads copies of some modules, and packages keep
    the copy as their attribute: `http.server` would be another module than sys.modules has."""
    for name in _COPIED:
        package, _, attribute = name.rpartition(".")
        own, holder = sys.modules.get(name), sys.modules.get(package)
        if own is not None and getattr(holder, attribute, own) is not own:
            setattr(holder, attribute, own)
