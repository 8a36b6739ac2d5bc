"""Sessions from a shell: one background server, one word a step, exit codes that tell."""

from __future__ import annotations

import http.server
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from relay import Client, Settings
from relay.faces.common.background import Background
from relay.process.ports import free_port
from tests.cli.conftest import Shell
from tests.faults.relay_process import until
from tests.programs import Program

pytestmark = pytest.mark.parametrize("shell", ["quick", "whole"], indirect=True)

BASKET = """
import sys
def total(order):
    result = 0
    for name, count in order:
        result += len(name) * count  # @sum
    return result  # @return

print("total", total([("bread", 2), ("cheese", 1)]))
print("to stderr", file=sys.stderr)
print("hello", input("name? "))
sys.exit(3)
"""


def test_a_whole_session_word_by_word(shell: Shell, tmp_path: Path) -> None:
    script = Program.write(tmp_path / "basket.py", BASKET)
    here = f"basket.py:{script.line('sum')}"

    started = shell.run("start", "--break", f"{here}:count == 2", "--name", "mine", "basket.py")
    assert re.search(
        r"started a server in the background at http://127\.0\.0\.1:\d+", started.stderr
    )
    session_id, headline, *rest = started.stdout.splitlines()
    assert session_id.startswith("sess_")
    assert headline == f"breakpoint bp_1: {here} in total"
    assert " count = 2" in rest

    # Look.
    assert shell("eval", "name * 2") == "'breadbread'\n"
    raised = shell.run("eval", "1 / 0", code=1)
    assert (raised.stdout, raised.stderr) == ("", "ZeroDivisionError: division by zero\n")
    assert "Correct the expression" in shell.run("eval", "1 +", code=1).stderr
    assert "result: int = 0" in shell("locals").splitlines()
    assert "order" not in shell("locals", "--frame", "1")
    assert shell("stack").split("\n")[0].split()[:2] == ["0", "total"]
    assert shell.json("stack")["frames"][0]["line"] == script.line("sum")

    # Step, and run to places.
    stepped = shell.json("step")
    assert (stepped["status"], stepped["reason"]) == ("paused", "step")
    assert shell.json("until", f"basket.py:{script.line('return')}")["reason"] != "step"
    assert "result = 16" in shell("where")
    assert "step: basket.py" in shell("step", "out")

    # Breakpoints.
    assert shell("break", "--log", "n {name}", "total").startswith("bp_")
    listed = shell("break").splitlines()
    assert any("if count == 2" in line and "hit 1" in line for line in listed)
    assert any("log n {name}" in line for line in listed)
    assert "bp_1 deleted" in shell("break", "--delete", "bp_1")
    assert "hit_condition" in json.dumps(shell.json("break", "--hits", ">5", here))

    # Trace: none is called any more.
    assert "no call of this run was traced" in shell("trace")

    # Talk.
    asked = shell.json("continue")
    assert (asked["status"], asked["prompt"]) == ("waiting_for_input", "name? ")
    assert "total 16\n" in asked["output"]
    ended = shell.json("input", "Ada")
    assert (ended["status"], ended["exit_code"]) == ("terminated", 3)
    assert ended["report"].startswith("ended: exit code 3")
    assert "hello Ada" in ended["output"]
    printed = shell.run("output")
    assert (printed.stdout, printed.stderr) == ("total 16\nname? hello Ada\n", "to stderr\n")
    followed = shell("output", "--follow", "--only", "stderr", "--json")
    assert [json.loads(line)["output"] for line in followed.splitlines()] == ["to stderr\n"]

    # Again, and the end.
    assert shell.json("restart", "--wait", "30")["prompt"] == "name? "
    assert shell("input", "--eof").splitlines()[0].startswith("exception EOFError")
    table = shell("sessions").splitlines()
    assert re.match(rf" *\* +{session_id} +paused .*basket\.py +mine", table[1])
    assert shell("end").startswith(f"{session_id} ended")
    assert shell("sessions") == "no sessions\n"
    url = str(shell.json("stop")["url"])
    assert url.startswith("http://127.0.0.1:")
    assert shell("stop") == "no server runs in the background\n"
    assert shell.run("where", code=3, RELAY_URL=url).stderr.startswith(
        f"relay: no relay answers at {url}"
    )


STEPPED_FROM = """
    import unittest

    class Cases(unittest.TestCase):
        def test_half(self):
            self.assertEqual(1 // 2, 0.5)

    unittest.main()
"""


def test_a_step_from_a_failure_says_where_the_program_really_is(shell: Shell) -> None:
    Program.write(shell.directory / "cases.py", STEPPED_FROM)
    assert "fails __main__.Cases.test_half" in shell("start", "cases.py")
    stepped = shell("step")
    remark = "the frames of the failure had been left before: the program really is here"
    assert re.search(rf"^step: .*unittest/case\.py:\d+ .*\n{remark}\n", stepped, re.MULTILINE)
    assert stepped.endswith("\nrelay continue goes on to the next failure, or to the end\n")
    assert "relay continue" not in shell("step")
    shell("end")


RUN_TO = """
    def half(n):
        return n // 2  # @half

    print(half(4))
    if half(4) > 2:  # @second
        print("more")  # @more
    input("name? ")
    print("bye")  # @bye
"""


def test_until_says_that_it_did_not_come_to_the_line(shell: Shell) -> None:
    """Not where it has come there, nor while the program may still do so."""
    script = Program.write(shell.directory / "halves.py", RUN_TO)
    names = ("half", "second", "more", "bye")
    half, second, more, bye = (f"halves.py:{script.line(name)}" for name in names)
    shell("start", "--break", half, "halves.py")
    assert f"did not come to {more}\nbreakpoint bp_1 (hit 2): {half}" in shell("until", more)
    assert shell.json("until", bye)["reached"] is None, "it waits for its input"
    assert f"breakpoint: {bye}" in shell("input", "Ada")
    assert f"did not come to {more}\nended: exit code 0" in shell("until", more)
    shell("restart")
    assert shell.json("until", second)["reached"] is True
    assert "reached" not in shell.json("where")
    shell("end")


def test_what_was_stopped_does_not_come_back(shell: Shell, tmp_path: Path) -> None:
    """Nor what somebody held."""
    (tmp_path / "short.py").write_text("print(1)\n")
    shell("start", "short.py")
    assert len(shell("sessions").splitlines()) == 2
    noted = Background(Settings(state_dir=shell.state_dir)).noted()
    assert noted is not None
    with Client(noted.url) as client:
        [session] = client.sessions().items
        client.session(session.session_id).hold(by="Ada")
    shell("stop")
    shell("start", "short.py")
    assert len(shell("sessions").splitlines()) == 2


def test_two_shells_start_one_server_and_each_directory_has_its_session(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        Program.write(folder / "app.py", f"name = {folder.name!r}\nprint(name)\n")
    processes = [
        subprocess.Popen(
            shell.command("start", "--break", "app.py:2", "app.py"),
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for folder in folders
    ]
    told = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], told
    assert sum("started a server" in stderr for _, stderr in told) == 1
    ids = [stdout.split()[0] for stdout, _ in told]

    for folder in folders:
        monkeypatch.chdir(folder)
        assert shell("eval", "name") == f"'{folder.name}'\n"
    monkeypatch.chdir(tmp_path)
    unclear = shell.run("where", code=1).stderr
    assert all(one in unclear for one in (*ids, "--session ID"))
    assert shell("eval", "name", RELAY_SESSION=ids[0]) == "'one'\n"
    # A name that is no session's takes nothing away from what was used last.
    assert "not found" in shell.run("where", "--session", "sess_00000000", code=1).stderr
    assert shell("eval", "name") == "'one'\n"
    assert shell("eval", "name") == "'one'\n", "what was named is remembered for this directory"
    assert shell("end", "-s", ids[0]).startswith(ids[0])
    assert shell("eval", "name") == "'two'\n", "the only one is meant"
    assert ids[1] in shell("end", "--all")
    noted = json.loads((shell.state_dir / "background.json").read_bytes())
    server = psutil.Process(noted["pid"])
    server.kill()
    psutil.wait_procs([server], timeout=60)
    assert "no relay runs" in shell.run("sessions", code=3).stderr


def test_a_running_program_is_shown_at_once_and_each_line_once(
    shell: Shell, tmp_path: Path
) -> None:
    Program.write(
        tmp_path / "server.py",
        """
        import sys, time
        print("\\x1b[1mready\\x1b[0m")
        sys.stdout.writelines(f"line {n}\\n" for n in range(1000))
        print("careful", file=sys.stderr)
        sys.stdout.flush()
        time.sleep(600)
        """,
    )
    started = shell("start", "--wait", "1", "server.py", code=4)
    while "line 999" not in started:
        started = shell("where")
    where = shell.run("where").stdout.splitlines()
    assert where[0] == "running: no stop yet"
    assert where.count(" line 999") == 1
    assert " careful" in where
    assert "\x1b" not in "".join(where)
    assert shell.json("end", "--all")["ended"]


def test_what_cannot_be_done_is_told_with_an_exit_code_and_changes_nothing(
    shell: Shell, tmp_path: Path
) -> None:
    assert "relay start PROGRAM" in shell.run("sessions", code=3).stderr
    assert not shell.kept(), "only a start starts a server"
    for args, told in (
        (["start"], "Missing argument"),
        (["start", "--brek", "x:1", "app.py"], "--brek"),
        (["start", "--break", "app.py:4x", "app.py"], "FILE:LINE:CONDITION"),
        (["start", "--env", "NO_SUCH_VARIABLE", "app.py"], "NAME=VALUE"),
        (["start", "--limit", "open_files", "app.py"], "NAME=N"),
        (["start", "-m"], "name of a module"),
        (["until", "total"], "FILE:LINE"),
        (["step", "sideways"], "sideways"),
        (["attach", "app"], "process id, or HOST:PORT"),
        (["input"], "--eof"),
        (["break", "--hits", ">3"], "go with a place"),
        (["sessions", "--url", "localhost:5679"], "http://HOST:PORT"),
    ):
        assert told in shell.run(*args, code=2).stderr

    unknown = shell.json("start", "--limit", "disk=1", "missing.py", code=1)["error"]
    assert "limits.disk" in unknown["message"]
    missing = shell.json("start", "missing.py", code=1)["error"]
    assert missing["code"] == "LAUNCH_SCRIPT_NOT_FOUND"
    assert missing["details"]["suggestion"]
    Program.write(tmp_path / "app.py", "import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    assert shell.json("start", "-b", "app.py:99", "app.py", code=1)["error"]["code"].startswith(
        "BREAKPOINT_"
    )
    assert shell("sessions") == "no sessions\n", "what cannot be started leaves none behind"
    assert "there is no session" in shell.run("where", code=1).stderr

    assert (
        shell.json("start", "--wait", "0.3", "--env", "A=1", "app.py", code=4)["status"]
        == "running"
    )
    assert shell.json("where")["status"] == "running"
    refused = shell.run("continue", code=1).stderr
    assert "not paused" in refused
    unknown = shell.run("where", "--session", "sess_00000000", code=1)
    assert "sess_00000000" in unknown.stderr


def test_a_breakpoint_behind_the_program_is_said_to_be_the_program_s(
    shell: Shell, tmp_path: Path
) -> None:
    Program.write(tmp_path / "words.py", "import sys\nprint(sys.argv[1:])\n")
    started = shell.run("start", "words.py", "--break", "words.py:2")
    assert (
        "--break is passed on to words.py: the relay's own options stand before" in started.stderr
    )
    assert "['--break', 'words.py:2']" in started.stdout
    started = shell.run("start", "--break", "words.py:2", "words.py", "--break", "words.py:2")
    assert "passed on" not in started.stderr
    assert "breakpoint bp_1" in started.stdout


def test_a_server_that_cannot_start_says_why(shell: Shell) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        failed = shell.run("start", "app.py", code=3, RELAY_PORT=str(port))
    assert "could not be started in the background" in failed.stderr
    assert "Address already in use" in failed.stderr
    assert "background.log" in failed.stderr
    failed = shell.run("start", "app.py", code=3, RELAY_STATE_DIR="/proc/nowhere")
    assert "none can be started" in failed.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a limit of POSIX")
def test_a_server_that_cannot_be_noted_does_not_stay(shell: Shell, tmp_path: Path) -> None:
    """As on a full disk: nobody would find it again."""
    (tmp_path / "app.py").write_text("")
    limited = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"]
    failed = subprocess.run(
        [*limited, *shell.command("start", "app.py")], capture_output=True, text=True, timeout=60
    )
    assert "none can be started: [Errno 27] File too large" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert failed.returncode == 3
    marks = (process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"]))
    assert not [words for words in marks if str(shell.state_dir) in words]


class _Refusing(http.server.BaseHTTPRequestHandler):
    """A relay of another user."""

    def do_GET(self) -> None:
        error = {"code": "FORBIDDEN", "message": "you are another one", "details": {}}
        body = json.dumps({"success": False, "data": None, "error": error, "meta": {}}).encode()
        self.send_response(403)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_where_another_user_has_the_port_a_server_is_started_at_a_free_one(
    shell: Shell, tmp_path: Path
) -> None:
    source = Program.write(tmp_path / "one.py", "print(1)\n")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Refusing) as theirs:
        threading.Thread(target=theirs.serve_forever, daemon=True).start()
        try:
            port = str(theirs.server_port)
            started = shell.run("start", str(source.path), RELAY_PORT=port)
        finally:
            theirs.shutdown()
    assert "relay: started a server in the background at http://127.0.0.1:" in started.stderr
    assert f":{port} " not in started.stderr
    assert "sess_" in shell("sessions", RELAY_PORT=port)
    noted = Background(Settings(state_dir=shell.state_dir)).noted()
    assert noted is not None
    with Client(noted.url) as client:
        assert client.config().same_user_only


def test_a_running_program_is_debugged_and_left_running(shell: Shell, tmp_path: Path) -> None:
    script = Program.write(
        tmp_path / "spin.py",
        "import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.05)  # @here\n",
    )
    port = str(free_port())
    command = [sys.executable, "-Xfrozen_modules=off", "-m", "debugpy", "--listen", port]
    with subprocess.Popen([*command, script.text], stdout=subprocess.PIPE, text=True) as target:
        try:
            assert target.stdout is not None
            assert target.stdout.readline() == "up\n"
            stopped = shell("attach", f":{port}", "--break", f"spin.py:{script.line('here')}")
            assert "breakpoint bp_1: spin.py" in stopped
            assert "ended" in shell("end", "--detach")
            assert target.poll() is None
        finally:
            target.kill()


def test_a_call_is_traced_in_a_session(shell: Shell, tmp_path: Path) -> None:
    script = Program.write(
        tmp_path / "shares.py",
        """
        def share(total, people):
            return total // people

        print("ready")  # @ready
        for total in range(50):
            share(total, 7)
        """,
    )
    shell("start", "--break", f"shares.py:{script.line('ready')}", "shares.py")
    traced = shell("trace", "share:total > 3", "--until-result", "result == 2")
    assert traced.startswith("share(total=14, people=7) (call 11) at shares.py:")
    assert traced.endswith("-> 2\n")
    assert shell("trace") == traced
    *_, cut = shell("trace", "--max-chars", "200").splitlines()
    assert cut == "-> 2", "so small a bound is for the call alone"
    assert shell("eval", "total") == "14\n"
    assert shell.json("trace", "share")["text"].startswith("share(total=15,")
    refused = shell.run("trace", "shara", code=1)
    assert "Did you mean share?" in refused.stderr
    for option in ("--until-result", "--depth", "--call"):
        refused = shell.run("trace", option, "1", code=2)
        assert f"{option} goes with a function" in refused.stderr
    assert "expected FUNCTION" in shell.run("trace", "no function", code=2).stderr
    ended = shell("trace", "share", "--until-result", "result > 99")
    assert ended == "the program ended before a call ended so; 34 calls went by\n"


def test_what_lies_deeper_than_the_own_code_on_top_is_told_from_what_has_called_it(
    shell: Shell, tmp_path: Path
) -> None:
    script = Program.write(
        tmp_path / "read.py",
        """
        import json

        def read(text):
            return json.loads(text)  # @read

        read("{")  # @call
        """,
    )
    shell("start", "--on-exception", "read.py")
    shown = shell("stack").splitlines()
    assert shown[:2] == [
        f"  0 read  {script.text}:{script.line('read')}",
        f"  1 <module>  {script.text}:{script.line('call')}",
    ]
    assert len(shown) > 2
    assert all(re.search(r"json/\w+\.py:\d+  \(deeper than 0\)$", one) for one in shown[2:]), shown


def test_a_recursion_is_a_few_lines_of_a_stack(shell: Shell, tmp_path: Path) -> None:
    """It was a line for each call, a thousand of them."""
    script = Program.write(
        tmp_path / "tree.py",
        """
        def walk(level):
            return visit(level)  # @walk

        def visit(level):
            return walk(level - 1) if level else 1 / level  # @visit

        walk(40)  # @first
        """,
    )
    shell("start", "--on-exception", "tree.py")
    walk, visit, first = (
        f"{script.text}:{script.line(mark)}" for mark in ("walk", "visit", "first")
    )
    assert shell("stack").splitlines() == [
        f"  0 visit  {visit}",
        f"  1 walk  {walk}",
        "    … the same 2 40 times more, up to 81",
        f" 82 <module>  {first}",
    ]
    levels = "\n".join(shell("locals", "--frame", number) for number in ("80", "81"))
    assert levels.split() == ["level:", "int", "=", "40"] * 2


def test_no_name_of_the_program_begins_a_line(shell: Shell, tmp_path: Path) -> None:
    script = Program.write(
        tmp_path / "odd.py",
        r"""
        class Lines:
            def __repr__(self):
                return "one\nended"
        Lines.__name__ = "Lines\nended"
        def odd(lines):
            return lines  # @here
        odd.__code__ = odd.__code__.replace(co_name="odd\nended")
        globals()["name\nended"] = Lines()
        odd(Lines())
        """,
    )
    shell("start", "--break", f"odd.py:{script.line('here')}", "odd.py")
    assert shell("stack").splitlines()[0] == rf"  0 odd\nended  {script.text}:{script.line('here')}"
    assert shell("locals") == "lines: Lines\\nended = one\n ended\n"
    assert "name\\nended: Lines\\nended = one\n ended\n" in shell("locals", "--frame", "1")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are otherwise there")
@pytest.mark.parametrize("in_server", [True, False], ids=["quick", "whole"])
def test_a_start_that_is_interrupted_leaves_no_session(
    shell: Shell, tmp_path: Path, in_server: bool
) -> None:
    (tmp_path / "app.py").write_text("input()\n")
    (tmp_path / "sitecustomize.py").write_text(
        "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.01)\n"
    )
    shell("start", "--wait", "0", "app.py")
    shell("end")
    url = json.loads((shell.state_dir / "background.json").read_text())["url"]
    more = [] if in_server else ["--url", url]
    slow = ["-e", f"PYTHONPATH={tmp_path}"]
    command = shell.command("start", *more, *slow, "app.py")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as starting:
        until(
            lambda: [one["status"] for one in shell.json("sessions")["items"]] == ["launching"],
            "the program is not being started",
        )
        starting.send_signal(signal.SIGINT)
        assert starting.wait(30) != 0
    (tmp_path / "go").touch()
    until(lambda: shell.json("sessions")["total"] == 0, "the session is still there")
