"""Dict watchers of CPython 3.12 and later: who writes to one dict, as the interpreter reports it.

One watcher number for the process, taken with the first dict and given back with the last. A dict
is not kept alive: the interpreter reports its end. The watcher is cleared before the interpreter
ends, since what it calls goes before the dicts do, and in a forked child.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: whatever is raised inside a write would break the dict.

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.debuggers.debugpy.debuggee.probe.process.guard import TroubleError, attempt, frame_at
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside, raise_soon
    from relay.debuggers.debugpy.debuggee.probe.writes.value_equality import are_same_key

HAS_DICT_WATCHERS = sys.version_info >= (3, 12) and sys.implementation.name == "cpython"
# It reports no write to an attribute that lies in the object itself, as those of most do (gh-125608).
_BLIND_TO_INLINE_VALUES = sys.version_info[:3] == (3, 13, 0)
_EVENT_NAMES = ("added", "modified", "deleted", "cloned", "cleared", "gone")
_OF_ONE_KEY = (0, 1, 2)
_MOST_KEYS_KEPT = 1000
_COUNTED_AT_ONCE = 1000  # writes of other keys, between two looks at the clock
_BUSY_SECONDS = 5e-3  # in which so many are a burden: each takes 0.3 microseconds at least


class DictWrite(NamedTuple):
    """A write that is about to be done: the dict still holds what it held.

    It holds the dict and the frame: who keeps it keeps them.
    """

    event: str
    """"added", "modified", "deleted"; "cloned" fills an empty dict, "cleared" empties one; "gone":
    the dict itself ends."""
    space: Any
    """The dict; None with "gone"."""
    key: Any
    """The key; with "cloned" the dict that is taken over; None with "cleared" and "gone"."""
    new: Any
    """The value, where the event is "added" or "modified"."""
    frame: Any
    """The frame that writes, or that called the C code which does; None at the interpreter's end."""


class _DictWatch:
    """One listener of one dict."""

    def __init__(
        self,
        pointer: int,
        listener: Callable[[DictWrite], Any],
        only: tuple[Any, ...],
        busy: Callable[[Any], Any] | None,
    ) -> None:
        self.pointer, self.listener, self.only, self.busy = pointer, listener, only, busy
        self.left, self.since = _COUNTED_AT_ONCE, 0.0
        self.others: dict[int, Any] = {}
        """Keys that are none of those, by address: kept, so that no other key has it."""

    def passes_over(self, pointer: int | None) -> bool:
        """Whether the listener is not told of a write of the key at this address."""
        if not self.only or pointer in self.others:
            return bool(self.only)
        key = object_at(pointer)
        if any(are_same_key(key, one) for one in self.only):
            return False
        if type(key) in (str, int) and len(self.others) < _MOST_KEYS_KEPT:
            self.others[pointer or 0] = key
        self.left -= 1
        return True

    def look_at_clock(self, frame: Any) -> None:
        """So many writes of other keys have been reported."""
        now = time.perf_counter()
        if now - self.since < _BUSY_SECONDS and self.busy is not None:
            self.busy(frame)
        self.left, self.since = _COUNTED_AT_ONCE, now


class _Watcher:
    """The process's watcher, and what it watches."""

    def __init__(self) -> None:
        self.number = -1
        self.watches: dict[int, tuple[_DictWatch, ...]] = {}  # by the address of the dict
        self.lock: Any = threading.RLock()
        self.callback: Any = None  # C calls it: it must outlive every watch
        self.watch: Any = None
        self.unwatch: Any = None
        self.is_prepared = False


_watcher = _Watcher()


def watch_dict(
    space: dict[Any, Any],
    listener: Callable[[DictWrite], Any],
    only: tuple[Any, ...] = (),
    busy: Callable[[Any], Any] | None = None,
) -> _DictWatch:
    """Have `listener` called before each write to the dict, in the thread that writes.

    only: keys; of writes of others it is not told, of what changes all it is. busy: called, as the listener, with
    the frame that writes, where there are many of others.

    It must neither write to the dict nor run code of the program: the write has begun. What it
    raises is lost. Raises TroubleError where Python has no such watchers, or none left.
    """
    with _watcher.lock:
        _take_number()
        watch = _DictWatch(id(space), listener, only, busy)
        before = _watcher.watches.get(watch.pointer, ())
        _watcher.watches[watch.pointer] = (*before, watch)
        if not before:
            _watcher.watch(_watcher.number, watch.pointer)
    return watch


def unwatch_dict(watch: _DictWatch) -> None:
    """No more calls for this one; nothing if it has ended with its dict."""
    with _watcher.lock:
        before = _watcher.watches.get(watch.pointer, ())
        left = tuple(one for one in before if one is not watch)
        if left == before:
            return
        if left:
            _watcher.watches[watch.pointer] = left
            return
        del _watcher.watches[watch.pointer]
        _watcher.unwatch(_watcher.number, watch.pointer)
        if not _watcher.watches:
            _clear_watcher()


def forget_dict_watches() -> None:
    """At the end of the process, in a forked child, and when nobody debugs any more."""
    for watches in list(_watcher.watches.values()):
        for watch in watches:
            attempt(unwatch_dict, watch)
    attempt(_clear_watcher)


def prepare_attributes(owner: Any, space: dict[Any, Any]) -> None:
    """What an object's `__dict__` needs, so that writes to its attributes are writes to the dict.

    Gives the object the very dict that it has, as a statement of the program could; after that the
    values lie in it, and no longer in the object.
    """
    if _BLIND_TO_INLINE_VALUES:
        object.__setattr__(owner, "__dict__", space)


# The interpreter's side


def _take_number() -> None:
    if _watcher.number >= 0:
        return
    if not HAS_DICT_WATCHERS:
        raise TroubleError("unsupported", "Before Python 3.12 a dict cannot be watched")
    _prepare_watcher()
    import ctypes

    try:
        _watcher.number = ctypes.pythonapi.PyDict_AddWatcher(_watcher.callback)
    except RuntimeError:
        raise TroubleError(
            "unsupported", "All dict watchers of the process are taken by others, such as PyTorch"
        ) from None


def _prepare_watcher() -> None:
    if _watcher.is_prepared:
        return
    import ctypes

    address = ctypes.c_void_p
    kind = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, address, address, address)
    _watcher.callback = kind(_on_dict_event)
    by_address = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, address)
    # Of our own, by address: the program may have given those of `pythonapi` other types.
    _watcher.watch = by_address(("PyDict_Watch", ctypes.pythonapi))
    _watcher.unwatch = by_address(("PyDict_Unwatch", ctypes.pythonapi))
    atexit.register(forget_dict_watches)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forget_in_child)
    _watcher.is_prepared = True


def _forget_in_child() -> None:
    _watcher.lock = threading.RLock()
    forget_dict_watches()


def _clear_watcher() -> None:
    number, _watcher.number = _watcher.number, -1
    if number >= 0:
        import ctypes

        ctypes.pythonapi.PyDict_ClearWatcher(number)


def _on_dict_event(event: int, pointer: int, key: int | None, new: int | None) -> int:
    """Called by C in the middle of a write: whatever goes wrong here must not come out."""
    try:
        watches = _watcher.watches.get(pointer, ())
        if watches and event in _OF_ONE_KEY:
            first = watches[0]
            if key in first.others:
                first.left -= 1
                # A write beside the watched one, in a loop say: at a fifth of the price.
                watches = watches[1:]
            if first.left <= 0:
                first.look_at_clock(frame_at(1))
        if watches and not sys.is_finalizing():
            _report_write(watches, event, pointer, key, new)
    except BaseException as error:
        if is_from_outside(error):
            raise_soon(error)
    return 0


def _report_write(watches: Any, event: int, pointer: int, key: Any, new: Any) -> None:
    if event in _OF_ONE_KEY:
        watches = [watch for watch in watches if not watch.passes_over(key)]
        if not watches:
            return
    name = _EVENT_NAMES[event] if event < len(_EVENT_NAMES) else "modified"
    space = None
    if name == "modified" and _is_the_same(pointer, key, new):
        watches[0].left -= 1
        return
    if name == "gone":
        _watcher.watches.pop(pointer, None)
    else:
        space = object_at(pointer)
    try:
        frame = frame_at(2)
    except ValueError:
        frame = None
    write = DictWrite(name, space, object_at(key), object_at(new), frame)
    struck: Any = None
    for watch in watches:
        try:
            watch.listener(write)
        except BaseException as error:
            if is_from_outside(error):
                struck = error
                attempt(watch.listener, write)  # once more: it may not have been noted
    if struck is not None:
        raise struck


def _is_the_same(pointer: int, key: int | None, new: int | None) -> bool:
    """Whether a write gives a key the very value that it has."""
    named = object_at(key)
    return type(named) is str and id(dict.get(object_at(pointer), named)) == new


def object_at(pointer: int | None) -> Any:
    import ctypes

    return None if pointer is None else ctypes.cast(pointer, ctypes.py_object).value
