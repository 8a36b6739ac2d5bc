"""Who made the call that a trace tells: the program's own line, also where a library is between."""

from __future__ import annotations

import pytest

from tests.debuggers.bootstrap_runner import installed_python
from tests.e2e.api import Api
from tests.e2e.test_trace import Write, paused, traced

CALLERS = """
    import asyncio
    import functools
    import threading

    def price(n):
        return 2 * n

    def shop(items):
        prices = [price(n) for n in items]  # @comprehension
        return functools.reduce(lambda total, n: total + price(n), [7], sum(prices))  # @reduce

    async def fetch(n):
        await asyncio.sleep(0)
        return n

    async def main():
        task = asyncio.ensure_future(fetch(1))
        return await task, await fetch(2)  # @awaits

    def count(upto):
        yield from range(upto)

    def first_of(numbers):
        return next(numbers)  # @first

    print()  # @start
    shop([1, 2])
    asyncio.run(main())  # @run
    numbers = count(2)
    first_of(numbers)
    list(numbers)
    other = threading.Thread(target=price, args=(9,))
    other.start()
    other.join()
"""

CALLS = [
    # which call, the line that made it, the function it is in, the library's function between
    ("price", "n == 2", "comprehension", "shop", None),
    ("price", "n == 7", "reduce", "shop.<lambda>", None),
    ("fetch", "n == 1", "run", "<module>", "Handle._run"),
    ("fetch", "n == 2", "awaits", "main", None),
    ("count", "upto == 2", "first", "first_of", None),
]


@pytest.mark.parametrize("python", ["3.9", None], ids=["before 3.11", "this"])
@pytest.mark.parametrize("until", [None, "True"], ids=["a call", "until a result"])
async def test_the_trace_names_the_own_line_that_made_the_call(
    api: Api, program: Write, python: str | None, until: str | None
) -> None:
    shop = program(CALLERS)
    python_path = None if python is None else str(installed_python(python))
    session = await paused(api, shop, "start", python_path)
    asked = {"until_result": until} if until else {}
    for function, condition, mark, name, between in CALLS:
        told = await traced(session, function=function, condition=condition, **asked)
        caller = told["tree"]["caller"]
        through = caller.pop("through", None)
        assert (caller["path"], caller["line"]) == (shop.text, shop.line(mark))
        assert (caller["function"], through and through["function"]) == (name, between)
        where = f"called from main.py:{shop.line(mark)}"
        assert where in told["text"].splitlines()[0]
        await session.post("/step-out")
    told = await traced(session, function="price", condition="n == 9", **asked)
    caller = told["tree"]["caller"]  # where no own code is below
    assert caller["path"].endswith("threading.py")
    assert (caller["function"], "through" in caller) == ("Thread.run", False)
