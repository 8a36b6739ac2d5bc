"""Errors say what they know, in the words of the face that shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio

from tests.cli.conftest import Shell
from tests.cli.conftest import shell as shell
from tests.mcp.client import over_stdio
from tests.programs import Program
from tests.test_run import SECONDS, Start, finish
from tests.test_run import start as start

APP = """
    import time
    def double(number):
        result = number * 2  # @result

        return result  # @return
    double(3)
    while __import__("sys").argv[1:]:
        time.sleep(0.01)
"""


@pytest.fixture
def app(tmp_path: Path) -> Program:
    Program.write(tmp_path / "bad.py", "x = 1\nif x\n    print(x)\n")
    return Program.write(tmp_path / "app.py", APP)


def blank(app: Program) -> int:
    """The number of a line without code."""
    return app.line("result") + 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--eval", "1 +", "--", "app.py"], "relay: --eval '1 +': SyntaxError: "),
        (["--eval", "", "--", "app.py"], "relay: --eval '': expression: "),
        (["--why", "c.", "--", "app.py"], "relay: --why c.: SyntaxError: "),
        (
            ["--trace", "double", "--until-result", "1 +", "--", "app.py"],
            "relay: --until-result '1 +': the expression is not valid: invalid syntax\n",
        ),
        (["--watch", "app.py:3:x +", "--", "app.py"], "relay: --watch 'x +': SyntaxError: "),
        (
            ["--break", "app.py:3:x >", "--", "app.py"],
            "relay: --break 'app.py:3:x >': the condition is not valid: invalid syntax\n",
        ),
        (["--log", "app.py:3:{x +}", "--", "app.py"], "relay: --log 'app.py:3:{x +}': "),
        (["--capture", "app.py:3:x +", "--", "app.py"], "relay: --capture 'app.py:3:x +': "),
        (["--", "bad.py"], "bad.py, line 2: expected ':': if x\n"),
        (
            ["--python", "/bin/ls", "--", "app.py"],
            "relay: /bin/ls does not answer as a Python interpreter: it exited with code 2\n"
            "  Give --python a Python interpreter",
        ),
        (["--python", "/bin/echo", "--", "app.py"], "relay: /bin/echo does not behave like"),
        (["--python", "no-such", "--", "app.py"], "relay: --python: no such executable: no-such"),
    ],
)
def test_relay_run_names_the_option_and_what_is_wrong_with_it(
    start: Start, app: Program, words: list[str], said: str
) -> None:
    code, out, err = finish(start(*words))
    assert (code in (1, 2), out) == (True, b"")
    assert said in err
    assert len(err) < 400, "short, and no code of our own"
    assert not [word for word in ("POST", "/sessions", "python_path", "session") if word in err]
    if "/bin/" not in said:
        _, out, err = finish(start("--json", *words))
        told = json.loads(out.splitlines()[-1])
        assert (told["type"], err) == ("error", "")
        assert told["message"] in f"relay: {said}" or said.removeprefix("relay: ").rstrip() in (
            told["message"] + "\n"
        )


def test_only_lines_without_code_are_refused_with_the_line_to_try(
    start: Start, shell: Shell, app: Program
) -> None:
    place, other = f"app.py:{blank(app)}", f"app.py:{app.line('return')}"
    wanted = f"Try line {app.line('return')} which contains: 'return result  # @return'"
    code, _, err = finish(start("--break", place, "--", "app.py"))
    assert code == 2
    assert f"{place}: No executable code at line {blank(app)}\n  {wanted}" in err
    code, _, err = finish(start("--break", place, "--break", other, "--", "app.py"))
    assert code == 0
    assert "[stop 1]" in err
    assert err.count(wanted) == 2, "as it starts, and beside what was never hit"

    refused = shell.run("start", "--break", place, "app.py", code=1)
    assert wanted in refused.stderr
    assert shell("sessions") == "no sessions\n"


async def test_debug_run_refuses_them_too(app: Program, tmp_path: Path) -> None:
    place, other = f"app.py:{blank(app)}", f"app.py:{app.line('return')}"
    wanted = f"Try line {app.line('return')} which contains"
    with trio.fail_after(SECONDS):
        async with over_stdio(tmp_path) as client:
            refused = await client.refused("debug_run", script="app.py", breakpoints=[place])
            assert f"suggestion: {wanted}" in refused
            assert (await client.call("debug_sessions")).startswith("no sessions")
            ran = await client.call("debug_run", script="app.py", breakpoints=[place, other])
            assert f"breakpoint {place}: No executable code at line {blank(app)}. {wanted}" in ran
            assert f"{other} in double" in ran

            for script, said in (("bad.py", "bad.py"), ("no.py", "no.py")):
                assert said in await client.refused("debug_run", script=script)
            bad = await client.refused("debug_run", script="app.py", python="/bin/ls")
            assert "import sys" not in bad
            assert "suggestion: Give python a Python interpreter" in bad


def test_the_shell_speaks_of_its_own_commands(shell: Shell, app: Program) -> None:
    bad = shell.run("start", "bad.py", code=1).stderr
    assert f"syntax error in {app.path.with_name('bad.py')}, line 2: expected ':': if x\n" in bad
    assert "then start it again" in bad
    bad = shell.run("start", "--break", "app.py:3:x >", "app.py", code=1).stderr
    assert f"{app.path}:3: the condition 'x >' is not valid: invalid syntax" in bad

    shell("start", "--wait", "0.2", "app.py", "x", code=4)
    refused = shell.run("continue", code=1).stderr
    assert "relay pause" in refused
    assert "POST" not in refused
    told = shell.json("continue", code=1)["error"]
    assert "relay pause" in told["details"]["suggestion"]
    shell("pause")
    for command in ("eval", "why", "watch"):
        assert "'1 +': SyntaxError: " in shell.run(command, "1 +", code=1).stderr
    for wrong, said in (("1 +", "invalid syntax"), (" ", "the expression is empty")):
        bad = shell.run("trace", "double", "--until-result", wrong, code=1).stderr
        assert bad.startswith(
            f"relay: --until-result '{wrong}': the expression is not valid: {said}\n"
        )
    unknown = shell.run("break", "--delete", "bp_9", code=1).stderr
    assert "relay break lists the ids" in unknown
    shell("end")
