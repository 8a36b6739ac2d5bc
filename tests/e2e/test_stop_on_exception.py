"""stop_on_exception: what stops, once, and with the exception as Python itself would show it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.api import Api, Session
from tests.programs import Program

MODES = ["fast", "plain"]

CRASH = """
    def divide(a, b):
        return a / b  # @raise

    def main():
        try:
            divide(1, 0)
        except ZeroDivisionError as error:
            handled = error
        return divide(2, 0)  # @again

    main()
"""

LIBRARY = """
    import argparse
    import json

    def parse(text):
        return json.loads(text)  # @parse

    argparse.ArgumentParser().parse_args([])
    try:
        parse("{broken")
    except ValueError:
        pass
    print("done")
"""

SUITE = """
    import pytest

    def half(n):
        rest = n % 2
        if rest:
            raise ValueError(f"{n} is odd")  # @raise
        return n // 2

    def test_skipped():
        pytest.skip("not today")

    def test_expected():
        with pytest.raises(ValueError):
            half(1)

    def test_expected_by_name():
        expected = (KeyError, ValueError)
        with pytest.raises(expected_exception=ValueError), open(__file__):
            half(5)

    def test_wrong():
        assert half(3) == 1
"""


async def stops(session: Session, **launch: Any) -> list[dict[str, Any]]:
    """Launch, and continue to the end; the session as it was at each stop."""
    seen = []
    answer = await session.post("/launch", wait=60, **launch)
    while answer["status"] == "paused":
        seen.append(await session.get())
        answer = await session.resume(wait=60)
    assert answer["status"] == "terminated"
    return seen


@pytest.mark.parametrize("mode", MODES)
async def test_uncaught_stops_once_where_it_was_raised(
    api: Api, program: Callable[..., Program], mode: str
) -> None:
    crash = program(CRASH)
    session = await api.session()
    (stop,) = await stops(session, script=crash.text, launch_mode=mode)
    assert stop["stop_reason"] == "exception"
    assert stop["current_location"]["line"] == crash.line("raise")
    raised = stop["exception"]
    assert (raised["type"], raised["message"]) == ("ZeroDivisionError", "division by zero")
    assert raised["traceback"].startswith("Traceback (most recent call last):\n")
    assert raised["traceback"].rstrip().endswith("ZeroDivisionError: division by zero")
    assert "debugpy" not in raised["traceback"]
    assert (await session.get())["exit_code"] == 1
    if mode == "fast":  # the stock command line shows frames of its own there
        assert (await session.printed("stderr")).rstrip() == raised["traceback"].rstrip()


async def test_the_traceback_of_a_test_has_no_callers_that_have_gone_on(
    api: Api, program: Callable[..., Program]
) -> None:
    """Those stood at lines of what they did afterwards, such as the end of `TestCase.run`."""
    suite = program("""
        import sys
        import traceback
        import unittest

        class Told(unittest.TextTestResult):
            def addFailure(self, test, error):
                sys.stderr.write("".join(traceback.format_exception(*error)))

        class Test(unittest.TestCase):
            def test_share(self):
                self.assertEqual(1 / 2, 1)  # @fails

        unittest.TextTestRunner(stream=sys.stdout, resultclass=Told).run(
            unittest.defaultTestLoader.loadTestsFromTestCase(Test)
        )
    """)
    session = await api.session()
    (stop,) = await stops(session, script=suite.text)
    assert stop["current_location"]["line"] == suite.line("fails")
    assert stop["exception"]["traceback"] == await session.printed("stderr")


async def test_what_is_looked_at_after_a_failure_is_not_traced(
    api: Api, program: Callable[..., Program]
) -> None:
    """Its lines would be events for as long as the stop lasts, and take ten times as long."""
    main = program("""
        import ast
        import sys

        def events(code):
            monitoring = getattr(sys, "monitoring", None)
            tools = [tool for tool in range(6) if monitoring and monitoring.get_tool(tool)]
            return [monitoring.get_local_events(tool, code) for tool in tools]

        list(ast.walk(ast.parse("a + b")))
        before = events(ast.walk.__code__)
        raise ValueError(before)
    """)
    session = await api.session()
    await session.launch(main.text, stop_on_exception="uncaught")
    assert (await session.evaluate("len(list(ast.walk(ast.parse('a + b'))))"))["result"] == "8"
    found = await session.evaluate("events(ast.walk.__code__) == before")
    assert found["result"] == "True"


@pytest.mark.parametrize("mode", MODES)
async def test_raised_stops_once_for_each_exception(
    api: Api, program: Callable[..., Program], mode: str
) -> None:
    crash = program(CRASH)
    session = await api.session()
    seen = await stops(session, script=crash.text, stop_on_exception="raised", launch_mode=mode)
    assert [s["current_location"]["line"] for s in seen] == [crash.line("raise")] * 2
    assert {s["exception"]["type"] for s in seen} == {"ZeroDivisionError"}


@pytest.mark.parametrize("wish", [True, "uncaught"])
async def test_true_is_uncaught(
    api: Api, program: Callable[..., Program], wish: bool | str
) -> None:
    crash = program(CRASH)
    session = await api.session()
    (stop,) = await stops(session, script=crash.text, stop_on_exception=wish)
    assert (stop["post_mortem"], stop["ends"]) == (True, "process")


async def test_false_never_stops(api: Api, program: Callable[..., Program]) -> None:
    session = await api.session()
    assert await stops(session, script=program(CRASH).text, stop_on_exception=False) == []
    assert (await session.get())["exit_code"] == 1


@pytest.mark.parametrize("mode", MODES)
async def test_what_libraries_handle_themselves_is_no_stop(
    api: Api, program: Callable[..., Program], mode: str
) -> None:
    library = program(LIBRARY)
    session = await api.session()
    seen = await stops(session, script=library.text, stop_on_exception="raised", launch_mode=mode)
    assert [s["current_location"]["line"] for s in seen] == [library.line("parse")]
    assert seen[0]["exception"]["type"] == "JSONDecodeError"
    assert await session.printed() == "done\n"


async def test_system_exit_is_an_end_and_no_error(
    api: Api, program: Callable[..., Program]
) -> None:
    session = await api.session()
    leaver = program("import sys\nsys.exit(7)\n")
    assert await stops(session, script=leaver.text, stop_on_exception=True) == []
    assert (await session.get())["exit_code"] == 7


async def test_pytest_stops_in_the_function_that_raised(
    api: Api, program: Callable[..., Program]
) -> None:
    suite = program(SUITE, "test_half.py")
    session = await api.session()
    answer = await session.post(
        "/launch",
        module="pytest",
        args=["-q", "-p", "no:cacheprovider", suite.text],
        wait=120,
        include=["location", "exception", "locals"],
    )
    assert answer["stop_reason"] == "exception"
    assert answer["current_location"]["line"] == suite.line("raise")
    assert answer["stop"]["exception"]["message"] == "3 is odd"
    assert {v["name"]: v["value"] for v in answer["stop"]["locals"]} == {"n": "3", "rest": "1"}
    ended = await session.resume(wait=120)
    assert (ended["status"], ended["exit_code"]) == ("terminated", 1)
    assert "1 failed, 2 passed, 1 skipped" in await session.printed()


async def test_an_exception_in_a_thread(api: Api, program: Callable[..., Program]) -> None:
    threaded = program("""
        import threading

        def work():
            raise LookupError("in a thread")  # @raise

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    """)
    session = await api.session()
    (stop,) = await stops(session, script=threaded.text)
    assert stop["current_location"]["line"] == threaded.line("raise")
    assert stop["exception"]["message"] == "in a thread"


COLLECTED = """
    import asyncio
    import gc
    import signal

    async def fails():
        raise ValueError("that nobody took")  # @raise

    async def begin():
        task = asyncio.create_task(fails())
        await asyncio.sleep(0.01)
        return task

    def collect(*_):
        kept.clear()
        gc.collect()
        print("collected", flush=True)

    signal.signal(signal.SIGUSR1, collect)
    kept = [asyncio.run(begin())]
    number = 1  # @stop
    print("done")
"""


async def test_a_failure_in_the_midst_of_a_stop_is_told_at_its_end(
    api: Api, program: Callable[..., Program]
) -> None:
    code = program(COLLECTED)
    session = await api.session()
    await session.breakpoint(code.text, code.line("stop"))
    stopped = await session.post("/launch", wait=60, script=code.text, stop_on_exception=True)
    assert stopped["status"] == "paused"
    os.kill((await session.get())["pid"], signal.SIGUSR1)
    await session.until_printed("collected")
    at_stop = await session.get()
    assert at_stop["current_location"]["line"] == code.line("stop")
    await session.resume(wait=60)
    assert (await session.get())["current_location"]["line"] == code.line("raise")
    assert (await session.resume(wait=60))["status"] == "terminated"
