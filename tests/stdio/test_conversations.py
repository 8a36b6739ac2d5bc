"""Whole conversations over the line protocol, with a real relay and real programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import trio
from click.testing import CliRunner

from relay.command_line import cli
from relay.models.line_protocol import COMMANDS, EVENTS
from tests.e2e.conftest import program as program
from tests.programs import Program
from tests.stdio.client import DEADLINE, Client, conversation

Write = Callable[..., Program]

TRANSCRIPT = Path(__file__).with_name("session.txt").read_text()

SHOP = """
    import sys  # @first
    def total(items, label):  # @def
        result = 0  # @result
        for item in items:  # @loop
            result += item  # @add
        return result
    items = [3, 4.5]  # @items
    sum = total(items, "a \\"b\\" 'c'")  # @call
    # what there is  # @comment
    yes, nothing, prices = True, None, {"pear": 2}  # @kinds
    print("sum", sum)  # @print
    print("watch out", file=sys.stderr)  # @stderr
    print("read", repr(sys.stdin.read()))  # @read
    1 / 0  # @crash
    """


def test_the_transcript_has_every_command_and_every_event() -> None:
    said = {line.split()[1] for line in TRANSCRIPT.splitlines() if line.startswith("→")}
    heard = {line.split()[1] for line in TRANSCRIPT.splitlines() if line.startswith("←")}
    assert said == set(COMMANDS)
    assert heard == {event.event for event in EVENTS}


async def test_a_whole_session_goes_as_the_transcript_says(program: Write, tmp_path: Path) -> None:
    shop = program(SHOP, "shop.py")
    async with conversation(tmp_path) as client:
        await client.follow(TRANSCRIPT, shop)
        assert await client.rest() == []


async def test_bad_lines_and_wrong_moments_are_told_and_change_nothing(
    program: Write, tmp_path: Path
) -> None:
    """One program that runs, is looked at from all sides, floods its output, and is ended."""
    busy = program(
        """
        import os, sys, time
        class Slow:
            def __repr__(self):
                time.sleep(600)
        big = ["x" * 150 + str(n) for n in range(300)]
        globals().update({f"v{n}": "ä" * 300 for n in range(300)})
        sys.stdout.write("Ä" * 200_000 + "\\n")
        def down(n):
            if n:
                return down(n - 1)
            stop = 1  # @deep
        down(400)
        slow = Slow()  # @slow
        print("runs", flush=True)
        while not os.path.exists("go"):
            time.sleep(0.01)
        print("goes", flush=True)
        time.sleep(600)  # @asleep
        """,
        "busy.py",
    )
    (tmp_path / "typo.py").write_text("x = 1\nif x\n")
    async with conversation(tmp_path) as client:

        async def refused(name: str, said: str, **params: object) -> dict[str, object]:
            await client.send(name, **params)
            event, data = await client.next()
            assert (event, data.get("command")) == ("error", name)
            assert said in data["message"]
            return data

        await client.send_raw(b"\n  \r\nnonsense\n" + b"x" * 1_200_000 + b"\n")
        for said in ("not JSON", "longer than"):
            event, data = await client.next()
            assert event == "error"
            assert said in data["message"]
            assert set(data) == {"message"}
        await refused("initialize", "Error reading file", file="missing.py")
        await refused("initialize", "no such directory", file="busy.py", workingDir="missing")
        await refused("initialize", "Is a directory", file=".")
        await refused("jump", "is unknown")

        # A program that does not compile is told with its place, and another may follow.
        await client.send("initialize", file="typo.py")
        assert await client.next() == ("initialized", {"file": "typo.py"})
        data = await refused("start", "SyntaxError")
        assert data["location"] == {"file": str(tmp_path / "typo.py"), "line": 2, "column": 5}
        await client.send("initialize", file=busy.text)
        assert await client.next() == ("initialized", {"file": busy.text})
        await refused("setBreakpoint", "No such source file", file="missing.py", line=1)
        await refused("setBreakpoint", "lines", file="busy.py", line=10_000)
        await refused("continue", "program not started")

        for mark in ("deep", "slow", "asleep"):
            await client.send("setBreakpoint", file="busy.py", line=busy.line(mark))
            await client.next()
        await client.send("start")
        told = await client.until("stopped")
        text = "".join(data["text"] for event, data in told if event == "output")
        assert text == "Ä" * 200_000 + "\n"
        assert told[-1][1]["breakpointId"] == 1

        # What does not fit a line is cut, and it is said how much.
        await client.send("getStackTrace")
        event, data = await client.next()
        assert (event, data["frames"][0]["function"]) == ("stackTrace", "down")
        _, data = await client.next()
        assert "of 402: the rest is left out" in data["message"]
        await client.send("getVariables", frameIndex=401)
        event, data = await client.next()
        assert event == "variables"
        assert len(data["variables"]) > 50
        _, data = await client.next()
        assert "the rest is left out" in data["message"]
        await refused("getVariables", "frame 402 does not exist", frameIndex=402)
        await client.send("evaluate", expression="big[7]")
        assert await client.next() == (
            "evaluateResult",
            {"expression": "big[7]", "result": f'"{"x" * 150}7"', "type": "string"},
        )
        await refused("initialize", "the program is running", file="busy.py")

        # While it runs, only breakpoints can be set and cleared.
        await client.send("continue")
        assert (await client.until("stopped"))[-1][1]["breakpointId"] == 2
        await client.send("continue")
        assert await client.next() == ("output", {"category": "stdout", "text": "runs\n"})
        for name in ("stepInto", "stepOver", "stepOut", "continue", "start", "getVariables"):
            await refused(name, "the program is running")
        await refused("getStackTrace", "the program is running")
        await refused("evaluate", "the program is running", expression="1")
        await client.send("clearBreakpoint", file="busy.py", line=busy.line("asleep"))
        assert (await client.next())[0] == "breakpointCleared"
        (tmp_path / "go").touch()
        assert await client.next() == ("output", {"category": "stdout", "text": "goes\n"})

        # The end of the input is the end of everything: see the fixture on what is left behind.
        await client.close_input()
        assert await client.rest() == [("terminated", {})]


async def test_the_end_comes_in_time_whatever_is_under_way(program: Write, tmp_path: Path) -> None:
    stuck = program(
        """
        import subprocess, time
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        class Slow:
            def __repr__(self):
                time.sleep(600)
        slow = Slow()  # @slow
        here = 1
        """,
        "stuck.py",
    )

    async def paused(client: Client) -> None:
        await client.send("initialize", file="stuck.py")
        await client.send("setBreakpoint", file="stuck.py", line=stuck.line("slow"))
        await client.send("start")
        await client.until("stopped")

    # `terminate` overtakes an evaluation that hangs.
    async with conversation(tmp_path) as client:
        await paused(client)
        await client.send("evaluate", expression="Slow()")
        await client.send("terminate")
        assert await client.rest() == [("terminated", {})]
    # A client that does not listen any more is an end, too.
    async with conversation(tmp_path) as client:
        await paused(client)
        assert client.process.stdout is not None
        await client.process.stdout.aclose()
        await client.send("getStackTrace")
        with trio.fail_after(DEADLINE):
            assert await client.process.wait() == 0


async def test_the_last_line_needs_no_end(program: Write, tmp_path: Path) -> None:
    program("x = 1\n", "app.py")
    for last, more in (
        ("terminate", []),
        ("getVariables", [("error", "Cannot get variables: program not started")]),
    ):
        async with conversation(tmp_path) as client:
            await client.send("initialize", file="app.py")
            await client.send_raw(b'{"type":"command","command":"%s"}' % last.encode())
            await client.close_input()
            said = [(name, data.get("message")) for name, data in await client.rest()]
        assert said == [("initialized", None), *more, ("terminated", None)]


async def test_an_editor_finds_the_debugger_that_it_spawns(program: Write, tmp_path: Path) -> None:
    program("x = 1\nprint(x)\n", "app.py")
    async with conversation(tmp_path, ["ez", "debugserver", "app.py"]) as client:
        # Announced without being asked, and once only: this is what makes the client begin.
        assert await client.next() == ("initialized", {"file": "app.py"})
        await client.send("initialize", file="app.py", workingDir=str(tmp_path))
        await client.send("start")
        assert await client.next() == ("started", {})
        assert (await client.next())[1]["reason"] == "entry"
        await client.send("continue")
        assert await client.next() == ("output", {"category": "stdout", "text": "1\n"})
        assert await client.next() == ("exited", {"exitCode": 0})
        # It can be run again.
        await client.send("start")
        assert [name for name, _ in await client.until("stopped")] == ["started", "stopped"]
        # A signal is an end like `terminate`.
        client.process.terminate()
        assert await client.rest() == [("terminated", {})]
    told = CliRunner().invoke(cli, ["ez", "version"])
    assert told.exit_code == 0
    assert told.output.startswith("relay ")
    missing = await trio.run_process(
        [sys.executable, "-m", "relay", "ez", "debugserver", "/nonexistent"],
        check=False,
        capture_stdout=True,
        capture_stderr=True,
    )
    assert missing.returncode == 1
    assert json.loads(missing.stdout)["event"] == "error"
    for stream in (missing.stdout, missing.stderr):
        assert b"Error reading file" in stream
