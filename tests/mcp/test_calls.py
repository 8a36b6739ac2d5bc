"""Which own functions were called up to the next stop, in one tool call."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.cli.test_shell import STEPPED_FROM
from tests.e2e.api import Api
from tests.mcp.client import over_http, over_stdio
from tests.mcp.test_http import DEADLINE, root
from tests.programs import Program
from tests.test_run_calls import CART

# The official client leaves its response streams to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")


async def test_the_calls_up_to_the_next_stop_come_as_short_text(
    api: Api, program: Callable[..., Program]
) -> None:
    at = program(CART).line
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp") as client:
            await client.call("debug_run", script="main.py", stop_on_entry=True)
            text = await client.call("debug_trace", what="calls", target="main.py")
            assert text.splitlines() == [
                "7 calls of 3 functions",
                """load(text='["apple", "apple", "pear"]') → ['apple', 'apple', 'pear']""",
                "total(items=['apple', 'apple', 'pear']) → 10",
                "  price(name='apple') → 3 ×2",
                "  price(name='pear') → 4",
                f"total(items=['plum']) raised at line {at('price') - 3}",
                f"  price(name='plum') raised KeyError: 'plum' at line {at('price')}",
                f"now paused at main.py:{at('price')} in price",
            ]
            ended = await client.call("debug_trace", what="calls", max_chars=200)
            assert ended.startswith("0 calls of 0 functions")
            assert ended.endswith("\nnow terminated, exit code 1")
            assert await client.call("debug_trace", what="calls", max_chars=200) == ended
            await client.call("debug_end")


async def test_of_a_program_that_took_its_record_along_no_more_is_offered(
    api: Api, program: Callable[..., Program]
) -> None:
    program("import os\n\ndef leave(code):\n    os._exit(code)\n\nleave(3)\n")
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp") as client:
            await client.call("debug_run", script="main.py", stop_on_entry=True)
            text = await client.call("debug_trace", target="leave")
            assert text.splitlines() == [
                "the program ended at once, and what was recorded, if anything, went with it",
                "now terminated, exit code 3",
            ]
            assert await client.call("debug_trace") == text
            await client.call("debug_end")


LATER = """
    def add(n):
        return n + 1

    def total(upto):
        value = 0
        for n in range(upto):
            value = add(value)
        return value

    add(41)
    input()
    total(30)
    print("here")  # @here
"""
"""Waits between two calls; the longer one makes more lines than a short answer has."""


async def test_what_was_recorded_is_read_again_without_running_on(
    api: Api, program: Callable[..., Program]
) -> None:
    here = f"now paused at main.py:{program(LATER).line('here')} in <module>"
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp") as client:
            places = [here.split()[3]]
            await client.call("debug_run", script="main.py", stop_on_entry=True, breakpoints=places)
            begun = await client.call("debug_trace", what="calls", wait=0)
            assert "\ndebug_continue action=wait, then debug_inspect what=calls shows" in begun
            assert here.split()[3] in await client.call("debug_input", text="go")
            whole = await client.call("debug_inspect", what="calls")
            assert "add(n=41) → 42" in whole
            assert "total(upto=30) → 30" in whole
            assert whole.endswith(f"\n{here}")
            short = await client.call("debug_inspect", what="calls", max_chars=200)
            assert len(short) <= 200
            assert "\n… more: debug_inspect what=calls with a larger max_chars\n" in short
            for arguments, words in MISTAKES:
                assert words in await client.refused("debug_trace", **arguments)
            assert here in await client.call("debug_inspect", what="calls")
            await client.call("debug_end")


MISTAKES: list[tuple[dict[str, Any], str]] = [
    # The operations have other names for target.
    ({"target": ""}, "target: must not be empty"),
    ({"target": "x" * 6000}, "target: must have at most 5096 characters"),
    ({"target": "a b"}, "target: must be FILE:LINE, FUNCTION or FILE:FUNCTION"),
    ({"target": "main.py"}, "target: main.py is a file: give a line of it"),
    ({"what": "why", "target": ""}, "target: must not be empty"),
    ({"what": "calls", "target": "main.py, nope.py"}, "target: there is no file or folder "),
    # What would have no effect.
    ({"what": "calls", "condition": "n > 3"}, 'condition: not with what "calls"'),
    ({"what": "why", "target": "n", "call": 2}, 'call: not with what "why"'),
    ({"until_result": "result is None"}, "until_result: only with target"),
]


async def test_a_trace_that_is_cut_says_how_to_see_more(
    api: Api, program: Callable[..., Program]
) -> None:
    program(LATER)
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp") as client:
            run = {"script": "main.py", "stdin": ["go"], "breakpoints": ["add", "nowhere"]}
            begun = await client.call("debug_run", **run)
            assert "breakpoint bp_1: main.py:" in begun
            assert "breakpoint add: No function" not in begun, "it is known by now"
            assert "breakpoint nowhere: No function of this name is known yet" in begun
            await client.call("debug_breakpoints", remove=["all"])
            for bound in (200, 300, 600):
                text = await client.call(
                    "debug_trace", **({"target": "total"} if bound == 200 else {}), max_chars=bound
                )
                assert len(text) <= bound
                assert "\n… all of it: debug_trace without target, max_chars=" in text
                assert re.search(r"\nnow paused at main.py:\d+ in total$", text) or bound == 200
            whole = await client.call("debug_trace", max_chars=5000)
            assert "27 more rounds" in whole
            assert "\n… more: trace a call that it made\n" in whole, "its record has no more"
            await client.call("debug_end")


APART = """
    names = {}
    def counted(n):
        return n
    counted(1)
    counted(2)  # @later
    exec('''if True:
        def made(n):
            return n
    ''', names)
    names["made"](counted(3))
"""


@pytest.mark.parametrize(
    ("target", "more", "said"),
    [
        ("made", {}, "; called: 0 times in own code; one of a library goes as package.module.made"),
        ("made", {"until_result": "result"}, "; 0 calls went by in own code; one of a library"),
        ("counted", {"condition": "n > 7"}, "called: 0 times\n"),
    ],
)
async def test_of_a_call_that_never_came_it_is_said_what_may_be_meant(
    api: Api, program: Callable[..., Program], target: str, more: dict[str, Any], said: str
) -> None:
    """A function in a dict apart is found by no name."""
    place = f"main.py:{program(APART).line('later')}"
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp") as client:
            await client.call("debug_run", script="main.py", breakpoints=[place])
            assert said in await client.call("debug_trace", target=target, **more)
            await client.call("debug_end")


async def test_a_step_from_a_failure_says_where_the_program_really_is(
    api: Api, program: Callable[..., Program]
) -> None:
    program(STEPPED_FROM)
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp") as client:
            assert "\nfails __main__.Cases" in await client.call("debug_run", script="main.py")
            stepped = await client.call("debug_continue", action="over")
            advice = "debug_continue goes on to the next failure, or to the end"
            assert stepped.startswith(f"{advice}\n")
            remark = "the frames of the failure had been left before: the program really is here"
            assert re.search(rf"^step: .*unittest/case\.py:\d+ .*\n{remark}\n", stepped, re.M)
            await client.call("debug_end")


async def test_a_stack_tells_what_lies_deeper_than_the_own_code_on_top(tmp_path: Path) -> None:
    Program.write(tmp_path / "read.py", "import json\n\njson.loads('{')\n")
    async with over_stdio(tmp_path) as client:
        await client.call("debug_run", script="read.py")
        own, *deeper = (await client.call("debug_inspect", what="stack")).splitlines()
    assert own == f"0  <module>  {tmp_path / 'read.py'}:3"
    assert deeper
    assert all(one.endswith("  (deeper than 0)") for one in deeper), deeper


DEEP = """
    def even(left):
        return odd(left - 1) if left else here()

    def odd(left):
        return even(left - 1)  # @odd

    def here():
        return 1  # @here

    even(60)
"""


async def test_a_recursion_is_in_the_stack_once_and_each_page_goes_on_behind_the_last(
    api: Api, program: Callable[..., Program]
) -> None:
    deep = program(DEEP)
    odd, even = deep.line("odd"), deep.line("odd") - 3
    with trio.fail_after(DEADLINE):
        async with over_http(f"{root(api)}/mcp") as client:
            await client.call(
                "debug_run", script="main.py", breakpoints=[f"main.py:{deep.line('here')}"]
            )
            whole = await client.call("debug_inspect", what="stack")
            short = [re.sub(r"/\S*/", "", line) for line in whole.splitlines()]
            assert short == [
                f"0  here  main.py:{deep.line('here')}",
                f"1  even  main.py:{even}",
                f"2  odd  main.py:{odd}  … the same 2 29 times more, up to 60",
                f"61  even  main.py:{even}",
                f"62  <module>  main.py:{deep.line('here') + 2}",
            ]
            starts = [0]
            while True:
                page = await client.call(
                    "debug_inspect", what="stack", start=starts[-1], max_chars=400
                )
                assert page.startswith(f"{starts[-1]}  ")
                if not (more := re.search(r"\n… \d+ more of 63 frames: start=(\d+)$", page)):
                    break
                starts.append(int(more[1]))
            assert page.splitlines()[-1] == whole.splitlines()[-1]
            assert 1 < len(starts) < 6
            await client.call("debug_end")
