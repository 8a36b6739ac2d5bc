"""Where coroutines stand: the chain of awaits of a suspended one, the stack of a running one.

Knows the interpreter's own awaitable types and the stacks of threads. Refuses to know tasks and
event loops. Attributes are read through the descriptors of builtin types, and nothing of the
program is called.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import types
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relay.debuggers.debugpy.debuggee.probe.frames.bytecode import (
        UNKNOWN,
        call_at,
        facts_of,
        taken_by_call,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
        find_frame,
        is_debugger_file,
    )
    from relay.debuggers.debugpy.debuggee.probe.frames.templates import shown_line
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, frame_at
    from relay.debuggers.debugpy.debuggee.probe.values.attributes import own_dict
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        DATA_DESCRIPTORS,
        exact,
        mro_of,
        name_of,
        namespace_of,
        plan_of,
    )

_SUSPENDABLE: dict[Any, tuple[str, str, str]] = {
    types.CoroutineType: ("cr_frame", "cr_await", "cr_running"),
    types.GeneratorType: ("gi_frame", "gi_yieldfrom", "gi_running"),
    types.AsyncGeneratorType: ("ag_frame", "ag_await", "ag_running"),
}
# What stands between two of these and shows neither: the collector knows what it holds.
_AWAIT_WRAPPERS = frozenset(
    ("coroutine_wrapper", "async_generator_asend", "async_generator_athrow", "anext_awaitable")
)
_LONGEST_CHAIN = 100_000
_LONGEST_TASK_NAME = 200
_LONGEST_PATH = 4096
STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep


class AwaitPlace:
    """A frame, and the name of its function as the coroutine knows it."""

    __slots__ = ("frame", "name")

    def __init__(self, frame: Any, name: str) -> None:
        self.frame = frame
        self.name = name

    def answer(self, line: int | None = None) -> dict[str, Any]:
        """line: where the frame was seen, of one that runs."""
        code = self.frame.f_code
        line = line or self.frame.f_lineno or code.co_firstlineno
        return {
            "function": clipped(self.name),
            "path": clipped(code.co_filename, _LONGEST_PATH),
            # None where the interpreter has no line, as before the first one.
            "line": shown_line(self.frame, line),
            "own": self.is_own,
        }

    @property
    def is_own(self) -> bool:
        """Whether the function is the program's own, and no library's."""
        return is_own_file(self.frame.f_code.co_filename)


def is_own_file(path: str) -> bool:
    """Whether a file is the program's own, and no library's."""
    library = path[:1] == "<" or path.startswith((STANDARD_LIBRARY, home_of_trio()))
    installed = "site-packages" in path or "dist-packages" in path
    return not (library or installed or is_debugger_file(path))


def home_of_trio() -> str:
    """It need not be where packages are installed."""
    file = module_globals("trio").get("__file__")
    return os.path.dirname(file) + os.sep if type(file) is str else STANDARD_LIBRARY


def clipped(text: Any, most: int = _LONGEST_TASK_NAME) -> str:
    """Text of the program as plain text of bounded length; anything else as its type."""
    if plan_of(text).family != "text":
        return f"<{name_of(type(text))}>"
    whole = str(exact(text))
    return whole if len(whole) <= most else whole[: most - 1] + "…"


def stored_field(value: Any, name: str, default: Any = None) -> Any:
    """An attribute that is stored: in a slot, in a field of C, or in the instance's dictionary.

    Unlike getattr it runs no property and no `__getattr__`.
    """
    cls = type(value)
    known, get = field_getters.get((id(cls), name), (None, None))
    if known is not cls:
        get = _field_getter(cls, name)
        field_getters[id(cls), name] = cls, get
    try:
        return get(value)
    except AttributeError:
        return default  # a slot without a value


field_getters: dict[tuple[int, str], tuple[Any, Any]] = {}
"""How to read a field of a class; emptied after each listing."""


def _field_getter(cls: type, name: str) -> Any:
    spaces = [namespace_of(base) for base in mro_of(cls)]
    shared = [space[name] for space in spaces if name in space]
    if not shared:
        # Nothing of the class can be in the way: this looks into the instance, and nowhere else.
        return lambda value: object.__getattribute__(value, name)
    for found in shared:
        if type(found) in DATA_DESCRIPTORS:
            return found.__get__
    # The class has a default, or a property; neither is asked.
    plain = [shared[0]] if type(shared[0]) in (str, bool, int) else []
    return lambda value: _own_value(value, name, plain)


def _own_value(value: Any, name: str, defaults: list[Any]) -> Any:
    own = own_dict(value, plan_of(value))
    for found in [dict.get(own, name, _nothing), *defaults]:
        if found is not _nothing:
            return found
    raise AttributeError


_nothing = object()


def module_globals(name: str) -> dict[str, Any]:
    module = sys.modules.get(name)
    return vars(module) if type(module) is types.ModuleType else {}


def weak_members(registry: Any) -> list[Any]:
    """The members of a set that other threads and the collector may be changing."""
    if type(registry) not in (set, weakref.WeakSet):
        return []
    for _ in range(1000):
        try:
            return list(registry)
        except RuntimeError:
            continue
    return []


def function_name(code: Any) -> str:
    """The qualified name, which code objects know since Python 3.11."""
    return str(getattr(code, "co_qualname", code.co_name))


def coroutine_name(coro: Any) -> str:
    if type(coro) in _SUSPENDABLE:
        return clipped(coro.__qualname__)
    return clipped(name_of(type(coro)))


def frame_of(coro: Any) -> Any:
    fields = _SUSPENDABLE.get(type(coro))
    return None if fields is None else getattr(coro, fields[0])


def is_running(coro: Any) -> bool:
    fields = _SUSPENDABLE.get(type(coro))
    return fields is not None and bool(getattr(coro, fields[2]))


def await_chain(coro: Any) -> list[AwaitPlace]:
    """Where a suspended coroutine stands, outermost first, down to what is no Python code."""
    found: list[AwaitPlace] = []
    seen = set()
    while coro is not None and id(coro) not in seen and len(found) < _LONGEST_CHAIN:
        seen.add(id(coro))
        fields = _SUSPENDABLE.get(type(coro))
        if fields is None:
            coro = _unwrapped_await(coro) or attempt(_handed_on_to, coro)
            continue
        frame = getattr(coro, fields[0])
        if frame is not None:
            found.append(AwaitPlace(frame, coro.__qualname__))
        coro = getattr(coro, fields[1])
    return found


def _unwrapped_await(awaitable: Any) -> Any:
    kind = type(awaitable)
    if name_of(kind) not in _AWAIT_WRAPPERS:
        return None
    held = gc.get_referents(awaitable)
    return next((one for one in held if type(one) in _SUSPENDABLE or _is_await_wrapper(one)), None)


def _is_await_wrapper(value: Any) -> bool:
    return name_of(type(value)) in _AWAIT_WRAPPERS


def run_coroutine(coro: Any) -> Any:
    """What runs as a task's coroutine: the one that an object of a class of its own hands all on to, as those
    do which aiohttp's `session.get()` gives; else it itself.
    """
    inner, seen = coro, {id(coro)}
    while type(inner) not in _SUSPENDABLE:
        inner = attempt(_handed_on_to, inner)
        if inner is None or id(inner) in seen:
            return coro
        seen.add(id(inner))
    return inner


def _handed_on_to(awaitable: Any) -> Any:
    """What an object keeps to which its class, in Python, hands on every `send`, as its bytecode says; or None."""
    spaces = [namespace_of(base) for base in mro_of(type(awaitable))]
    send = next((space["send"] for space in spaces if "send" in space), None)
    if type(send) is not types.FunctionType or not send.__code__.co_argcount:
        return None
    code = send.__code__
    calls = [call_at(code, at)[0] for at, one in enumerate(facts_of(code)[0]) if taken_by_call(one)]
    called = set(calls)
    if len(called) != 1:
        return None
    function = called.pop()
    owner = function[1] if function[0] == "attribute" and function[2] == "send" else UNKNOWN
    if owner[0] != "attribute" or owner[1] != ("local", code.co_varnames[0]):
        return None
    return stored_field(awaitable, owner[2])


class ThreadStacks:
    """The stacks of all threads, innermost frame first, as they stand at this stop.

    Of this thread it is that of the stop, or none: one that leads here would keep these stacks, and so itself
    and all that the program's frames have, until the garbage collector comes.
    """

    def __init__(self, stopped_at: Any, numbers_from: int = 0) -> None:
        self._numbers_from = numbers_from
        tops = sys._current_frames()
        here = frame_at()  # not get_ident(), which gevent replaces
        own = next((ident for ident, top in tops.items() if top is here), None)
        del here
        self.stopped = own if stopped_at is not None else None
        self.of: dict[int, list[Any]] = {}
        self._places: dict[int, tuple[int, int]] = {}
        tops.pop(own, None)  # type: ignore[arg-type]
        for ident, top in tops.items():
            self._add(ident, top)
        if own is not None and stopped_at is not None:
            self._add(own, stopped_at)

    def _add(self, ident: int, top: Any) -> None:
        frames = self.of[ident] = list(_outwards(top))
        for position, frame in enumerate(frames):
            self._places[id(frame)] = ident, position

    def thread_of(self, coro: Any) -> int | None:
        """The thread that runs the coroutine now."""
        return self._places.get(id(frame_of(coro)), (None, 0))[0]

    def depth_of(self, coro: Any) -> int:
        """How far the coroutine is from the top of its stack."""
        return self._places.get(id(frame_of(coro)), (None, 0))[1]

    def of_running(self, coro: Any) -> list[AwaitPlace]:
        """Where a running coroutine stands, outermost first; empty if it is on no stack."""
        place = self._places.get(id(frame_of(coro)))
        if place is None:
            return []
        ident, position = place
        inner = without_debugger(self.of[ident][: position + 1])
        return [AwaitPlace(frame, function_name(frame.f_code)) for frame in reversed(inner)]

    def threads(self) -> dict[int, dict[str, Any]]:
        """Name and id of each thread, as clients know it; the id is None where the debugger has given none."""
        # Not threading.enumerate(): a stopped thread may hold the lock that it takes.
        known = dict(getattr(threading, "_active", {}))
        return {ident: _thread_answer(known.get(ident), self._numbers_from) for ident in self.of}


def _outwards(frame: Any) -> Iterator[Any]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def without_debugger(frames: list[Any]) -> list[Any]:
    """Without the frames in which the debugger holds a thread, which are its innermost ones, and the one that
    has returned where it is held behind that.
    """
    held = [is_debugger_file(frame.f_code.co_filename) for frame in frames]
    if True not in held:
        return frames
    first = held.index(True)
    # The debugger waits in `threading`; whatever else lies above its frames is the program's.
    if any(frame.f_code.co_filename != threading.__file__ for frame in frames[:first]):
        return frames
    while first < len(frames) and held[first]:
        first += 1
    return frames[first + _has_returned(frames[first : first + 2]) :]


def _has_returned(innermost: list[Any]) -> bool:
    """Whether the first of two frames, caller behind called, is one of which a step has come out: the interpreter has
    it yet, to the debugger the caller is where the thread stands.
    """
    if len(innermost) < 2:
        return False
    caller = innermost[1]
    manager = debugger().suspended_frames_manager
    thread = manager.get_thread_id_for_variable_reference(id(caller))
    stack = None if thread is None else manager.get_frames_list(thread)
    return next(iter(stack or ()), None) is caller


def _thread_answer(thread: Any, numbers_from: int) -> dict[str, Any]:
    if thread is None:
        return {"thread_id": None, "thread_name": None}
    schema = sys.modules.get("_pydevd_bundle._debug_adapter.pydevd_base_schema")
    numbers = getattr(getattr(schema, "BaseSchema", None), "_obj_id_to_dap_id", {})
    known = attempt(lambda: numbers.get(stored_field(thread, "__pydevd_id__")))
    return {
        "thread_id": numbers_from + known if type(known) is int and known else None,
        "thread_name": clipped(stored_field(thread, "_name", "")),
    }


def stopped_frame(frame_id: Any) -> Any:
    return None if frame_id is None else find_frame(frame_id)
