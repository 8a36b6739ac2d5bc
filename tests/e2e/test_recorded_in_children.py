"""A trace, and a tree of calls, of a process that the program has started: as servers with a reloader have it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
import trio

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api, Session
from tests.programs import Program

Write = Callable[..., Program]

SERVER = """
    import subprocess
    import sys
    import time

    def is_there(child):
        return child.poll() is None

    def price(number):
        return number * 2  # @price

    def serve():
        print("ready", flush=True)  # @ready
        for line in sys.stdin:
            print("price", price(int(line)), flush=True)

    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        child = subprocess.Popen([sys.executable, __file__, "serve"])
        while is_there(child):
            time.sleep(0.01)
        print("after", sys.stdin.read())  # @after
"""


async def served(api: Api, code: Program, version: str | None = None) -> tuple[Session, int, int]:
    """(a session that stands in the child, its number, that of the program)"""
    python = {} if version is None else {"python_path": installed_python(version)}
    session = await api.session(**python)
    await session.breakpoint(code.text, code.line("ready"))
    stop = await session.launch(code.text, debug_subprocesses=True)
    assert stop["current_location"]["line"] == code.line("ready")
    child = int(stop["current_location"]["pid"])
    program = int((await session.get())["pid"])
    assert child != program
    return session, child, program


async def until_told(session: Session, path: str, words: str) -> dict[str, Any]:
    with trio.fail_after(30):
        while True:
            told = dict(await session.get(path))
            if words in str(told["reason"]):
                return told
            await trio.sleep(0.05)


@pytest.mark.parametrize("version", ["3.8", "3.11", "3.12", "3.13"])
async def test_what_a_child_records_is_read_while_it_runs(
    api: Api, program: Write, version: str
) -> None:
    code = program(SERVER)
    session, child, parent = await served(api, code, version)
    begun = await session.post("/calls", wait=0)
    assert begun["status"] == "running"
    await session.post("/input", input="3\n")
    await session.until_printed("price 6\n")
    told = await session.get("/calls")
    assert (told["calls_state"], told["calls"]) == ("recording", 1)
    first, last = told["text"].splitlines()[1:]
    assert first == "price(number=3) → 6"
    assert last == (
        f"Incomplete: it is still recorded, in process {child} alone, not in {parent} (main.py):"
        " ask at a stop there, at a breakpoint say"
    )

    await session.breakpoint(code.text, code.line("price"))
    await session.post("/input", input="4\n")
    await session.until_paused()
    told = await session.get("/calls")
    assert (told["calls_state"], told["calls"]) == ("stopped", 2)
    await session.delete("/breakpoints")
    await session.post("/trace", function="price", until_result="result > 100", wait=0)
    await session.post("/input", input="5\n")
    await session.until_printed("price 10\n")
    told = await session.get("/trace")
    assert (told["trace_state"], told["passed"]) == ("waiting", 1)
    assert told["reason"] == "the call has not come yet; 1 call went by"
    await session.post("/input", input="60\n")
    await session.until_paused()
    told = await session.get("/trace")
    assert told["complete"], told
    assert told["text"].splitlines()[-1] == "-> 120"


@pytest.mark.parametrize("version", ["3.8", "3.11"])
async def test_nothing_of_a_child_is_traced_while_nothing_needs_it(
    api: Api, program: Write, version: str
) -> None:
    code = program(SERVER.replace("number * 2", "sys.gettrace() or number * 2"))
    session, *_ = await served(api, code, version)
    await session.delete("/breakpoints")
    await session.post("/continue", wait=0)
    await session.post("/input", input="3\n")
    await session.until_printed("price 6\n")


async def test_what_was_recorded_goes_with_a_child_that_is_killed(api: Api, program: Write) -> None:
    code = program(SERVER)
    session, child, _ = await served(api, code)
    await session.post("/trace", function="price", wait=0)
    os.kill(child, signal.SIGKILL)
    told = await until_told(session, "/trace", "went with")
    assert told["reason"] == (
        "the call has not come yet; called: 0 times;"
        f" what was recorded went with process {child}, which has ended"
    )
    assert told["status"] == "running"


async def test_a_process_that_ends_leaves_the_record_of_another_alone(
    api: Api, program: Write
) -> None:
    """Of a tree that was begun in it before, nobody asks any more."""
    code = program(SERVER)
    session, _, parent = await served(api, code)
    await session.post("/calls", wait=0)
    await session.post("/input", input="3\n")
    await session.until_printed("price 6\n")
    await session.post("/pause", wait=30)
    assert (await session.until_paused())["current_location"]["pid"] == parent
    await session.breakpoint(code.text, code.line("after"))
    await session.post("/calls", wait=0)
    await session.post("/input", eof=True)
    await session.until_paused()
    told = await session.get("/calls")
    assert told["calls_state"] == "stopped"
    assert "is_there" in told["text"]
    assert "price" not in told["text"]
