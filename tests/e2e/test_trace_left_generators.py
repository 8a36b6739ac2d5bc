"""Generators that a call which goes by leaves suspended: they are closed when the program lets go of them."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
import trio

from tests.e2e.api import Api
from tests.e2e.test_trace import paused
from tests.programs import Program

Write = Callable[..., Program]

LEAVES = """
    def numbers(count):
        try:
            for number in range(count):
                yield number
        finally:
            print("closed", count)

    def walk(depth):
        below = walk(depth - 1)
        try:
            yield depth
            for one in below:
                yield one
        finally:
            print("left", depth)

    def first(count):
        held = numbers(count)
        return next(held)

    def third(depth):
        held = walk(depth)
        return [next(held), next(held), next(held)]

    def main():
        for count in (1, 2):
            first(count)
            print("first", count)
            third(count + 3)
            print("third", count + 3)
            held = walk(4)
            next(held), next(held)
            del held
            print("walked")

    main()  # @main
"""

MANY = """
    def numbers(count):
        for number in range(count):
            yield number

    def first(count):
        held = numbers(count)
        return next(held), sum(number for number in range(2))

    def main():
        for count in range(1, 10_500):
            first(count)

    main()  # @main
"""

CLOSED = """
    def numbers(count, marks):
        for number in range(count):
            yield number, marks

    def use(count):
        taken = [next(numbers(count + more, object())) for more in range(4)]
        held = numbers(count, [count])
        next(held)
        del held
        taken = [[more] for more in range(100)]
        return taken  # @stop

    def main():
        for count in range(1, 10_500):
            next(numbers(count, None))
        list(numbers(3, None))
        use(3)

    main()  # @main
"""

CALLED = """
    def numbers(count):
        try:
            for number in range(count + 1):
                yield number
        finally:
            print("closed", count)

    def first(count):
        held = numbers(count)
        return next(held)

    def fails(count):
        held = numbers(count)
        raise ValueError(next(held))

    def each(count):
        held = numbers(count)
        yield next(held)

    def calls(count):
        first(count)
        print("called")
        return count

    def catches(count):
        try:
            fails(count)
        except ValueError:
            print("caught")
        print("passed")
        return count

    def iterates(count):
        for number in each(count):
            pass
        print("iterated")
        return count

    def twice(count):
        try:
            return fails(count)
        except ValueError:
            pass
        try:
            fails(count + 1)
        except ValueError as error:
            if count:
                raise
        return count

    def left(count):
        try:
            twice(count)
        except ValueError:
            print("failed")

    def main():
        for count in range(3):
            calls(count)
            catches(count)
            iterates(count)
            left(count)
            print("over", count)

    main()  # @main
"""


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("function", ["first", "third", "walk"])
async def test_they_are_closed_where_they_are_without_a_trace(
    api: Api, program: Write, function: str, depth: int
) -> None:
    session = await paused(api, program(LEAVES), "main")
    asked = {"function": function, "until_result": "result == 99", "depth": depth, "wait": 60}
    assert (await session.post("/trace", **asked))["trace_state"] == "ended"
    printed = await session.printed()
    walked = "left 4\nleft 3\nwalked\n"
    first = "closed {0}\nfirst {0}\n"
    third = "left {1}\nleft {2}\nleft {3}\nthird {1}\n"
    assert printed == "".join(
        (first + third).format(count, count + 3, count + 2, count + 1) + walked for count in (1, 2)
    )


@pytest.mark.parametrize("count", [1, 99])
@pytest.mark.parametrize("function", ["calls", "catches", "iterates", "twice"])
async def test_those_of_calls_that_it_makes_are_closed_as_these_end(
    api: Api, program: Write, function: str, count: int
) -> None:
    code = program(CALLED)
    with trio.fail_after(30):
        plain = await trio.run_process([sys.executable, code.text], capture_stdout=True)
    session = await paused(api, code, "main")
    asked = {"function": function, "until_result": f"count == {count}", "wait": 60}
    assert (await session.post("/trace", **asked))["complete"] is (count == 1)
    if count == 1:
        await session.resume()
    assert await session.printed() == plain.stdout.decode()


async def test_calls_that_leave_one_go_by_however_many_there_are(api: Api, program: Write) -> None:
    session = await paused(api, program(MANY), "main")
    found = await session.post("/trace", function="first", until_result="count == 10400", wait=100)
    assert (found["complete"], found["call"], found["passed"]) == (True, 10400, 10399)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("until", [{}, {"until_result": "result == 99"}])
async def test_the_program_stops_in_a_traced_call_that_has_left_some(
    api: Api, program: Write, depth: int, until: dict[str, str]
) -> None:
    closed = program(CLOSED)
    session = await paused(api, closed, "main")
    await session.breakpoint(closed.text, closed.line("stop"))
    found = await session.post("/trace", function="use", depth=depth, wait=60, **until)
    assert (found["trace_state"], found["stop_reason"]) == ("interrupted", "breakpoint")
    assert (await session.locals())["count"]["value"] == "3"


async def test_a_generator_that_ends_is_found_behind_many_that_were_left(
    api: Api, program: Write
) -> None:
    session = await paused(api, program(CLOSED), "main")
    until = "result is None and exception is None"
    found = await session.post("/trace", function="numbers", until_result=until, wait=100)
    assert (found["complete"], found["call"]) == (True, 10_500)
