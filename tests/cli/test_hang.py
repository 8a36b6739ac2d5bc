"""`relay hang`: a program of a session, or any process, which goes on as it was."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

import pytest

from relay.process.ports import free_port
from tests.cli.conftest import Shell
from tests.e2e.test_attach import target
from tests.e2e.test_hangs import CIRCLE
from tests.programs import Program

SECONDS = 60

SENTENCE = "deadlock: thread A waits for lock y held by B, which waits for lock x._lock held by A"


def test_a_process_that_hangs_is_shown_and_left_alone(shell: Shell, tmp_path: Path) -> None:
    script = Program.write(tmp_path / "main.py", CIRCLE)
    with target("-Xfrozen_modules=off", script.text) as process:
        at_join = f"main.py:{script.line('join')} in <module>: work.join()"
        for _ in range(2):  # the second time the debugger is in it already
            text = ""
            while SENTENCE not in text or at_join not in text:  # each thread in its own time
                text = shell("hang", "--pid", str(process.pid))
        assert shell.json("sessions")["items"] == []
        assert process.poll() is None
        # A session that debugs it already is asked, and stays.
        shell("attach", str(process.pid))
        found = shell.json("hang", "--pid", str(process.pid))
        assert found["deadlocks"][0]["text"] in SENTENCE
        assert SENTENCE in shell("hang")
        assert len(shell.json("sessions")["items"]) == 1
        text = shell("pause", code=4)
        assert text.startswith("not stopped: ")
        assert SENTENCE in text
        shell("end", "--detach")


def test_a_pause_of_a_program_that_sleeps_is_answered_at_once(shell: Shell, tmp_path: Path) -> None:
    """It waited 30 s for a stop that could not come."""
    script = Program.write(tmp_path / "main.py", "import time; time.sleep(600)\n")
    shell("start", "--wait", "0", script.text, code=0)
    while "sleeps 600 s" not in shell("hang"):
        pass
    began = time.monotonic()
    assert "sleeps 600 s" in shell("pause", code=4)
    assert time.monotonic() - began < 20
    shell("end")


def test_a_process_whose_debug_server_listens_is_asked_there(shell: Shell, tmp_path: Path) -> None:
    script = Program.write(tmp_path / "main.py", CIRCLE)
    command = ["-Xfrozen_modules=off", "-m", "debugpy", "--listen", str(free_port())]
    with target(*command, script.text) as process:
        while SENTENCE not in shell("hang", "--pid", str(process.pid)):
            pass
        assert process.poll() is None


HAS_A_CHILD = """
    import os
    import signal

    child = os.fork()
    if not child:
        signal.pause()
    print(os.getpid(), child, flush=True)
    input()
    os.kill(child, signal.SIGKILL)
    done = os.waitpid(child, 0)  # @done
"""


def test_a_process_that_another_relay_debugs_stays_with_it(shell: Shell, tmp_path: Path) -> None:
    """Else that one would wait for stops that never come. A fork that has no debugger has none."""
    script = Program.write(tmp_path / "main.py", HAS_A_CHILD)
    place = f"main.py:{script.line('done')}"
    command = shell.command("run", "--break", place, "--no-children", "--", script.text)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        try:
            assert run.stdout is not None
            pid, child = run.stdout.readline().split()
            for words in (["hang", "--pid", pid], ["attach", pid]):
                refused = shell.run(*words, code=1).stderr
                assert f"relay: cannot attach: process {pid} is already being debugged\n" in refused
            assert "in <module>: signal.pause()" in shell("hang", "--pid", child)
            _, said = run.communicate("go on\n", timeout=SECONDS)
        finally:
            run.kill()
    assert f"[stop 1] breakpoint bp_1: {place} in <module>" in said
    assert run.returncode == 0


def test_a_process_that_is_none_is_refused_in_words(shell: Shell) -> None:
    absent = str(2**22 + 1)
    for words in (["hang", "--pid", absent], ["attach", absent]):
        refused = shell.run(*words, code=1)
        assert refused.stderr == (
            f"relay: cannot attach: there is no process {absent}\n  Check the process id\n"
        )
    assert shell("stop") == "no server runs in the background\n", "none is left for it alone"
    Program.write(shell.directory / "short.py", "print(1)\n")
    shell("start", "short.py")
    with_server = shell.run("hang", "--pid", absent, code=1)
    assert with_server.stderr == refused.stderr
    assert len(shell.json("sessions")["items"]) == 1


def test_a_process_of_another_namespace_is_not_taken_for_one_of_the_same_number(
    shell: Shell,
) -> None:
    """As from within a container that shares network and home."""
    apart = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not make a PID namespace")
    Program.write(shell.directory / "short.py", "print(1)\n")
    shell("start", "short.py")
    for words in (["hang", "--pid", "1"], ["attach", "1"]):
        command = [*apart, *shell.command(*words)]
        refused = subprocess.run(
            command, cwd=shell.directory, capture_output=True, text=True, check=False
        )
        assert refused.stderr == (
            "relay: cannot attach: the relay runs in another PID namespace, in which 1 is another process\n"
            "  Use a relay of this namespace: RELAY_STATE_DIR=DIR RELAY_PORT=PORT before `relay`\n"
        )
        assert refused.returncode == 1
    assert len(shell.json("sessions")["items"]) == 1


KEEPS_THE_INTERPRETER = """
    print("up", flush=True)
    sum(range(10**12))  # one call into C
"""


def test_a_process_that_does_not_answer_is_given_more_time_by_an_option(
    shell: Shell, tmp_path: Path
) -> None:
    script = Program.write(tmp_path / "busy.py", KEEPS_THE_INTERPRETER)
    with target(script.text) as process, socket.create_server(("127.0.0.1", 0)) as silent:
        pid, place = str(process.pid), f"127.0.0.1:{silent.getsockname()[1]}"
        for words in (["hang", "--pid", pid], ["attach", pid], ["attach", place]):
            refused = shell.run(*words, "--connect-timeout", "1", code=1).stderr
            assert " did not answer within 1 s\n" in refused
            assert refused.endswith("give it --connect-timeout SECONDS\n")
            assert "connect_timeout" not in refused
        assert process.poll() is None


def test_a_time_limit_for_an_attach_is_refused_where_there_is_none(shell: Shell) -> None:
    refused = shell.run("hang", "--connect-timeout", "10", code=2)
    assert "--connect-timeout goes with --pid" in refused.stderr
