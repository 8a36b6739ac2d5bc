"""The probe: lives in the debuggee, and answers about frames and values in JSON.

Knows references, the calls, and how a call is interrupted. Refuses to know the relay, DAP and
sockets: its only way in is `call`.

It runs inside other people's programs. So it imports the standard library only, supports
Python 3.8 and later, asks types and never objects (`type(x)`, descriptors of the builtin
base, never `x.__class__`, `len(x)` or `isinstance(x, …)`), calls a `__repr__` once and
guarded, runs no property, and leaves no name and no module behind.

Several files, one namespace: those of `_PARTS` are run in this module's globals before the rest
of it. The relay sends all of them to a debuggee that cannot read them.
"""
# ruff: noqa: BLE001
# Broad excepts are the trade here: whatever the program's objects raise is an answer.

from __future__ import annotations

import collections
import itertools
import json
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from relay.adapters.python.probe_assignment import set_variable
    from relay.adapters.python.probe_breakpoints import hits, mend_breakpoints, new_hits
    from relay.adapters.python.probe_captures import set_captures, tell_captures
    from relay.adapters.python.probe_children import announce_children
    from relay.adapters.python.probe_evaluation import evaluate
    from relay.adapters.python.probe_exceptions import exception
    from relay.adapters.python.probe_frames import debugger, is_user_code
    from relay.adapters.python.probe_functions import function_places, set_function_breakpoints
    from relay.adapters.python.probe_guard import Interrupted, TroubleError, attempt, exception_line
    from relay.adapters.python.probe_inherit import debug_children
    from relay.adapters.python.probe_look import completions, hover
    from relay.adapters.python.probe_modules import loaded_modules, modules, source
    from relay.adapters.python.probe_pages import variables
    from relay.adapters.python.probe_raises import exception_condition, limit_exceptions
    from relay.adapters.python.probe_references import references
    from relay.adapters.python.probe_report import report
    from relay.adapters.python.probe_resumes import mend_resumes
    from relay.adapters.python.probe_returns import return_values
    from relay.adapters.python.probe_scopes import scopes
    from relay.adapters.python.probe_secrets import configure, reveal_in_call
    from relay.adapters.python.probe_snapshot import snapshot
    from relay.adapters.python.probe_stdin import watch_input
    from relay.adapters.python.probe_steps import mend_steps, stop_watching
    from relay.adapters.python.probe_stops import announce_stops
    from relay.adapters.python.probe_tasks import tasks
    from relay.adapters.python.probe_threads import (
        jump_lines,
        resume_all,
        resume_thread,
        thread_states,
    )
    from relay.adapters.python.probe_trace import (
        forget_trace,
        tell_trace,
        trace_functions,
        trace_read,
        trace_start,
    )
    from relay.adapters.python.probe_types import exact
    from relay.adapters.python.probe_writers import learn_array

_PARTS = (
    "secrets",
    "guard",
    "types",
    "text",
    "writers",
    "contents",
    "attributes",
    "scopes",
    "references",
    "variables",
    "pages",
    "returns",
    "snapshot",
    "modules",
    "frames",
    "exceptions",
    "expressions",
    "evaluation",
    "assignment",
    "look",
    "children",
    "steps",
    "resumes",
    "captures",
    "breakpoints",
    "functions",
    "trace_values",
    "trace_record",
    "trace_monitor",
    "trace_settrace",
    "trace",
    "raises",
    "stops",
    "expected",
    "inherit",
    "stdin",
    "threads",
    "awaits",
    "asyncio",
    "trio",
    "tasks",
    "report",
)


def _load_parts() -> None:
    """Run the other files here, from their .pyc files if there are any."""
    import importlib.machinery

    for name in _PARTS:
        part = f"probe_{name}.py"
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), part)
        code = importlib.machinery.SourceFileLoader(part, path).get_code(part)
        if code is None:
            raise ImportError("no code in " + path)
        exec(code, globals())


if "plan_of" not in globals():
    _load_parts()


def threads() -> dict[str, Any]:
    main = threading.main_thread()
    found = [t for t in threading.enumerate() if not getattr(t, "is_pydev_daemon_thread", False)]
    return {
        "threads": [
            {
                "ident": thread.ident,
                "native_id": getattr(thread, "native_id", None),
                "name": attempt(lambda t=thread: exact(str(t.name)), default=""),
                "daemon": bool(thread.daemon),
                "main": thread is main,
            }
            for thread in found
        ]
    }


# --------------------------------------------------------------------------- interrupting

# The C functions: the wrappers in `signal` look up enumerations, ten times as slow.
_c_signal: Any = sys.modules["_signal"]
_get_handler, _set_handler = _c_signal.getsignal, _c_signal.signal
# A realtime signal is the program's neither by custom nor by default, and wakes a blocked
# main thread just as well as SIGINT: an interrupted call can then not be taken for Ctrl-C.
_SIGNAL = int(signal.SIGRTMAX) - 2 if hasattr(signal, "SIGRTMAX") else int(signal.SIGINT)


class _Running:
    """One call under way. `open` while it may be interrupted."""

    def __init__(self, call: Any) -> None:
        self.call = call
        self.ident = threading.get_ident()
        self.main = self.ident == threading.main_thread().ident
        self.open = False
        self.pending = False
        self.sigint = False
        self.saved: list[tuple[int, Any, Any]] = []

    def begin(self) -> None:
        if self.main:
            self._handle(_SIGNAL, self._on_interrupt)
            if _SIGNAL != signal.SIGINT:
                self._handle(signal.SIGINT, self._on_sigint)
        self.open = True
        if self.call is not None:
            _running[self.call] = self

    def _handle(self, number: int, handler: Any) -> None:
        previous = _get_handler(number)
        if previous is not None:  # else it was set in C, and could not be restored
            _set_handler(number, handler)
            self.saved.append((number, previous, handler))

    def _on_interrupt(self, number: int, frame: Any) -> None:
        if not self.pending:
            self.sigint = True  # one number for both, and this one was the program's
            return
        self.pending = False
        if self.open:
            raise Interrupted

    def _on_sigint(self, number: int, frame: Any) -> None:
        self.sigint = True

    def interrupt(self) -> bool:
        """Under the lock, from another thread. True if the call was still there."""
        if not self.open:
            return False
        if not self.main:
            self.pending = True
            _raise_in(self.ident, Interrupted)
        elif any(number == _SIGNAL for number, _, _ in self.saved):
            self.pending = True
            signal.pthread_kill(self.ident, _SIGNAL)
        else:
            return False
        return True

    def interrupted(self) -> _Answer:
        self.pending = False
        return _Answer('{"error":{"kind":"interrupted","message":"the call was interrupted"}}')

    def end(self) -> None:
        """No interrupt reaches this thread after this. May itself be interrupted: repeat it."""
        got = _lock.acquire(timeout=1)
        try:
            self.open = False
            if _running.get(self.call) is self:
                del _running[self.call]
        finally:
            if got:
                _lock.release()
        # What is still under way must land here, not in the program. It cannot be taken back: a
        # thread of 3.11 whose pending exception was cleared misses its next step, or spins.
        deadline = time.monotonic() + 1
        while self.pending and time.monotonic() < deadline:
            time.sleep(0.0005)
        while self.saved:
            number, previous, handler = self.saved[-1]
            if _get_handler(number) == handler:  # the expression may have set its own
                _set_handler(number, previous)
            self.saved.pop()
        if self.sigint:
            self.sigint = False
            _hold_sigint()


_running: dict[Any, _Running] = {}
_lock = threading.Lock()


def _raise_in(ident: int, error: type[BaseException]) -> None:
    """Make another thread raise at its next bytecode."""
    import ctypes

    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    raise_in(ctypes.c_ulong(ident), ctypes.py_object(error))


_held_sigints: list[bool] = []


def _hold_sigint() -> None:
    """A Ctrl-C that came during a call is the program's: kept until it runs on."""
    # asyncio has heard of it already, through its wakeup socket.
    if getattr(_get_handler(signal.SIGINT), "__name__", "") != "_sighandler_noop":
        _held_sigints[:] = [True]


def _hand_over_sigint() -> None:
    """Send the program its Ctrl-C a moment after it has been resumed.

    By a thread that runs C functions only: one that ran Python would be known to the debugger
    and to `threading`, and late ones leave an error message at the end on 3.13.
    """
    if not _held_sigints:
        return
    _held_sigints.clear()
    module: Any = sys.modules["_thread"]
    start = getattr(module, "_original_start_new_thread", module.start_new_thread)
    nap = itertools.starmap(time.sleep, [(0.1,)])
    send = itertools.starmap(os.kill, [(os.getpid(), signal.SIGINT)])
    start(collections.deque, (itertools.chain(nap, send), 0))


def interrupt(target: Any) -> dict[str, Any]:
    """Interrupt the running call with this id, and nothing else. For pydevd's own thread.

    A thread other than the main one notices when it next runs Python code: no Python can wake
    it from a sleep or from C.
    """
    got = _lock.acquire(timeout=1)
    try:
        running = _running.get(target)
        return {"interrupted": running is not None and running.interrupt()}
    finally:
        if got:
            _lock.release()


# --------------------------------------------------------------------------- settling in


def release() -> dict[str, Any]:
    """Forget every reference; call it before the program runs on."""
    references.release()
    _hand_over_sigint()
    return {}


def flush() -> dict[str, Any]:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name, None)
        if stream is not None:
            attempt(lambda s=stream: s.flush())
    return {}


def install() -> dict[str, Any]:
    """Mend what a debuggee started or attached by others lacks. Says what it could do."""
    return {
        "line_buffering": attempt(_buffer_lines, default=False),
        "flush_on_suspend": attempt(_flush_on_suspend, default=False),
        "fork": attempt(_free_forks, default=False),
        "children": attempt(announce_children, default=False),
        "last_words": attempt(_send_all_at_end, default=False),
        "steps": attempt(mend_steps, default=False),
        "resumes": attempt(mend_resumes, default=False),
        "breakpoints": attempt(mend_breakpoints, default=False),
        "stops": attempt(announce_stops, default=False),
    }


def _buffer_lines() -> bool:
    done = False
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
            done = True
    return done


def _flush_on_suspend() -> bool:
    py_db = debugger()
    wait = py_db.do_wait_suspend
    if getattr(wait, "debug_relay", False):
        return True

    def do_wait_suspend(*arguments: Any, **named: Any) -> Any:
        flush()
        return wait(*arguments, **named)

    do_wait_suspend.debug_relay = True  # type: ignore[attr-defined]
    py_db.do_wait_suspend = do_wait_suspend
    return True


# The relay reads all the time; one that does not for this long is as good as dead.
_LAST_WORDS_SECONDS = 30.0


class _LastWord:
    """A command for pydevd's writer: an event that the relay answers with a `threads` request.

    Only an answer proves that all was heard: the stock adapter throws away what it has not
    passed on when the program ends.
    """

    as_dict = None

    def __init__(self) -> None:
        self.id = sys.modules["_pydevd_bundle.pydevd_comm_constants"].CMD_RETURN
        self.heard = threading.Event()

    def send(self, sock: Any) -> None:
        body = {"hits": attempt(new_hits, default={})}
        event = {"type": "event", "event": "relayEnding", "body": body}
        sys.modules["pydevd"].NetCommand(self.id, 0, event, is_json=True).send(sock)

    # As a listener of pydevd's.

    def before_send(self, message: Any) -> None:
        pass

    def after_receive(self, message: Any) -> None:
        if message.get("command") == "threads":
            self.heard.set()


class _Presence:
    """Whether a client is attached; a listener of pydevd's.

    A process that was attached to keeps its connection with the stock adapter after the
    client has gone: at its end nobody would answer, and it must not wait.
    """

    def __init__(self) -> None:
        self.is_here = True

    def before_send(self, message: Any) -> None:
        pass

    def after_receive(self, message: Any) -> None:
        if message.get("command") in ("attach", "launch", "disconnect"):
            self.is_here = message["command"] != "disconnect"


def _send_all_at_end() -> bool:
    """At the end pydevd gives its writer half a second, and then throws away what is queued:
    logpoints of a busy program are thousands."""
    py_db = debugger()
    dispose = py_db.dispose_and_kill_all_pydevd_threads
    if getattr(dispose, "sends_all", False):
        return True
    relay = _Presence()
    py_db.add_dap_messages_listener(relay)

    def dispose_and_kill_all_pydevd_threads(*arguments: Any, **named: Any) -> Any:
        if relay.is_here:
            attempt(_await_relay, py_db)
        return dispose(*arguments, **named)

    dispose_and_kill_all_pydevd_threads.sends_all = True  # type: ignore[attr-defined]
    py_db.dispose_and_kill_all_pydevd_threads = dispose_and_kill_all_pydevd_threads
    return True


def _await_relay(py_db: Any) -> None:
    talkers = (py_db.writer, py_db.reader)
    if threading.get_ident() in [thread.ident for thread in talkers]:
        return  # the connection is at its end
    attempt(tell_captures)
    attempt(tell_trace)
    word = _LastWord()
    py_db.add_dap_messages_listener(word)
    py_db.writer.add_command(word)
    deadline = time.monotonic() + _LAST_WORDS_SECONDS
    while all(t.is_alive() for t in talkers) and time.monotonic() < deadline:
        if word.heard.wait(0.1):
            return


_forks_freed: list[bool] = []


def _free_forks() -> bool:
    if not hasattr(os, "register_at_fork"):
        return False
    if not _forks_freed:
        os.register_at_fork(after_in_child=_after_fork)
        _forks_freed.append(True)
    return True


def _after_fork() -> None:
    """A forked child has the debugger's hooks but none of its threads: a breakpoint would stop
    it for good. pydevd debugs the child by itself, after this, where it was told to."""
    attempt(references.release)
    attempt(stop_watching)
    attempt(forget_trace)
    attempt(_drop_debugger)


def _drop_debugger() -> None:
    py_db = debugger()
    attempt(_stop_tracing)
    if py_db is None:
        return
    for thread in (py_db.reader, py_db.writer):
        # Closes this process's end only: the parent's connection lives on.
        attempt(lambda t=thread: t.sock.close())
    attempt(lambda: py_db.created_pydb_daemon_threads.clear())
    attempt(lambda: sys.modules["_pydevd_bundle.pydevd_constants"].set_global_debugger(None))


def _stop_tracing() -> None:
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None and monitoring.get_tool(monitoring.DEBUGGER_ID) == "pydevd":
        _stop_monitoring(monitoring)
        return
    # pydevd has put a function that warns in the place of sys.settrace; its own refuses to be
    # called where pydevd uses sys.monitoring.
    settrace = getattr(sys.modules.get("pydevd_tracing"), "SetTrace", sys.settrace)
    settrace(None)
    threading.settrace(None)


def _stop_monitoring(monitoring: Any) -> None:
    tool = monitoring.DEBUGGER_ID
    monitoring.set_events(tool, 0)
    for name in ("PY_START", "PY_RESUME", "LINE", "JUMP", "PY_RETURN", "PY_UNWIND", "RAISE"):
        monitoring.register_callback(tool, getattr(monitoring.events, name), None)
    monitoring.free_tool_id(tool)


class _Policy:
    """Which of an exception's raise events is worth a stop.

    pydevd reports an exception in each frame that it unwinds. Here it is reported once: in the
    frame that raised, or, with `user_code_only`, in the innermost frame of the program's own.
    """

    user_code_only = False
    first_raise_only = False
    types: tuple[str, ...] = ()
    original: Any = None

    def excludes(self, exception_breakpoint: Any, trace: Any) -> Any:
        if self.original(exception_breakpoint, trace):
            return True
        if trace is None or not _is_refined(exception_breakpoint):
            return False
        if self.user_code_only and not is_user_code(trace.tb_frame):
            return True
        if not self.first_raise_only:
            return False
        deeper = trace.tb_next
        while deeper is not None:
            if not self.user_code_only or is_user_code(deeper.tb_frame):
                return True
            deeper = deeper.tb_next
        return False


_policy = _Policy()


def _is_refined(exception_breakpoint: Any) -> bool:
    caught = debugger().break_on_caught_exceptions
    # One pydevd object may serve "user unhandled" too, which has rules of its own.
    shared = getattr(exception_breakpoint, "notify_on_user_unhandled_exceptions", False)
    return not shared and any(found is exception_breakpoint for found in caught.values())


def refine_exceptions(user_code_only: bool = True, first_raise_only: bool = True) -> dict[str, Any]:
    """Stop once per raised exception; say it again after each setExceptionBreakpoints."""
    py_db = debugger()
    _policy.user_code_only, _policy.first_raise_only = user_code_only, first_raise_only
    caught = list(getattr(py_db, "break_on_caught_exceptions", {}).values())
    if all(hasattr(py_db, name) for name in ("exclude_exception_by_filter", "in_project_scope")):
        if _policy.original is None:
            _policy.original = py_db.exclude_exception_by_filter
        py_db.exclude_exception_by_filter = _policy.excludes
        return {"refined": len(caught), "by": "probe"}
    for found in caught:
        found.ignore_libraries = user_code_only
        found.notify_on_first_raise_only = first_raise_only
    return {"refined": len(caught), "by": "pydevd"}


# --------------------------------------------------------------------------- the way in

_CALLS: dict[str, Callable[..., dict[str, Any]]] = {
    function.__name__: function
    for function in (
        scopes,
        variables,
        evaluate,
        set_variable,
        snapshot,
        exception,
        return_values,
        modules,
        threads,
        flush,
        release,
        install,
        debug_children,
        refine_exceptions,
        hits,
        set_function_breakpoints,
        function_places,
        set_captures,
        tell_captures,
        trace_start,
        trace_read,
        trace_functions,
        limit_exceptions,
        exception_condition,
        configure,
        hover,
        completions,
        loaded_modules,
        source,
        watch_input,
        thread_states,
        resume_thread,
        resume_all,
        jump_lines,
        tasks,
        report,
    )
}
_encode = json.JSONEncoder(separators=(",", ":")).encode
_decode = json.JSONDecoder().decode


class _Answer(str):
    """JSON that pydevd shows as it is: without quotes, and whole."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str.__str__(self)


def call(text: str) -> _Answer:
    """Answer one request: {"do": name, "call": id, "stop": number, …arguments} as JSON."""
    try:
        request = _decode(text)
        name, stop = request.pop("do"), request.pop("stop", None)
        running_id = request.pop("call", None)
        reveal = request.pop("reveal", False)
        if stop is not None:
            references.at_stop(stop)
        if name == "interrupt":
            return _Answer(_encode(dict(interrupt(**request), ok=True)))
        reveal_in_call(reveal)
        try:
            return _guarded(_CALLS[name], request, running_id)
        finally:
            reveal_in_call(False)
    except Exception as error:
        message = "the probe was asked wrongly: " + exception_line(error)
        return _Answer(_encode({"error": {"kind": "request", "message": message}}))


def _guarded(function: Callable[..., dict[str, Any]], arguments: Any, call_id: Any) -> _Answer:
    running = _Running(call_id)
    try:
        running.begin()
        answer = _Answer(_encode(_answer(function, arguments)))
    except Interrupted:
        answer = running.interrupted()
    while True:
        try:
            running.end()
            return answer
        except Interrupted:
            answer = running.interrupted()


def _answer(function: Callable[..., dict[str, Any]], arguments: Any) -> dict[str, Any]:
    try:
        learn_array()
        return dict(function(**arguments), ok=True)
    except TroubleError as trouble:
        return trouble.answer
    except Interrupted:
        raise
    except BaseException as error:
        return {"error": {"kind": "internal", "message": exception_line(error)[:2000]}}
