"""A trace of the call that ends as asked for, with all others gone by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.api import Api, Refused
from tests.e2e.test_trace import paused
from tests.programs import Program

Write = Callable[..., Program]

SEARCH = """
    import asyncio
    import dataclasses
    import re
    import threading

    class Board:
        def __init__(self, size):
            self.size = size
            self.rows = []
            self.tried = 0

        def is_free(self, column):
            row = len(self.rows)  # @row
            for before, other in enumerate(self.rows):
                if other == column or abs(other - column) == row - before:
                    return False
            return True

        def solve(self):
            if len(self.rows) == self.size:
                return list(self.rows)
            for column in range(self.size):
                self.tried += 1
                if self.is_free(column):
                    self.rows.append(column)  # @append
                    found = self.solve()  # @solve
                    if found:
                        return found
                    self.rows.pop()
            return None

    @dataclasses.dataclass
    class Order:
        number: int
        lines: list = dataclasses.field(default_factory=list)
        total: float = 0.0

        def add(self, price, note=None):
            self.lines.append(price)
            self.total = sum(self.lines)
            return self.total

    def discount(order, rate, seen={}):
        before = order.total
        after = order.total = before * (1 - rate)  # @after
        text = f"{before:.2f} -> {after:.2f}"
        seen[order.number] = after
        words = re.split(" ", text)
        words.append("done")
        if order.number == 7:
            raise ValueError(words)  # @raised
        return after

    def pick(number, limit=10):
        rest = number % 7
        total = number - rest
        total += limit  # @limit
        return total if total > limit else rest  # @pick

    def counts(upto, tag):
        for one in range(upto):
            yield one * one
        return tag  # @tag

    async def waits(number):
        await asyncio.sleep(0)
        doubled = number * 2
        return doubled

    def deep(number):
        return [twice(one) for one in range(number)]

    def twice(number):
        return number * 2

    def work():
        for one in range(50):
            pick(one, 1)

    def main():
        Board(6).solve()
        orders = [Order(number, [number, 1.5]) for number in range(10)]
        for order in orders:
            order.add(order.number * 2)
            try:
                discount(order, 0.25)
            except ValueError:
                pass
        for number in range(200):
            pick(number)
        for number in range(5):
            list(counts(number, "tag" * number))
            asyncio.run(waits(number))
            deep(number)
        thread = threading.Thread(target=work, name="worker")
        thread.start()
        thread.join()

    main()  # @main
"""

SAME = [
    ("pick", "result == 108", {}),
    ("pick", "number == 3 and limit == 1", {}),
    ("Order.add", "result > 15", {}),
    ("discount", "isinstance(exception, ValueError)", {"depth": 2}),
    ("discount", "any(seen[n] > order.number for n in seen)", {}),
    ("Board.is_free", "not result and len(self.rows) == 3", {}),
    ("Board.solve", "len(self.rows) == 6", {}),
    ("Board.solve", "result and self.tried > 5", {"depth": 3}),
    ("counts", "result == 'tagtag'", {}),
    ("waits", "result == 6", {}),
    ("deep", "len(result) == 3", {"depth": 2}),
]
"""Functions, how the call is to end, and more of the request."""


def own(tree: Any) -> Any:
    """The tree without calls of libraries, which are not kept of calls that may go by."""
    if isinstance(tree, list):
        return [own(one) for one in tree if not is_of_library(one)]
    return {key: own(one) for key, one in tree.items()} if isinstance(tree, dict) else tree


def is_of_library(one: Any) -> bool:
    return isinstance(one, dict) and "/lib/python" in str(one.get("path"))


@pytest.mark.parametrize(("function", "until", "more"), SAME)
async def test_the_call_is_recorded_as_if_it_alone_had_been_traced(
    api: Api, program: Write, function: str, until: str, more: dict[str, Any]
) -> None:
    search = program(SEARCH)
    session = await paused(api, search, "main")
    found = await session.post(
        "/trace",
        function=function,
        until_result=until,
        tree=True,
        wait=60,
        max_chars=100_000,
        **more,
    )
    assert found["complete"], found["text"]
    assert found["stop_reason"] == "step"
    other = await paused(api, search, "main")
    alone = await other.post(
        "/trace",
        function=function,
        call=found["call"],
        tree=True,
        wait=60,
        max_chars=100_000,
        **more,
    )
    assert alone["complete"], alone["text"]
    assert found["current_location"] == alone["current_location"]
    assert found["tree"] == own(alone["tree"])


async def test_without_such_an_end_the_program_runs_on_and_the_answer_says_what_went_by(
    api: Api, program: Write
) -> None:
    search = program(SEARCH)
    session = await paused(api, search, "main")
    found = await session.post(
        "/trace", function="pick", until_result="result > 10 and limit == unknown", wait=60
    )
    assert (found["status"], found["trace_state"], found["complete"]) == (
        "terminated",
        "ended",
        False,
    )
    assert (found["called"], found["passed"]) == (250, 250)
    assert found["until_error"] == "NameError: name 'unknown' is not defined"
    assert found["text"] == (
        "the program ended before a call ended so; 250 calls went by; "
        "until_result raised NameError: name 'unknown' is not defined"
    )


async def test_the_kth_such_call_and_another_stop_before_it(api: Api, program: Write) -> None:
    search = program(SEARCH)
    session = await paused(api, search, "main")
    found = await session.post("/trace", function="pick", until_result="result % 7 == 3", call=3)
    assert found["complete"], found["text"]
    assert found["passed"] == found["call"] - 1
    placed = await session.breakpoint(search.text, search.line("tag"))
    found = await session.post("/trace", function="pick", until_result="result < 0", wait=60)
    assert (found["trace_state"], found["stop_reason"]) == ("interrupted", "breakpoint")
    assert f"{found['passed']} calls went by" in found["text"]
    await session.delete(f"/breakpoints/{placed['id']}")
    for text in ("result ==", "x = 1", "await result"):
        with pytest.raises(Refused) as refused:
            await session.post("/trace", function="pick", until_result=text)
        assert refused.value.code == "INVALID_REQUEST"
        assert refused.value.details["errors"][0]["field"] == "until_result"
    assert (await session.get("/status"))["location"]["line"] == search.line("tag")
