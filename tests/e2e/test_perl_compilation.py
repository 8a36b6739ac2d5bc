"""Perl programs that end while they are compiled: one answer each, with Perl's words, on every face."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio

from tests.cli.conftest import Shell, shell
from tests.e2e.api import Api, Refused
from tests.mcp.client import over_stdio
from tests.programs import Program
from tests.stdio.client import conversation

__all__ = ["shell"]

pytestmark = pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")

Write = Callable[..., Program]

AT_ONCE = 4
"""Launches beside each other: the order of what their ends are told by is left to chance."""


@dataclass(frozen=True)
class Ends:
    """A program that runs as it is compiled, with its exit code and what it says."""

    text: str
    code: int
    stderr: str = ""
    stdout: str = ""


OWN = "package Own; our $loaded = 1; 1;\n"

ENDS = {
    "missing module": Ends("use strict;\nuse Not::There;\nprint 1;\n", 2, "Can't locate Not/There.pm"),
    "exit": Ends("BEGIN { print qq{begun\\n}; exit 3 }\n", 3, stdout="begun\n"),
    "exit 0": Ends("BEGIN { exit 0 }\n", 0),
    "words and exit": Ends("BEGIN { warn 'no use'; exit 255 }\n", 255, "no use at "),
    "die": Ends("BEGIN { $! = 9; die qq{no good\\n} }\n", 9, "no good\nBEGIN failed--compilation aborted"),
    "broken module": Ends("use Broken;\n", 255, "Compilation failed in require"),
    "missing module after an own one": Ends("use Own;\nuse Not::There;\n", 2, "Can't locate Not/There"),
    "check": Ends("CHECK { die qq{unchecked\\n} }\n", 255, "CHECK failed--call queue aborted"),
}  # fmt: skip


@pytest.fixture(params=ENDS)
def ends(request: pytest.FixtureRequest) -> Ends:
    return ENDS[request.param]


@pytest.fixture
def script(ends: Ends, tmp_path: Path) -> Program:
    return written(tmp_path, ends.text)


def written(folder: Path, text: str) -> Program:
    Program.write(folder / "lib" / "Own.pm", OWN)
    Program.write(folder / "lib" / "Broken.pm", "package Broken;\nmy $x = ;\n1;\n")
    library = f"use lib '{folder / 'lib'}'; "  # on the first line: lines are as in the text
    return Program.write(folder / "ends.pl", library + text)


async def test_a_launch_over_http_tells_its_end(api: Api, ends: Ends, script: Program) -> None:
    async def launch() -> None:
        session = await api.session(adapter="perl")
        await session.breakpoint(script.text, 1)
        ended = await session.launch(script.text, wait=60)
        assert (ended["status"], ended["exit_code"]) == ("terminated", ends.code)
        assert ends.stderr in await session.printed("stderr")
        assert await session.printed("stdout") == ends.stdout
        await session.delete()

    async with trio.open_nursery() as nursery:
        for _ in range(AT_ONCE):
            nursery.start_soon(launch)


async def test_relay_run_tells_its_end(ends: Ends, script: Program) -> None:
    with trio.fail_after(60):
        done = await trio.run_process(
            [sys.executable, "-m", "relay", "run", script.text],
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    told = done.stderr.decode()
    assert (done.returncode, done.stdout.decode()) == (ends.code, ends.stdout), told
    assert ends.stderr in told
    assert f"[end] exit code {ends.code}, 0 stops" in told


async def test_the_line_protocol_tells_its_end(tmp_path: Path) -> None:
    async with conversation(tmp_path) as client:
        for name, ends in ENDS.items():
            script = written(tmp_path, ends.text)
            await client.send("initialize", file=script.path.name, workingDir=str(tmp_path))
            await client.until("initialized")
            await client.send("start")
            *before, (_, ended) = await client.until("exited")
            assert ended == {"exitCode": ends.code}, name
            printed = [data for event, data in before if event == "output"]
            for category, expected in (("stdout", ends.stdout), ("stderr", ends.stderr)):
                told = "".join(one["text"] for one in printed if one["category"] == category)
                assert expected in told, name


async def test_an_agent_is_told_its_end(tmp_path: Path) -> None:
    async with over_stdio(tmp_path) as agent:
        for name, ends in ENDS.items():
            script = written(tmp_path, ends.text)
            told = await agent.call("debug_run", script=script.path.name, wait=60)
            for line in (f"exit code {ends.code}", *(ends.stdout + ends.stderr).splitlines()):
                assert line in told, name


def test_a_shell_is_told_its_end(shell: Shell) -> None:
    for ends in ENDS.values():
        script = written(shell.directory, ends.text)
        told = shell("start", script.path.name)
        assert f"exit code {ends.code}" in told
        for line in (ends.stdout + ends.stderr).splitlines():
            assert line in told


# Syntax errors ----------------------------------------------------------------------------------

BROKEN = {
    "syntax": ("use strict;\nmy $x = ;    # @bad\n", 'syntax error, near "= ;"'),
    "after an own module": ("use Own;\nmy $x = ;    # @bad\n", 'syntax error, near "= ;"'),
    "before a use": ("my $x = ;    # @bad\nuse strict;\n", 'syntax error, near "= ;"'),
    "undeclared": ("use strict;\n$x = 1;    # @bad\n", 'Global symbol "$x" requires explicit package'),
    "after a warning": (
        "use warnings;\nmy $a = 1; my $a = 2;\nmy $x = ;    # @bad\n",
        "syntax error",
    ),
    "open text": ("print 1;\nprint 'open;    # @bad\n", "Can't find string terminator"),
    "open bracket": ("print 1;\nif (1) {    # @bad\n", "Missing right curly"),
    "pattern": ("print 1;\n/(/;    # @bad\n", "Unmatched ( in regex"),
    "open pattern": ("print 1;\ns/a/b    # @bad\n", "Substitution replacement not terminated"),
}  # fmt: skip


@pytest.fixture(params=BROKEN)
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Program, str]:
    text, words = BROKEN[request.param]
    return written(tmp_path, text), words


async def test_a_syntax_error_is_refused_with_its_place_and_can_be_corrected(
    api: Api, broken: tuple[Program, str]
) -> None:
    script, words = broken
    session = await api.session(adapter="perl")
    for _ in range(AT_ONCE):
        with pytest.raises(Refused) as refused:
            await session.launch(script.text, wait=60)
        error = refused.value
        assert (error.status, error.code) == (400, "LAUNCH_SYNTAX_ERROR")
        assert "Perl syntax error in script" in error.message
        assert words in error.details["error_message"]
        assert (error.details["file"], error.details["line"]) == (script.text, script.line("bad"))
        assert error.details["text"] == script.path.read_text().splitlines()[script.line("bad") - 1]
        assert (await session.get())["status"] == "created"
    assert words.partition(",")[0] in await session.printed("stderr"), "Perl's own words, too"
    script.path.write_text("print 'mended';\n")
    ended = await session.launch(script.text, wait=60)
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)
    await session.delete()


async def test_each_face_says_where_a_syntax_error_is(tmp_path: Path) -> None:
    script = written(tmp_path, "BEGIN { print qq{begun\\n} }\nmy $x = ;    # @bad\n")
    place = f"syntax error in {script.text}, line {script.line('bad')}"
    with trio.fail_after(60):
        done = await trio.run_process(
            [sys.executable, "-m", "relay", "run", script.text],
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (1, b"begun\n")
    assert place in done.stderr.decode()
    assert "aborted due to compilation errors" in done.stderr.decode()
    async with over_stdio(tmp_path) as agent:
        told = await agent.refused("debug_run", script=script.path.name, wait=60)
        assert f"(line {script.line('bad')})" in told
    async with conversation(tmp_path) as client:
        await client.send("initialize", file=script.path.name, workingDir=str(tmp_path))
        await client.until("initialized")
        await client.send("start")
        *_, (_, error) = await client.until("error")
        assert error["message"].startswith("SyntaxError: syntax error")
        assert error["location"]["line"] == script.line("bad")


def test_a_shell_says_where_a_syntax_error_is(shell: Shell) -> None:
    script = written(shell.directory, "my $x = ;    # @bad\n")
    told = shell.run("start", script.path.name, code=1).stderr
    assert f"syntax error in {script.text}, line {script.line('bad')}" in told
