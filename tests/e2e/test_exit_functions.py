"""Exit functions are the program's: breakpoints stop there, and what is asked meanwhile is answered.

Python counts the main thread as ended by then, and so does a debugger that asks Python.
"""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.e2e.rungs import RUNGS
from tests.programs import Program

Write = Callable[..., Program]

ENDS = """
    import atexit

    def close(what, number):
        total = number * 2  # @total
        try:
            raise KeyError(what)  # @raise
        except KeyError:
            return total  # @return

    @atexit.register
    def first():
        close("first", 1)  # @first
        print("first")

    @atexit.register
    def second():
        close("second", 2)  # @second
        print("second")

    print("main")
"""


VERSIONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
WAYS = [
    (rung, version)
    for rung in RUNGS
    for version in VERSIONS
    if (rung, version) not in (("plain", "3.8"), ("adapter", "3.8"))  # docs/limits.md says so
]


@pytest.mark.parametrize(("rung", "version"), WAYS)
async def test_breakpoints_stop_in_exit_functions(
    api: Api, program: Write, rung: str, version: str
) -> None:
    python = installed_python(version)
    ends = program(ENDS)
    session = await api.session(python_path=python)
    await session.breakpoint(ends.text, ends.line("total"))
    counted = await session.breakpoint(ends.text, ends.line("raise"), hit_condition=">5")
    captured = await session.breakpoint(ends.text, ends.line("return"), capture=["total"])
    stop = await session.launch(ends.text, launch_mode=rung)
    for what in ("second", "first"):
        assert stop["status"] == "paused", stop
        frames = (await session.get("/stacktrace"))["frames"]
        assert [(one["name"], one["line"]) for one in frames][:2] == [
            ("close", ends.line("total")),
            (what, ends.line(what)),
        ]
        assert (await session.evaluate("what"))["result"] == repr(what)
        stop = await session.post("/step-over", wait=30)
        assert stop["current_location"]["line"] == ends.line("total") + 1
        stop = await session.post("/step-out", wait=30)
        assert stop["current_location"]["line"] == ends.line(what)
        stop = await session.resume()
    assert stop["status"] == "terminated"
    assert await session.printed() == "main\nsecond\nfirst\n"
    assert (await session.get(f"/breakpoints/{counted['id']}"))["hit_count"] == 2
    rows = await session.get(f"/breakpoints/{captured['id']}/captures")
    assert [one["value"] for row in rows["rows"] for one in row["values"]] == ["4", "2"]


WAITS = """
    import atexit, sys

    def last():
        sys.stdin.readline()
        count(3)

    def count(number):
        return number  # @count

    atexit.register(last)
    for number in range(2):
        count(number)
    start = 1  # @start
    count(2)
"""


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
async def test_a_question_while_exit_functions_run_takes_nothing_away(
    api: Api, program: Write, version: str
) -> None:
    python = installed_python(version)
    waits = program(WAITS)
    session = await api.session(python_path=python)
    counted = await session.breakpoint(waits.text, waits.line("count"), hit_condition=">9")
    await session.breakpoint(waits.text, waits.line("start"))
    await session.launch(waits.text)
    await session.post("/trace", function="count", until_result="result > 5", wait=0)
    asked = await session.get("/events", types="input_requested", timeout=60)
    assert asked["events"], "no exit function asked for input within 60 s"
    for _ in range(20):
        assert (await session.get("/trace"))["passed"] == 1
    assert len((await session.get("/threads"))["threads"]) == 1
    await session.post("/input", input="go on\n")
    ended = await session.get("/events", types="terminated", timeout=60)
    assert ended["events"], "the program did not end within 60 s"
    assert (await session.get("/trace"))["passed"] == 2
    assert (await session.get(f"/breakpoints/{counted['id']}"))["hit_count"] == 4


INTERRUPTED = """
    import atexit

    @atexit.register
    def close(number=2):
        number += 1
        return number

    print("main")  # @main
    raise KeyboardInterrupt
"""


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
async def test_a_program_that_an_interrupt_has_ended_ends_so_though_an_exit_function_is_traced(
    api: Api, program: Write, version: str
) -> None:
    """The interpreter forgets what has ended it as soon as a text is evaluated."""
    ends = program(INTERRUPTED)
    session = await api.session(python_path=installed_python(version))
    await session.breakpoint(ends.text, ends.line("main"))
    await session.launch(ends.text, stop_on_exception=False)
    found = await session.post("/trace", function="close", until_result="result == 3", wait=30)
    assert found["complete"], found["text"]
    await session.resume()
    assert (await session.get())["exit_code"] == -signal.SIGINT
