"""Perl programs in sessions of the relay: what every face does, what cannot be done, and the ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from relay.process.guardian import descendants
from tests.e2e.api import Api, Refused, Session
from tests.e2e.served import alive, served, until
from tests.mcp.client import over_stdio
from tests.programs import Program
from tests.relays import environment
from tests.stdio.client import conversation

pytestmark = pytest.mark.skipif(shutil.which("perl") is None, reason="perl is not installed")

Write = Callable[..., Program]

PRICES = """
    use strict;
    use warnings;
    $| = 1;
    my %price = (apple => 3, pear => 5);
    my @list = (1 .. 300);
    my $total = 0;
    sub add {
        my ($x) = @_;
        $total += $x;    # @add
        return $total;    # @return
    }
    print "Name? ";
    my $name = <STDIN>;
    chomp $name;
    for my $fruit (sort keys %price) {
        add($price{$fruit});    # @call
    }
    print STDERR "warned\\n";    # @after
    print "total $total for $name\\n";
    die "broken\\n" if $name eq 'die';    # @die
    exit 3;
"""

SLEEP = """
    $| = 1;
    if (my $child = fork) { print "ready\\n"; sleep 600 } else { sleep 600 }
"""


@pytest.fixture
def prices(program: Write) -> Program:
    return program(PRICES, "prices.pl")


async def test_a_perl_program_is_debugged_like_any_other(api: Api, prices: Program) -> None:
    session = await api.session(adapter="perl")
    assert (await session.get())["adapter"] == "perl"
    placed = await session.breakpoint(prices.text, prices.line("add"), condition="$x > 3")
    assert (placed["verified"], "once the program runs" in placed["message"]) == (False, True)
    launched = await session.launch(prices.text, wait=0)
    assert (launched["launch_mode"], launched["pid"] > 0) == ("adapter", True)

    asked = await session.get("/events", types="input_requested", timeout=60)
    assert asked["events"][0]["body"] == {"prompt": "Name? "}
    await session.post("/input", input="Ada\n")
    page = await session.get("/events", types="stopped", timeout=60)
    body = page["events"][0]["body"]
    assert (body["reason"], body["hit_breakpoint_ids"]) == ("breakpoint", [placed["id"]])
    assert body["location"]["line"] == prices.line("add")
    with trio.fail_after(60):  # the adapter tells of it by an event of its own
        while not (listed := (await session.get("/breakpoints"))["breakpoints"][0])["verified"]:
            pass
    assert (listed["message"], listed["hit_count"]) == (None, 1)

    await check_looking(session)
    step = await session.post("/step-over", include=["report"])
    assert step["current_location"]["line"] == prices.line("return")
    assert "$total = 8" in step["stop"]["report"]
    out = await session.post("/step-out", include=["locals", "stack"])
    assert out["current_location"]["line"] == prices.line("after")
    assert {"%price", "@list", "$name"} <= {one["name"] for one in out["stop"]["locals"]}
    end = await session.resume()
    assert (end["status"], end["exit_code"]) == ("terminated", 3)
    assert await session.printed() == "Name? total 8 for Ada\n"

    await check_exception(session, prices, placed["id"])


async def test_a_program_of_another_language_is_told_by_its_name(api: Api, prices: Program) -> None:
    session = await api.session()
    with pytest.raises(Refused, match="Python syntax error") as refused:
        await session.launch(prices.text)
    assert 'give "adapter": "perl"' in refused.value.details["suggestion"]


async def test_one_call_creates_places_and_starts(api: Api, prices: Program) -> None:
    created = await api.post(
        "/sessions",
        adapter="perl",
        breakpoints=[{"file": prices.text, "line": prices.line("after")}],
        launch={"script": prices.text, "stdin_inputs": ["Eve"], "wait": 60},
    )
    assert created["current_location"]["line"] == prices.line("after")
    (placed,) = created["breakpoints"]
    assert (placed["verified"], placed["message"]) == (True, None)
    await api.delete(f"/sessions/{created['session_id']}")


async def check_syntax(session: Session, locals_: int) -> None:
    """What does not compile is refused, as Python's is, and in lines of the client's text only."""

    async def refusal(asked: Awaitable[object]) -> str:
        with pytest.raises(Refused) as refused:
            await asked
        assert (refused.value.status, refused.value.code) == (400, "EVALUATE_ERROR")
        return refused.value.message

    at_the_end = "SyntaxError: syntax error at the end of the expression"
    assert await refusal(session.evaluate("1 +")) == at_the_end
    second = 'SyntaxError: syntax error in line 2, near "2 2"'
    assert await refusal(session.evaluate("1 +\n2 2")) == second
    asked = session.post(f"/variables/{locals_}/set", name="$total", value="1 1")
    assert await refusal(asked) == 'SyntaxError: syntax error, near "1 1"'
    undeclared = await session.evaluate("$nowhere")
    assert undeclared["error"].startswith('Global symbol "$nowhere" requires explicit package')
    divided = await session.evaluate("1 / 0")
    assert divided["error"] == "Illegal division by zero"


async def check_looking(session: Session) -> None:
    frames = (await session.get("/stacktrace"))["frames"]
    assert [frame["name"] for frame in frames] == ["main::add", "main"]
    scopes = (await session.get("/scopes", frame_id=1))["scopes"]
    assert [scope["presentation_hint"] for scope in scopes] == ["locals", "globals"]
    reference = scopes[0]["variables_reference"]
    shown = (await session.get("/variables", variables_reference=reference))["variables"]
    values = {one["name"]: one for one in shown}
    assert (values["$total"]["value"], values["%price"]["value"]) == ("3", "{2 keys}")
    children = await session.get(
        "/variables",
        variables_reference=values["@list"]["variables_reference"],
        start=290,
        count=5,
    )
    assert (children["total"], children["has_more"]) == (300, True)
    assert [one["value"] for one in children["variables"]] == ["291", "292", "293", "294", "295"]
    assert (await session.evaluate("$total + $x"))["result"] == "8"
    refused = await session.evaluate("$total = 99")
    assert refused["error"] == "Side effects not allowed: scalar assignment", "without DAP's flag"
    assert (await session.evaluate("$total"))["result"] == "3"
    await check_syntax(session, reference)
    found = (await session.post("/completions", text="$to"))["items"]
    assert [one["text"] for one in found] == ["$total"]
    threads = (await session.get("/threads"))["threads"]
    assert [one["status"] for one in threads] == ["paused"]


async def check_exception(session: Session, prices: Program, number: str) -> None:
    await session.delete(f"/breakpoints/{number}")
    stop = await session.post("/restart", stdin_inputs=["die"], wait=60)
    assert (stop["stop_reason"], stop["current_location"]["line"]) == (
        "exception",
        prices.line("die"),
    )
    raised = (await session.get("/exception"))["exception"]
    assert (raised["type"], raised["message"].strip()) == ("die", "broken")
    assert (await session.resume())["exit_code"] == 255
    await session.delete()


async def test_it_stops_in_a_sub_by_its_name(api: Api, prices: Program) -> None:
    session = await api.session(adapter="perl")
    wanted = [{"function": "add", "condition": "$_[0] == 5"}, {"function": "Shop::none"}]
    await session.post("/breakpoints", breakpoints=wanted)
    at = await session.launch(prices.text, stdin_inputs=["Ada\n"], include=["stack"])
    assert (at["status"], at["stop_reason"]) == ("paused", "function breakpoint")
    assert at["current_location"]["line"] == prices.line("add") - 1
    add, none = (await session.get("/breakpoints"))["breakpoints"]
    assert (add["verified"], add["line"], add["hit_count"]) == (True, prices.line("add") - 1, 1)
    assert add["source"] == {"path": prices.text}
    assert (none["verified"], none["message"]) == (False, "No sub of this name is known yet")
    assert (await session.resume())["exit_code"] == 3


async def test_what_the_adapter_cannot_do_is_refused_with_the_reason(
    api: Api, prices: Program
) -> None:
    told = (await api.get("/info"))["adapters"]["perl"]
    assert told["languages"] == ["Perl"]
    session = await api.session(adapter="perl")

    async def refuse(path: str, **body: Any) -> None:
        with pytest.raises(Refused) as refused:
            await session.post(path, **body)
        assert (refused.value.status, refused.value.code) == (501, "NOT_SUPPORTED"), path
        assert "the perl adapter cannot" in refused.value.message
        assert refused.value.details["adapter"] == "perl"

    await refuse("/breakpoints", file=prices.text, line=prices.line("add"), capture=["$x"])
    with pytest.raises(Refused) as refused_name:
        await session.post("/breakpoints", function="prices.pl::Shop::add")
    assert refused_name.value.details["suggestion"] == "Leave the file out: Shop::add"
    (Path(prices.text).parent / "tool.c").touch()
    with pytest.raises(Refused) as refused_file:  # `tool.c:add` reads so: it was never hit
        await session.post("/breakpoints", function="tool.c", condition="add")
    assert refused_file.value.message.startswith("tool.c is a file, and the perl debugger knows")
    assert "Leave the file out: add for tool.c:add" in refused_file.value.details["suggestion"]
    await refuse("/exception-breakpoints", filters=["user_unhandled"])
    await refuse("/launch", script=prices.text, launch_mode="fast")
    await refuse("/launch", script=prices.text, debug_subprocesses=True)
    await refuse("/launch", module="json")
    await refuse("/launch", script=prices.text, console="integratedTerminal")
    await refuse("/attach", pid=os.getpid())
    assert (await session.get())["status"] == "created"

    await session.launch(prices.text, stop_on_entry=True, wait=60)
    await refuse("/trace", function="add")
    await refuse("/detach")
    # A refusal leaves the program where it stands: it can still be told to go on.
    for verb in ("continue", "step-over", "step-into", "step-out"):
        await refuse(f"/threads/1/{verb}")
        assert (await session.get())["status"] == "paused", verb
    await refuse("/goto", line=1)
    await refuse("/hover", file=prices.text, line=1, column=1)
    for listing in ("/modules", "/tasks"):
        with pytest.raises(Refused) as refused:
            await session.get(listing)
        assert refused.value.code == "NOT_SUPPORTED", listing
    assert (await session.get())["status"] == "paused"
    exported = await session.get("/export")
    exported["exception_breakpoints"] = {"filters": ["raised"], "types": ["Lost"]}
    with pytest.raises(Refused) as refused:
        await api.post("/sessions/import", **exported)
    assert (refused.value.status, refused.value.code) == (501, "NOT_SUPPORTED")
    await session.delete()

    with pytest.raises(Refused) as refused:
        await api.session(adapter="cobol")
    assert (refused.value.status, "perl" in refused.value.message) == (400, True)


async def test_a_missing_line_is_refused(api: Api, prices: Program) -> None:
    session = await api.session(adapter="perl")
    with pytest.raises(Refused) as refused:
        await session.breakpoint(prices.text, 999)
    assert refused.value.code == "BREAKPOINT_INVALID_LINE"
    await session.delete()


async def test_nobody_waits_for_an_expression_that_hangs(api: Api, prices: Program) -> None:
    session = await api.session(adapter="perl")
    await session.breakpoint(prices.text, prices.line("add"))
    launched = await session.launch(prices.text, stdin_inputs=["Ada"])
    assert launched["current_location"]["line"] == prices.line("add")
    errors: list[str] = []

    async def hang() -> None:
        errors.append((await session.evaluate("1 while 1"))["error"])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hang)
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert (await session.get("/threads"))["threads"]
        assert len((await session.get("/stacktrace"))["frames"]) == 2
        assert (await session.get("/scopes", frame_id=1))["scopes"]
        assert (await session.locals())["$x"]["value"] == "3"
        assert (await session.breakpoint(prices.text, prices.line("return")))["verified"]
        assert not errors
        step = await session.post("/step-over")
        assert step["current_location"]["line"] == prices.line("return")
    assert errors == ["the program went on before there was an answer"]
    assert (await session.evaluate("$x"))["result"] == "3"
    await session.delete()


@pytest.mark.parametrize("victim", ["program", "adapter"])
async def test_whoever_dies_takes_the_others_along(api: Api, program: Write, victim: str) -> None:
    session = await api.session(adapter="perl")
    launched = await session.launch(program(SLEEP, "sleep.pl").text, wait=0)
    pid = launched["pid"]
    await session.get("/events", types="output", timeout=60)
    below = {child for child, _ in descendants(os.getpid())}
    adapters = [child for child in below if "relay.perl" in alive([child]).get(child, "")]
    os.kill(pid if victim == "program" else adapters[0], signal.SIGKILL)
    ended = await session.get("/events", types="terminated", timeout=60)
    assert ended["events"]
    view = await session.get()
    assert view["status"] == ("terminated" if victim == "program" else "failed")
    await until(lambda: not alive([pid, *adapters]), f"left: {alive([pid, *adapters])}")
    await session.delete()


async def test_nothing_of_perl_outlives_a_killed_relay(tmp_path: Path, program: Write) -> None:
    async with served(tmp_path) as relay:
        session = await relay.api.session(adapter="perl")
        await session.launch(program(SLEEP, "sleep.pl").text, wait=0)
        await session.get("/events", types="output", timeout=60)
        below = relay.below()
        assert any("sleep.pl" in command for command in below.values()), below
        assert await relay.end(signal.SIGKILL) == -signal.SIGKILL
        await until(lambda: not alive(below), f"left behind: {alive(below)}")


async def test_relay_run_takes_a_perl_program_as_it_takes_a_python_one(prices: Program) -> None:
    place = f"{prices.text}:{prices.line('return')}"
    command = [sys.executable, "-m", "relay", "run", "--json", "--break", place]
    with trio.fail_after(60):
        done = await trio.run_process(
            [*command, "--eval", "$total * 2", prices.text],
            stdin=b"Bob\n",
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    assert done.returncode == 3, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    stops = [row for row in rows if row["type"] == "stop"]
    assert [stop["evals"][0]["result"] for stop in stops] == ["6", "16"]
    assert [stop["location"]["function"] for stop in stops] == ["main::add"] * 2
    printed = {"stdout": "", "stderr": ""}
    for row in rows:
        if row["type"] == "output":
            printed[row["category"]] += row["output"]
    assert printed == {"stdout": "Name? total 8 for Bob\n", "stderr": "warned\n"}
    assert rows[-1]["exit_code"] == 3


async def test_relay_run_prints_log_messages_and_does_not_say_that_they_were_missed(
    prices: Program,
) -> None:
    place = f"{prices.text}:{prices.line('return')}"
    command = [sys.executable, "-m", "relay", "run", "--log", f"{place}:now {{$total}}"]
    with trio.fail_after(60):
        done = await trio.run_process(
            [*command, prices.text],
            stdin=b"Bob\n",
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    assert done.returncode == 3, done.stderr
    told = done.stderr.decode().splitlines()
    assert [line for line in told if line.startswith("now ")] == ["now 3", "now 8"]
    assert not [line for line in told if "never hit" in line]


async def test_an_agent_debugs_perl_with_the_same_tools(prices: Program) -> None:
    place = f"prices.pl:{prices.line('return')}"
    async with over_stdio(prices.path.parent) as agent:
        told = await agent.call(
            "debug_run", script="prices.pl", breakpoints=[place], stdin=["Ada"], wait=60
        )
        assert f"prices.pl:{prices.line('return')}" in told
        assert "$total = 3" in told
        assert "$x = 3" in told
        value = await agent.call("debug_eval", expression="$total + $x")
        assert value.endswith("6")
        assert "Side effects not allowed" in await agent.call("debug_eval", expression="$total = 0")
        assert f"prices.pl:{prices.line('call')} in main" in await agent.call(
            "debug_continue", action="out"
        )
        assert "$total = 8" in await agent.call("debug_continue")
        assert "exit code 3" in await agent.call("debug_continue")
        assert "total 8 for Ada" in await agent.call("debug_inspect", what="output")


async def test_the_line_protocol_takes_perl(program: Write) -> None:
    script = program(
        """
        sub add {
            my ($left, $right) = @_;
            return $left + $right;    # @sum
        }
        print add(3, 4), "\\n";
    """,
        "sum.pl",
    )
    place = {"file": "sum.pl", "line": script.line("sum")}
    async with conversation(script.path.parent) as client:
        await client.send("initialize", file="sum.pl", workingDir=str(script.path.parent))
        await client.until("initialized")
        await client.send("setBreakpoint", **place)
        await client.until("breakpointSet")
        await client.send("start")
        *_, (_, stop) = await client.until("stopped")
        assert (stop["reason"], stop["location"]["line"]) == ("breakpoint", script.line("sum"))
        await client.send("evaluate", expression="$left * $right")
        *_, (_, result) = await client.until("evaluateResult")
        assert (result["result"], result["type"]) == ("12", "int")
        await client.send("evaluate", expression="'seven'")
        *_, (_, result) = await client.until("evaluateResult")
        assert (result["result"], result["type"]) == ('"seven"', "string")
        await client.send("getStackTrace")
        *_, (_, stack) = await client.until("stackTrace")
        assert [frame["function"] for frame in stack["frames"]] == ["main::add", "main"]
        await client.send("continue")
        *before, (_, ended) = await client.until("exited")
        assert ("output", {"category": "stdout", "text": "7\n"}) in before
        assert ended == {"exitCode": 0}


FORKS = """
    my $empty = "";
    if (!fork) {
        exit 3;    # @child
    }
    wait;
    print $? >> 8, "\\n";    # @after
"""


async def test_a_run_says_what_its_never_hit_lines_leave_open(
    program: Write, tmp_path: Path
) -> None:
    """A forked process came there, and nobody saw it. And an empty text is not None."""
    forks = program(FORKS, "forks.pl")
    places = [f"forks.pl:{forks.line(mark)}" for mark in ("child", "after")]
    done = await trio.run_process(
        [
            *(sys.executable, "-m", "relay", "run", "--break", places[0], "--break", places[1]),
            *("--eval", "$empty", "--eval", "undef", "forks.pl"),
        ],
        cwd=forks.path.parent,
        env=environment(tmp_path / "state"),
        check=False,
        capture_stdout=True,
        capture_stderr=True,
    )
    assert done.stdout == b"3\n"
    lines = done.stderr.decode().splitlines()
    assert "eval $empty = " in lines
    assert "eval undef = undef" in lines
    assert lines[-2:] == [
        f"never hit: {places[0]}",
        "processes that it forks or starts, if any, run without the debugger",
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--watch", "forks.pl:1:$empty"],
            "--watch: the perl adapter cannot stop when data changes",
        ),
        (
            ["--break", "forks.pl:1", "--why", "$empty"],
            "--why '$empty': the perl adapter cannot say who wrote a value",
        ),
        (
            ["--trace", "main", "--until-result", "result"],
            "--trace main: the perl adapter cannot trace a call",
        ),
    ],
)
async def test_a_run_with_a_question_that_perl_cannot_answer_does_not_begin(
    program: Write, tmp_path: Path, options: list[str], words: str
) -> None:
    forks = program(FORKS, "forks.pl")
    done = await trio.run_process(
        [sys.executable, "-m", "relay", "run", *options, "forks.pl"],
        cwd=forks.path.parent,
        env=environment(tmp_path / "state"),
        check=False,
        capture_stdout=True,
        capture_stderr=True,
    )
    assert done.stdout == b"", "it has not run"
    assert done.stderr.decode().splitlines()[0] == f"relay: {words}"


MANY = """
    my $total = 0;
    for my $i (1 .. 30) {
        $total += $i;    # @add
    }
    print "$total\\n";
"""


async def test_a_run_goes_on_past_the_stops_that_it_shows_of_a_condition(
    program: Write, tmp_path: Path
) -> None:
    many = program(MANY, "many.pl")
    done = await trio.run_process(
        [
            *(sys.executable, "-m", "relay", "run"),
            *("--break", f"many.pl:{many.line('add')}:$i > 0", "many.pl"),
        ],
        cwd=many.path.parent,
        env=environment(tmp_path / "state"),
        check=False,
        capture_stdout=True,
        capture_stderr=True,
    )
    assert done.stdout == b"465\n", done.stderr
    assert done.stderr.endswith(
        b"[note] 20 stops shown: bp_1 no longer stops it\n[end] exit code 0, 20 stops\n"
    )


async def test_a_breakpoint_is_changed_without_its_texts_being_checked(
    api: Api, program: Write
) -> None:
    """Perl itself says what is wrong with them; what it cannot do is still refused."""
    many = program(MANY, "many.pl")
    session = await api.session(adapter="perl")
    placed = await session.breakpoint(many.text, many.line("add"), condition="$i > 29")

    async def change(**fields: Any) -> Any:
        path = f"/sessions/{session.id}/breakpoints/{placed['id']}"
        return await api.call("PATCH", path, json=fields)

    with pytest.raises(Refused) as refused:
        await change(capture=["$i"])
    assert (refused.value.code, "capture values" in str(refused.value)) == ("NOT_SUPPORTED", True)
    with pytest.raises(Refused) as refused:
        await change(hit_condition="soon")
    assert refused.value.code == "BREAKPOINT_INVALID_CONDITION"
    changed = await change(condition="$i == 7")
    assert changed["condition"] == "$i == 7"
    await session.launch(many.text, wait=60)
    assert (await session.locals())["$i"]["value"] == "7"
    await change(condition=None, log_message="i is {$i}")
    await session.resume(wait=60)
    assert "i is 8\n" in await session.printed("console")
    await session.delete()


WAITS = """
    sub wait_long {
        my ($n) = @_;
        {what};    # @waits
    }
    wait_long(7);
"""


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("pipe my $in, my $out; <$in>", "pause: waits.pl:{waits} in main::wait_long"),
        ("1 while 1", "pause: waits.pl:{waits} in main::wait_long"),
        ("sleep 600", "not known: the pause ended what it waited for, and so the program"),
    ],
)
async def test_a_run_that_takes_too_long_says_where_it_stands(
    program: Write, tmp_path: Path, what: str, said: str
) -> None:
    """What Perl waits for is not known; a place beyond the last statement is none."""
    waits = program(WAITS.replace("{what}", what), "waits.pl")
    done = await trio.run_process(
        [sys.executable, "-m", "relay", "run", "--timeout", "1", "waits.pl"],
        cwd=waits.path.parent,
        env=environment(tmp_path / "state"),
        check=False,
        capture_stdout=True,
        capture_stderr=True,
    )
    lines = done.stderr.decode().splitlines()
    assert lines[0] == f"[hang] {said.replace('{waits}', str(waits.line('waits')))}"
    assert lines[-1] == "[end] ended by --timeout after 1 s, 0 stops"
    assert (" $n = 7" in lines) == said.startswith("pause"), lines
    assert done.returncode == 124
