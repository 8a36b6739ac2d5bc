"""The fast rung debugs: stops, output, children, death and detachment, in real debuggees."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path

import pytest

from tests.debuggers.bootstrap_runner import Runner, write
from tests.debuggers.dap_harness import DEADLINE, line_of


def test_leaving_is_quick(traced: Runner, capsys: pytest.CaptureFixture[str]) -> None:
    script = write(traced.cwd / "prog.py", "x = 1\nx = 2  # @stop\n")
    with traced.debug("script", str(script)) as debuggee:
        debuggee.handshake(breakpoints={str(script): [line_of(script, "stop")]})
        stopped = debuggee.peer.event("stopped")
        first = time.monotonic() - debuggee.started
        resumed = time.monotonic()
        debuggee.go_on(stopped)
        debuggee.peer.wait_end()
        debuggee.process.wait()
        last = time.monotonic() - resumed
        debuggee.finish()
    with capsys.disabled():
        print(f" first stop {first * 1e3:.0f} ms, continue to exit {last * 1e3:.0f} ms", end="")


# --- debugging ----------------------------------------------------------------------------------


def test_a_breakpoint_stops_with_all_output_in_the_pipe(runner: Runner) -> None:
    script = write(
        runner.cwd / "prog.py",
        """
        import sys
        def double(n):
            return n * 2  # @in
        print("partial", end="")
        sys.stderr.write("error")
        print(double(3))
        """,
    )
    with runner.debug("script", str(script)) as debuggee:
        debuggee.handshake(breakpoints={str(script): [line_of(script, "in")]})
        stopped = debuggee.peer.event("stopped")
        assert stopped["reason"] == "breakpoint"
        assert debuggee.process.stdout is not None
        assert debuggee.process.stderr is not None
        assert os.read(debuggee.process.stdout.fileno(), 100) == b"partial"
        assert os.read(debuggee.process.stderr.fileno(), 100) == b"error"
        frames = debuggee.frames(stopped)
        assert [frame["name"] for frame in frames] == ["double", "<module>"]
        debuggee.go_on(stopped)
        assert debuggee.finish() == (0, "6\n", "")


@pytest.mark.parametrize("kind", ["script", "module"])
def test_uncaught_stops_post_mortem_at_the_raise(runner: Runner, kind: str) -> None:
    script = write(
        runner.cwd / "prog.py",
        """
        def inner():
            value = 7
            raise ValueError(value)  # @raise
        def outer():
            inner()
        outer()
        """,
    )
    target = str(script) if kind == "script" else "prog"
    with runner.debug(kind, target) as debuggee:
        debuggee.handshake(filters=["uncaught"], how=("launch", {"justMyCode": False}))
        stopped = debuggee.peer.event("stopped")
        assert stopped["reason"] == "exception"
        frames = debuggee.frames(stopped)
        assert frames[0]["line"] == line_of(script, "raise")
        assert [f["name"].split(" ")[0] for f in frames] == ["inner", "outer", "<module>"]
        debuggee.go_on(stopped)
        code, _, err = debuggee.finish()
    assert code == 1
    assert err.endswith("ValueError: 7\n")


@pytest.mark.parametrize("kind", ["script", "module"])
def test_entry_stops_at_the_programs_first_line(runner: Runner, kind: str) -> None:
    script = write(runner.cwd / "prog.py", "\nvalue = 1  # @first\nvalue = 2\n")
    target = str(script) if kind == "script" else "prog"
    with runner.debug(kind, target) as debuggee:
        debuggee.handshake(how=("launch", {"stopOnEntry": True, "justMyCode": False}))
        stopped = debuggee.peer.event("stopped")
        assert stopped["reason"] == "entry"
        frames = debuggee.frames(stopped)
        assert [(f["name"], f["line"]) for f in frames] == [("<module>", line_of(script, "first"))]
        debuggee.peer.send("next", {"threadId": stopped["threadId"]})
        debuggee.go_on(debuggee.peer.event("stopped"))
        assert debuggee.finish()[0] == 0


def test_breakpoint_call_stops_in_its_caller(runner: Runner) -> None:
    script = write(runner.cwd / "prog.py", "def f():\n    breakpoint()\n    x = 1  # @next\nf()\n")
    with runner.debug("script", str(script)) as debuggee:
        debuggee.handshake()
        stopped = debuggee.peer.event("stopped")
        frames = debuggee.frames(stopped)
        assert frames[0]["name"] == "f"
        assert frames[0]["line"] in (2, line_of(script, "next"))
        debuggee.go_on(stopped)
        assert debuggee.finish() == (0, "", "")


def test_breakpoints_work_in_threads(traced: Runner) -> None:
    script = write(
        traced.cwd / "prog.py",
        """
        import _thread, threading
        def work():
            x = 2  # @work
            done.release()
        done = threading.Semaphore(0)
        threading.Thread(target=work).start()
        done.acquire()
        _thread.start_new_thread(work, ())
        done.acquire()
        """,
    )
    with traced.debug("script", str(script)) as debuggee:
        debuggee.handshake(breakpoints={str(script): [line_of(script, "work")]})
        for _ in range(2):
            stopped = debuggee.peer.event("stopped")
            assert debuggee.frames(stopped)[0]["name"] == "work"
            debuggee.go_on(stopped)
        assert debuggee.finish() == (0, "", "")


def test_twenty_thousand_logpoints_all_arrive(traced: Runner) -> None:
    script = write(traced.cwd / "prog.py", "for i in range(20_000):\n    x = i  # @log\n")
    point = {"line": line_of(script, "log"), "logMessage": "i={i}"}
    with traced.debug("script", str(script)) as debuggee:
        debuggee.handshake(breakpoints={str(script): [point]})
        debuggee.finish()
        texts = [event["output"].strip() for event in debuggee.peer.events("output")]
        assert texts == [f"i={i}" for i in range(20_000)]
        assert debuggee.peer.messages[-1]["event"] == "terminated"


def test_the_probe_is_there_and_out_of_sight(traced: Runner) -> None:
    script = write(traced.cwd / "prog.py", "x = 1  # @stop\n")
    with traced.debug("script", str(script)) as debuggee:
        debuggee.handshake(breakpoints={str(script): [1]})
        stopped = debuggee.peer.event("stopped")
        expression = "hasattr(__import__('sys').modules['pydevd']._debug_relay_probe, 'call')"
        frame = debuggee.frames(stopped)[0]["id"]
        for extra in ({}, {"frameId": frame}):
            arguments = {"expression": expression, "context": "clipboard", **extra}
            assert debuggee.peer.request("evaluate", arguments)["body"]["result"] == "True"
        debuggee.go_on(stopped)
        debuggee.finish()


def test_a_request_that_pydevd_cannot_do_is_answered(traced: Runner) -> None:
    script = write(traced.cwd / "prog.py", "x = 1  # @stop\n")
    with traced.debug("script", str(script)) as debuggee:
        debuggee.handshake(breakpoints={str(script): [1]})
        stopped = debuggee.peer.event("stopped")
        unknown = debuggee.peer.request("loadedSources", {})
        assert not unknown["success"]
        assert "not supported" in unknown["message"]
        options = [{"path": [{"names": ["Python Exceptions"]}, {"names": ["__main__.X"]}]}]
        bad = {"filters": [], "exceptionOptions": [{**options[0], "breakMode": "always"}]}
        debuggee.peer.request("setExceptionBreakpoints", bad)
        no_path = {"source": {}, "breakpoints": [{"line": 1}]}
        assert not debuggee.peer.request("setBreakpoints", no_path)["success"]
        assert debuggee.frames(stopped)
        debuggee.go_on(stopped)
        assert debuggee.finish() == (0, "", "")


# --- children, death, detachment ------------------------------------------------------------------

FORKS = """
import multiprocessing, os, subprocess, sys
def work(name):
    print(name, flush=True)  # @work
    return 0
if __name__ == "__main__":
    pid = os.fork()
    if pid == 0:
        breakpoint()
        work("forked")
        sys.exit(3)
    print("status", os.waitpid(pid, 0)[1] >> 8, flush=True)
    for method in ("fork", "spawn"):
        process = multiprocessing.get_context(method).Process(target=work, args=(method,))
        process.start()
        process.join()
        print("exit", process.exitcode, flush=True)
    subprocess.run([sys.executable, "-c", "print('sub')"], preexec_fn=lambda: None, check=True)
"""


def test_children_run_free(runner: Runner) -> None:
    script = write(runner.cwd / "prog.py", FORKS)
    with runner.debug("script", str(script)) as debuggee:
        debuggee.handshake(breakpoints={str(script): [line_of(script, "work")]})
        code, out, err = debuggee.finish()
        assert err == ""
        assert out.split("\n") == [
            "forked",
            "status 3",
            "fork",
            "exit 0",
            "spawn",
            "exit 0",
            "sub",
            "",
        ]
        assert code == 0
        assert debuggee.peer.events("stopped") == []


def test_a_child_outlives_neither_the_socket_nor_holds_it(traced: Runner) -> None:
    """A daemon of the program must not keep the relay waiting for the end of the socket."""
    script = write(
        traced.cwd / "prog.py",
        """
        import os, time
        if os.fork() == 0:
            for fd in (0, 1, 2):
                os.close(fd)
            time.sleep(60)
        """,
    )
    with traced.debug("script", str(script)) as debuggee:
        debuggee.handshake()
        debuggee.peer.wait_end()
        debuggee.process.wait(DEADLINE)
        os.killpg(debuggee.process.pid, signal.SIGKILL)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter if it goes while it is read
        return False


def wait_until_dead(pid: int) -> bool:
    end = time.monotonic() + DEADLINE
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return not is_alive(pid)


def test_the_relays_death_ends_the_whole_group(traced: Runner) -> None:
    script = write(
        traced.cwd / "prog.py",
        """
        import subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print(child.pid, flush=True)
        while True:
            time.sleep(0.01)
        """,
    )
    with traced.debug("script", str(script)) as debuggee:
        debuggee.handshake()
        assert debuggee.process.stdout is not None
        child = int(debuggee.process.stdout.readline())
        debuggee.peer.sock.shutdown(socket.SHUT_RDWR)
        assert debuggee.process.wait(DEADLINE) == -signal.SIGKILL
        assert wait_until_dead(child)


def test_a_detached_program_runs_on(traced: Runner) -> None:
    script = write(
        traced.cwd / "prog.py",
        """
        import sys
        sys.stdin.readline()  # @stop
        for i in range(1000):
            x = i  # @loop
        print("done")
        """,
    )
    lines = [line_of(script, "stop"), line_of(script, "loop")]
    with traced.debug("script", str(script)) as debuggee:
        debuggee.handshake(breakpoints={str(script): lines})
        debuggee.peer.event("stopped")
        assert debuggee.peer.request("disconnect", {"terminateDebuggee": False})["success"]
        debuggee.peer.sock.shutdown(socket.SHUT_RDWR)
        out, err = debuggee.process.communicate(b"\n", timeout=DEADLINE)
        assert err == b""
        assert (debuggee.process.returncode, out) == (0, b"done\n")


def test_an_unfit_debugpy_is_told_in_one_event(traced: Runner, tmp_path: Path) -> None:
    write(tmp_path / "other" / "debugpy" / "__init__.py", "")
    write(tmp_path / "prog.py", "print('never')")
    options = ["-S", "-E"]  # without site-packages, so without a debugpy of its own
    with traced.debug(
        "script", "prog.py", options=options, fallback=tmp_path / "other"
    ) as debuggee:
        code, out, _ = debuggee.finish()
        assert (code, out) == (97, "")
        (told,) = debuggee.peer.events("relayUnfit")
        assert "debugpy" in told["reason"]
        assert debuggee.peer.raw_lines == []
