"""Functions of the standard library that pydevd and the probe keep, whatever the program makes of them.

Tests put mocks in the place of functions, which raise or answer nonsense; a stop within a mock is to be
as any other. So pydevd gets modules of its own that have such functions, and everything else of the
real ones: what is data there is the same. What a kept function calls is kept, too.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import ast
import collections
import dis
import functools
import genericpath
import itertools
import json
import os
import queue
import socket
import sys
import threading
import time
import types
import weakref
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_PATHS = "exists isdir isfile lexists getsize getmtime"
_KEPT: tuple[tuple[Any, str, str], ...] = (
    (genericpath, _PATHS, ""),
    (
        os.path,
        _PATHS + " abspath basename dirname isabs join normcase normpath realpath relpath split"
        " splitdrive splitext",
        "",
    ),
    (os, "getpid getcwd stat lstat listdir fspath fsencode fsdecode path", ""),
    (
        threading,
        "get_ident get_native_id current_thread currentThread main_thread enumerate"
        " Lock RLock local Event Condition Thread",
        "Event Condition",
    ),
    (queue, "Queue", "Queue"),
    (json.encoder, "JSONEncoder", "JSONEncoder"),
    (json.decoder, "JSONDecoder", "JSONDecoder"),
    (json, "loads dumps JSONEncoder JSONDecoder", ""),
    (dis, "findlinestarts get_instructions", ""),
    (ast, "parse walk", ""),
)
"""Modules, what of them is kept, and which of that are classes written in Python."""
_AS_THEY_ARE: tuple[tuple[Any, str], ...] = (
    (time, "time monotonic perf_counter time_ns sleep"),
    (itertools, "chain count repeat starmap islice takewhile"),
    (functools, "partial wraps lru_cache cmp_to_key"),
    (collections, "deque OrderedDict defaultdict Counter"),
    (weakref, "ref"),
)
"""Modules whose functions are kept, and not what those call."""
_PATCHES = (
    "_pydev_bundle.pydev_monkey",
    "_pydevd_bundle.pydevd_daemon_thread",
    "pydevd_tracing",
)
"""Modules of pydevd that change the program's own: theirs are the real ones."""


_CHANGED_IN_PLACE = ("enumerate",)
"""pydevd gives it another code, and kept is what it has made of it."""


class _Kept(types.ModuleType):
    """In the place of a module: what it has not kept itself is the module's."""

    def __init__(self, module: Any, kept: dict[str, Any]) -> None:
        super().__init__(module.__name__)
        vars(self).update(kept, _module=module)

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_module"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(vars(self)["_module"], name, value)


_spaces: list[tuple[dict[str, Any], Any]] = []  # in which kept functions run, and of which module
_kept: dict[int, tuple[Any, Any]] = {}  # by the id of what is kept: that, and what is in its place


def keep(own_builtins: dict[str, Any]) -> None:
    """Keep them as they are now, and give them to pydevd. Before any object of it is made.

    own_builtins: the built-in functions that they find.
    """
    if not _kept:
        for module, names, classes in _KEPT:
            _keep_of(module, names.split(), classes.split(), own_builtins)
        for module, names in _AS_THEY_ARE:
            _note(module, {n: vars(module)[n] for n in names.split() if n in vars(module)})
        _join_spaces()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_refresh)
    own = [n for n in sys.modules if n.startswith(("pydevd", "_pydevd", "_pydev_"))]
    give_to(sys.modules[name] for name in own if name not in _PATCHES)


def give_to(modules: Iterable[Any]) -> None:
    """Put them into these modules, wherever they have the program's."""
    for module in modules:
        space = vars(module)
        for name, value in list(space.items()):
            found = _kept.get(id(value))
            if found is not None and found[0] is value:
                space[name] = found[1]


def give_functions_to(probe: Any) -> None:
    """The same without classes, which it compares with those of the program's objects; and without `os`,
    whose functions it replaces."""
    space = vars(probe)
    for name, value in list(space.items()):
        found = _kept.get(id(value))
        if found is None or found[0] is not value or value is os or isinstance(value, type):
            continue
        space[name] = found[1]
        if type(found[1]) is _Kept:
            kept = {n: v for n, v in vars(found[1]).items() if not _is_own_class(value, n, v)}
            kept.pop("_module")
            space[name] = _Kept(value, kept)


def _is_own_class(module: Any, name: str, value: Any) -> bool:
    return isinstance(value, type) and value is not vars(module).get(name)


def own_socket(sock: socket.socket) -> socket.socket:
    """The same connection, by functions of a class that nobody else has."""
    members = {}
    for base in reversed(socket.socket.__mro__[:-1]):
        members.update({n: v for n, v in vars(base).items() if callable(v) and n[:2] != "__"})
    cls = type("socket", (socket.socket,), {**members, "__slots__": ()})
    own: socket.socket = cls(sock.family, sock.type, sock.proto, sock.detach())
    return own


def _keep_of(
    module: Any, names: list[str], classes: list[str], own_builtins: dict[str, Any]
) -> None:
    space = {**vars(module), "__builtins__": own_builtins}
    _spaces.append((space, module))
    for name, value in vars(module).items():
        if _is_of(module, value) and name not in _CHANGED_IN_PLACE:
            space[name] = _rebound(value, space)
        elif id(value) in _kept and _kept[id(value)][0] is value:
            space[name] = _kept[id(value)][1]
    for name in classes:
        cls = vars(module)[name]
        own = {n: _rebound(v, space) for n, v in vars(cls).items() if _is_of(module, v)}
        space[name] = type(name, (cls,), own)
    _note(module, {name: space[name] for name in names if name in space})


def _note(module: Any, kept: dict[str, Any]) -> None:
    _kept[id(module)] = module, _Kept(module, kept)
    for name, value in kept.items():
        original = vars(module)[name]
        if value is not original:
            _kept[id(original)] = original, value


def _join_spaces() -> None:
    """What is kept of one module calls what is kept of another."""
    for space, module in _spaces:
        for name, value in list(space.items()):
            found = _kept.get(id(value))
            if found is not None and found[0] is value:
                space[name] = found[1]
        if module is json:
            space["_default_encoder"] = space["JSONEncoder"]()
            space["_default_decoder"] = space["JSONDecoder"]()


def _is_of(module: Any, value: Any) -> bool:
    return type(value) is types.FunctionType and value.__globals__ is vars(module)


def _rebound(function: Any, space: dict[str, Any]) -> Any:
    given = function.__name__, function.__defaults__, function.__closure__
    made = types.FunctionType(function.__code__, space, *given)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _refresh() -> None:
    """In a forked child `threading` has made some of its data anew. No other module of these does; to look
    at all that they have would copy a megabyte of the parent's memory."""
    space = next(space for space, module in _spaces if module is threading)
    for name, value in vars(threading).items():
        if name[:1] == "_" and not callable(value):
            space[name] = value
    for name in ("_active_limbo_lock", "_main_thread"):
        space[name] = vars(threading)[name]
