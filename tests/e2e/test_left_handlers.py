"""An exception that leaves a `finally` or a handler is the one that is told, wherever in there it was raised.

Python 3.11 reports the last line of the block where another one has raised: that line does not run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.e2e.api import Api, Session
from tests.programs import Program

Write = Callable[..., Program]

LEFT = """
    def fails():
        raise ValueError(3)

    def in_finally(n):
        try:
            n = 1 // (n - n)
        finally:
            fails()  # @in_finally
            n = 4

    def in_handler(n):
        try:
            n = 1 // (n - n)
        except ZeroDivisionError as error:
            fails()  # @in_handler
            n = 4

    def in_both(n):
        try:
            n = [][n]
        except IndexError:
            try:
                n = 1 // (n - n)
            finally:
                fails()  # @in_both
                n = 4

    def in_outer(n):
        try:
            fails()
        finally:
            try:
                n = [][n]  # @in_outer
            finally:
                n = 3
            n = 4

    def in_generator(n):
        try:
            yield n // 0
        finally:
            fails()  # @in_generator
            n = 4

    def call(function):
        try:
            list(function(2) or ())
        except (ValueError, IndexError):
            pass

    start = 1  # @start
    for function in (in_finally, in_handler, in_both, in_outer, in_generator):
        call(function)
"""
FUNCTIONS = ("in_finally", "in_handler", "in_both", "in_outer", "in_generator")
LEFT_BY = dict.fromkeys(FUNCTIONS, "ValueError: 3")
LEFT_BY["in_outer"] = "IndexError: list index out of range"


async def at_start(api: Api, code: Program) -> Session:
    session = await api.session()
    await session.breakpoint(code.text, code.line("start"))
    at = await session.launch(code.text)
    assert at["current_location"]["line"] == code.line("start")
    return session


async def test_a_tree_of_calls_tells_it(api: Api, program: Write) -> None:
    code = program(LEFT)
    session = await at_start(api, code)
    found = await session.post("/calls", tree=True, wait=30)
    left = {call["function"]: call for call in found["tree"] if call["function"] in FUNCTIONS}
    assert {name: left[name].get("raised_at") for name in FUNCTIONS} == {
        name: code.line(name) for name in FUNCTIONS
    }
    assert {name: left[name]["exception"] for name in FUNCTIONS} == LEFT_BY, found["text"]


@pytest.mark.parametrize("until", [None, "exception is not None"])
@pytest.mark.parametrize("function", FUNCTIONS)
async def test_a_trace_tells_it_and_no_line_that_has_not_run(
    api: Api, program: Write, function: str, until: str | None
) -> None:
    code = program(LEFT)
    session = await at_start(api, code)
    found = await session.post(
        "/trace", function=function, until_result=until, tree=True, wait=30, max_chars=4000
    )
    assert found["complete"], found
    assert found["tree"]["exception"]["text"] == LEFT_BY[function], found["text"]
    assert "n = 4" not in found["text"]


ABOVE_OTHERS = """
    class Held:
        def __enter__(self):
            return self
        def __exit__(self, *error):
            return False

    class Pause:
        def __await__(self):
            yield 1

    def fails(n):
        raise KeyError(n)

    def within_a_handler(n):
        with Held():
            n += 1
            fails(n)  # @within_a_handler

    async def over_a_group(n):
        try:
            [][n]  # @over_a_group
        finally:
            try:
                fails(n)
            except* KeyError:
                await Pause()
            n = 1

    def drive(coroutine):
        try:
            while True:
                coroutine.send(None)
        except StopIteration:
            pass

    def call(function):
        try:
            drive(function(2))
        except LookupError:
            pass

    start = 1  # @start
    try:
        fails(1)
    except KeyError:
        call(within_a_handler)
    call(over_a_group)
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="`except*` is new in 3.11")
async def test_a_tree_of_calls_tells_it_where_others_are_handled_at_that_time(
    api: Api, program: Write
) -> None:
    code = program(ABOVE_OTHERS)
    session = await at_start(api, code)
    found = await session.post("/calls", tree=True, wait=30)
    told = {
        call["function"]: (call.get("exception"), call.get("raised_at"))
        for call in found["tree"]
        if call["function"] in ("within_a_handler", "over_a_group")
    }
    assert told == {
        "within_a_handler": ("KeyError: 3", code.line("within_a_handler")),
        "over_a_group": ("IndexError: list index out of range", code.line("over_a_group")),
    }
