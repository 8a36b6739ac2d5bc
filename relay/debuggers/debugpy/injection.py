"""Putting the debugger into a running process: the code is queued there, and the process runs it.

debugpy's own injector runs the code in the thread that gdb has just interrupted. If that thread
was waiting for the GIL, as it mostly is in a program with busy threads, both hang for ever. So the
code is only queued here (Py_AddPendingCall needs no GIL), which takes a tenth of a second; the main
thread runs it at its next bytecode. A main thread that sleeps in a system call runs no bytecode:
it is interrupted as debugpy does it, if no other thread could have the GIL. The calls are made by
a program of our own where it can, else by gdb.

Source: CPython Py_AddPendingCall, proc(5), gdb "Calling program functions"; contract section 5.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import debugpy
import trio

from relay.actions import Action, Suggestion
from relay.debuggers.debugpy.debuggee.pydevd import load
from relay.debuggers.debugpy.join_listener import PATCHED_EVENT, TAKEN_EVENT, TOO_LATE_EVENT
from relay.debuggers.debugpy.processes import LISTEN, obstacle_to_tracing
from relay.environments import own_environment
from relay.errors import AttachFailed
from relay.process import foreign_calls
from relay.process.foreign_calls import CAN_CALL, ForeignCall

log = logging.getLogger("relay.session")

CALL_SECONDS = 20.0
"""How long it may take to read a process's symbols and make one call."""

TIDYING_SECONDS = 10.0
"""How long a debugger that was there before may take to be gone: debugpy takes up to 1 s."""

GIVE_UP_SECONDS = 5.0
LOOK_SECONDS = 0.25
"""Between two looks at a process that does not run the code."""

LOOKS_AT_NAPS = 4
"""After so many the sleeps of the main thread, each a short one, are those of C code: between two of
Python's it would have run what is queued."""

SLEEPS = ("35", "230")
"""Numbers of nanosleep and clock_nanosleep, on x86-64."""

ANOTHER = "Another debugger may just be attaching to that process: try again"
"""What to do where the system would let us trace a process, and did not: it has one tracer at a time."""

_DEBUGPY = Path(debugpy.__file__).parent
_VENDORED = _DEBUGPY / "_vendored/pydevd/pydevd_attach_to_process"

_INJECTED = """
import importlib.util, json, os, socket, sys, time
def let_go():
    # While a debugger that was detached tidies up, another one would not connect.
    pydevd = sys.modules.get("pydevd")
    old = pydevd and pydevd.get_global_debugger()
    deadline = time.monotonic() + {tidying!r}
    while old and old.pydb_disposed and pydevd.get_global_debugger() is old:
        if time.monotonic() > deadline:
            break
        time.sleep(0.01)
def replace():
    # One that the program has imported, and not used: what it has of it stays with it.
    debugpy = sys.modules.get("debugpy")
    version = [int(part) for part in str(getattr(debugpy, "__version__", "0")).split(".")
               if part.isdigit()]
    if "pydevd" not in sys.modules and version < {oldest!r}:
        for name in [name for name in sys.modules if name.partition(".")[0] == "debugpy"]:
            del sys.modules[name]
def leave_servers_out():
    spec = importlib.util.spec_from_file_location("_debug_relay_load", {load!r})
    load = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(load)
    if "debugpy" not in sys.modules:
        load.import_package("debugpy", {debugpy!r})
    load.leave_servers_out()
def attach():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # busy threads would take the GIL for 5 ms at each file read
    quiet = "PYDEVD_DISABLE_FILE_VALIDATION"  # else pydevd warns on the program's standard error
    was_quiet = os.environ.get(quiet)
    os.environ[quiet] = "1"  # read when it is imported
    sys.path.insert(0, {server!r})
    try:
        let_go()
        replace()
        leave_servers_out()
        import attach_pid_injected
        try:
            import debugpy.server  # which takes seconds on a busy machine
        except Exception:
            pass  # as it will there, which says so
        if is_awaited():
            with_end_of_wait(attach_pid_injected.attach)
    except BaseException:
        pass  # it has given its reason; the program must not get the exception
    finally:
        sys.path.remove({server!r})
        del os.environ[quiet]
        if was_quiet is not None:
            os.environ[quiet] = was_quiet
        sys.setswitchinterval(interval)
def with_end_of_wait(attach):
    # This thread waits for the end of the handshake, in pydevd also where that has broken off.
    import debugpy, pydevd
    class BrokenOff(BaseException):
        pass
    def wait_for_ready_to_run(py_db):
        while not py_db.ready_to_run:
            if py_db.pydb_disposed:
                raise BrokenOff
            py_db.process_internal_commands()
            py_db._py_db_command_thread_event.clear()
            py_db._py_db_command_thread_event.wait(0.02)
    def connect(*given, **named):
        try:
            original(*given, **named)
        except BrokenOff:
            pass
    original, debugpy.connect = debugpy.connect, connect
    wait, pydevd.PyDB.wait_for_ready_to_run = pydevd.PyDB.wait_for_ready_to_run, wait_for_ready_to_run
    try:
        attach({setup!r})
    finally:
        debugpy.connect, pydevd.PyDB.wait_for_ready_to_run = original, wait
def can_be_debugged():
    threading = sys.modules.get("threading")
    if threading is None or threading.main_thread().is_alive():
        return True
    # pydevd ends itself where no thread keeps the interpreter from its end.
    if all(one.daemon or not one.is_alive() for one in threading.enumerate()):
        return False
    import _thread
    try:
        _thread.start_new_thread(int, ())
    except RuntimeError:  # as 3.12.0 and 3.12.1 do while there are others still
        return False
    return True
def is_taken():
    # By another client: debugpy would take its place, and it would wait for stops that never come.
    pydevd = sys.modules.get("pydevd")
    old = pydevd and pydevd.get_global_debugger()
    link = getattr(old and not old.pydb_disposed and old.writer, "sock", None)
    if link is None:
        return False
    try:
        return link.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
def is_patched():
    # Its threads are greenlets, and would be the debugger's; where its hub stands, none may wait.
    monkey = sys.modules.get("gevent.monkey")
    patcher = sys.modules.get("eventlet.patcher")
    return bool(monkey and monkey.is_module_patched("threading")) or bool(
        patcher and patcher.is_monkey_patched("thread")
    )
def refuse(event):
    text = json.dumps({{"seq": 1, "type": "event", "event": event, "body": {{"token": {token!r}}}}})
    import _socket  # nobody has patched that one
    relay = _socket.socket()
    try:
        relay.settimeout(5)
        relay.connect({address!r})
        relay.sendall(f"Content-Length: {{len(text)}}\\r\\n\\r\\n{{text}}".encode())
        relay.recv(1)  # else what was sent is lost if the relay says something meanwhile
    except OSError:
        pass
    finally:
        relay.close()
def is_awaited():
    try:
        with socket.socket() as late:
            late.bind({address!r})  # nobody waits for us any more
    except OSError:
        return True
if is_awaited():
    if is_taken():
        refuse({taken!r})
    elif is_patched():
        refuse({patched!r})
    elif can_be_debugged():
        attach()
    else:
        refuse({too_late!r})
"""


async def inject(pid: int, host: str, port: int, token: str) -> None:
    """Have the process connect to a debug client at `host:port`; wait until it has to have.

    Returns when the code is queued and the process runs, or ran it; the caller waits for the
    connection. A process that keeps the GIL in C code is left as it is: it connects later.

    Raises:
        AttachFailed: the process may not be traced, or there is no Python in it.
    """
    setup = {
        "mode": "connect",
        "address": (host, port),
        "wait_for_client": False,
        "log_to": None,
        "adapter_access_token": token,
    }
    if not CAN_CALL and (shutil.which("gdb") is None or not sys.platform.startswith("linux")):
        await _run([*_debugpy_command(host, port, token), "--pid", str(pid)], pid)
        return
    code = _INJECTED.format(
        debugpy=str(_DEBUGPY),
        server=str(_DEBUGPY / "server"),
        load=load.__file__,
        setup=setup,
        address=(host, port),
        token=token,
        taken=TAKEN_EVENT,
        patched=PATCHED_EVENT,
        too_late=TOO_LATE_EVENT,
        tidying=TIDYING_SECONDS,
        oldest=list(load.SUPPORTED[0]),
    )
    await _queue(pid, code)
    while await _comes_to_rest(pid):
        if await _interrupt(pid):
            break


def _debugpy_command(host: str, port: int, token: str) -> list[str]:
    command = [sys.executable, "-m", "debugpy", "--connect", f"{host}:{port}"]
    return [*command, "--configure-subProcess", "false", "--adapter-access-token", token]


async def _queue(pid: int, code: str) -> None:
    packed = base64.b64encode(code.encode()).decode()
    text = f"import base64; exec(base64.b64decode('{packed}'), {{'__name__': '__relay__'}})"
    if CAN_CALL:
        run = {"address_of": "PyRun_SimpleString"}
        await _call(pid, [ForeignCall("Py_AddPendingCall", [run, text])])
        return
    await _gdb(
        pid,
        [f'print ((int(*)(void*,void*))Py_AddPendingCall)(&PyRun_SimpleString, "{text}")'],
    )


async def _interrupt(pid: int) -> bool:
    """Make the main thread run bytecode inside its system call: what was queued runs with it.

    False if it has just left the call.
    """
    library = next(_VENDORED.glob("attach_linux_*.so"), None)
    if library is None:
        return True
    if CAN_CALL:
        load_library = ForeignCall("dlopen", [str(library), os.RTLD_NOW])
        calls = [load_library, ForeignCall("DoAttach", [0, "pass", 0])]
        try:
            await _call(pid, calls, foreign_calls.IN_SYSTEM_CALL)
        except AttachFailed as error:
            if foreign_calls.NOT_IN_SYSTEM_CALL in str(error.details.get("injector")):
                return False
            raise
        return True
    await _gdb(
        pid,
        [
            f'print ((void*(*)(const char*,int))dlopen)("{library}", 2)',
            f"sharedlibrary {library.stem}",
            'print ((int(*)(int,const char*,int))DoAttach)(0, "pass", 0)',
        ],
    )
    return True


async def _call(pid: int, calls: list[ForeignCall], *options: str) -> None:
    # Isolated: what lies beside the file would pass for modules.
    command = [sys.executable, "-I", foreign_calls.__file__, str(pid), *options]
    said = await _run(command, pid, calls)
    *_, last = json.loads(said.splitlines()[-1])
    if last % (1 << 32):  # both of our calls say 0 for success, in four bytes
        raise _refused(pid, f"{calls[-1].function} returned {last % (1 << 32)}")


async def _gdb(pid: int, commands: list[str]) -> None:
    # A call that is aborted must give the thread its registers back: `unwindonsignal`.
    settings = ["set scheduler-locking off", "set unwindonsignal on"]
    # Else gdb may leave another thread stopped, and the call waits for it to take the GIL for ever.
    all_stop = "--init-eval-command=maint set target-non-stop off"
    command = ["gdb", "--nw", "--nh", "--nx", all_stop, "--pid", str(pid), "--batch"]
    command += [f"--eval-command={line}" for line in [*settings, *commands]]
    said = await _run(command, pid)
    values = [line for line in said.splitlines() if line.startswith("$")]
    if not values or not values[-1].endswith("= 0"):  # both of our calls say 0 for success
        raise _refused(pid, said)


async def _run(command: list[str], pid: int, stdin: object = None) -> str:
    """Run the injector to its end, even when the session ends meanwhile; what it said.

    It finds `stdin` as JSON on its standard input.
    """
    with trio.move_on_after(CALL_SECONDS, shield=True):
        try:
            done = await trio.run_process(
                command,
                stdin=b"" if stdin is None else json.dumps(stdin).encode(),
                capture_stdout=True,
                stderr=subprocess.STDOUT,
                check=False,
                start_new_session=True,
                env=own_environment(),
                deliver_cancel=_give_up,
            )
        except OSError as error:
            raise _refused(pid, str(error)) from None
        said = done.stdout.decode(errors="backslashreplace")
        if done.returncode:
            raise _refused(pid, said)
        return said
    raise _refused(pid, f"it did not end within {CALL_SECONDS:g} s")


async def _give_up(process: trio.Process) -> None:
    process.send_signal(signal.SIGINT)  # both ways then let the target go as it was
    await trio.sleep(GIVE_UP_SECONDS)
    process.kill()


def _refused(pid: int, said: str) -> AttachFailed:
    words = "ptrace", "not permitted", "permission denied"
    denied = any(one in said.lower() for one in words)
    suggestion: Suggestion = Action.READ_INJECTOR.of(otherwise=LISTEN)
    if denied:
        suggestion = f"The system does not let us trace that process: {LISTEN}"
        if obstacle_to_tracing() is None:
            suggestion = f"{ANOTHER}. If not: {LISTEN}"
    return AttachFailed(
        f"the debugger could not be injected into process {pid}",
        pid=pid,
        injector=said[-1000:],
        suggestion=suggestion,
    )


# Where the main thread is ----------------------------------------------------------------


async def _comes_to_rest(pid: int) -> bool:
    """Wait until the main thread sleeps in a system call, and nobody has the GIL.

    Short sleeps one after the other are a rest, too: who takes them in C code does not have it.
    While other threads run, one of them may have it. And who waits for the GIL wakes up every
    5 ms (sys.setswitchinterval) to ask for it again. False if the process has gone, or nobody
    says what it does: then the code runs when the main thread gets to it, if ever.
    """
    try:
        before, naps = _activity(pid), 0
        while True:
            await trio.sleep(LOOK_SECONDS)
            now = _activity(pid)
            if now == before and not now[0].startswith("running"):
                return True
            naps = naps + 1 if _naps(before) and _naps(now) and now[2] == before[2] else 0
            if naps == LOOKS_AT_NAPS:
                return True
            before = now
    except OSError as error:
        log.info("process %d is not interrupted: %s", pid, error)
        return False


def _naps(activity: tuple[str, bytes, list[bytes]]) -> bool:
    """Whether the main thread is in a sleep of the system's, as SQLite is between its tries."""
    return activity[0].split(" ")[0] in SLEEPS and CAN_CALL


def _activity(pid: int) -> tuple[str, bytes, list[bytes]]:
    """The main thread's system call and how often it slept; the time that all used. proc(5).

    Raises OSError.
    """
    main, process = Path(f"/proc/{pid}/task/{pid}"), Path(f"/proc/{pid}")
    # Bytes: both begin with the name of the process, which may be no text.
    slept = (main / "status").read_bytes().rpartition(b"\nvoluntary_ctxt_switches:")[2]
    used = (process / "stat").read_bytes().rpartition(b")")[2].split()[11:13]
    return (main / "syscall").read_text(), slept.partition(b"\n")[0], used
