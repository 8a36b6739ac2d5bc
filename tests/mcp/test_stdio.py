"""`relay mcp` as clients start it: a whole session, and an end that leaves nothing."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from relay.faces.mcp.stdio import LINE_BYTES
from relay.faces.mcp.tools import TOOLS
from tests.mcp.client import LEGACY, MODERN, Client, over_stdio
from tests.mcp.wire import Lines, relay_mcp
from tests.programs import Program

SHOP = """
    import time

    def total(items):
        result = 0
        for item in items:
            result += item["price"]  # @add
        return result  # @return

    print("open")
    print(total([{"price": 3}, {"price": 4}]))  # @call
    name = input("name? ")
    while name == "wait":  # @loop
        time.sleep(0.01)
    secret_token = "hunter" + "2"
    raise ValueError("no " + name)  # @raise
"""
LOOP = """
    import time

    while True:
        time.sleep(0.01)
"""
DEADLINE = 60


@pytest.mark.parametrize("generation", [LEGACY, MODERN])
async def test_an_agent_finds_a_bug_in_a_few_calls(
    generation: str, program: Callable[..., Program], tmp_path: Path
) -> None:
    shop = program(SHOP, "shop.py")
    with trio.fail_after(DEADLINE):
        async with over_stdio(tmp_path, mode=generation) as client:
            await _sees_the_tools(client)
            await _runs_to_a_breakpoint(client, shop)
            await _steps_and_looks(client, shop)
            await _is_refused_and_changes_nothing(client, shop)
            await _answers_the_program(client, shop)
            await _traces_a_call_and_records_values(client, shop)
            await _runs_on_and_ends(client)


async def _sees_the_tools(client: Client) -> None:
    assert client.mcp.server_info is not None
    assert client.mcp.server_info.name == "debug-relay"
    assert "debug_run" in (client.mcp.instructions or "")
    listed = await client.mcp.list_tools()
    assert [tool.name for tool in listed.tools] == [tool.name for tool in TOOLS]
    assert len(listed.tools) <= 10
    only_look = [tool.name for tool in listed.tools if tool.annotations is not None]
    assert only_look == ["debug_inspect", "debug_sessions"]
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True).encode()) <= 4500


async def _runs_to_a_breakpoint(client: Client, shop: Program) -> None:
    places = [f'shop.py:{shop.line("add")}:item["price"] > 3', "shop.py:2"]
    text = await client.call("debug_run", script="shop.py", breakpoints=places, max_chars=700)
    assert re.match(r"session sess_\w+\n", text)
    assert f"shop.py:{shop.line('add')} in total" in text
    assert "item = {'price': 4}" in text
    assert "result = 3" in text
    assert "printed: open" in text
    assert "breakpoint" in text
    assert "breakpoint shop.py:2: No executable code at line 2" in text
    assert len(text) <= 700


async def _steps_and_looks(client: Client, shop: Program) -> None:
    await client.call("debug_continue", action="over")
    assert await client.call("debug_eval", expression="result * 6") == "int: 42"
    assert await client.call("debug_eval", expression="result = 70") == "None"
    value = await client.call("debug_eval", expression="items")
    ref = re.search(r"ref=(\d+)", value)
    assert ref is not None
    items = await client.call("debug_inspect", what="variable", ref=int(ref[1]), max_chars=200)
    assert items.startswith("0: dict = {'price': 3}")
    assert "raised ZeroDivisionError" in await client.call("debug_eval", expression="1 / 0")
    cut = await client.call("debug_eval", expression="'x' * 10_000", max_chars=300)
    assert len(cut) <= 300
    assert "cut of length 10000" in cut
    assert "result: int = 70" in await client.call("debug_inspect", what="locals")
    stack = await client.call("debug_inspect", what="stack")
    assert f"1  <module>  {shop.path}:{shop.line('call')}" in stack
    source = await client.call("debug_inspect", what="source")
    assert re.search(r"(?m)^> ?\d+ +for item in items:", source)
    threads = await client.call("debug_inspect", what="threads")
    assert threads.splitlines()[0] == "1  MainThread  paused  (current)"
    assert await client.call("debug_inspect", what="tasks") == "no tasks"
    assert str(os.getpid()) in await client.call(
        "debug_inspect", what="processes", max_chars=100_000
    )
    returned = await client.call("debug_continue", action="to", to=f"shop.py:{shop.line('return')}")
    assert f"shop.py:{shop.line('return')} in total" in returned
    out = await client.call("debug_continue", action="out")
    assert f"shop.py:{shop.line('call')} in <module>" in out
    assert "70" in out


async def _is_refused_and_changes_nothing(client: Client, shop: Program) -> None:
    before = await client.call("debug_breakpoints")
    text = await client.refused("debug_run", scrip="shop.py", wait="soon")
    assert text.startswith("INVALID_REQUEST: ")
    assert "- wait: must be a number" in text
    assert "did you mean 'script'" in text
    for tool, given, meant in (
        ("debug_trace", {"function": "total"}, "function: is unknown; did you mean 'target'?"),
        ("debug_breakpoints", {"clear": ["a:1"]}, "clear: is unknown; did you mean 'remove'?"),
        ("debug_breakpoints", {"add": ["a:1"]}, "add: is unknown; did you mean 'set'?"),
        ("debug_trace", {"expr": "x", "what": "why"}, "expr: is unknown; did you mean 'target'?"),
        ("debug_run", {"program": "shop.py"}, "program: is unknown; did you mean 'script'?"),
        ("debug_run", {"command": "shop.py"}, "did you mean 'script' or 'module', and 'args'?"),
        ("debug_run", {"timeout": 5}, "timeout: is unknown; did you mean 'wait'?"),
        ("debug_eval", {"code": "1"}, "code: is unknown; did you mean 'expression'?"),
    ):
        assert meant in await client.refused(tool, **given)
    assert "must be FILE:LINE" in await client.refused("debug_breakpoints", set=["shop.py:4x"])
    assert "go together" in await client.refused("debug_continue", action="to")
    assert "BREAKPOINT_FILE_NOT_FOUND" in await client.refused(
        "debug_breakpoints", set=["shop.py:2", "ship.py:1"], remove=["all"]
    )
    assert "BREAKPOINT_NOT_FOUND" in await client.refused("debug_breakpoints", remove=["bp_99"])
    assert "LAUNCH_SCRIPT_NOT_FOUND" in await client.refused("debug_run", script="ship.py")
    assert "SESSION_NOT_FOUND" in await client.refused("debug_end", session="sess_0")
    assert "debug_inspect" in await client.refused("debug_look", session="sess_0")
    assert "EVALUATE_ERROR" in await client.refused("debug_eval", expression="1 +")
    assert await client.call("debug_breakpoints") == before
    assert (await client.call("debug_sessions")).count("sess_") == 1


async def _answers_the_program(client: Client, shop: Program) -> None:
    changed = await client.call(
        "debug_breakpoints", set=["total"], remove=[f"shop.py:{shop.line('add')}"]
    )
    assert "total  hits" in changed
    assert f":{shop.line('add')}" not in changed
    assert "debug_input" in await client.call("debug_continue")
    await _cancels_a_wait(client)
    assert "name? " in await client.call("debug_inspect", what="output")
    text = await client.call("debug_continue")
    assert "exception ValueError: no bob" in text
    assert f"shop.py:{shop.line('raise')}" in text
    assert "hunter2" not in text
    told = await client.call("debug_inspect", what="exception")
    assert told.startswith("ValueError: no bob\n")
    assert "Traceback" in told


async def test_what_was_printed_is_shown_once(
    program: Callable[..., Program], tmp_path: Path
) -> None:
    """Also what came between two calls; and of a flood on one stream and a word on the other, both."""
    talker = program(
        """
        import sys, time
        print("\\x1b[1mbanner\\x1b[0m", flush=True)
        x = 1  # @first
        print("why", file=sys.stderr, flush=True)
        for n in range(1000):
            print("line", n)
        sys.stdout.flush()
        x = 2  # @second
        print("goodbye", flush=True)
        while x:
            time.sleep(0.01)
        """,
        "talker.py",
    )
    places = [f"talker.py:{talker.line(mark)}" for mark in ("first", "second")]
    with trio.fail_after(DEADLINE):
        async with over_stdio(tmp_path) as client:
            first = await client.call("debug_run", script="talker.py", breakpoints=places)
            assert "printed: banner\n" in first
            second = await client.call("debug_continue")
            assert re.search(r"(?m)^(printed:)? why$", second)
            assert "\n line 999\n" in second
            assert "banner" not in second
            shown = await client.call("debug_continue", wait=0)
            while "goodbye" not in shown:
                shown = await client.call("debug_continue", action="wait", wait=0.05)
            assert "it runs on" in shown
            assert "running: last stop bp_2 at talker.py" in shown
            assert not [text for text in ("banner", "why", "line 999") if text in shown]
            assert "\nstdout ends:\n goodbye" in shown


async def _cancels_a_wait(client: Client) -> None:
    """Progress is told while a call waits; cancelling it leaves the session usable."""
    waits = trio.Event()

    async def told(progress: float, total: float | None, message: str | None) -> None:
        assert total == 300
        assert message is not None
        assert "debug_input" in message
        waits.set()

    async def call() -> None:
        arguments = {"text": "wait", "wait": 300}
        await client.mcp.call_tool("debug_input", arguments, progress_callback=told)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(call)
        await waits.wait()
        nursery.cancel_scope.cancel()
    paused = await client.call("debug_continue", action="pause")
    assert "pause" in paused
    await client.call("debug_eval", expression="name = 'bob'")


async def _traces_a_call_and_records_values(client: Client, shop: Program) -> None:
    assert await client.call("debug_breakpoints", remove=["all"]) == "no breakpoints"
    place = f"shop.py:{shop.line('call')}"
    again = await client.call("debug_run", breakpoints=[place], stdin=["eve"], on_exception="never")
    assert f"{place} in <module>" in again
    traced = await client.call("debug_trace", target="total")
    assert "-> 7" in traced
    assert "now paused at" in traced
    assert await client.call("debug_trace") == traced
    assert "no function nowhere" in await client.refused("debug_trace", target="nowhere")
    recorded = await client.call(
        "debug_run",
        script="shop.py",
        breakpoints=[f"shop.py:{shop.line('add')}"],
        capture=["result", "item"],
        stdin=["eve"],
        on_exception="never",
    )
    ref = re.search(r"captures=(\w+)", recorded)
    assert ref is not None
    second = recorded.split()[1]
    assert (await client.call("debug_sessions")).count("sess_") == 2
    assert await client.call("debug_eval", expression="1") == "int: 1", "in the one that lives"
    table = await client.call("debug_breakpoints", session=second, captures=ref[1])
    assert re.search(r"\n2 +3 +\{'price': 4\}", table)
    page = await client.call("debug_breakpoints", session=second, captures=ref[1], start=1)
    assert "{'price': 3}" not in page
    await client.refused("debug_breakpoints", session=second, captures="all", remove=["all"])
    await client.call("debug_end", session=second)


async def _runs_on_and_ends(client: Client) -> None:
    ended = await client.call("debug_continue")
    assert "exit code 1" in ended
    assert "ValueError: no eve" in ended
    more = await client.call("debug_inspect", what="output", start=1, max_chars=200)
    assert "open\n 70\n" in more
    assert ": start=" in more
    assert "INVALID_SESSION_STATE" in await client.refused("debug_continue")
    assert "nothing of it runs" in await client.call("debug_end")
    assert "no session" in await client.refused("debug_eval", expression="1")
    assert (await client.call("debug_sessions")).startswith("no sessions")


GARBAGES: list[tuple[bytes, int, int | str | None]] = [
    (b"\nno json", -32700, None),
    (b"x" * (LINE_BYTES + 1), -32700, None),
    # JSON by its grammar, and yet no text: half a character that stands for itself.
    (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"x": "\\ud800"}}', -32700, 7),
    (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": ' + b"[" * 50_000, -32700, None),
    (b"[]", -32600, None),
    # Who has sent a request waits for an answer to its id,
    (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}', -32600, 7),
    (b'{"id": "a", "method": "ping"}', -32600, "a"),
    (b'{"jsonrpc": "2.0", "id": 8}', -32600, 8),
    # if that is one; else for any.
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600, None),
    # That of an answer is no request's.
    (b'{"jsonrpc": "2.0", "id": 7, "result": 5}', -32600, None),
]
"""Lines that are no message; the code of the error, and the id that it is about."""


async def test_a_client_that_goes_leaves_nothing_behind_and_sees_nothing_but_messages(
    program: Callable[..., Program], tmp_path: Path
) -> None:
    """Garbage is answered, SIGTERM is obeyed while the client keeps the pipe open."""
    program(LOOP, "loop.py")
    for last in (None, signal.SIGTERM):
        async with relay_mcp(tmp_path) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            lines = Lines(process.stdout)
            for garbage, code, number in GARBAGES if last is None else ():
                await process.stdin.send_all(garbage + b"\n")
                answer = await anext(lines)
                assert (answer["error"]["code"], answer["id"]) == (code, number), garbage
            await process.stdin.send_all(_messages())
            found = [await anext(lines), await anext(lines)]
            (text,) = [one["result"] for one in found if one["id"] == 2]
            assert "running" in text["content"][0]["text"]
            assert "action=wait" in text["content"][0]["text"]
            if last is None:
                await process.stdin.aclose()
            else:
                process.send_signal(last)
            with trio.fail_after(DEADLINE):
                assert await process.wait() == 0
            assert [one async for one in lines] == []


async def test_a_call_that_waits_as_the_client_closes_the_input_is_not_answered(
    program: Callable[..., Program], tmp_path: Path
) -> None:
    """Clients take what is said after that for a failure of their own."""
    program(LOOP, "loop.py")
    async with relay_mcp(tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        lines = Lines(process.stdout)
        await process.stdin.send_all(_messages())
        for _ in range(2):
            await anext(lines)
        wait = {"name": "debug_continue", "arguments": {"action": "wait", "wait": 300}}
        wait["_meta"] = {"progressToken": 1}
        call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": wait}
        await process.stdin.send_all(json.dumps(call).encode() + b"\n")
        with trio.fail_after(DEADLINE):
            assert (await anext(lines))["method"] == "notifications/progress"  # it waits
            await process.stdin.aclose()
            assert await process.wait() == 0
        assert not [one async for one in lines if "id" in one]


def _messages() -> bytes:
    client = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    run = {"name": "debug_run", "arguments": {"script": "loop.py", "wait": 0}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": run},
    ]
    return b"".join(json.dumps({"jsonrpc": "2.0", **m}).encode() + b"\n" for m in messages)


async def test_a_failing_test_is_one_call_and_its_cause_another(
    program: Callable[..., Program], tmp_path: Path
) -> None:
    suite = program(
        """
        def read(path):
            return open(path)  # @read

        def test_expected():
            try:
                read("/nowhere/handled")
            except OSError:
                pass

        def test_fails():
            try:
                read("/nowhere/else")
            except OSError as error:
                raise RuntimeError("no settings") from error  # @raise
        """,
        "test_settings.py",
    )
    with trio.fail_after(120):
        async with over_stdio(tmp_path) as client:
            text = await client.call(
                "debug_run",
                module="pytest",
                args=["-q", "-p", "no:cacheprovider", suite.text],
                wait=60,
            )
            assert "exception RuntimeError: no settings" in text
            assert f"test_settings.py:{suite.line('raise')} in test_fails" in text
            assert "fails test_settings.py::test_fails" in text
            found = await client.call("debug_inspect", what="exception")
            lines = found.splitlines()
            assert lines[1] == "fails test_settings.py::test_fails"
            assert lines[2].startswith("cause: FileNotFoundError: ")
            assert lines[2].endswith(f" at test_settings.py:{suite.line('read')} in read")
            assert lines[3] == "  with path='/nowhere/else'"
            assert "1 failed, 1 passed" in await client.call("debug_continue", wait=60)


async def test_what_a_client_says_too_early_or_wrongly_is_named(tmp_path: Path) -> None:
    """As whoever writes its messages by hand finds out what they must be."""
    early = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    wrong = {**early, "id": 2, "method": "initialize", "params": {"capabilities": {}}}
    async with relay_mcp(tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        lines = Lines(process.stdout)
        for asked, words in (
            (early, "tools/list before initialize: send that request first"),
            (wrong, "params.protocolVersion: Field required"),
        ):
            await process.stdin.send_all(json.dumps(asked).encode() + b"\n")
            error = (await anext(lines))["error"]
            assert error["code"] == -32602
            assert words in error["message"]
