"""A program is traced only while something needs it, and then nothing is missed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
import trio

from tests.e2e.api import Api, Session
from tests.programs import Program

Write = Callable[..., Program]

TRACED = """
    import sys
    import threading

    def traced():
        \"""What of this thread the interpreter tells a debugger.\"""
        if hasattr(sys, "monitoring"):
            tool = sys.monitoring.DEBUGGER_ID
            return bool(sys.monitoring.get_tool(tool) and sys.monitoring.get_events(tool))
        return sys.gettrace() is not None or threading._trace_hook is not None
"""

WORKING = (
    TRACED
    + """
    import time

    go = threading.Event()

    def work():
        rounds = 0
        while not go.is_set():
            rounds += 1  # @round
            step(rounds)
            time.sleep(0.001)
        return rounds

    def step(number):
        return number + 1  # @inside

    def late_work():
        return 1  # @late

    early = threading.Thread(target=work)
    early.start()
    print("begun", traced(), flush=True)
    for line in sys.stdin:
        call = line.strip()
        if call == "ask":
            step(0)
            found = []
            asker = threading.Thread(target=lambda: found.append(traced()))
            asker.start()
            asker.join()
            print("asked", traced() or found[0], flush=True)
        elif call == "late":
            late = threading.Thread(target=late_work)
            late.start()
            late.join()
        elif call == "end":
            break
    go.set()
    early.join()
    print("end", traced())  # @end
"""
)


async def started(api: Api, program: Program, **launch: Any) -> Session:
    session = await api.session()
    answer = await session.launch(program.text, wait=0, stop_on_exception=False, **launch)
    assert answer["status"] == "running", answer
    await said(session, "begun")
    return session


async def said(session: Session, wanted: str, times: int = 1) -> str:
    """What follows `wanted` in the line that is the nth to begin with it."""
    with trio.fail_after(30):
        while True:
            lines = (await session.printed()).splitlines()
            found = [line for line in lines if line.startswith(wanted)]
            if len(found) >= times:
                return found[times - 1].removeprefix(wanted).strip()
            await trio.sleep(0.02)


async def is_traced(session: Session) -> bool:
    times = (await session.printed()).count("asked") + 1
    await session.post("/input", input="ask\n")
    return await said(session, "asked", times) == "True"


async def is_left(asked: Callable[[], Awaitable[bool]]) -> None:
    """Until nothing is traced any more: each thread finds out at a call of its own."""
    with trio.fail_after(30):
        while True:
            if not await asked():
                return
            await trio.sleep(0.02)


@pytest.mark.parametrize("mode", ["fast", "plain", "adapter"])
async def test_without_breakpoints_nothing_is_traced(api: Api, program: Write, mode: str) -> None:
    session = await started(api, program(WORKING), launch_mode=mode)
    if mode == "fast":
        assert await said(session, "begun") == "False"
    await is_left(partial(is_traced, session))
    await session.post("/input", input="end\n")
    assert await said(session, "end") == "False"


async def test_a_breakpoint_set_while_it_runs_is_hit_in_threads_old_and_new(
    api: Api, program: Write
) -> None:
    working = program(WORKING)
    line = working.line("inside")
    session = await started(api, working)
    assert not await is_traced(session)
    # The early thread began before anything was traced, and so did the main one.
    inside = await session.breakpoint(working.text, line, condition="number > 0")
    early = await session.until_paused()
    assert early["current_location"]["line"] == line
    await session.delete(f"/breakpoints/{inside['id']}")
    await session.post("/continue")
    await is_left(partial(is_traced, session))
    inside = await session.breakpoint(working.text, line, condition="number == 0")
    await session.post("/input", input="ask\n")
    main = await session.until_paused()
    assert main["current_location"]["line"] == line
    assert main["stopped_thread_id"] != early["stopped_thread_id"]
    await session.delete(f"/breakpoints/{inside['id']}")
    await session.post("/continue")
    await said(session, "asked", 3)
    await is_left(partial(is_traced, session))
    await session.breakpoint(working.text, working.line("late"))
    await session.post("/input", input="late\n")
    late = await session.until_paused()
    assert late["current_location"]["line"] == working.line("late")


async def test_a_pause_stops_all_threads_of_a_program_that_is_not_traced(
    api: Api, program: Write
) -> None:
    working = program(WORKING)
    session = await started(api, working)
    assert not await is_traced(session)
    await session.post("/pause", wait=30)
    answer = await session.until_paused()
    states = {t["name"]: t["status"] for t in (await session.get("/threads"))["threads"]}
    # The main thread waits for a line in C code.
    assert states.pop("MainThread") in ("paused", "running")
    assert set(states.values()) == {"paused"}
    assert answer["stop_reason"] == "pause"
    await session.post("/continue")
    await is_left(partial(is_traced, session))


async def test_it_is_traced_no_more_once_steps_are_over(api: Api, program: Write) -> None:
    working = program(WORKING)
    session = await started(api, working)
    inside = await session.breakpoint(working.text, working.line("inside"))
    await session.until_paused()
    await session.delete(f"/breakpoints/{inside['id']}")
    out = await session.post("/step-out", wait=30)
    assert out["current_location"]["function"] == "work"
    over = await session.post("/step-over", wait=30)
    assert over["current_location"]["function"] == "work"
    await session.post("/continue")
    await is_left(partial(is_traced, session))


STEPPED = """
    import json

    def double(value):
        return value * 2  # @double

    first = double(1)  # @first
    second = double(first)  # @second
    print("end", second)
"""


async def test_steps_from_the_entry_and_into_functions(api: Api, program: Write) -> None:
    stepped = program(STEPPED)
    session = await api.session(stop_on_entry=True)
    entry = await session.launch(stepped.text, stop_on_exception=False)
    assert entry["stop_reason"] == "entry"
    lines = []
    for verb in ("over", "over", "into", "out", "over", "into"):
        answer = await session.post(f"/step-{verb}", wait=30)
        lines.append(answer["current_location"]["line"])
    names = ("first", "double", "first", "second", "double")
    assert lines[1:] == [stepped.line(name) for name in names]
    ended = await session.resume()
    assert ended["status"] == "terminated"


HOOKED = (
    TRACED
    + """
    def work(number):
        if number == 2:
            breakpoint()
        return number * 2  # @after

    print("begun", traced(), flush=True)
    for number in range(4):
        work(number)
    print("end", traced())
"""
)


async def test_breakpoint_in_the_code_stops_a_program_that_is_not_traced(
    api: Api, program: Write
) -> None:
    hooked = program(HOOKED)
    session = await api.session()
    await session.launch(hooked.text, stop_on_exception=False)
    answer = await session.until_paused()
    assert answer["current_location"]["line"] == hooked.line("after")
    over = await session.post("/step-over", wait=30)
    assert over["current_location"]["function"] == "<module>"
    ended = await session.resume()
    assert ended["status"] == "terminated"
    assert (await session.printed()).split() == ["begun", "False", "end", "False"]


TWO_FILES = """
    import other

    def never():
        return 1  # @never

    def often(number):
        return other.double(number)

    for number in range(100):
        often(number)
    print("done")  # @done
"""


async def test_a_breakpoint_is_hit_in_a_file_that_had_none(api: Api, program: Write) -> None:
    """What is remembered of files and functions is forgotten when breakpoints change."""
    main = program(TWO_FILES)
    other = main.path.with_name("other.py")
    other.write_text("def double(value):\n    return value * 2\n")
    session = await api.session()
    await session.breakpoint(main.text, main.line("never"))
    await session.breakpoint(main.text, main.line("done") - 1, condition="number == 50")
    stop = await session.launch(main.text, stop_on_exception=False)
    assert stop["status"] == "paused"
    await session.breakpoint(str(other), 2)
    stop = await session.resume()
    assert stop["current_location"]["path"] == str(other)
    assert (await session.locals())["value"]["value"] == "50"
    ended = await session.post("/step-out", wait=30)
    assert ended["current_location"]["function"] == "often"


@contextmanager
def answering(working: Program) -> Iterator[tuple[int, Callable[[], str]]]:
    """The process id of a program of somebody else's, and what asks it for a line."""
    process = subprocess.Popen(
        [sys.executable, working.text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None

    def ask() -> str:
        stdin.write("ask\n")
        stdin.flush()
        return stdout.readline()

    try:
        assert stdout.readline().split() == ["begun", "False"]
        yield process.pid, ask
    finally:
        process.kill()
        process.communicate()


async def test_an_attached_program_is_let_go_of_until_a_breakpoint_is_set(
    api: Api, program: Write
) -> None:
    working = program(WORKING)
    with answering(working) as (pid, ask):

        async def asked() -> bool:
            return (await trio.to_thread.run_sync(ask)).split() == ["asked", "True"]

        session = await api.session()
        await session.post("/exception-breakpoints", filters=[])
        await session.post("/attach", pid=pid, connect_timeout=60)
        await is_left(asked)
        inside = await session.breakpoint(working.text, working.line("inside"))
        answer = await session.until_paused()
        assert answer["current_location"]["line"] == working.line("inside")
        await session.delete(f"/breakpoints/{inside['id']}")
        await session.post("/continue")
        await is_left(asked)


async def test_a_program_may_take_away_what_finds_frames(api: Api, program: Write) -> None:
    """As the tests of attrs do for a while; the callbacks of a debugger raise in the program."""
    script = program(
        """
        import sys

        def work(n):
            total = 0
            for i in range(n):
                total += i  # @inside
            return total

        saved = sys._getframe
        del sys._getframe
        print(work(2))
        sys._getframe = saved
        print("end")  # @end
        """
    )
    session = await api.session()
    for mark in ("inside", "end"):
        await session.breakpoint(script.text, script.line(mark))
    stop = await session.launch(script.text)
    lines = [stop["current_location"]["line"]]
    stop = await session.post("/step-over", wait=30)
    lines.append(stop["current_location"]["line"])
    for _ in range(2):
        stop = await session.post("/continue", wait=30)
        lines.append(stop["current_location"]["line"])
    inside = script.line("inside")
    assert lines == [inside, inside - 1, inside, script.line("end")]
    assert (await session.post("/continue", wait=30))["exit_code"] == 0
