"""pydevd in the debuggee, on one socket, tamed.

Knows pydevd's private names; `load.py` has looked at each of them. Corrects what pydevd
costs or changes: the sleep at its start and the polls at its end, events lost at exit, silence
after an unknown request, a log on the program's stderr, forked children. Knows nothing of how a
program is run, nor of the relay.

Standard library only, Python 3.8 and newer; imports nothing of its own package.
"""

from __future__ import annotations

import atexit
import itertools
import os
import queue
import signal
import socket
import sys
import threading
import types
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# pydevd finds "uncaught" by a frame named _exec in a file named pydevd, and reads `t` from it.
EXEC_SOURCE = "def _exec(t, call, *args):\n    call(*args)\n"

NO_SIGPIPE = getattr(socket, "MSG_NOSIGNAL", 0)
BATCH_BYTES = 256 * 1024
GO = "configurationDone"
# What a resume says comes right after its answer: both go out together, and wake the relay once.
RESUMING = frozenset(("continue", "next", "stepIn", "stepOut"))
SAID_SECONDS = 0.001
CONFIRMING_SECONDS = 1.0
# The relay reads all the time; one that does not for this long is as good as dead.
LAST_WORDS_SECONDS = 30.0


# --- the link ---------------------------------------------------------------------------------


class Link:
    """The socket, and the PyDB that talks on it. One per process; a forked child drops it.

    hears_of_forks: who makes it calls `forget` in a forked child; else it is seen to here.
    """

    def __init__(
        self,
        pydevd: types.ModuleType,
        py_db: Any,
        sock: socket.socket,
        *,
        hears_of_forks: bool = False,
    ) -> None:
        self.pydevd = pydevd
        self.py_db = py_db
        self.sock = sock
        self.detached = False  # the relay let go: the end of the socket is no reason to die
        self.over = False  # the last event is queued, or this is a child: nothing more comes
        self._exec = make_exec(pydevd)
        self._numbers = take_thread_numbers()
        self._probe = pydevd._debug_relay_probe
        self._probe.apply_patch(
            "breakpoints", self._probe.patch_breakpoints
        )  # before the first one comes
        self._probe.apply_patch("tracing", self._probe.trace_when_needed)
        self._probe.apply_patch("entry", self._probe.patch_entry)
        self._keep_debugger()
        self._connect()
        self._probe.report_debugger()
        redirect_log(self)
        # Registered before anything of the program's: runs after all of it.
        atexit.unregister(pydevd.stoptrace)
        atexit.register(self.finish)
        if not hears_of_forks:
            os.register_at_fork(after_in_child=self.forget)

    def _connect(self) -> None:
        # What PyDB.initialize_network does, without its sleep of 0.1 s.
        self.py_db.writer = writer_class(self.pydevd)(self.sock, self.py_db)
        self.py_db.reader = reader_class(self.pydevd)(self)
        self.py_db.writer.start()
        self.py_db.reader.start()

    def _keep_debugger(self) -> None:
        """pydevd ends itself once no thread of the program is alive, and Python counts the main one as ended before
        exit functions, and before a forked child leaves: what is still to be said would be lost. `finish` ends it."""
        dispose = self.py_db.dispose_and_kill_all_pydevd_threads

        def dispose_if_asked(*args: Any, **named: Any) -> None:
            if _frame_at(1).f_code.co_name != "process_internal_commands":
                dispose(*args, **named)

        self.py_db.dispose_and_kill_all_pydevd_threads = dispose_if_asked

    def hide_files(self, files: tuple[str, ...]) -> None:
        """Frames of these files, of ours and of debugpy are neither shown nor stepped into; in a fork, nor are those
        that its parent has hidden: its stack begins with the parent's."""
        pydevd: Any = self.pydevd
        files = pydevd._debug_relay_hidden = (*files, *getattr(pydevd, "_debug_relay_hidden", ()))
        debugpy = os.path.join(os.path.dirname(sys.modules["debugpy"].__file__ or ""), "")
        here = os.path.dirname(__file__)
        probe = os.path.join(os.path.dirname(here), "probe", "")
        hidden = (*files, os.path.join(here, ""), probe, debugpy)
        self.pydevd.PyDevdAPI().set_dont_trace_start_end_patterns(self.py_db, hidden, ())

    def wait_until_configured(self) -> None:
        """Blocks until `configurationDone`; breakpoints work from then on, in every thread."""
        self.py_db.block_until_configuration_done()
        # A program that goes straight into C code may keep the GIL: nothing is sent from then on.
        self.py_db.writer.confirmed.wait(CONFIRMING_SECONDS)
        self.py_db.patch_threads()
        self.py_db._create_pydb_command_thread()

    def hold_main(self) -> None:
        """Say that `run` will run the program's main code: it sees what that ends with."""
        self._probe.start_holds_main()

    def run(self, call: Any, *args: Any) -> None:
        """Calls `call(*args)` as the program: what it raises is `uncaught`."""
        self.begin()
        if call is exec:
            args = (self._probe.code_to_run(args[0]), *args[1:])
        thread = self._current_thread()
        about: Any = _Untraced
        try:
            self._exec(thread, call, *args)
        except BaseException as error:
            # A step may lead here: pydevd is to see none of it. No Python is called to say so.
            about = getattr(thread, "additional_info", _Untraced)
            about.is_tracing += 1
            self._probe.process_failed(error)
            raise
        else:
            about = getattr(thread, "additional_info", _Untraced)
            about.is_tracing += 1
        finally:
            self._probe.main_is_over()
            self._probe.function_places()  # while what the program has defined is still there
            self._probe.apply_patch("exit functions", self._probe.keep_main_thread)
            about.is_tracing -= 1

    def begin(self) -> None:
        """From here on this thread is the program."""
        threading._counter = self._numbers  # type: ignore[attr-defined]
        thread = self._current_thread()
        self.py_db.notify_thread_created(self.pydevd.get_current_thread_id(thread), thread)
        self.py_db.enable_tracing()  # on some versions this itself runs `uname`
        reported = self._probe.limitations()
        self._probe.patch_program()
        self._probe.apply_patch("own stops", self._probe.keep_own_stops)
        if self._probe.limitations() != reported:
            self._probe.report_debugger()
        self._probe.watch_stdin()

    def _current_thread(self) -> Any:
        """As pydevd knows it, whose `threading` may be a copy of the program's."""
        return vars(self.pydevd)["threading"].current_thread()

    def own_code(self) -> set[types.CodeType]:
        """The code of this file that can be at the root of an exception's traceback."""
        return {Link.run.__code__, self._exec.__code__}

    def take_probe_request(self, contents: bytes) -> bool:
        """Whether the probe has been asked, which answers then; else it is pydevd's to answer."""
        return bool(self._probe.take_probe_request(self.py_db, contents, self._probe.call))

    def answer_failure(self, request: dict[str, Any], message: str) -> None:
        """Answers a request of which pydevd lost hold."""
        response = {
            "type": "response",
            "request_seq": request.get("seq", 0),
            "command": request.get("command", ""),
            "success": False,
            "message": message,
        }
        self.send(response)

    def send(self, message: dict[str, Any]) -> None:
        """Queues a DAP message; pydevd numbers it."""
        kind = sys.modules["_pydevd_bundle.pydevd_comm_constants"].CMD_RETURN
        self.py_db.writer.add_command(self.pydevd.NetCommand(kind, 0, message, is_json=True))

    def closed(self) -> None:
        """The relay's end is gone. Called on pydevd's reader thread."""
        if self.over:
            return
        if self.detached:
            self.over = True
            self.pydevd.stoptrace()
            self.leave_program()
        else:
            kill_own_group()

    def leave_program(self) -> None:
        """Take out of the program what the probe has put there; it runs on undebugged."""
        self._probe.leave_program()

    def finish(self) -> None:
        """Sends all that is queued, then `terminated`. Runs after the program's last line."""
        if self.over:
            return
        self._probe.program_ends()
        self.over = True
        self._probe.give_up_entry()
        self._stop_tracing()
        self._probe.report_hits()
        self._probe.report_captures()
        self._probe.report_trace()
        self._probe.report_calls()
        self._probe.report_other_copies()
        # What dies after this finds a probe that has lost its names: it must not be called.
        self.leave_program()
        writer = self.py_db.writer
        writer.do_kill_pydev_thread()
        writer.join(LAST_WORDS_SECONDS)

    def forget(self) -> None:
        """In a forked child: no debugger, no socket, nothing to wait for, nothing to kill."""
        if self.over:
            return
        self.over = True
        self._probe.stop_watching()
        self._probe.forget_tracing()
        self._stop_tracing()
        self.py_db.created_pydb_daemon_threads = {}
        self.pydevd.set_global_debugger(None)
        sys.modules["_pydev_bundle.pydev_monkey"].undo_patch_thread_modules()
        atexit.unregister(self.finish)
        self.sock.close()

    def _stop_tracing(self) -> None:
        self.py_db.pydb_disposed = True
        if self.pydevd.PYDEVD_USE_SYS_MONITORING:
            monitoring = sys.modules["_pydevd_sys_monitoring.pydevd_sys_monitoring"]
            monitoring.stop_monitoring(all_threads=True)
        else:
            tracing = sys.modules["pydevd_tracing"]
            tracing.SetTrace(None)
            tracing.restore_sys_set_trace_func()
            threading.settrace(None)  # type: ignore[arg-type,unused-ignore]


class _Untraced:
    """In the place of what pydevd knows of a thread, where it knows nothing."""

    is_tracing = 0


def make_exec(pydevd: types.ModuleType) -> Any:
    """A function with the name and the file by which pydevd knows the program's root."""
    namespace: dict[str, Any] = {"__name__": "pydevd"}
    exec(compile(EXEC_SOURCE, pydevd.__file__ or "pydevd.py", "exec"), namespace)
    return namespace["_exec"]


def take_thread_numbers() -> Any:
    """What counts the program's threads for their names (`Thread-1`): other threads go by another."""
    numbers = threading._counter  # type: ignore[attr-defined]
    threading._counter = itertools.count(1).__next__  # type: ignore[attr-defined]
    return numbers


# A program may put a mock in the place of each, and the probe asks the relay, which has gone, before kills.
_process_id, _kill, _kill_group = os.getpid, os.kill, os.killpg
_frame_at = sys._getframe


def kill_own_group() -> None:
    """Ends this process and its children at once; other groups are none of its business."""
    if os.getpgrp() == _process_id():
        _kill_group(_process_id(), signal.SIGKILL)
    _kill(_process_id(), signal.SIGKILL)


# --- the wire ---------------------------------------------------------------------------------


class Listener:
    """Sees each request (pydevd's public hook) before pydevd acts on it."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.request: dict[str, Any] = {}

    def before_send(self, message: dict[str, Any]) -> None:
        pass

    def after_receive(self, message: dict[str, Any]) -> None:
        self.request = message
        command = str(message.get("command", ""))
        if command == "disconnect":
            arguments = message.get("arguments") or {}
            self._link.detached = not arguments.get("terminateDebuggee")
            if self._link.detached:
                self._link.leave_program()
        if not hasattr(
            self._link.pydevd.PyDevJsonCommandProcessor, f"on_{command.lower()}_request"
        ):
            # pydevd would print into the program's stdout and never answer. Raised here, it
            # becomes a failure response.
            raise NotImplementedError(f"{command} is not supported")


def reader_class(pydevd: types.ModuleType) -> Callable[[Link], Any]:
    """pydevd's reader thread, made to die with the relay and to survive a bad request."""
    base: Any = pydevd.ReaderThread

    class Reader(base):  # type: ignore[misc]
        def __init__(self, link: Link) -> None:
            processor, commands = pydevd.PyDevJsonCommandProcessor, pydevd.process_net_command
            base.__init__(self, link.sock, link.py_db, processor, commands)
            self._link = link
            self._listener = Listener(link)
            link.py_db.add_dap_messages_listener(self._listener)
            self._process: Any = self.process_net_command_json
            self.process_net_command_json: Any = self._process_or_answer

        def _process_or_answer(self, py_db: Any, contents: bytes) -> None:
            try:
                if not self._link.take_probe_request(contents):
                    self._process(py_db, contents)
            except Exception as error:  # noqa: BLE001
                self._link.answer_failure(
                    self._listener.request, f"{type(error).__name__}: {error}"
                )

        def _terminate_on_socket_close(self) -> None:
            self._link.closed()

    return Reader


def writer_class(pydevd: types.ModuleType) -> Callable[[socket.socket, Any], Any]:
    """pydevd's writer thread, which sends in batches, never polls, and ends with the last event."""
    base: Any = pydevd.WriterThread
    last: int = sys.modules["_pydevd_bundle.pydevd_comm_constants"].CMD_EXIT

    class Writer(base):  # type: ignore[misc]
        def __init__(self, sock: socket.socket, py_db: Any) -> None:
            base.__init__(self, sock, py_db)
            self._socket = sock
            # Made in C: a KeyboardInterrupt cannot come between a put and its wake-up.
            self._cmd_queue: Any = queue.SimpleQueue()
            self.confirmed = threading.Event()
            """Set once the answer to `configurationDone` is sent."""

        def _on_run(self) -> None:
            try:
                while self._send_batch():
                    pass
            except OSError:
                self._kill_received = True  # nobody listens: take no more

        def _send_batch(self) -> bool:
            batch = Batch(self._socket)
            command = self._cmd_queue.get()
            confirms = False
            while True:
                command.send(batch)
                answered = (command.as_dict or {}).get("command")
                confirms = confirms or answered == GO
                if command.id == last or batch.is_full():
                    break
                try:
                    command = self._cmd_queue.get(
                        timeout=SAID_SECONDS if answered in RESUMING else 0
                    )
                except queue.Empty:
                    break
            batch.flush()
            if confirms:
                self.confirmed.set()
            return bool(command.id != last)

    return Writer


class Log:
    """Where pydevd complains to: DAP's `telemetry`, so that the program's stderr stays its own."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def write(self, text: str) -> None:
        if not self._link.over:
            body = {"category": "telemetry", "output": text}
            self._link.send({"type": "event", "event": "output", "body": body})

    def flush(self) -> None:
        pass


def redirect_log(link: Link) -> None:
    """Sends pydevd's log to the relay, unless the environment asked for a log of its own."""
    log = sys.modules["_pydev_bundle.pydev_log"]._LoggingGlobals
    if not any(name.startswith(("PYDEVD_DEBUG", "DEBUGPY_LOG")) for name in os.environ):
        log._debug_stream = Log(link)
        log._debug_stream_initialized = True


class Batch:
    """Looks like a socket to NetCommand.send, and sends in one piece what it was given."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._parts: list[bytes] = []
        self._size = 0
        self.when_sent: list[Callable[[None], Any]] = []
        """Called after `flush`."""

    def sendall(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)

    def is_full(self) -> bool:
        return self._size >= BATCH_BYTES

    def flush(self) -> None:
        self._sock.sendall(b"".join(self._parts), NO_SIGPIPE)
        for call in self.when_sent:
            call(None)
