"""What the program lets go of after a stop is gone, as without one: nothing that was looked at is kept."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.e2e.api import Api, Session
from tests.programs import Program

Write = Callable[..., Program]

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="each event of a trace function keeps what a frame has there"
)

GENERATOR = """
    def numbers():
        try:
            yield 1
        finally:
            print("closed")  # @closed

    def work():
        number = 0
        generator = numbers()
        next(generator)
        del generator  # @let_go
        number += 1  # @after
        number += 1
        print("over")

    work()
"""


async def stopped_at(api: Api, code: Program, *marks: str, look: bool = False) -> Session:
    session = await api.session()
    for mark in marks:
        await session.breakpoint(code.text, code.line(mark))
    at = await session.launch(code.text, include=["locals"] if look else [])
    assert at["current_location"]["line"] == code.line(marks[0])
    return session


@pytest.mark.parametrize("look", [False, True])
async def test_a_generator_that_is_thrown_away_after_a_stop_is_closed_there(
    api: Api, program: Write, look: bool
) -> None:
    code = program(GENERATOR)
    session = await stopped_at(api, code, "let_go", "closed", look=look)
    at = await session.resume()
    assert at["current_location"]["line"] == code.line("closed")
    stack = await session.get("/stacktrace")
    assert [frame["line"] for frame in stack["frames"][:2]] == [
        code.line("closed"),
        code.line("let_go"),
    ]
    assert (await session.resume())["status"] == "terminated"


async def test_a_step_leads_into_what_a_thrown_away_generator_still_does(
    api: Api, program: Write
) -> None:
    code = program(GENERATOR)
    session = await stopped_at(api, code, "let_go")
    at = await session.post("/step-into", wait=30, include=["locals"])
    assert at["current_location"]["line"] == code.line("closed")


async def test_objects_end_where_they_would_in_every_frame_that_was_looked_at(
    api: Api, program: Write
) -> None:
    code = program("""
        import weakref

        class Thing:
            pass

        def inner(thing):
            del thing
            shared = Thing()
            ref = weakref.ref(shared)
            def reads():
                return shared
            reads()  # @stop
            del reads, shared
            return ref() is None

        def outer():
            thing = Thing()
            ref = weakref.ref(thing)
            is_gone = inner(thing)
            del thing
            return is_gone, ref() is None

        print(outer())
    """)
    session = await stopped_at(api, code, "stop")
    for frame in range(2):
        assert "ref" in await session.locals(frame)
    await session.evaluate("shared, [one for one in (ref, shared)]")
    await session.post("/step-over", wait=30, include=["locals", "report"])
    assert (await session.resume())["status"] == "terminated"
    assert await session.printed() == "(True, True)\n"


async def test_values_and_locals_of_the_program_stay_as_they_are(api: Api, program: Write) -> None:
    code = program("""
        def work(one, *rest, name="n", **more):
            known = locals()
            def add():
                nonlocal one
                one += 1
            absent = 1
            del absent
            add()
            number = 1  # @stop
            number += 1
            add()
            print(sorted(known)[:3], one, rest, name, more, number, [n for n in rest])
            return locals()

        print(sorted(work(1, 2, 3, key=4)))
    """)
    session = await stopped_at(api, code, "stop", look=True)
    await session.evaluate("name = 'changed'", context="repl")
    await session.evaluate("one = 10", context="repl")
    for _ in range(2):
        await session.post("/step-over", wait=30, include=["locals"])
    await session.evaluate("number += 5", context="repl")
    assert (await session.resume())["status"] == "terminated"
    printed = (await session.printed()).splitlines()
    assert printed[0].endswith("11 (2, 3) changed {'key': 4} 7 [2, 3]"), printed
    assert printed[1] == "['add', 'known', 'more', 'name', 'number', 'one', 'rest']"


async def test_what_a_step_returned_is_told_all_the_same(api: Api, program: Write) -> None:
    code = program("""
        def double(number):
            return 2 * number

        def work():
            first = double(2)  # @first
            second = double(first)
            return second

        work()
    """)
    session = await stopped_at(api, code, "first", look=True)
    for value in ("4", "8"):
        at = await session.post("/step-over", wait=30, include=["locals"])
        assert (at["return_value"]["function"], at["return_value"]["value"]) == ("double", value)
