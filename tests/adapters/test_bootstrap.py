"""The fast rung in real debuggees: like plain Python in all that a program can see.

Each test runs a program plainly and under the bootstrap, or debugs it over a socket pair.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import debugpy
import pytest

from tests.adapters.dap_harness import DEADLINE, Debuggee, line_of

BOOTSTRAP = Path(__file__).parents[2] / "relay/adapters/python/bootstrap.py"
PYENV = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}


def find_python(version: str) -> str | None:
    if version == f"{sys.version_info[0]}.{sys.version_info[1]}":
        return sys.executable
    found = sorted(PYENV.glob(f"{version}.*/bin/python"))
    return str(found[-1]) if found else None


@pytest.fixture(params=VERSIONS)
def python(request: pytest.FixtureRequest) -> str:
    """Each interpreter of this machine that the bootstrap supports; most have no debugpy."""
    found = find_python(request.param)
    if found is None:
        pytest.skip(f"Python {request.param} is not installed")
    return found


@pytest.fixture(params=["3.11", "3.12"])
def tracing(request: pytest.FixtureRequest) -> str:
    """One interpreter that is traced by sys.settrace, one by sys.monitoring."""
    found = find_python(request.param)
    if found is None:
        pytest.skip(f"Python {request.param} is not installed")
    return found


@pytest.fixture
def probe(tmp_path: Path) -> Path:
    path = tmp_path / "probe_stand_in.py"
    path.write_text("ANSWER = 42\n")
    return path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


class Runner:
    """Runs one program of `cwd` plainly, or under the bootstrap."""

    def __init__(self, python: str, cwd: Path, probe: Path) -> None:
        self.python = python
        self.cwd = cwd
        self.probe = probe

    def plain(
        self, kind: str, target: str, *args: str, options: Sequence[str] = ()
    ) -> tuple[int, str, str]:
        command = ["-m", target] if kind == "module" else [target]
        done = subprocess.run(
            [self.python, *options, *self._frozen_off(kind), *command, *args],
            cwd=self.cwd,
            env=ENVIRONMENT,
            input=b"",
            capture_output=True,
            timeout=DEADLINE,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def _frozen_off(self, kind: str) -> list[str]:
        # Only where a traceback shows runpy's own frames must both sides name them alike.
        return [] if kind == "script" else self.frozen_off

    @property
    def frozen_off(self) -> list[str]:
        question = "import sys; print(sys.version_info >= (3, 11))"
        answer = subprocess.run([self.python, "-c", question], capture_output=True, check=True)
        return ["-X", "frozen_modules=off"] if answer.stdout.strip() == b"True" else []

    def debug(
        self,
        kind: str,
        target: str,
        *args: str,
        options: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        fallback: Path | None = None,
    ) -> Debuggee:
        ours, theirs = socket.socketpair()
        spec: dict[str, Any] = {
            "fd": theirs.fileno(),
            "debugpy": str(fallback or Path(debugpy.__file__).parents[1]),
            "probe": str(self.probe),
            "kind": kind,
            "target": target,
            "args": args,
        }
        argv = [self.python, *options, *self.frozen_off, str(BOOTSTRAP), json.dumps(spec)]
        return Debuggee(argv, cwd=self.cwd, env=ENVIRONMENT | dict(env or {}), pair=(ours, theirs))

    def debugged(
        self, kind: str, target: str, *args: str, options: Sequence[str] = ()
    ) -> tuple[int, str, str]:
        """Runs the program to its end under the bootstrap, without a breakpoint."""
        with self.debug(kind, target, *args, options=options) as debuggee:
            debuggee.handshake()
            return debuggee.finish()


@pytest.fixture
def runner(python: str, tmp_path: Path, probe: Path) -> Runner:
    return Runner(python, tmp_path, probe)


@pytest.fixture
def traced(tracing: str, tmp_path: Path, probe: Path) -> Runner:
    return Runner(tracing, tmp_path, probe)


# --- the program's surroundings -----------------------------------------------------------------

INTROSPECTION = '''
"""A docstring."""
import builtins, os, pickle, sys, threading, warnings

class Thing:
    pass

main = sys.modules["__main__"]
facts = {
    "argv": sys.argv,
    "orig_argv": getattr(sys, "orig_argv", None),
    "xoptions": sys._xoptions,
    "path": sys.path,
    "flags": str(sys.flags),
    "warnoptions": sys.warnoptions,
    "filters": [str(f) for f in warnings.filters if "ForkWarning" not in str(f)],
    "names": [n for n in main.__dict__ if n.startswith("__")],
    "name": __name__,
    "file": globals().get("__file__"),
    "cached": globals().get("__cached__", "none"),
    "doc": __doc__,
    "package": __package__,
    "loader": type(__loader__).__name__ + getattr(__loader__, "name", ""),
    "loader_path": getattr(__loader__, "path", None),
    "spec": str(__spec__),
    "builtins": __builtins__ is builtins,
    "builtin names": sorted(dir(builtins)),
    "pickle": type(pickle.loads(pickle.dumps(Thing()))) is Thing,
    "environment": sorted(os.environ.items()),
    "excepthook": sys.excepthook is sys.__excepthook__,
    "threads": [t.name for t in threading.enumerate()],
    "cwd": os.getcwd(),
    "hidden": [n for n in sys.modules if "debug_relay" in n or n in ("bootstrap", "probe")],
    "recursion": sys.getrecursionlimit(),
    "encoding": (sys.stdout.encoding, sys.stdout.errors, sys.stderr.errors, sys.stdin.encoding),
}
for key, value in facts.items():
    print(key, "=", value)
'''


def same(one: tuple[int, str, str], other: tuple[int, str, str]) -> None:
    assert differing(one[2], other[2]) == []
    assert differing(one[1], other[1]) == []
    assert other[0] == one[0]


def differing(one: str, other: str) -> list[str]:
    """The lines of the one or the other, as a diff shows them; addresses are left out."""
    one, other = (re.sub(r"0x[0-9a-f]+", "0x", text) for text in (one, other))
    lines = difflib.unified_diff(one.split("\n"), other.split("\n"), n=0, lineterm="")
    return list(lines)[2:]


def test_a_script_sees_what_plain_python_shows(runner: Runner) -> None:
    write(runner.cwd / "sub" / "prog.py", INTROSPECTION)
    same(
        runner.plain("script", "sub/prog.py", "a b", "-x"),
        runner.debugged("script", "sub/prog.py", "a b", "-x"),
    )


def test_a_script_behind_a_link_sees_what_plain_python_shows(runner: Runner) -> None:
    real = write(runner.cwd / "real" / "prog.py", INTROSPECTION)
    link = runner.cwd / "link.py"
    link.symlink_to(real)
    same(runner.plain("script", str(link)), runner.debugged("script", str(link)))


@pytest.mark.parametrize("options", [["-I"], ["-O", "-W", "ignore"], ["-E", "-s"], ["-X", "dev"]])
def test_interpreter_options_hold(traced: Runner, options: list[str]) -> None:
    write(traced.cwd / "prog.py", INTROSPECTION)
    same(
        traced.plain("script", "prog.py", options=options),
        traced.debugged("script", "prog.py", options=options),
    )


def without_frozen(result: tuple[int, str, str]) -> tuple[int, str, str]:
    """Plain `-m` ran with -X frozen_modules=off itself here: both must not show it."""
    code, out, err = result
    out = out.replace("'-X', 'frozen_modules=off', ", "").replace("'frozen_modules': 'off'", "")
    return code, out, err


def test_a_module_sees_what_plain_python_shows(runner: Runner) -> None:
    write(runner.cwd / "pack" / "__init__.py", "")
    write(runner.cwd / "pack" / "__main__.py", INTROSPECTION)
    write(runner.cwd / "single.py", INTROSPECTION)
    for module in ("pack", "single"):
        same(
            without_frozen(runner.plain("module", module, "x")),
            runner.debugged("module", module, "x"),
        )


def test_a_directory_and_a_zip_archive_run(runner: Runner) -> None:
    write(runner.cwd / "app" / "__main__.py", INTROSPECTION)
    with zipfile.ZipFile(runner.cwd / "app.zip", "w") as archive:
        archive.write(runner.cwd / "app" / "__main__.py", "__main__.py")
    for target in ("app", "app.zip"):
        same(runner.plain("script", target, "1"), runner.debugged("script", target, "1"))


# --- the program's end --------------------------------------------------------------------------

ENDS = {
    "error": "def f():\n    return 1 / 0\nf()\n",
    "chained": "try:\n    1 / 0\nexcept Exception as e:\n    raise KeyError('x') from e\n",
    "syntax": "x = 1\ny = = 2\n",
    "indentation": "def f():\nreturn 1\n",
    "exit text": "import sys\nsys.exit('bye')\n",
    "exit 3": "raise SystemExit(3)\n",
    "exit none": "raise SystemExit\n",
    "interrupt": "raise KeyboardInterrupt\n",
    "hook": "import sys\nsys.excepthook = lambda *a: print('hook', a[0], a[2].tb_lineno)\n1/0\n",
    "bad hook": "import sys\ndef hook(*a):\n    raise ValueError('no')\nsys.excepthook = hook\n1/0\n",
    "os._exit": "import os\nprint('out', flush=True)\nos._exit(5)\n",
    "signal": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n",
    "thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='T')\nt.start()\n",
    "late thread": (
        "import threading, time, atexit\natexit.register(print, 'atexit')\n"
        "def f():\n    time.sleep(0.2)\n    print('late')\nthreading.Thread(target=f).start()\n"
    ),
    "del": "class A:\n    def __del__(self):\n        print('del', __name__)\na = A()\n",
    "last": (
        "import atexit, sys\ndef f():\n    print(sys.last_type, sys.last_traceback.tb_lineno)\n"
        "    print(sys.last_value.__traceback__ is sys.last_traceback, '__file__' in globals())\n"
        "atexit.register(f)\n1/0\n"
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_script_ends_as_under_plain_python(runner: Runner, name: str) -> None:
    write(runner.cwd / "prog.py", ENDS[name])
    same(runner.plain("script", "prog.py"), runner.debugged("script", "prog.py"))


@pytest.mark.parametrize("name", ["error", "syntax", "exit 3", "exit text"])
def test_a_module_ends_as_under_plain_python(runner: Runner, name: str) -> None:
    write(runner.cwd / "prog.py", ENDS[name])
    same(runner.plain("module", "prog"), runner.debugged("module", "prog"))


@pytest.mark.parametrize(
    ("kind", "target"),
    [("script", "none.py"), ("module", "no_such"), ("module", "a.b"), ("script", ".")],
)
def test_what_is_not_there_is_told_in_pythons_words(runner: Runner, kind: str, target: str) -> None:
    same(runner.plain(kind, target), runner.debugged(kind, target))


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
        for _ in range(3):
            debuggee.peer.send("next", {"threadId": stopped["threadId"]})
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
        expression = "__import__('sys').modules['pydevd']._debug_relay_probe.ANSWER"
        frame = debuggee.frames(stopped)[0]["id"]
        for extra in ({}, {"frameId": frame}):
            arguments = {"expression": expression, "context": "clipboard", **extra}
            assert debuggee.peer.request("evaluate", arguments)["body"]["result"] == "42"
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
    except FileNotFoundError:
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
        assert (debuggee.process.returncode, out, err) == (0, b"done\n", b"")


def test_an_unfit_debugpy_is_told_in_one_line(traced: Runner, tmp_path: Path) -> None:
    write(tmp_path / "other" / "debugpy" / "__init__.py", "")
    write(tmp_path / "prog.py", "print('never')")
    options = ["-S", "-E"]  # without site-packages, so without a debugpy of its own
    with traced.debug(
        "script", "prog.py", options=options, fallback=tmp_path / "other"
    ) as debuggee:
        code, out, _ = debuggee.finish()
        assert (code, out) == (97, "")
        answer = json.loads(debuggee.peer.raw_lines[0])
        assert answer["relay"] == "unfit"
        assert "debugpy" in answer["reason"]
