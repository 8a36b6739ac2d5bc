"""An exception that leaves a `finally` or a handler is the one that is told, wherever in there it was raised.

Python 3.11 reports the last line of the block where another one has raised: that line does not run.
"""

from __future__ import annotations

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

    def in_generator(n):
        try:
            yield n // 0
        finally:
            fails()  # @in_generator
            n = 4

    def call(function):
        try:
            list(function(2) or ())
        except ValueError:
            pass

    start = 1  # @start
    for function in (in_finally, in_handler, in_both, in_generator):
        call(function)
"""
FUNCTIONS = ("in_finally", "in_handler", "in_both", "in_generator")


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
    assert {call["exception"] for call in left.values()} == {"ValueError: 3"}, found["text"]


@pytest.mark.parametrize("until", [None, "isinstance(exception, ValueError)"])
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
    assert found["tree"]["exception"]["text"] == "ValueError: 3", found["text"]
    assert "n = 4" not in found["text"]
