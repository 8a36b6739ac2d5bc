"""Rungs, command lines and arguments; the stock rungs also against real debuggees."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import debugpy
import pytest

from relay.debuggers.debugpy import rungs as launch
from relay.debuggers.debugpy.interpreter import Interpreter, parse, query_argv
from relay.debuggers.debugpy.rungs import Program, Rung
from relay.errors import InvalidRequest, LaunchFailed
from tests.debuggers.dap_harness import DEADLINE, Peer, line_of

ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}
HERE = Interpreter(
    executable=sys.executable,
    version=(sys.version_info[0], sys.version_info[1], sys.version_info[2]),
    implementation="cpython",
    debugpy_version="1.8.21",
    prefix=sys.prefix,
)


def program(target: str = "prog.py", kind: Any = "script", **more: Any) -> Program:
    return Program(kind=kind, target=target, **{"cwd": "/", "env": ENVIRONMENT, **more})


# --- which rung ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "more", "rung"),
    [
        ({}, {}, Rung.FAST),
        ({"debugpy_version": None}, {}, Rung.FAST),
        ({"debugpy_version": "1.8.5"}, {}, Rung.FAST),
        ({"debugpy_version": "1.9.0"}, {}, Rung.FAST),
        ({"implementation": "pypy"}, {}, Rung.PLAIN),
        ({"version": (3, 7, 9)}, {}, Rung.PLAIN),
        ({}, {"python_args": ["-O", "-W", "error", "-Xdev", "-Bs"]}, Rung.FAST),
        ({}, {"python_args": ["-i"]}, Rung.PLAIN),
        ({}, {"python_args": ["--check-hash-based-pycs", "always"]}, Rung.FAST),
        ({}, {"env": {"PYTHONINSPECT": "1"}}, Rung.PLAIN),
    ],
)
def test_the_first_rung(changes: dict[str, Any], more: dict[str, Any], rung: Rung) -> None:
    interpreter = dataclasses.replace(HERE, **changes)
    assert launch.choose(interpreter, program(**more)) is rung


@pytest.mark.parametrize("bad", [["-c", "x"], ["-m"], ["prog.py"], ["-Bm"], ["-x"], ["-"], ["-V"]])
def test_python_args_that_leave_the_program_no_place(bad: list[str]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        launch.choose(HERE, program(python_args=bad))
    assert caught.value.details["errors"][0]["field"] == "python_args"


def test_the_rungs_after() -> None:
    assert launch.rungs_after(Rung.FAST) == (Rung.PLAIN, Rung.ADAPTER)
    assert launch.rungs_after(Rung.PLAIN) == (Rung.ADAPTER,)
    assert launch.rungs_after(Rung.ADAPTER) == ()


def test_frozen_modules_are_off_only_where_the_option_exists() -> None:
    old = dataclasses.replace(HERE, version=(3, 10, 1))
    assert "-X" in launch.fast_spawn(HERE, program(), fd=3).argv
    assert "-X" not in launch.fast_spawn(old, program(), fd=3).argv


def test_the_fast_debuggee_gets_the_environment_as_it_is() -> None:
    assert launch.fast_spawn(HERE, program(), fd=3).env == ENVIRONMENT


@pytest.mark.parametrize(
    ("more", "too_long"),
    [
        ({"args": ["a" * 100_000] * 3}, False),
        ({"args": ["a" * 100_000] * 100}, True),
        ({"args": ["a" * launch.LONGEST_WORD]}, True),
        ({"args": ["a" * (launch.LONGEST_WORD - 1)]}, False),
        ({"env": {"A": "a" * launch.LONGEST_WORD}}, True),
    ],
)
def test_what_no_command_line_could_hold(more: dict[str, Any], too_long: bool) -> None:
    assert launch.is_too_long(HERE, program(**more)) is too_long
    words = [sys.executable, "-c", "pass", *program(**more).args]
    env = {**ENVIRONMENT, **more.get("env", {})}
    if too_long:
        with pytest.raises(OSError, match="Argument list too long"):
            subprocess.run(words, env=env)
    else:
        subprocess.run(words, env=env, check=True)


@pytest.mark.parametrize(
    ("returncode", "code"), [(0, 0), (1, 1), (97, 97), (-9, -9), (247, -9), (241, -15), (130, 130)]
)
def test_the_exit_code_behind_the_launcher(returncode: int, code: int) -> None:
    assert launch.exit_code_of_launcher(returncode) == code


@pytest.mark.parametrize(
    ("path", "name", "is_launchers"),
    [
        ("/usr/lib/python3.11/runpy.py", "_run_code", True),
        ("<frozen runpy>", "_run_module_as_main", True),
        ("/usr/lib/python3.11/runpy.py", "run_path", False),
        ("/app/debugpy/__main__.py", "<module>", True),
        ("/app/debugpy/server/cli.py", "run_file", True),
        ("/app/main.py", "<module>", False),
        ("/app/__main__.py", "<module>", False),
        ("/app/cli.py", "run_file", False),
        ("/app/my_runpy.py", "_run_code", False),
        ("<frozen runpy>", "run_path", False),
        (None, "x", False),
    ],
)
def test_launcher_frames(path: str | None, name: str, is_launchers: bool) -> None:
    assert launch.is_launcher_frame(path, name) is is_launchers


# --- the interpreter's answer --------------------------------------------------------------------


def test_an_interpreter_tells_about_itself() -> None:
    done = subprocess.run(query_argv(sys.executable), capture_output=True, check=True)
    answer = parse(done.stdout)
    assert answer.executable == sys.executable
    assert answer.version == tuple(sys.version_info[:3])
    assert answer.prefix == sys.prefix
    assert answer.is_cpython
    assert str(answer.debugpy_version).startswith("1.")
    places = dict(answer.installed_in)
    assert places[sysconfig.get_path("purelib")] is not None
    assert f"{sys.prefix}/pyvenv.cfg" in places


def test_noise_around_the_answer_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('noise', end='')")
    done = subprocess.run(
        query_argv(sys.executable, ["-O"]),
        env=ENVIRONMENT | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    assert done.stdout.startswith(b"noise")
    assert parse(done.stdout).version[0] == 3


def test_a_debugpy_in_the_cwd_is_not_the_interpreters(tmp_path: Path) -> None:
    (tmp_path / "debugpy").mkdir()
    (tmp_path / "debugpy" / "_version.py").write_text('"version": "0.1.0"')
    (tmp_path / "debugpy" / "__init__.py").write_text("")
    done = subprocess.run(query_argv(sys.executable), cwd=tmp_path, capture_output=True, check=True)
    assert parse(done.stdout).debugpy_version != "0.1.0"


@pytest.mark.parametrize("answer", [b"", b"hello", b"debug-relay-interpreter:{}\n"])
def test_what_is_no_python_is_refused(answer: bytes) -> None:
    with pytest.raises(LaunchFailed):
        parse(answer)


# --- the stock rungs in real life ------------------------------------------------------------------


@contextlib.contextmanager
def spawned(spawn: launch.Spawn, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        spawn.argv, env=spawn.env, cwd=cwd, stdin=pipe, stdout=pipe, stderr=pipe
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def start(peer: Peer, rung: Rung, prog: Program, script: Path, *, entry: bool) -> None:
    """From `launch` to `configurationDone`, with a breakpoint at @stop."""
    command, arguments = launch.launch_arguments(rung, HERE, prog, stop_on_entry=entry)
    peer.send(command, arguments)
    if rung is Rung.ADAPTER:
        run_terminal(peer, prog)
    peer.event("initialized")
    points = [{"line": line_of(script, "stop")}]
    peer.request("setBreakpoints", {"source": {"path": str(script)}, "breakpoints": points})
    peer.send("configurationDone")


LAUNCHERS: list[subprocess.Popen[bytes]] = []


def run_terminal(peer: Peer, prog: Program) -> None:
    """Does what the adapter asks for by `runInTerminal`."""
    asked = peer.find(lambda m: m["type"] == "request" and m["command"] == "runInTerminal")
    spawn = launch.terminal_spawn(asked["arguments"], prog)
    pipe = subprocess.PIPE
    launcher = subprocess.Popen(
        spawn.argv, env=spawn.env, cwd=prog.cwd, stdin=pipe, stdout=pipe, stderr=pipe
    )
    LAUNCHERS.append(launcher)
    peer.respond(asked, {"processId": launcher.pid})


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "prog.py"
    path.write_text(
        "import sys  # @first\nprint(input(), sys.argv[1:])\nx = 1  # @stop\nsys.exit(3)\n"
    )
    return path


def walk(peer: Peer, script: Path, stdin: Any, *, entry: bool) -> None:
    """Entry stop, then the breakpoint, then on to the end."""
    if entry:
        stopped = peer.event("stopped")
        assert stopped["reason"] == "entry"
        assert top(peer, stopped) == line_of(script, "first")
        peer.send("continue", {"threadId": stopped["threadId"]})
    stdin.write(b"typed\n")
    stdin.flush()
    stopped = peer.event("stopped")
    assert stopped["reason"] == "breakpoint"
    assert top(peer, stopped) == line_of(script, "stop")
    peer.send("continue", {"threadId": stopped["threadId"]})


def top(peer: Peer, stopped: dict[str, Any]) -> int:
    frames = peer.request("stackTrace", {"threadId": stopped["threadId"]})["body"]["stackFrames"]
    while frames and launch.is_launcher_frame(frames[-1]["source"]["path"], frames[-1]["name"]):
        frames.pop()
    assert len(frames) == 1
    return int(frames[0]["line"])


@pytest.mark.parametrize("kind", ["script", "module"])
@pytest.mark.parametrize("own", [debugpy.__version__, "1.8.20", None])
def test_the_plain_rung(tmp_path: Path, script: Path, kind: str, own: str | None) -> None:
    target = str(script) if kind == "script" else "prog"
    prog = program(target, kind, cwd=str(tmp_path), args=["a b"])
    interpreter = dataclasses.replace(HERE, debugpy_version=own)
    token = secrets.token_hex(16)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(DEADLINE)
        port = listener.getsockname()[1]
        spawn = launch.plain_spawn(interpreter, prog, port=port, token=token)
        with (
            spawned(spawn, tmp_path) as process,
            contextlib.closing(Peer(listener.accept()[0])) as peer,
        ):
            answer = peer.request("pydevdAuthorize", launch.authorize_arguments())["body"]
            assert launch.is_debuggee(answer, token)
            assert not launch.is_debuggee(answer, "another")
            body = peer.request("initialize", launch.initialize_arguments(Rung.PLAIN))["body"]
            assert body["pydevd"]["processId"] == process.pid
            # The probe can be brought in this early.
            early = {"expression": "6 * 7", "context": "clipboard"}
            assert peer.request("evaluate", early)["body"]["result"] == "42"
            ready = {"expression": launch.PLAIN_PREPARATION, "context": "clipboard"}
            assert peer.request("evaluate", ready)["success"]
            start(peer, Rung.PLAIN, prog, script, entry=True)
            walk(peer, script, process.stdin, entry=True)
            out, err = process.communicate(timeout=DEADLINE)
            assert (process.returncode, out, err) == (3, b"typed ['a b']\n", b"")


@pytest.mark.parametrize("kind", ["script", "module"])
def test_the_adapter_rung(tmp_path: Path, script: Path, kind: str) -> None:
    target = str(script) if kind == "script" else "prog"
    prog = program(target, kind, cwd=str(tmp_path), args=["a b"])
    with spawned(launch.adapter_spawn(ENVIRONMENT), tmp_path) as adapter:
        assert adapter.stdin is not None
        assert adapter.stdout is not None
        peer = Peer.on_pipes(adapter.stdout, adapter.stdin)
        peer.request("initialize", launch.initialize_arguments(Rung.ADAPTER))
        start(peer, Rung.ADAPTER, prog, script, entry=True)
        launcher = LAUNCHERS.pop()
        walk(peer, script, launcher.stdin, entry=True)
        out, err = launcher.communicate(timeout=DEADLINE)
        assert (launch.exit_code_of_launcher(launcher.returncode), out, err) == (
            3,
            b"typed ['a b']\n",
            b"",
        )
        assert peer.event("exited")["exitCode"] == 3
        peer.request("disconnect", {})
        peer.close()
