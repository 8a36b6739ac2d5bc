"""A trace of the call that ends as asked for, with all others gone by."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.api import Api, Refused, Session
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

KINDS = """
    import asyncio
    import collections
    import dataclasses
    import enum
    import functools
    import itertools

    class Colour(enum.Enum):
        RED = 1

    Point = collections.namedtuple("Point", "x y")

    class Span(collections.namedtuple("SpanBase", "begin end data")):
        __slots__ = ()

        def __repr__(self):
            return f"Span[{self.begin}..{self.end} {self.data}]"

        def __lt__(self, other):
            return self[:1] < other[:1]

    class Marked(Span):
        def __repr__(self):
            return f"Marked({self.data}, {vars(self)})"

    @dataclasses.dataclass
    class Order:
        number: int
        price: float
        tags: list = dataclasses.field(default_factory=list)
        hidden: int = dataclasses.field(default=0, repr=False)

    class Box:
        kind = "box"

        def __init__(self, width):
            self.width = width
            self.parts = []
            self.looked = 0

        @property
        def counted(self):
            self.looked += 1
            return self.looked

        @functools.cached_property
        def doubled(self):
            return self.width * 2

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            self.parts.append(name)
            return 1

        def grow(self, n):
            self.width += n
            self.parts.append(self.width)
            return self.width

        def reads(self, n):
            first = self.counted
            second = self.doubled
            third = self.unknown
            fourth = self.kind
            return first, second, third, fourth

    class Shown(Box):
        def __repr__(self):
            return f"Shown({self.width})"

    def stored(order, n):
        gross = order.price * n
        tags = order.tags
        count = len(tags)
        return gross + count

    def through_another_name(order, n):
        tags = order.tags
        tags.append(n)
        order.price = n
        other = order
        other.number += 1
        return other

    def nested(rows, n):
        first = rows[0]
        rows[1].append(n)
        rows.append([n])
        rows[0] = first[:1]
        return rows

    def objects(boxes, n):
        last = boxes[-1]
        last.grow(n)
        boxes.sort(key=lambda box: -box.width)
        return boxes[0]

    def long(numbers, n):
        numbers.append(n)
        numbers.extend([n, n])
        numbers[0] = -n
        total = sum(numbers)
        return total

    def sets(found, names, n):
        found.add(n)
        found.discard(0)
        names.add(n + 9)
        both = found | {n}
        return both

    def points(point, colour, n):
        moved = point._replace(x=n)
        moved.y.append(colour)
        return moved

    def spans(plain, nested, holding, marked, n):
        first = min(nested, plain)
        both = [plain, holding, marked]
        holding.data.append(n)
        marked.note = n
        return both

    def cyclic(items, n):
        items[0] = n
        items[1][0] += 1
        return items[1]

    def tables(table, counts, n):
        table[n] = [n]
        table["a"].append(n)
        counts["x"] += n
        del table[n]
        return table

    def loops(items, n):
        total = 0
        for place, item in enumerate(items):
            total += item[0]
            item[0] = place
        text = f"{total} of {n}"
        return text.upper().split()

    def consumes(ahead, n):
        taken = next(ahead)
        more = list(ahead)
        longest = max(more, key=len)
        return taken + longest

    def closes(start):
        seen = [start]
        def inner(n):
            count = len(seen)
            seen.append(n)
            return count
        return inner

    def bumps(count):
        def bump(n):
            nonlocal count
            count += n
            return count
        return bump

    def bound_again(items, n):
        items.append(n)
        items = items + [n]
        items.append(-n)
        return items

    def fails(order, n):
        order.tags.append(n)
        try:
            order.tags.remove("none")
        except ValueError as error:
            order.price = -1.0
            message = str(error)
        order.tags.clear()
        return message

    def counted(counter, holder, n):
        first = next(counter)
        second = next(counter)
        holder.width = second
        next(holder.counter)
        return first + second

    class Holder(Shown):
        def __repr__(self):
            return f"Holder({self.counter})"

    class Chain:
        def __init__(self):
            self.links = []

        def __repr__(self):
            return f"Chain({self.links})"

        def __lshift__(self, link):
            self.links.append(link)
            return self

        def __or__(self, link):
            self.links.append([link])
            return self

        __rshift__ = __lshift__

    def linked(chain, n):
        number = n << 1
        chain << number
        chain >> number
        chain | number
        return chain

    async def gives(rows, n):
        rows.append(n)
        yield rows
        rows.append(-n)
        yield rows
        rows.clear()

    async def takes(rows, n):
        async for row in gives(rows, n):
            rows.append([n])

    def bound(chain, chains, n):
        add = chain.__lshift__
        add(n)
        chains.append(Chain())
        chains.append(chain)
        few = []
        few.append(chains[:3])
        text = str(n)
        return text

    def shared(n):
        kept = n + 1
        number = n
        other = number
        return (lambda: kept)() + other

    class Entered:
        async def __aenter__(self):
            return self

        async def __aexit__(self, *error):
            await asyncio.sleep(0)

    def generated(n):
        for number in range(n):
            yield number

    async def resumes(n):
        whole = list(generated(n))
        longest = max(one + 1 for one in whole)
        unfinished = generated(n)
        next(unfinished)
        async with Entered():
            next(unfinished)
        return longest

    class Told(Exception):
        more = ""

        def __str__(self):
            return f"told{self.more}"

    def tells(error):
        raise error

    def hears(n):
        for error in Told(n), ValueError(n):
            try:
                tells(error)
            except (Told, ValueError):
                error.more = " later"
                error.args = (n, "later")
        return n

    def main():
        holder = Holder(1)
        holder.counter = itertools.count()
        counter, chain = itertools.count(), Chain()
        chains = [Chain() for _ in range(20)]
        order, boxes = Order(1, 2.5, ["a"]), [Box(1), Shown(2), Box(3)]
        rows, numbers = [[1, 2], [3], [Order(2, 1.0)]], list(range(200))
        found, names, items = {0, 7}, frozenset([1]), [0, 1]
        table, counts = {"a": [1], Colour.RED: order}, collections.Counter("xyz")
        inner, bump = closes(0), bumps(0)
        items[1] = items
        for call in (
            lambda n: stored(order, n),
            lambda n: through_another_name(order, n),
            lambda n: nested(rows, n),
            lambda n: objects(boxes, n),
            lambda n: long(numbers, n),
            lambda n: sets(found, set(names), n),
            lambda n: points(Point(1, [n]), Colour.RED, n),
            lambda n: spans(Span(1, 2, "x"), Span(0, n, Span(0, 1, None)), Span(1, 2, [n]), Marked(1, 2, "x"), n),
            lambda n: cyclic(items, n),
            lambda n: tables(table, counts, n),
            lambda n: loops([[5], [n]], n),
            lambda n: consumes(iter(["a", "bb", "ccc"]), n),
            lambda n: inner(n),
            lambda n: bump(n),
            lambda n: bound_again([n], n),
            lambda n: fails(order, n),
            lambda n: boxes[0].grow(n),
            lambda n: boxes[1].reads(n),
            lambda n: counted(counter, holder, n),
            lambda n: linked(chain, n),
            lambda n: asyncio.run(takes([], n)),
            lambda n: hears(n),
            lambda n: bound(Chain(), chains, n),
            lambda n: n == 2 and asyncio.run(resumes(n)),
            lambda n: shared(n),
        ):
            for n in range(3):
                call(n)

    main()  # @main
"""

OF_KINDS = [
    "stored", "through_another_name", "nested", "objects", "long", "sets", "points", "spans", "cyclic",
    "tables", "loops", "consumes", "closes.inner", "bumps.bump", "bound_again", "fails", "Box.grow", "Box.reads",
    "counted", "linked", "gives", "hears", "bound", "resumes", "shared",
]  # fmt: skip

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


def without_addresses(tree: Any) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x", json.dumps(tree, indent=1))


def is_of_library(one: Any) -> bool:
    return isinstance(one, dict) and "/lib/python" in str(one.get("path"))


@pytest.mark.parametrize(("function", "until", "more"), SAME)
async def test_the_call_is_recorded_as_if_it_alone_had_been_traced(
    api: Api, program: Write, function: str, until: str, more: dict[str, Any]
) -> None:
    search = program(SEARCH)
    one, other = [await paused(api, search, "main") for _ in range(2)]
    await is_recorded_as_alone(one, other, function, until, **more)


async def test_values_of_each_kind_are_recorded_as_if_the_call_alone_had_been_traced(
    api: Api, program: Write
) -> None:
    kinds = program(KINDS)
    one, other = [await paused(api, kinds, "main") for _ in range(2)]
    for function in OF_KINDS:
        await is_recorded_as_alone(one, other, function, "n == 2")


async def is_recorded_as_alone(
    one: Session, other: Session, function: str, until: str, **more: Any
) -> None:
    asked = {"function": function, "tree": True, "wait": 60, "max_chars": 100_000, **more}
    found = await one.post("/trace", until_result=until, **asked)
    assert found["complete"], (function, found["text"])
    assert found["stop_reason"] == "step", function
    alone = await other.post("/trace", call=found["call"], **asked)
    assert alone["complete"], (function, alone["text"])
    assert found["current_location"] == alone["current_location"], function
    assert without_addresses(found["tree"]) == without_addresses(own(alone["tree"])), function


WRITES_ITSELF = """
    import sys

    class Pair(tuple):
        __slots__ = ()

        def __repr__(self):
            written.append(tuple(self))
            return f"{self[0]} and {self[1]}"

    written = []

    def joined(pair, number):
        both = Pair((number, pair))
        return both

    def main():
        pair = Pair((1, "one"))
        for number in range(50):
            joined(pair, number)

    main()  # @main
    print(len(written))
"""


async def test_what_cannot_change_is_written_for_the_call_that_counts_alone(
    api: Api, program: Write
) -> None:
    """Its own `__repr__` ran for each call that went by."""
    code = program(WRITES_ITSELF)
    session = await paused(api, code, "main")
    found = await session.post("/trace", function="joined", until_result="number == 40", wait=60)
    assert found["complete"], found["text"]
    assert "joined(pair=1 and one, number=40)" in found["text"]
    assert found["text"].splitlines()[-1] == "-> 40 and 1 and one"
    await session.resume(wait=60)
    assert 0 < int(await session.printed()) < 20  # texts of one call, in several rooms


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
    assert found["until_error"] == (
        "NameError: name 'unknown' is not defined; it sees result, exception, number, limit and globals"
    )
    assert found["text"] == (
        "the program ended before a call ended so; 250 calls went by; "
        f"until_result raised {found['until_error']}"
    )


RAISES = """
    def root(n):
        if n < 0:
            raise ValueError(n)
        return n

    def main():
        for n in (-1, 1, 2, -4):  # @main
            try:
                root(n)
            except ValueError:
                pass

    main()
"""


@pytest.mark.parametrize(
    ("until_result", "remark"),
    [
        ("result > 9", ", only in calls that ended by an exception"),
        ("result.real > 9 or result + 'x'", ""),
    ],
)
async def test_an_error_for_want_of_a_result_is_said_to_be_one(
    api: Api, program: Write, until_result: str, remark: str
) -> None:
    session = await paused(api, program(RAISES), "main")
    found = await session.post("/trace", function="root", until_result=until_result, wait=60)
    assert found["text"].startswith(
        "the program ended before a call ended so; 4 calls went by, 2 of them with an `exception`; "
    )
    assert ("only in calls" in found["until_error"]) is bool(remark), found["until_error"]
    assert found["until_error"].endswith(remark)
    assert found["text"].endswith(found["until_error"])


async def test_the_kth_such_call_and_another_stop_before_it(api: Api, program: Write) -> None:
    search = program(SEARCH)
    session = await paused(api, search, "main")
    found = await session.post("/trace", function="pick", until_result="result % 7 == 3", call=3)
    assert found["complete"], found["text"]
    assert found["passed"] == found["call"] - 1
    placed = await session.breakpoint(search.text, search.line("tag"))
    found = await session.post("/trace", function="pick", until_result="result < 0", wait=60)
    assert (found["trace_state"], found["stop_reason"]) == ("interrupted", "breakpoint")
    # It may be in the middle of one.
    assert f", before a call ended so; {found['passed']} calls went by" in found["text"]
    await session.delete(f"/breakpoints/{placed['id']}")
    for text in ("result ==", "x = 1", "await result"):
        with pytest.raises(Refused) as refused:
            await session.post("/trace", function="pick", until_result=text)
        assert refused.value.code == "INVALID_REQUEST"
        assert refused.value.details["errors"][0]["field"] == "until_result"
    assert (await session.get("/status"))["location"]["line"] == search.line("tag")
