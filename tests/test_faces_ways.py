"""What shell and tools do with runs, values and places, where they did something else before."""

from __future__ import annotations

from pathlib import Path

import trio

from tests.cli.conftest import Shell
from tests.cli.conftest import shell as shell
from tests.mcp.client import over_stdio
from tests.programs import Program
from tests.test_run import SECONDS, Start, finish
from tests.test_run import start as start

APP = """
    import sys, time
    def double(number):
        result = number * 2  # @result
        return result
    print("run", flush=True)
    time.sleep(0.4)
    for number in range(4):
        double(number)
    if sys.argv[1:]:
        raise ValueError("asked for")  # @raise
    print("done")
"""


def test_a_restart_waits_for_the_new_run_and_shows_only_that(shell: Shell, tmp_path: Path) -> None:
    app = Program.write(tmp_path / "app.py", APP)
    place = f"app.py:{app.line('result')}"
    assert f"{place} in double" in shell("start", "--break", place, "app.py")
    again = shell("restart", "--wait", "30")
    assert f"{place} in double" in again
    assert again.count("run\n") == 1
    shell("break", "--delete", "bp_1")
    ended = shell("restart", "--wait", "30")
    assert ended == " run\n done\nended: exit code 0\n"
    assert shell("end").endswith(" ended, exit code 0\n")


def test_an_end_is_told_as_no_crash(shell: Shell, tmp_path: Path) -> None:
    app = Program.write(tmp_path / "app.py", APP)
    session = shell("start", "--break", f"app.py:{app.line('result')}", "app.py").split()[0]
    assert shell("end") == f"{session} ended\n"


def test_relay_start_has_a_switch_for_exceptions(shell: Shell, tmp_path: Path) -> None:
    app = Program.write(tmp_path / "app.py", APP)
    assert f"app.py:{app.line('raise')}" in shell("start", "app.py", "x").split("\n", 2)[2]
    assert shell.json("where")["status"] == "paused"
    ended = shell("start", "--no-on-exception", "app.py", "x")
    assert "\nended: exit code 1\n" in ended
    assert shell.json("end", "--all")["ended"]


def test_what_an_expression_prints_is_shown(shell: Shell, tmp_path: Path) -> None:
    app = Program.write(tmp_path / "app.py", APP)
    shell("start", "--break", f"app.py:{app.line('result')}:number == 3", "app.py")
    assert shell("eval", "print('is', number)") == "is 3\n"
    found = shell.json("eval", "print('is', number)")
    assert (found["output"], found["result"]) == ("is 3\n", "None")
    assert shell.json("end", "--all")["ended"]


def test_a_log_takes_a_condition(start: Start, tmp_path: Path) -> None:
    app = Program.write(tmp_path / "app.py", APP)
    here = f"app.py:{app.line('result')}"
    logged = f"{here} if number in {{1: 2, 3: 4}}:at {{number}}: odd"
    kept = f"{here} if number > 1:number"
    _, _, err = finish(start("--log", logged, "--", "app.py"))
    assert [line for line in err.splitlines() if line.startswith("at")] == [
        "at 1: odd",
        "at 3: odd",
    ]
    _, _, err = finish(start("--capture", kept, "--", "app.py"))
    assert "number: 2 int; 2 to 3" in err
    _, _, err = finish(start("--break", f"{here} if number == 3", "--", "app.py"))
    assert err.count("[stop ") == 1
    code, _, err = finish(start("--log", f"{here} if number >:x", "--", "app.py"))
    assert code == 2
    assert "the condition is not valid" in err


async def test_the_one_session_that_lives_is_meant(tmp_path: Path) -> None:
    app = Program.write(tmp_path / "app.py", APP)
    place = f"app.py:{app.line('result')}"
    with trio.fail_after(SECONDS):
        async with over_stdio(tmp_path) as client:
            first = await client.call("debug_run", script="app.py")
            assert "exit code 0" in first
            await client.call("debug_run", script="app.py", breakpoints=[f"{place}:number == 3"])
            shown = await client.call("debug_eval", expression="print('is', number)")
            assert shown == "printed: is 3\nNone"
            assert "is 3" not in await client.call("debug_continue", action="over")
            assert "exit code 0" in await client.call("debug_continue")
            again = await client.call("debug_run")
            assert f"{place} in double" in again
            refused = await client.refused("debug_run", script="app.py", breakpoints=["app.py"])
            assert "app.py is a file: give a line of it, such as app.py:42" in refused


def test_a_file_without_a_line_is_no_function(shell: Shell, tmp_path: Path) -> None:
    Program.write(tmp_path / "app.py", APP)
    refused = shell.run("start", "--break", "app.py", "app.py", code=2).stderr
    assert "'app.py': it is a file: give a line of it, as app.py:42" in refused
