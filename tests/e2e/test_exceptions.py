"""Exceptions: where `stop_on_exception` stops, what it tells, and that it changes nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import trio

from relay.errors import DebuggerTimeout
from relay.session.dap.event_handler import EventHandler
from relay.session.debuggee.debuggee import Debuggee
from tests.e2e.api import Api, Session
from tests.programs import Program

Write = Callable[..., Program]

MODES = ["fast", "plain", "adapter"]


async def launched(api: Api, program: Program, **more: Any) -> tuple[Session, dict[str, Any]]:
    session = await api.session(project_root=str(program.path.parent))
    return session, await session.launch(program.text, include=["exception", "location"], **more)


def raised(answer: dict[str, Any]) -> dict[str, Any]:
    assert answer["status"] == "paused", answer
    assert answer["stop_reason"] == "exception"
    exception: dict[str, Any] = answer["stop"]["exception"]
    return exception


def line_of(answer: dict[str, Any]) -> int:
    return int(answer["current_location"]["line"])


async def stops(session: Session, first: dict[str, Any]) -> list[tuple[str, int]]:
    """Type and line of each exception stop until the end."""
    found, at = [], first
    while at["status"] == "paused":
        found.append((raised(at)["type"], line_of(at)))
        at = await session.resume(include=["exception"])
    return found


def plain_stderr(program: Program) -> tuple[str, int]:
    done = subprocess.run(
        [sys.executable, program.text], capture_output=True, text=True, timeout=60, check=False
    )
    return done.stderr, done.returncode


FAILS = """
    def divide(value, by):
        return value / by  # @divide

    def main():
        local = "here"
        return divide(1, 0)

    main()
"""


@pytest.mark.parametrize("mode", MODES)
async def test_an_uncaught_exception_stops_where_it_was_raised_and_then_ends_as_ever(
    api: Api, program: Write, mode: str
) -> None:
    fails = program(FAILS)
    session, at = await launched(api, fails, launch_mode=mode)
    assert line_of(at) == fails.line("divide")
    exception = raised(at)
    assert exception["type"] == "ZeroDivisionError"
    assert exception["message"] == "division by zero"
    stderr, code = plain_stderr(fails)
    assert exception["traceback"] == stderr
    frames = (await session.get("/stacktrace"))["frames"]
    assert [frame["name"] for frame in frames] == ["divide", "main", "<module>"]
    assert (await session.locals())["by"]["value"] == "0"
    assert (await session.locals(1))["local"]["value"] == "'here'"
    view = await session.get()
    assert view["exception"]["type"] == "ZeroDivisionError"
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", code)
    assert "ZeroDivisionError: division by zero" in await session.printed("stderr")
    if mode == "fast":
        assert await session.printed("stderr") == stderr


@pytest.mark.parametrize("mode", MODES)
async def test_without_stops_an_exception_ends_the_program_as_ever(
    api: Api, program: Write, mode: str
) -> None:
    fails = program(FAILS)
    session, ended = await launched(api, fails, launch_mode=mode, stop_on_exception=False)
    assert (ended["status"], ended["exit_code"]) == ("terminated", 1)
    assert "ZeroDivisionError" in await session.printed("stderr")


HANDLED = """
    import configparser
    import json

    class Mine(Exception):
        pass

    def fails(number):
        raise Mine(number)  # @mine

    def passes_on():
        fails(1)

    def tries():
        try:
            passes_on()
        except Mine:
            pass
        try:
            json.loads("{")  # @json
        except ValueError:
            pass
        getattr(object(), "nothing", None)
        configparser.ConfigParser().get("a", "b", fallback=1)
        for item in iter([1]):
            pass
        next(iter(()), None)

    tries()
    print("ended")
"""


@pytest.mark.parametrize("mode", MODES)
async def test_raised_stops_once_for_each_exception_in_the_programs_own_code(
    api: Api, program: Write, mode: str
) -> None:
    """Not again in each frame that it leaves, and not for what a library handles itself."""
    handled = program(HANDLED)
    session, at = await launched(api, handled, launch_mode=mode, stop_on_exception="raised")
    assert await stops(session, at) == [
        ("Mine", handled.line("mine")),
        ("JSONDecodeError", handled.line("json")),
    ]
    assert await session.printed() == "ended\n"


async def test_uncaught_does_not_stop_for_what_is_handled(api: Api, program: Write) -> None:
    handled = program(HANDLED)
    _, ended = await launched(api, handled)
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)


async def test_a_handled_exception_shows_its_traceback_while_it_is_raised(
    api: Api, program: Write
) -> None:
    handled = program(HANDLED)
    _, at = await launched(api, handled, stop_on_exception="raised")
    text = raised(at)["traceback"]
    assert text.startswith("Traceback (most recent call last):\n")
    assert text.endswith("Mine: 1\n")
    assert text.index("in tries") < text.index("in passes_on") < text.index("in fails")
    assert "pydevd" not in text
    assert "runpy" not in text


TELLS = {
    "chained by from": """
        try:
            {}["key"]
        except KeyError as error:
            raise ValueError("bad") from error  # @raise
    """,
    "chained by context": """
        try:
            {}["key"]
        except KeyError:
            raise ValueError("bad")  # @raise
    """,
    "suppressed": """
        try:
            {}["key"]
        except KeyError:
            raise ValueError("bad") from None  # @raise
    """,
    "notes": """
        error = ValueError("bad")
        error.add_note("a note")
        raise error  # @raise
    """,
    "no end": """
        def more(number):
            return (number and
                    more(number + 1))  # @raise
        more(1)
    """,
    "no message": "raise ValueError  # @raise\n",
    "many lines": "raise ValueError('one\\ntwo')  # @raise\n",
    "a class of its own": """
        class Mine(Exception):
            def __str__(self):
                return "mine"
        raise Mine  # @raise
    """,
}
if sys.version_info >= (3, 12):  # before, only the interpreter itself knows the name that was meant
    TELLS["a name that is meant"] = """
        def ask():
            answer = 3
            return anwser  # @raise
        ask()
    """

DEEP = re.compile(r"repeated \d+ more times")
"""Frames of the debugger below the program's count as well where a recursion finds its end."""


@pytest.mark.parametrize("kind", TELLS)
async def test_the_traceback_is_as_plain_python_prints_it(
    api: Api, program: Write, kind: str
) -> None:
    fails = program(TELLS[kind])
    session, at = await launched(api, fails)
    assert line_of(at) == fails.line("raise")
    stderr, code = plain_stderr(fails)
    assert DEEP.sub("", raised(at)["traceback"]) == DEEP.sub("", stderr)
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", code)


async def test_at_the_end_of_the_stack(api: Api, program: Write) -> None:
    """The stop is made when the stack has been left: there is room again."""
    fails = program("""
        def deeper():
            return deeper() + 1

        deeper()
    """)
    session, at = await launched(api, fails)
    assert raised(at)["type"] == "RecursionError"
    frames = (await session.get("/stacktrace", levels=0))["frames"]
    assert sum(frame["name"] == "deeper" for frame in frames) > 100
    assert (await session.resume())["exit_code"] == 1


async def test_a_str_that_fails_or_lies_does_not_lose_the_stop(api: Api, program: Write) -> None:
    fails = program("""
        class Bad(Exception):
            def __str__(self):
                raise RuntimeError("no str")

        raise Bad()  # @raise
    """)
    _, at = await launched(api, fails)
    assert raised(at)["type"] == "Bad"
    assert line_of(at) == fails.line("raise")


@pytest.mark.parametrize("setting", [True, "raised", "uncaught"])
@pytest.mark.parametrize(("leave", "code"), [("sys.exit(5)", 5), ("exit()", 0), ("quit('x')", 1)])
async def test_leaving_never_stops(
    api: Api, program: Write, setting: object, leave: str, code: int
) -> None:
    leaves = program(f"import sys\n{leave}\n")
    _, ended = await launched(api, leaves, stop_on_exception=setting)
    assert (ended["status"], ended["exit_code"]) == ("terminated", code)


INTERRUPTED = """
    import os, signal
    try:
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            pass
    finally:
        print("cleaned")
"""


@pytest.mark.parametrize("mode", MODES)
async def test_an_interrupt_ends_the_program_as_ever(api: Api, program: Write, mode: str) -> None:
    """Ctrl-C is a wish to end, not a failure to look at."""
    interrupted = program(INTERRUPTED)
    session, ended = await launched(api, interrupted, launch_mode=mode)
    assert ended["status"] == "terminated"
    # A launcher between the relay and the program ends by a code of its own.
    assert ended["exit_code"] == -2 if mode != "adapter" else ended["exit_code"] in (-2, 130)
    assert await session.printed() == "cleaned\n"


async def test_an_interrupt_can_be_looked_at_where_it_is_raised(api: Api, program: Write) -> None:
    session, at = await launched(api, program(INTERRUPTED), stop_on_exception="raised")
    assert raised(at)["type"] == "KeyboardInterrupt"
    assert (await session.resume())["exit_code"] == -2


@pytest.mark.parametrize("mode", MODES)
async def test_in_a_thread(api: Api, program: Write, mode: str) -> None:
    written = program("""
        import threading

        def work(value):
            raise LookupError(value)  # @raise

        thread = threading.Thread(target=work, args=("lost",), name="worker")
        thread.start()
        thread.join()
        print("main goes on")
    """)
    session, at = await launched(api, written, launch_mode=mode)
    assert line_of(at) == written.line("raise")
    assert (raised(at)["type"], raised(at)["message"]) == ("LookupError", "lost")
    assert (await session.locals())["value"]["value"] == "'lost'"
    current = [t for t in (await session.get("/threads"))["threads"] if t["is_current"]]
    assert [thread["name"] for thread in current] == ["worker"]
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 0)
    assert await session.printed() == "main goes on\n"


async def test_in_a_coroutine(api: Api, program: Write) -> None:
    written = program("""
        import asyncio

        async def fails(value):
            await asyncio.sleep(0)
            raise LookupError(value)  # @raise

        async def main():
            await fails("lost")

        asyncio.run(main())
    """)
    session, at = await launched(api, written)
    assert line_of(at) == written.line("raise")
    assert (await session.locals())["value"]["value"] == "'lost'"
    assert (await session.resume())["exit_code"] == 1


async def test_the_event_tells_the_exception(api: Api, program: Write) -> None:
    fails = program(FAILS)
    session, _ = await launched(api, fails)
    (event,) = await session.events("stopped")
    body = event["body"]
    assert body["reason"] == "exception"
    assert body["text"] == "ZeroDivisionError: division by zero"
    told = body["exception_info"]
    assert told["exception_id"] == "ZeroDivisionError"
    assert told["details"]["full_type_name"] == "builtins.ZeroDivisionError"
    assert told["details"]["stack_trace"].endswith("ZeroDivisionError: division by zero\n")


# Test runners ------------------------------------------------------------------------------


PYTEST = """
    import pytest

    def check(value):
        limit = 10
        assert value < limit, "too much"  # @assert

    def fails():
        raise KeyError("lost")  # @error

    def test_skips():
        pytest.skip("not today")

    @pytest.mark.skip
    def test_is_skipped():
        pass

    @pytest.mark.xfail(raises=RuntimeError, strict=True)
    def test_is_expected():
        pytest.xfail("known")

    def test_raises():
        with pytest.raises(KeyError):
            fails()

    @pytest.fixture
    def broken():
        raise LookupError("fixture")  # @fixture

    def test_passes():
        check(5)

    def test_assertion():
        check(20)

    def test_error():
        fails()

    def test_fixture(broken):
        pass
"""


@pytest.mark.parametrize("mode", MODES)
async def test_under_pytest_it_stops_in_the_function_that_failed(
    api: Api, program: Write, mode: str
) -> None:
    written = program(PYTEST, "test_it.py")
    session = await api.session(project_root=str(written.path.parent))
    at = await session.post(
        "/launch",
        module="pytest",
        args=["-q", "-p", "no:cacheprovider", written.path.name],
        wait=60,
        include=["exception"],
        launch_mode=mode,
    )
    assert raised(at)["type"] == "AssertionError"
    assert (line_of(at), at["current_location"]["function"]) == (written.line("assert"), "check")
    shown = await session.locals()
    assert (shown["value"]["value"], shown["limit"]["value"]) == ("20", "10")
    at = await session.resume(include=["exception"])
    assert raised(at)["type"] == "KeyError"
    assert (line_of(at), at["current_location"]["function"]) == (written.line("error"), "fails")
    at = await session.resume(include=["exception"])
    assert raised(at)["type"] == "LookupError"
    assert line_of(at) == written.line("fixture")
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 1)
    printed = await session.printed()
    assert "2 failed, 2 passed, 2 skipped, 1 xfailed, 1 error" in printed


@pytest.mark.parametrize("mode", MODES)
async def test_under_unittest_it_stops_in_the_function_that_failed(
    api: Api, program: Write, mode: str
) -> None:
    written = program(
        """
        import unittest

        def check(value):
            return 1 / value  # @divide

        class Cases(unittest.TestCase):
            def test_1_skips(self):
                self.skipTest("not today")

            def test_2_raises(self):
                with self.assertRaises(ZeroDivisionError):
                    check(0)

            @unittest.expectedFailure
            def test_3_passes(self):
                self.assertEqual(check(1), 1)

            def test_4_fails(self):
                found = check(2)
                self.assertEqual(found, 1)  # @equal

            def test_5_error(self):
                check(0)
        """,
        "test_cases.py",
    )
    session = await api.session(project_root=str(written.path.parent))
    at = await session.post(
        "/launch",
        module="unittest",
        args=["-q", "test_cases"],
        wait=60,
        include=["exception"],
        launch_mode=mode,
    )
    assert raised(at)["type"] == "AssertionError"
    frames = (await session.get("/stacktrace"))["frames"]
    test = next(frame for frame in frames if frame["name"] == "test_4_fails")
    assert test["line"] == written.line("equal")
    assert (await session.locals(test["id"]))["found"]["value"] == "0.5"
    at = await session.resume(include=["exception"])
    assert raised(at)["type"] == "ZeroDivisionError"
    assert line_of(at) == written.line("divide")
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 1)


async def test_a_warning_turned_into_an_error_stops_like_one(api: Api, tmp_path: Path) -> None:
    written = Program.write(
        tmp_path / "main.py",
        """
        import warnings

        def old():
            warnings.warn("old", DeprecationWarning)  # @warn

        old()
        """,
    )
    session, at = await launched(api, written, python_args=["-W", "error"])
    assert raised(at)["type"] == "DeprecationWarning"
    assert at["current_location"]["path"] == written.text
    assert line_of(at) == written.line("warn")
    assert (await session.resume())["exit_code"] == 1


async def test_a_failure_in_words_that_nobody_knows_is_a_stop_nevertheless(
    api: Api, program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a debuggee of another version may report it."""
    reported = EventHandler._failure_reported

    def without_frames(self: EventHandler, body: Mapping[str, Any]) -> None:
        reported(self, {name: body[name] for name in body if name != "frames"})

    monkeypatch.setattr(EventHandler, "_failure_reported", without_frames)
    session, at = await launched(api, program("1 / 0"))
    assert (at["status"], at["stop_reason"]) == ("paused", "exception")
    ended = await session.resume()
    assert (ended["status"], ended["exit_code"]) == ("terminated", 1)


async def test_a_failure_that_is_let_go_is_no_stop_though_the_debugger_is_slow(
    api: Api, program: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, continued, runs = Debuggee.request, EventHandler._continued, trio.Event()

    def note(self: EventHandler, body: Mapping[str, Any]) -> None:
        continued(self, body)
        runs.set()

    async def answered_late(self: Debuggee, command: str, *given: Any, **named: Any) -> Any:
        body = await request(self, command, *given, **named)
        if command == "continue":
            await runs.wait()
            raise DebuggerTimeout("the debugger did not answer continue in time")
        return body

    monkeypatch.setattr(EventHandler, "_continued", note)
    monkeypatch.setattr(Debuggee, "request", answered_late)
    session = await api.session()
    await session.post("/exception-breakpoints", filters=["uncaught"], condition="False")
    ended = await session.launch(program("1 / 0").text)
    assert (ended["status"], ended["exit_code"]) == ("terminated", 1)
    assert await session.events("stopped") == []
