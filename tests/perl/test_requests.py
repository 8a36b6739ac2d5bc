"""Bad input of every kind: a number, a reason, and nothing changed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from relay.dap.framing import Decoder
from tests.perl.driver import Refused, adapter
from tests.programs import Program

FORMAT, CLIMB, UNKNOWN, FAILED, SYNTAX, UNREACHED = 1004, 1001, 1005, 1008, 1009, 1010
HERE = "{program}"

BEFORE_LAUNCH: list[tuple[str, dict[str, Any], int, str]] = [
    ("launch", {}, FORMAT, "program"),
    ("launch", {"program": 7}, FORMAT, "program"),
    ("launch", {"program": "relative.pl"}, FORMAT, "absolute"),
    ("launch", {"program": "/no/such/file.pl"}, FORMAT, "no file"),
    ("launch", {"program": "/tmp/../etc/passwd"}, CLIMB, "traversal"),
    ("launch", {"program": HERE, "args": "a"}, FORMAT, "args"),
    ("launch", {"program": HERE, "args": ["a\0b"]}, FORMAT, "args"),
    ("launch", {"program": HERE, "env": {"A": 1}}, FORMAT, "env"),
    ("launch", {"program": HERE, "env": {"A=B": "1"}}, FORMAT, "env"),
    ("launch", {"program": HERE, "cwd": "/no/such"}, FORMAT, "no directory"),
    ("launch", {"program": HERE, "cwd": "/tmp/../tmp"}, CLIMB, "cwd"),
    ("launch", {"program": HERE, "includePaths": ["../lib"]}, CLIMB, "includePaths"),
    ("launch", {"program": HERE, "stopOnEntry": 1}, FORMAT, "stopOnEntry"),
    ("launch", {"program": HERE, "perlPath": "/no/perl"}, FAILED, "No such file"),
    ("attach", {}, FORMAT, "port"),
    ("attach", {"port": 70000}, FORMAT, "port"),
    ("attach", {"port": True}, FORMAT, "port"),
    ("attach", {"port": 1, "host": "127.0.0.1"}, UNREACHED, "Nothing listens"),
    ("attach", {"port": 1, "host": ".."}, UNREACHED, "Nothing listens"),
    ("setBreakpoints", {}, FORMAT, "source"),
    ("setBreakpoints", {"source": {"path": "a.pl"}}, FORMAT, "absolute"),
    ("setBreakpoints", {"source": {"path": "/w/../../etc/passwd"}}, CLIMB, "breakpoint path"),
    ("setBreakpoints", {"source": {"path": HERE}, "breakpoints": 7}, FORMAT, "breakpoints"),
    ("setBreakpoints", {"source": {"path": HERE}, "breakpoints": [{}]}, FORMAT, "line"),
    ("setBreakpoints", {"source": {"path": HERE}, "breakpoints": [{"line": "1"}]}, FORMAT, "line"),
    ("setExceptionBreakpoints", {"filters": ["rare"]}, FORMAT, "rare"),
    ("stackTrace", {"threadId": 1}, FORMAT, "launch or attach"),
    ("evaluate", {"expression": "1"}, FORMAT, "launch or attach"),
    ("frobnicate", {}, UNKNOWN, "frobnicate"),
]

AT_A_STOP: list[tuple[str, dict[str, Any], int, str]] = [
    ("launch", {"program": HERE}, FORMAT, "already"),
    ("initialize", {}, FORMAT, "already"),
    ("evaluate", {}, FORMAT, "empty"),
    ("evaluate", {"expression": "  "}, FORMAT, "empty"),
    ("evaluate", {"expression": "1\0"}, FORMAT, "NUL"),
    ("evaluate", {"expression": "1" * 70000}, FORMAT, "longer"),
    ("evaluate", {"expression": "1", "frameId": 99}, FORMAT, "frameId"),
    ("evaluate", {"expression": "1", "allowSideEffects": "yes"}, FORMAT, "allowSideEffects"),
    ("evaluate", {"expression": "} 1 {"}, SYNTAX, "syntax error"),
    ("variables", {"variablesReference": 5}, FORMAT, "variablesReference"),
    ("variables", {"variablesReference": True}, FORMAT, "variablesReference"),
    ("scopes", {}, FORMAT, "frameId"),
    ("stackTrace", {"startFrame": -1}, FORMAT, "startFrame"),
    ("source", {"sourceReference": 9}, FORMAT, "sourceReference"),
    ("setVariable", {"variablesReference": 5, "name": "$x", "value": "1"}, FORMAT, "Reference"),
    ("setExpression", {"expression": "$x", "value": ""}, FORMAT, "value is empty"),
    ("setExpression", {"expression": "1", "value": "2"}, SYNTAX, "modify"),
    ("exceptionInfo", {}, FORMAT, "exception"),
    ("stackTrace", {"threadId": 99}, FORMAT, "the only one is 1"),
    ("next", {"threadId": 2}, FORMAT, "the only one is 1"),
    ("continue", {"threadId": "1"}, FORMAT, "threadId"),
    ("evaluate", {"expression": "1", "context": 5}, FORMAT, "context"),
    ("disconnect", {"terminateDebuggee": "yes"}, FORMAT, "terminateDebuggee"),
    ("stdin", {"input": 7}, FORMAT, "input"),
]


async def refused(perl: Any, program: Program, row: tuple[str, dict[str, Any], int, str]) -> None:
    command, arguments, number, words = row

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: filled(one) for key, one in value.items()}
        return program.text if value == HERE else value

    with pytest.raises(Refused) as why:
        await perl.ask(command, **filled(arguments))
    assert (row, why.value.number) == (row, number)
    assert words in why.value.text
    assert set(why.value.error) == {"id", "format", "variables", "showUser", "sendTelemetry"}


async def test_every_bad_request_is_refused_and_the_session_goes_on(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "p.pl", "my $x = 1;\nmy $y = $x + 1;\nprint $y;\n")
    async with adapter() as perl:
        await perl.ask("initialize")
        for row in BEFORE_LAUNCH:
            await refused(perl, program, row)
        for broken, words in (
            ({"arguments": [1]}, "arguments must be an object"),
            ({"command": 7}, "command must be a string"),
            ({"type": "event", "command": "x"}, "type must be request"),
        ):
            seq = await perl.send({"command": "threads", **broken})
            answer = await perl.response(seq)
            assert answer["success"] is False
            assert answer["body"]["error"]["id"] == FORMAT
            assert words in answer["message"]
        await perl.ask("launch", program=program.text)
        await perl.places(program, 2)
        await perl.ask("configurationDone")
        await perl.stop()
        for row in AT_A_STOP:
            await refused(perl, program, row)
        assert await perl.value("$x") == "1"
        await perl.ask("continue", threadId=1)
        assert await perl.end() == 0
        assert perl.printed("stdout") == b"2"


async def test_what_needs_a_stop_is_refused_while_the_program_runs(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "p.pl", "while (1) { select undef, undef, undef, 0.01 }\n")
    async with adapter() as perl:
        await perl.start(program)
        await perl.ask("configurationDone")
        for command in ("continue", "next", "stackTrace", "evaluate", "variables"):
            with pytest.raises(Refused, match="pause it first"):
                await perl.ask(command, expression="1")
        await perl.ask("pause", threadId=1)
        why, _ = await perl.stop()
        assert why["reason"] == "pause"


async def test_bytes_that_are_not_dap_are_answered_and_end_what_cannot_be_framed() -> None:
    command = [sys.executable, "-m", "relay.perl"]
    asked = [framed(body) for body in (b'{"seq": ', b"[]", b'"\xff"', b"")]
    asked += [framed(b'{"seq": 1, "type": "request", "command": "initialize"}')]
    with trio.fail_after(30):
        done = await trio.run_process(
            command,
            stdin=b"".join(asked) + b"Content-Length: x\r\n\r\n",
            capture_stderr=True,
            capture_stdout=True,
            check=False,
        )
    assert done.returncode == 1
    assert b"Content-Length" in done.stderr
    told = Decoder().feed(done.stdout)
    *unread, first, ready, last = told
    assert [one["seq"] for one in told] == list(range(1, 8))
    assert (first["command"], first["success"], ready["event"]) == (
        "initialize",
        True,
        "initialized",
    )
    assert "Content-Length" in last["message"]
    assert len(unread) == 4
    for one in (*unread, last):
        assert (one["type"], one["request_seq"], one["success"]) == ("response", 0, False)
        assert one["body"]["error"]["id"] == FORMAT


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


async def test_nothing_is_done_before_initialize(tmp_path: Path) -> None:
    program = Program.write(tmp_path / "p.pl", "print 1;\n")
    async with adapter() as perl:
        for command in ("launch", "threads", "configurationDone", "terminate"):
            with pytest.raises(Refused, match="first request must be initialize") as refused:
                await perl.ask(command, program=program.text)
            assert refused.value.number == FORMAT
        await perl.start(program)
        await perl.ask("configurationDone")
        assert await perl.end() == 0


async def test_what_was_asked_before_the_client_closed_its_end_is_answered(
    tmp_path: Path,
) -> None:
    program = Program.write(tmp_path / "p.pl", "my $x = 1;    # @one\nsleep 600;\n")
    asked: tuple[tuple[str, dict[str, Any]], ...] = (
        ("initialize", {}),
        ("launch", {"program": program.text}),
        ("setBreakpoints", {"source": {"path": program.text}, "breakpoints": [{"line": 1}]}),
        ("threads", {}),
        ("nonsense", {}),
    )
    lines = [
        framed(json.dumps({"seq": n, "type": "request", "command": c, "arguments": a}).encode())
        for n, (c, a) in enumerate(asked, 1)
    ]
    with trio.fail_after(30):
        done = await trio.run_process(
            [sys.executable, "-m", "relay.perl"], stdin=b"".join(lines), capture_stdout=True
        )
    told = [one for one in Decoder().feed(done.stdout) if one["type"] == "response"]
    assert [(one["command"], one["success"]) for one in told] == [
        (command, command != "nonsense") for command, _ in asked
    ]


def test_the_command_says_where_the_hook_is() -> None:
    library = subprocess.run(
        [sys.executable, "-m", "relay", "perl-adapter", "--library"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (Path(library.stdout.strip()) / "Devel" / "RelayHook.pm").is_file()
