"""While an expression takes long, all that does not need it is answered; what it takes is limited."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.perl.driver import Body, Peer, Refused, adapter
from tests.programs import Program

HANGS = """
    use strict;
    my $true = 1;
    my @begun;
    sub spin { 1 while $true; return 1 }
    sub pace { my ($turns) = @_; 1 while $turns-- > 0; return 'done' }
    sub work {
        my ($n) = @_;
        my $more = $n + 1;    # @work
        return $more;    # @return
    }
    work($_) for 1 .. 9;
    print "end\\n";    # @end
"""

EVALUATION = 5.0
"""Seconds that an expression has: who is answered earlier has not waited for it."""


@asynccontextmanager
async def stopped(folder: Path, mark: str = "work") -> AsyncIterator[tuple[Peer, Program, Body]]:
    program = Program.write(folder / "hangs.pl", HANGS)
    async with adapter() as perl:
        await perl.start(program)
        await perl.places(program, mark)
        await perl.ask("configurationDone")
        _, frames = await perl.stop()
        yield perl, program, frames[0]


async def begin(perl: Peer, command: str, **arguments: Any) -> int:
    """A request that is not waited for; its number. What follows is sent after it."""
    return await perl.send({"command": command, "arguments": arguments})


def is_open(perl: Peer, seq: int) -> bool:
    """Whether a request has no answer yet."""
    return not any(m.get("request_seq") == seq for m in perl.messages)


async def refusal(perl: Peer, seq: int) -> Refused:
    answer = await perl.response(seq)
    assert not answer["success"], answer
    return Refused(answer)


@pytest.mark.parametrize("expression", ["spin()", "1 while 1", "'x' x 40 =~ /^(?:x+x+)+y/ while 1"])
async def test_looks_and_breakpoints_do_not_wait_for_an_expression(
    tmp_path: Path, expression: str
) -> None:
    async with stopped(tmp_path) as (perl, program, frame):
        hanging = await begin(perl, "evaluate", expression=expression, frameId=frame["id"])
        assert (await perl.ask("threads"))["threads"]
        frames = (await perl.ask("stackTrace", threadId=1))["stackFrames"]
        assert [one["name"] for one in frames] == ["main::work", "main"]
        assert (await perl.locals(frame))["$n"]["value"] == "1"
        [placed] = await perl.places(program, "return")
        assert placed["verified"]
        assert (await perl.locals(frame))["$n"]["value"] == "1", "in another copy, after it"
        await perl.ask("setExceptionBreakpoints", filters=["uncaught"])
        assert (await perl.ask("completions", text="$tr"))["targets"]
        assert is_open(perl, hanging), "it was begun anew each time, with the time that it had left"
        why, frames = await perl.move("continue")
        assert why["hitBreakpointIds"] == [placed["id"]]
        assert "went on" in (await refusal(perl, hanging)).text
        assert await perl.value("$more") == "2"


async def test_an_expression_that_does_end_is_answered_whatever_was_asked_meanwhile(
    tmp_path: Path,
) -> None:
    async with stopped(tmp_path) as (perl, program, _):
        slow = await begin(perl, "evaluate", expression="pace(300_000)")
        other = await begin(perl, "evaluate", expression="$n + 10")
        await perl.places(program, "work", "return")
        await perl.ask("stackTrace", threadId=1)
        assert (await perl.response(slow))["body"]["result"] == "done"
        assert (await perl.response(other))["body"]["result"] == "11"
        # One that was sent just before the program is moved on still has its answer.
        last = await begin(perl, "evaluate", expression="$n + 20")
        await perl.move("next")
        assert (await perl.response(last))["body"]["result"] == "21"


async def test_an_expression_has_its_time_and_no_more(tmp_path: Path) -> None:
    async with stopped(tmp_path) as (perl, program, _):
        began = trio.current_time()
        hanging = await begin(perl, "evaluate", expression="spin()")
        waiting = await begin(perl, "evaluate", expression="$n")
        for _ in range(3):
            await perl.places(program, "work")
        assert (await refusal(perl, hanging)).number == 1003
        assert (await perl.response(waiting))["body"]["result"] == "1"
        assert EVALUATION - 0.5 < trio.current_time() - began < 3 * EVALUATION


async def test_what_side_effects_hang_in_is_said_and_given_up(tmp_path: Path) -> None:
    async with stopped(tmp_path) as (perl, program, frame):
        scopes = (await perl.ask("scopes", frameId=frame["id"]))["scopes"]
        reference = scopes[0]["variablesReference"]
        await perl.ask("variables", variablesReference=reference)
        changing = {"variablesReference": reference, "name": "$n", "value": "spin()"}
        hanging = await begin(perl, "setVariable", **changing)
        assert (await perl.ask("threads"))["threads"]
        frames = (await perl.ask("stackTrace", threadId=1))["stackFrames"]
        assert [one["name"] for one in frames] == ["main::work", "main"]
        again = (await perl.ask("scopes", frameId=frame["id"]))["scopes"]
        assert [one["name"] for one in again] == [one["name"] for one in scopes]
        [placed] = await perl.places(program, "return")
        assert not placed["verified"]
        for command in ("next", "continue"):
            with pytest.raises(Refused, match="An expression with side effects runs"):
                await perl.ask(command, threadId=1)
        assert is_open(perl, hanging)
        shown = await begin(perl, "variables", variablesReference=reference)
        assert (await refusal(perl, hanging)).number == 1003
        rows = (await perl.response(shown))["body"]["variables"]
        assert [row["value"] for row in rows if row["name"] == "$n"] == ["1"]
        changed = (await perl.event("breakpoint"))["breakpoint"]
        assert (changed["id"], changed["verified"]) == (placed["id"], True)
        why, _ = await perl.move("continue")
        assert why["hitBreakpointIds"] == [placed["id"]]


@pytest.mark.parametrize("allowed", [False, True])
async def test_a_program_is_ended_in_the_middle_of_an_expression(
    tmp_path: Path, allowed: bool
) -> None:
    async with stopped(tmp_path, "end") as (perl, _, _):
        text = "1 while 1"
        hanging = await begin(perl, "evaluate", expression=text, allowSideEffects=allowed)
        assert (await perl.ask("threads"))["threads"]
        began = trio.current_time()
        await perl.ask("terminate")
        assert await perl.end() == 128 + 15
        assert trio.current_time() - began < EVALUATION - 1
        assert not (await perl.response(hanging))["success"]
