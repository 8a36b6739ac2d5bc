"""Traces of calls: armed, recorded, stopped at the end of the call, and read.

One trace at a time. It ends with its call, where the program stops, or with any other stop
before.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import difflib
import inspect
import itertools
import sys
import threading
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.debuggers.debugpy.debuggee.probe.frames.code_table import CodeTable
    from relay.debuggers.debugpy.debuggee.probe.frames.stack_frames import (
        debugger,
    )
    from relay.debuggers.debugpy.debuggee.probe.hooks.events import send_event
    from relay.debuggers.debugpy.debuggee.probe.hooks.limitations import require_purpose
    from relay.debuggers.debugpy.debuggee.probe.hooks.suspensions import hook_suspensions
    from relay.debuggers.debugpy.debuggee.probe.hooks.tracing import is_program_thread
    from relay.debuggers.debugpy.debuggee.probe.process.frame_room import (
        wants_room,
        with_more_room,
        with_room_to_stop,
    )
    from relay.debuggers.debugpy.debuggee.probe.process.guard import attempt, exception_line
    from relay.debuggers.debugpy.debuggee.probe.process.outside import is_from_outside
    from relay.debuggers.debugpy.debuggee.probe.stops.function_names import (
        code_behind,
        is_function,
        is_named_elsewhere,
        is_own_namespace,
        module_names,
        value_named,
        walk_namespace,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.functions import (
        FunctionTarget,
        is_defined_so,
        is_meant,
        place_of_code,
    )
    from relay.debuggers.debugpy.debuggee.probe.stops.steps import stop_at_return
    from relay.debuggers.debugpy.debuggee.probe.trace.monitor import MonitorListener
    from relay.debuggers.debugpy.debuggee.probe.trace.record import PAUSES, FrameTrace
    from relay.debuggers.debugpy.debuggee.probe.trace.settrace import SettraceListener
    from relay.debuggers.debugpy.debuggee.probe.trace.unfiled import unfiled_sources
    from relay.debuggers.debugpy.debuggee.probe.trace.until import UntilTrace
    from relay.debuggers.debugpy.debuggee.probe.trace.until_events import (
        UntilMonitorListener,
        UntilSettraceListener,
    )
    from relay.debuggers.debugpy.debuggee.probe.values.types import (
        is_class,
        is_heap_type,
        namespace_of,
    )
    from relay.debuggers.debugpy.debuggee.probe.writes.client_writes import as_clients_doing

TRACE_EVENT = "relayTrace"
_UNTRACED = "its thread was traced no more, as after a RecursionError before Python 3.12"
_IN_C = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)


class _Wanted:
    """Which calls are meant: of a function by name, or of the one that begins in these lines."""

    def __init__(
        self, function: str, path: str | None, lines: tuple[int, int] | None, condition: str | None
    ):
        self.function = FunctionTarget(function, function)
        self.bare, self.path = self.function.parts[-1], path
        self.first_line, self.def_line = lines or (0, 0)
        is_one_name = len(self.function.parts) == 1
        self.is_each_call = path is not None or bool(self.function.path) or is_one_name
        self.direct = CodeTable()  # that is known to be meant, whatever the call
        self.code = condition and compile(condition, "<condition>", "eval", 0, True)

    def is_code(self, frame: Any) -> bool:
        """Whether calls of this code may be meant. Of a name with a dot it may depend on the call."""
        code = frame.f_code
        if self.path is None:
            if code.co_name != self.bare or not code.co_flags & inspect.CO_OPTIMIZED:
                return False  # the statement of a class has its name, too
            if self.function.path:
                return is_meant(self.function, frame)
            return len(self.function.parts) > 1 or is_meant(self.function, frame)
        if code.co_name != self.bare:
            return False
        # A decorator that compiles the function anew, as typeguard's, leaves itself out.
        if not self.first_line <= code.co_firstlineno <= self.def_line:
            return False
        return bool(place_of_code(code)["path"] == self.path)

    def is_call(self, frame: Any) -> bool:
        """Whether this call of such a code is meant."""
        if self.is_each_call or frame.f_code in self.direct:
            return True
        if is_defined_so(self.function, frame):
            self.direct[frame.f_code] = True
            return True
        return bool(attempt(is_named_elsewhere, self.function.parts, frame))


class _Held:
    """The trace that there is, or was."""

    def __init__(self) -> None:
        self.trace: FrameTrace | None = None
        self.listener: Any = None
        self.wanted: Any = None
        self.own_threads: set[int] = set()  # the program's
        self.other_threads: set[int] = set()
        self.entries: Any = None  # counts in C: two threads never get the same
        self.is_read = False  # after its end
        self.stopping: list[int] = []  # the thread that stops at the end of its call


_held = _Held()


def trace_start(
    function: str,
    path: str | None = None,
    line: int | None = None,
    def_line: int | None = None,
    number: int = 1,
    depth: int = 1,
    condition: str | None = None,
    reveal_values: bool = False,
    until_result: str | None = None,
) -> dict[str, Any]:
    """Wait for a call from now on, in place of any trace before. For pydevd's own thread.

    line, def_line: of the function's first decorator, if it has one, and of its `def`.
    """
    require_purpose("traces")
    end_trace("replaced")
    if until_result is None:
        trace = FrameTrace(number, depth, reveal_values)
    else:
        trace = UntilTrace(number, depth, reveal_values, until_result)
    lines = None if line is None else (line, max(line, def_line or 0))
    _held.wanted = _Wanted(function, path, lines, condition)
    _held.entries, _held.own_threads, _held.other_threads = itertools.count(1), set(), set()
    listener = _LISTENERS[until_result is not None, hasattr(sys, "monitoring")]
    _held.trace, _held.listener, _held.is_read = trace, listener(trace), False
    _end_at_stops()
    can = attempt(_held.listener.start, default=False)
    if not can:
        end_trace("replaced")
    return {"can": can}


def trace_read(stopped: bool = False) -> dict[str, Any]:
    """What is recorded so far; a trace that is under way ends if the program has stopped."""
    trace = _held.trace
    if trace is None:
        return {"trace": None}
    trace.texts.free()
    if stopped:
        _note_unseen_end(trace)
        end_trace("interrupted")
        _held.is_read = True
    return {"trace": _trace_answer(trace)}


def _note_unseen_end(trace: FrameTrace) -> None:
    """Before Python 3.12 a thread may lose its trace function: calls end then, and nobody hears of it."""
    if hasattr(sys, "monitoring") or not trace.is_active or "greenlet" in sys.modules:
        return
    called = [frame for frame in list(trace.frames) if not frame.f_code.co_flags & PAUSES]
    if not called:
        return
    running = set()
    for frame in sys._current_frames().values():
        here: Any = frame
        while here is not None:
            running.add(here)
            here = here.f_back
    if any(frame not in running for frame in called):
        trace.fault = _UNTRACED


def end_if_unseen() -> None:
    """A thread is traced again that was not for a while: a call that has ended meanwhile could be the one."""
    trace = _held.trace
    if trace is not None:
        _note_unseen_end(trace)
        if trace.fault is not None:
            end_trace("interrupted")


def _trace_answer(trace: FrameTrace) -> dict[str, Any]:
    return {**trace.answer(), "sources": unfiled_sources(trace)}


def traced_files() -> list[str]:
    """The file of the function that is traced, if it was named with one."""
    return [] if _held.trace is None else [_held.wanted.path or _held.wanted.function.path]


def report_trace() -> None:
    """The program ends: report what nobody will be able to ask for."""
    trace, py_db = _held.trace, debugger()
    if trace is None or _held.is_read or py_db is None:
        return
    _note_unseen_end(trace)
    end_trace("ended")
    send_event(py_db, TRACE_EVENT, {"trace": _trace_answer(trace)})


def trace_functions(function: str) -> dict[str, Any]:
    """Whether a function of this name is loaded, which are called nearly so, and whether it is in C.

    A lambda is not: it goes by no name, whatever stands for it.
    """
    wanted, names = function.split("."), set()
    value = value_named(wanted) or value_named(["builtins", *wanted])
    if type(value) in _IN_C or (is_class(value) and not is_heap_type(value)):
        return {"found": False, "similar": [], "in_c": True}
    code = code_behind(value)
    if code is not None:
        return {"found": code.co_name != _LAMBDA, "similar": []}
    if is_class(value):
        own = [name for name, one in namespace_of(value).items() if is_function(one)]
        public = [name for name in own if name[0] != "_" or name == "__init__"] or own
        return {"found": False, "similar": [f"{function}.{name}" for name in public[:3]]}
    for module in list(sys.modules.values()):
        if type(module) is not types.ModuleType:
            continue
        namespace = module.__dict__
        is_own = attempt(is_own_namespace, namespace, default=False)
        roots = list(module_names(namespace))
        if not is_own and not any(root[0] == wanted[0] for root in roots):
            continue
        for path, one in attempt(lambda n=namespace: list(walk_namespace(n, 3)), default=[]):
            if one.__code__.co_name == _LAMBDA:
                continue
            whole = any(wanted == [*root, *path] for root in roots)
            if whole or (is_own and wanted == path[-len(wanted) :]):
                return {"found": True, "similar": []}
            if is_own:
                names.add(".".join(path))
    if attempt(_may_come, wanted, default=False):
        return {"found": True, "similar": []}
    bare = {name.rpartition(".")[2]: name for name in names}
    near = difflib.get_close_matches(wanted[-1], bare, n=3)
    return {"found": False, "similar": [bare[name] for name in near]}


_LAMBDA = "<lambda>"
_LISTENERS: dict[tuple[bool, bool], Any] = {
    (False, False): SettraceListener,
    (False, True): MonitorListener,
    (True, False): UntilSettraceListener,
    (True, True): UntilMonitorListener,
}


def _may_come(wanted: list[str]) -> bool:
    """Whether the first part of the name that is not loaded yet is a module that can be."""
    inside = None
    for count in range(1, len(wanted)):
        name = ".".join(wanted[:count])
        module = sys.modules.get(name)
        if module is None:
            finders = [finder for finder in sys.meta_path if hasattr(finder, "find_spec")]
            return any(finder.find_spec(name, inside) for finder in finders)
        inside = getattr(module, "__path__", None)
        if inside is None:
            break
    return False


# What the listeners ask


def fits_call(trace: FrameTrace, frame: Any, is_start: Any = None) -> bool | None:
    """Whether this is the call; None if it is one of another function."""
    if not is_meant_code(frame):
        return None
    if is_start is not None and not is_start(frame):
        return False
    return count_call(trace, frame) == trace.call


def traced_name() -> str:
    """The name of the function that is traced, as its code has it."""
    return str(_held.wanted.bare)


def is_meant_code(frame: Any) -> bool:
    """Whether the frame runs the function that is traced."""
    return bool(_held.wanted.is_code(frame))


def count_call(trace: FrameTrace, frame: Any) -> int:
    """The number of a call of that function that begins; 0 if it does not count."""
    wanted, ident = _held.wanted, threading.get_ident()
    if not (wanted.is_each_call or wanted.is_call(frame)):
        return 0
    if ident not in _held.own_threads and not _is_of_program(ident):
        return 0
    if wanted.code and not _condition_holds(trace, wanted.code, frame):
        return 0
    number: int = next(_held.entries)
    if number & 63 == 1 and not _is_debugged():  # now and then, since it takes its time
        end_trace("interrupted")
        return 0
    if number > trace.called:
        trace.called = number
    return number


def _is_debugged() -> bool:
    """Whether anybody debugs this program still."""
    try:
        py_db = debugger()
    except RecursionError:
        return True  # no frames are left to ask: the call is counted by now
    return py_db is not None and not py_db.pydb_disposed


def _is_of_program(ident: int) -> bool:
    """Whether it is a thread of the program. The debugger calls functions of libraries, too."""
    if ident in _held.other_threads:
        return False
    is_own = is_program_thread(ident)
    (_held.own_threads if is_own else _held.other_threads).add(ident)
    return is_own


def _condition_holds(trace: FrameTrace, code: Any, frame: Any) -> bool:
    try:
        return bool(as_clients_doing(eval, code, frame.f_globals, frame.f_locals))
    except BaseException as error:
        if is_from_outside(error) or wants_room(error):
            raise
        trace.complaint = attempt(exception_line, error, default=type(error).__name__)
        return True


def guarded_event(trace: FrameTrace, function: Any, *arguments: Any) -> Any:
    """Nothing that goes wrong here is the program's business."""
    try:
        return function(*arguments)
    except RecursionError:  # no more calls than where a call begins: its end has room if that had
        return with_more_room(_guarded_once, trace, function, *arguments)
    except BaseException as error:
        break_off(trace, error)
        return False


def guarded_again(trace: FrameTrace, function: Any, *arguments: Any) -> Any:
    """The same, where the program has called itself so deep that there were not frames enough for it."""
    return with_more_room(_guarded_once, trace, function, *arguments)


def _guarded_once(trace: FrameTrace, function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except BaseException as error:
        break_off(trace, error)
        return False


def break_off(trace: FrameTrace, error: BaseException) -> None:
    """The recording itself has failed: end it, and say so. What has struck it from outside is raised
    again; it goes on then, where its events do."""
    is_outside = is_from_outside(error)
    if not (is_outside and hasattr(sys, "monitoring")):
        trace.fault = attempt(exception_line, error, default="") or type(error).__name__
        end_trace("interrupted")
    if is_outside:
        raise error


def forget_trace() -> None:
    """In a forked child: the trace is its parent's."""
    end_trace("replaced")
    _held.trace = _held.listener = None


def end_trace(state: str) -> None:
    trace, listener = _held.trace, _held.listener
    if trace is not None:
        trace.finish(state)
    if listener is not None:
        attempt(listener.stop)


# Stops


def end_of_call(trace: FrameTrace, frame: Any) -> None:
    """Stop the program here: the call is about to return, or an exception to leave it."""
    with_room_to_stop(_stop_at_end, frame)


def _stop_at_end(frame: Any) -> None:
    attempt(_held.listener.stop)
    ident = threading.get_ident()
    _held.stopping.append(ident)
    try:
        attempt(stop_at_return, frame)
    finally:
        _held.stopping.remove(ident)


def _note_stop(frame: Any, event: Any) -> None:
    trace = _held.trace
    if trace is None or trace.thread is None or trace.state != "recording":
        return
    if trace.thread["ident"] == threading.get_ident():
        trace.stop_at(frame, event == "line" and hasattr(sys, "monitoring"))


def _end_at_stops() -> None:
    """Any other stop ends the trace; the relay may decide that one at an exception is none."""
    hook_suspensions("trace", before=_end_at_stop)


def _end_at_stop(thread: Any, frame: Any, event: Any, argument: Any) -> None:
    if event != "exception" and threading.get_ident() not in _held.stopping:
        attempt(_note_stop, frame, event)
        end_trace("interrupted")
